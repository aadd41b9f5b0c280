"""Label Studio: exported tasks with annotations and models' predictions, and predictions back into them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import Answers, pack_answers
from twoheads.kernels.arrays import Floats
from twoheads.observations import Observations
from twoheads.observations.checks import same_length
from twoheads.observations.labels import label_text, ordered_classes, sorted_names

Task = dict[str, Any]
Choice = tuple[dict[str, Any], str]


def from_label_studio(
    tasks: Sequence[Task],
    *,
    from_name: str | None = None,
    model_version: str | None = None,
    classes: ArrayLike | None = None,
) -> tuple[Observations, NDArray[Any] | None]:
    """Observations, and the truth if any annotations are marked as ground truth (else None).

    The choice of an annotation is an answer of its author; cancelled and empty ones do not count. A prediction gives
    the probability of one choice (its score); several predictions of a task give one class each, the last of a class
    counts. The rest of the probability is shared equally by the classes without a score: the export has no more.

    Parameters
    ----------
    tasks : list of dict
        What Label Studio exports as JSON: each task with ``id``, ``annotations`` and ``predictions``.
    from_name : str, optional
        The name of the control whose choices count, if the labelling interface has several.
    model_version : str, optional
        The model whose predictions count; required if there are several.
    classes : array, optional
        The classes, if perhaps not every one was chosen.

    Examples
    --------
    >>> def chosen(name):
    ...     return [{"from_name": "kind", "to_name": "image", "type": "choices", "value": {"choices": [name]}}]
    >>> people = [{"completed_by": 1, "result": chosen("cat")}]
    >>> models = [{"model_version": "v1", "score": 0.75, "result": chosen("dog")}]
    >>> tasks = [{"id": 7, "annotations": people, "predictions": models}]
    >>> observations, truth = from_label_studio(tasks)
    >>> observations.classes.tolist(), observations.annotators, observations.model_proba[0].tolist(), truth
    (['cat', 'dog'], ('1',), [[0.25, 0.75]], None)
    """
    _check_tasks(tasks)
    answers = [_choices(task, "annotations", from_name) for task in tasks]
    predictions = _of_one_model([_choices(task, "predictions", from_name) for task in tasks], model_version)
    names = _class_names([*answers, *predictions], tasks, classes)
    code = {name: at for at, name in enumerate(names)}
    annotators = sorted_names({_author(annotation) for choices in answers for annotation, _ in choices})
    proba = _probabilities(predictions, code, tasks)
    observations = Observations.checked(
        classes=np.array(names, dtype=np.str_),
        model_proba=() if np.isnan(proba).all() else (proba,),
        answers=_packed(answers, annotators, code),
        annotators=tuple(annotators) or ("human",),
        items=np.array([_id(tasks, at) for at in range(len(tasks))]),
    )
    return observations, _ground_truth(answers)


def _of_one_model(predictions: list[list[Choice]], model_version: str | None) -> list[list[Choice]]:
    """The predictions of one model, which must be named if there are several."""
    versions = sorted({str(one.get("model_version")) for choices in predictions for one, _ in choices})
    if model_version is None and len(versions) > 1:
        raise InvalidObservations(
            f"tasks must hold the predictions of one model; they hold those of {', '.join(versions)}. "
            "Name one with model_version."
        )
    if model_version is None:
        return predictions
    return [[pair for pair in choices if str(pair[0].get("model_version")) == model_version] for choices in predictions]


def _packed(answers: list[list[Choice]], annotators: list[str], code: dict[str, int]) -> Answers:
    number = {name: at for at, name in enumerate(annotators)}
    pairs = [
        (at, number[_author(annotation)] * len(code) + code[choice])
        for at, choices in enumerate(answers)
        for annotation, choice in choices
    ]
    item, column = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return pack_answers(item, column, len(answers))


def _probabilities(predictions: list[list[Choice]], code: dict[str, int], tasks: Sequence[Task]) -> Floats:
    """A row per task from the scores of its predictions; NaN without any."""
    proba = np.full((len(tasks), len(code)), np.nan)
    for at, choices in enumerate(predictions):
        if choices:
            scores = {code[choice]: prediction.get("score") for prediction, choice in choices}
            proba[at] = _spread(scores, len(code), _id(tasks, at))
    return proba


def _ground_truth(answers: list[list[Choice]]) -> NDArray[Any] | None:
    """The first choice of each task that is marked as ground truth; None if there is none."""
    marked = ([name for annotation, name in choices if annotation.get("ground_truth")] for choices in answers)
    truth = np.array([next(iter(names), "") for names in marked])
    return truth if (truth != "").any() else None


def to_label_studio(
    tasks: Sequence[Task],
    proba: ArrayLike,
    classes: ArrayLike,
    *,
    from_name: str | None = None,
    to_name: str | None = None,
    model_version: str = "twoheads",
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
        The author that Label Studio shows.
    """
    _check_tasks(tasks)
    rows, names = np.asarray(proba, dtype=np.float64), [label_text(name) for name in np.asarray(classes).tolist()]
    same_length("proba", len(rows), "tasks", len(tasks))
    control, shown = _control(tasks, from_name, to_name)
    out = []
    for task, row in zip(tasks, rows, strict=True):
        best = int(row.argmax())
        value = {"choices": [names[best]]}
        result = [{"from_name": control, "to_name": shown, "type": "choices", "value": value}]
        made = {"model_version": model_version, "score": float(row[best]), "result": result}
        others = [one for one in task.get("predictions") or [] if _version(one) != model_version]
        out.append({**copy.deepcopy(task), "predictions": [*copy.deepcopy(others), made]})
    return out


