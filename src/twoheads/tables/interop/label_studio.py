"""Label Studio: exported tasks with annotations and models' predictions, and predictions back into them."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations import Observations
from twoheads.observations.labels import label_text
from twoheads.tables.interop.export import (
    TEAM,
    Answer,
    Export,
    Prediction,
    Statement,
    Truth,
    checked_score,
    is_team,
    observations_of,
)
from twoheads.tables.interop.records import LeftOut, best_labels, by_a_team, id_of, need_records, walk
from twoheads.text import listed

Task = dict[str, Any]

_CANCELLED, _EMPTY = LeftOut("annotation", "cancelled"), LeftOut("annotation", "without a choice")
_BY_TEAM = by_a_team("prediction")


def from_label_studio(
    tasks: Sequence[Task],
    *,
    from_name: str | None = None,
    model_version: str | None = None,
    classes: ArrayLike | None = None,
) -> tuple[Observations, NDArray[Any] | None]:
    """Observations, and the truth if any annotations are marked as ground truth (else None).

    The choice of an annotation is an answer of its author, or the truth if it is marked as ground truth, never both;
    cancelled and empty ones do not count, nor do answers of the author of an item's truth. A prediction gives the
    probability of one choice (its score); several predictions of a task give one class each, the last of a class
    counts. The rest of the probability is shared equally by the classes without a score: the export has no more. A
    prediction without a score is a label of a machine. Each ``model_version`` is a model; predictions of a team
    (`to_label_studio`) are not, unless ``model_version`` names them.

    Parameters
    ----------
    tasks : list of dict
        What Label Studio exports as JSON: each task with ``id``, ``annotations`` and ``predictions``. Or as JSON-MIN,
        which has no predictions and does not show what is ground truth.
    from_name : str, optional
        The name of the control whose choices count, if the labelling interface has several.
    model_version : str, optional
        The only model whose predictions count.
    classes : array, optional
        The classes, if perhaps not every one was chosen.

    Examples
    --------
    >>> def chosen(name):
    ...     return [{"from_name": "kind", "to_name": "image", "type": "choices", "value": {"choices": [name]}}]
    >>> people = [
    ...     {"completed_by": 1, "result": chosen("cat")},
    ...     {"completed_by": 2, "result": chosen("dog"), "ground_truth": True},
    ... ]
    >>> models = [{"model_version": "v1", "score": 0.75, "result": chosen("dog")}]
    >>> tasks = [{"id": 7, "annotations": people, "predictions": models}]
    >>> observations, truth = from_label_studio(tasks)
    >>> observations.classes.tolist(), observations.annotators, observations.model_proba[0].tolist(), truth.tolist()
    (['cat', 'dog'], ('1',), [[0.25, 0.75]], ['dog'])
    """
    return observations_of(read_label_studio(tasks, from_name, model_version=model_version), classes)


def read_label_studio(tasks: Any, question: str | None = None, *, model_version: str | None = None) -> Export:
    """The statements in exported tasks, of JSON or of JSON-MIN."""
    _need_tasks(tasks)
    if any("annotation_id" in task and "annotations" not in task for task in tasks):
        from twoheads.tables.interop.label_studio_min import read_label_studio_min

        return read_label_studio_min(tasks, question)
    control = _one_control(tasks, question)

    ids = [id_of(task, at) for at, task in enumerate(tasks)]

    def state(at: int, record: tuple[str, dict[str, Any]]) -> Statement | LeftOut | None:
        kind, one = record
        label = _chosen(one, control, ids[at]) if not one.get("was_cancelled") else None
        if kind == "annotations":
            return _annotation(at, one, label)
        return _predicted(at, one, label, model_version, ids[at])

    records = (
        (at, (kind, one))
        for at, task in enumerate(tasks)
        for kind in ("annotations", "predictions")
        for one in _records(task, kind, ids[at])
    )
    statements, notes = walk(records, state, _CANCELLED, _EMPTY, _BY_TEAM)
    return Export(ids, statements, "task", notes)


def _annotation(at: int, annotation: dict[str, Any], label: str | None) -> Statement | LeftOut:
    """An annotation is the truth or an answer, never both."""
    if annotation.get("was_cancelled"):
        return _CANCELLED
    if label is None:
        return _EMPTY
    author = _author(annotation)
    if annotation.get("ground_truth"):
        return Truth(at, label, author)
    return Answer(at, "human" if author is None else author, label)


def _predicted(
    at: int, prediction: dict[str, Any], label: str | None, only: str | None, task: Any
) -> Statement | LeftOut | None:
    version = _model(prediction)
    if only is None and is_team(version):
        return _BY_TEAM
    if only not in (None, version) or label is None:
        return None
    return Prediction(at, version, label, checked_score(prediction.get("score"), "task", task))


def to_label_studio(
    tasks: Sequence[Task],
    proba: ArrayLike,
    classes: ArrayLike,
    *,
    from_name: str | None = None,
    to_name: str | None = None,
    model_version: str = TEAM,
) -> list[Task]:
    """The tasks with one more prediction each: the most probable class, with its probability as the score.

    Parameters
    ----------
    tasks : list of dict
        The tasks, in the order of the rows of ``proba``. They are not changed. An earlier prediction of the same
        ``model_version`` is replaced.
    proba : array of shape (n_items, n_classes)
        The probability of each class.
    classes : array of shape (n_classes,)
        The classes.
    from_name, to_name : str, optional
        The control and the object it labels; found in the tasks' own results by default.
    model_version : str
        The author that Label Studio shows. Predictions of ``twoheads``, and of any name that begins with it and a
        blank, are not read as those of a model.
    """
    _need_tasks(tasks)
    verdicts = best_labels(proba, classes, "tasks", len(tasks))
    return with_predictions(tasks, verdicts, from_name, to_name, model_version)


def with_predictions(
    tasks: Sequence[Task],
    verdicts: Sequence[tuple[str, float] | None],
    from_name: str | None = None,
    to_name: str | None = None,
    model_version: str = TEAM,
) -> list[Task]:
    """The tasks with a prediction of a label and its score each; None leaves a task without one."""
    control, shown = _control(tasks, from_name, to_name)
    out = []
    for task, verdict in zip(tasks, verdicts, strict=True):
        made = [_prediction(*verdict, control, shown, model_version)] if verdict else []
        others = [one for one in task.get("predictions") or [] if _version(one) != model_version]
        out.append({**copy.deepcopy(task), "predictions": [*copy.deepcopy(others), *made]})
    return out


def _prediction(label: str, score: float, control: str, shown: str, model_version: str) -> dict[str, Any]:
    value = {"choices": [label]}
    result = [{"from_name": control, "to_name": shown, "type": "choices", "value": value}]
    return {"model_version": model_version, "score": score, "result": result}


def _need_tasks(tasks: Any) -> None:
    need_records(tasks, "tasks", "tasks, each a dict, as Label Studio exports them in its JSON format")


def _version(prediction: Any) -> Any:
    return prediction.get("model_version") if isinstance(prediction, dict) else None


def _model(prediction: dict[str, Any]) -> str:
    version = prediction.get("model_version")
    return "model" if version in (None, "") else str(version)


def _records(task: Task, kind: str, name: Any) -> Iterator[dict[str, Any]]:
    """The annotations or the predictions of a task, which must be there in full."""
    for one in task.get(kind) or []:
        if not isinstance(one, dict):
            raise InvalidObservations(
                f"tasks must hold their {kind} in full; task {name} holds only ids ({one!r:.80}). "
                f"Export a snapshot that includes {kind}, not only their ids."
            )
        yield one


def _one_control(tasks: Sequence[Task], from_name: str | None) -> str | None:
    """The control whose choices count, which must be named if there are several."""
    found = {str(result.get("from_name")): None for result in _all_choices(tasks)}
    if from_name is None and len(found) > 1:
        raise InvalidObservations(
            f"tasks must hold choices of one control; they hold those of {listed(sorted(found))}. "
            "Name one with from_name (--question)."
        )
    if from_name is not None and from_name not in found:
        there = f"those of {listed(sorted(found))}" if found else "none"
        raise InvalidObservations(f"tasks must hold choices of the control {from_name!r}; they hold {there}.")
    if not found:
        raise InvalidObservations("tasks must hold choices, as of Label Studio's control Choices; they hold none.")
    return from_name


def _all_choices(tasks: Sequence[Task]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        for one in [*(task.get("annotations") or []), *(task.get("predictions") or [])]:
            for result in one.get("result") or [] if isinstance(one, dict) else []:
                if _is_choice(result, None):
                    yield result


def _chosen(annotation: dict[str, Any], from_name: str | None, task: Any) -> str | None:
    """The choice of one annotation, or None; it must be a single one."""
    results = [result for result in annotation.get("result") or [] if _is_choice(result, from_name)]
    names = [str(choice) for result in results for choice in (result.get("value") or {}).get("choices") or []]
    if len(names) > 1:
        raise InvalidObservations(
            f"task {task} must have one choice per annotation; one has {len(names)} "
            f"({', '.join(names[:3])}). Several labels per item are not combined."
        )
    return names[0] if names else None


def _is_choice(result: Any, from_name: str | None) -> bool:
    is_choice = isinstance(result, dict) and result.get("type") == "choices"
    return is_choice and from_name in (None, result.get("from_name"))


def _author(annotation: dict[str, Any]) -> str | None:
    """Who made an annotation: a number, or a record of a user; None if it does not say."""
    author = annotation.get("completed_by")
    if isinstance(author, dict):
        author = author.get("email") or author.get("id")
    return None if author is None else label_text(author)


def _control(tasks: Sequence[Task], from_name: str | None, to_name: str | None) -> tuple[str, str]:
    if from_name is not None and to_name is not None:
        return from_name, to_name
    for result in _all_choices(tasks):
        if _is_choice(result, from_name):
            return str(from_name or result.get("from_name")), str(to_name or result.get("to_name"))
    raise InvalidObservations("tasks must show a control with choices; none does. Name from_name and to_name.")
