"""Argilla: records with responses of people and suggestions of models, as Hugging Face columns or nested."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from twoheads.errors import InvalidObservations
from twoheads.observations import Observations
from twoheads.observations.labels import label_text
from twoheads.tables.interop.export import (
    TEAM,
    Answer,
    Export,
    Prediction,
    Statement,
    checked_score,
    is_team,
    observations_of,
)
from twoheads.tables.interop.records import LeftOut, best_labels, by_a_team, id_of, need_records, walk

Record = dict[str, Any]

_NO_STATUS = (
    "the records do not show the status of responses, so that drafts count as answers; "
    "export them with records.to_datasets to leave drafts out."
)
_NOT_SUBMITTED = {"draft": LeftOut("response", "a draft"), "discarded": LeftOut("response", "discarded")}
_BY_TEAM = by_a_team("suggestion")
#: What the name of a question is followed by in columns.
RESPONSES, SUGGESTION = ".responses", ".suggestion"


class _Response(NamedTuple):
    value: Any
    user: Any
    status: Any


class _Suggestion(NamedTuple):
    value: Any
    score: Any
    agent: Any


def from_argilla(
    records: Sequence[Record], *, question: str | None = None, classes: ArrayLike | None = None
) -> Observations:
    """Observations from records of Argilla; it knows no truth.

    A submitted response is an answer of its user; drafts and discarded ones do not count. A suggestion with a score
    gives the probability of one class, the rest is shared equally by the others; one without a score is a label of a
    machine. Each agent is a model; suggestions of a team (`to_argilla`) are not.

    Parameters
    ----------
    records : list of dict
        ``dataset.records.to_list(flatten=True)``, or ``False``; or the rows of ``dataset.records.to_datasets()``.
    question : str, optional
        The name of the question, if there are several.
    classes : array, optional
        The classes, if perhaps not every one was given.

    Examples
    --------
    >>> record = {"id": "r1", "tone.responses": ["good"], "tone.responses.users": ["ann"]}
    >>> model = {"tone.suggestion": "bad", "tone.suggestion.score": 0.75, "tone.suggestion.agent": "v1"}
    >>> observations = from_argilla([record | model])
    >>> observations.classes.tolist(), observations.annotators, observations.model_proba[0].tolist()
    (['bad', 'good'], ('ann',), [[0.75, 0.25]])
    """
    return observations_of(read_argilla(records, question), classes)[0]


def read_argilla(records: Any, question: str | None = None) -> Export:
    """The statements in records, flat or nested."""
    _need_records(records)
    chosen = _one_question(records, question)

    def state(at: int, stated: _Response | _Suggestion) -> Statement | LeftOut | None:
        if isinstance(stated, _Response):
            return _answer(at, stated, records[at])
        return _prediction(at, stated, records[at])

    stated: Iterator[tuple[int, _Response | _Suggestion]] = (
        (at, each) for at, record in enumerate(records) for each in _stated(record, chosen)
    )
    statements, notes = walk(stated, state, *_NOT_SUBMITTED.values(), _BY_TEAM)
    _refuse_codes(records, chosen)
    ids = [id_of(record, at) for at, record in enumerate(records)]
    return Export(ids, statements, "record", (*notes, *_note_on_status(records, chosen)))


def _stated(record: Record, question: str) -> Iterator[_Response | _Suggestion]:
    yield from _responses(record, question)
    yield _suggestion(record, question)


def _answer(at: int, response: _Response, record: Record) -> Statement | LeftOut | None:
    if response.status not in (None, "submitted"):
        return _NOT_SUBMITTED.get(str(response.status))
    if response.value is None:
        return None
    return Answer(at, "human" if response.user is None else str(response.user), _label(response.value, record))


def _prediction(at: int, suggestion: _Suggestion, record: Record) -> Statement | LeftOut | None:
    value, score, agent = suggestion
    if value is None:
        return None
    if is_team(agent):
        return _BY_TEAM
    model = "model" if agent in (None, "") else str(agent)
    return Prediction(at, model, _label(value, record), checked_score(score, "record", _id(record)))


def _note_on_status(records: Sequence[Record], question: str) -> list[str]:
    nested = any(_is_nested(record) and record["responses"].get(question) for record in records)
    flat = any(record.get(f"{question}{RESPONSES}") for record in records)
    unknown = nested or (flat and not any(record.get(f"{question}{RESPONSES}.status") for record in records))
    return [_NO_STATUS] if unknown else []


def to_argilla(
    records: Sequence[Record],
    proba: ArrayLike,
    classes: ArrayLike,
    *,
    question: str | None = None,
    agent: str = TEAM,
) -> list[Record]:
    """The records with a suggestion each: the most probable class, with its probability as the score.

    An Argilla record has one suggestion per question: an earlier one, of any agent, is replaced. To import nested
    records use ``argilla.Record.from_dict``; for columns ``dataset.records.log`` needs a mapping that names each of
    the three columns as itself, ``mapping={"tone.suggestion": "tone.suggestion", ...}``.

    Parameters
    ----------
    records : list of dict
        The records, in the order of the rows of ``proba``. They are not changed.
    proba : array of shape (n_items, n_classes)
        The probability of each class.
    classes : array of shape (n_classes,)
        The classes.
    question : str, optional
        The name of the question, if there are several.
    agent : str
        The author that Argilla shows. Suggestions of ``twoheads`` are not read as those of a model.
    """
    _need_records(records)
    return with_suggestions(records, best_labels(proba, classes, "records", len(records)), question, agent)


def with_suggestions(
    records: Sequence[Record],
    verdicts: Sequence[tuple[str, float] | None],
    question: str | None = None,
    agent: str = TEAM,
) -> list[Record]:
    """The records with a suggestion of a label and its score each; None leaves a record as it is."""
    name = _one_question(records, question)
    out = []
    for record, verdict in zip(records, verdicts, strict=True):
        made = copy.deepcopy(record)
        if verdict and _is_nested(record):
            made["suggestions"] = {
                **(made.get("suggestions") or {}),
                name: {"value": verdict[0], "score": verdict[1], "agent": agent},
            }
        elif verdict:
            made |= {f"{name}{SUGGESTION}": verdict[0], f"{name}{SUGGESTION}.score": verdict[1]}
            made[f"{name}{SUGGESTION}.agent"] = agent
        out.append(made)
    return out


def _need_records(records: Any) -> None:
    need_records(records, "records", "records, each a dict, as dataset.records.to_list gives them")


def _is_nested(record: Record) -> bool:
    return isinstance(record.get("responses"), dict)


def _one_question(records: Sequence[Record], question: str | None) -> str:
    """The question that counts, which must be named if there are several."""
    found = sorted({name for record in records for name in _questions(record)})
    if question is not None and question not in found:
        raise InvalidObservations(
            f"records must hold the question {question!r}; they hold {', '.join(found) or 'none'}."
        )
    if question is None and len(found) != 1:
        there = f"those of {', '.join(found)}" if found else "none"
        raise InvalidObservations(
            f"records must hold responses to one question; they hold {there}. Name one with question (--question)."
        )
    return question or found[0]


def _questions(record: Record) -> Iterator[str]:
    if _is_nested(record):
        yield from record["responses"]
        yield from record.get("suggestions") or {}
        return
    for name in record:
        for ending in (RESPONSES, SUGGESTION):
            if name.endswith(ending) and len(name) > len(ending):
                yield name.removesuffix(ending)


def _responses(record: Record, question: str) -> Iterator[_Response]:
    if _is_nested(record):
        for one in record["responses"].get(question) or []:
            yield _Response(one.get("value"), one.get("user_id"), one.get("status"))
        return
    column = f"{question}{RESPONSES}"
    values = record.get(column) or []
    users, status = (record.get(f"{column}.{name}") or [None] * len(values) for name in ("users", "status"))
    if not len(values) == len(users) == len(status):
        raise InvalidObservations(
            f"record {_id(record)} must have a user and a status for each response to {question!r}; it has "
            f"{len(values)} responses, {len(users)} users and {len(status)} statuses."
        )
    yield from map(_Response, values, users, status)


def _suggestion(record: Record, question: str) -> _Suggestion:
    if _is_nested(record):
        one = (record.get("suggestions") or {}).get(question) or {}
        return _Suggestion(one.get("value"), one.get("score"), one.get("agent"))
    column = f"{question}{SUGGESTION}"
    return _Suggestion(record.get(column), record.get(f"{column}.score"), record.get(f"{column}.agent"))


def _label(value: Any, record: Record) -> str:
    if isinstance(value, list | tuple | dict):
        raise InvalidObservations(
            f"record {_id(record)} must have one label per response and suggestion; one is {value!r}. "
            "Several labels per item are not combined."
        )
    return label_text(value)


def _refuse_codes(records: Sequence[Record], question: str) -> None:
    """Refuse suggestions that are codes, as Hugging Face datasets writes class labels to JSON lines without names."""
    answered = [value for record in records for value, _, _ in _responses(record, question) if value is not None]
    suggested = [value for record in records if (value := _suggestion(record, question)[0]) is not None]
    if answered and suggested and isinstance(suggested[0], int) and isinstance(answered[0], str):
        raise InvalidObservations(
            f"suggestions must be labels like the responses ({answered[0]!r}); they are numbers ({suggested[0]!r}), "
            "as in JSON lines that datasets writes without the names of classes. "
            "Save the records as Parquet or with save_to_disk."
        )


def _id(record: Record) -> Any:
    return record.get("id")