def _check_tasks(tasks: Any) -> None:
    if not isinstance(tasks, list | tuple) or not all(isinstance(task, dict) for task in tasks):
        raise InvalidObservations(
            "tasks must be a list of tasks, each a dict, as Label Studio exports them in its JSON format; "
            f"it is a {type(tasks).__name__}."
        )
    if not tasks:
        raise InvalidObservations("tasks must hold at least one task; they hold none.")


def _version(prediction: Any) -> Any:
    return prediction.get("model_version") if isinstance(prediction, dict) else None


def _id(tasks: Sequence[Task], at: int) -> Any:
    return tasks[at].get("id", at)


def _class_names(chosen: Sequence[Sequence[Choice]], tasks: Sequence[Task], classes: ArrayLike | None) -> list[str]:
    if classes is None:
        return list(ordered_classes({name for choices in chosen for _, name in choices}).tolist())
    names: list[str] = ordered_classes(map(label_text, np.asarray(classes).tolist())).tolist()
    for at, choices in enumerate(chosen):
        unknown = next((name for _, name in choices if name not in names), None)
        if unknown is not None:
            raise InvalidObservations(
                f"every choice must be a class; task {_id(tasks, at % len(tasks))} has {unknown!r}, "
                f"and the classes are {', '.join(map(repr, names[:8]))}."
            )
    return names


def _choices(task: Task, kind: str, from_name: str | None) -> list[Choice]:
    """Each annotation or prediction with its choice, if it has one."""
    found: list[Choice] = []
    for one in task.get(kind) or []:
        if isinstance(one, dict) and not one.get("was_cancelled"):
            found += [(one, name) for name in _chosen(task, one, from_name)]
    return found


def _chosen(task: Task, annotation: dict[str, Any], from_name: str | None) -> list[str]:
    """The choice of one annotation, or none; it must be a single one, of one control."""
    results = [result for result in annotation.get("result") or [] if _is_choice(result, from_name)]
    controls = sorted({str(result.get("from_name")) for result in results})
    if len(controls) > 1:
        raise InvalidObservations(
            f"task {task.get('id')} must hold choices of one control; it holds those of {', '.join(controls)}. "
            "Name one with from_name."
        )
    names = [str(choice) for result in results for choice in (result.get("value") or {}).get("choices") or []]
    if len(names) > 1:
        raise InvalidObservations(
            f"task {task.get('id')} must have one choice per annotation; one has {len(names)} "
            f"({', '.join(names[:3])}). Several labels per item are not combined."
        )
    return names


def _is_choice(result: dict[str, Any], from_name: str | None) -> bool:
    return result.get("type") == "choices" and from_name in (None, result.get("from_name"))


def _author(annotation: dict[str, Any]) -> str:
    """Who made an annotation: a number, or a record of a user."""
    author = annotation.get("completed_by")
    if isinstance(author, dict):
        author = author.get("email") or author.get("id")
    return "human" if author is None else label_text(author)


def _spread(scores: dict[int, Any], n_classes: int, task: Any) -> Floats:
    row = np.full(n_classes, np.nan)
    for at, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise InvalidObservations(f"a prediction must have a score from 0 to 1; that of task {task} has {score!r}.")
        row[at] = score
    rest, without = 1.0 - float(np.nansum(row)), np.isnan(row)
    row[without] = max(rest, 0.0) / max(1, int(without.sum()))
    return row


def _control(tasks: Sequence[Task], from_name: str | None, to_name: str | None) -> tuple[str, str]:
    if from_name is not None and to_name is not None:
        return from_name, to_name
    for task in tasks:
        for one in [*(task.get("annotations") or []), *(task.get("predictions") or [])]:
            for result in one.get("result") or [] if isinstance(one, dict) else []:
                if _is_choice(result, from_name):
                    return str(from_name or result.get("from_name")), str(to_name or result.get("to_name"))
    raise InvalidObservations("tasks must show a control with choices; none does. Name from_name and to_name.")
