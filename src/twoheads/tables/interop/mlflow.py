"""MLflow: traces with assessments: feedback of people, LLM judges and code, and expectations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations
from twoheads.observations import Observations
from twoheads.observations.labels import label_text
from twoheads.tables.interop.export import (
    Answer,
    Export,
    Prediction,
    Statement,
    Truth,
    is_team,
    observations_of,
    refuse_repeats,
)
from twoheads.tables.interop.records import LeftOut, by_a_team, need_records, walk
from twoheads.text import cut, listed

_OVERRIDDEN, _ERROR = LeftOut("assessment", "overridden by a later one"), LeftOut("assessment", "without a value")
_BY_TEAM = by_a_team("assessment")
#: The sources of feedback that are models.
_MODELS = {"LLM_JUDGE": "llm_judge", "AI_JUDGE": "llm_judge", "CODE": "code"}


def from_mlflow(
    traces: Sequence[Any], *, question: str | None = None, classes: ArrayLike | None = None
) -> tuple[Observations, NDArray[Any] | None]:
    """Observations, and the truth if there are expectations (else None).

    Feedback of a HUMAN is an answer; that of an LLM_JUDGE or of CODE is the label of a machine called by its source;
    an expectation is the truth, and its author's feedback on the same item does not count. Feedback that was
    overridden, or holds an error, does not count. An assessment of a span is about an item of its own, ``<trace
    id>/<span id>``.

    Parameters
    ----------
    traces : list of dict
        ``trace.to_dict()`` of each trace, or the rows of ``mlflow.search_traces``, or assessments
        (``assessment.to_dictionary()``).
    question : str, optional
        The name of the assessments, if there are several.
    classes : array, optional
        The classes, if perhaps not every one was given.

    Examples
    --------
    >>> def assessment(kind, who, **value):
    ...     source = {"source_type": kind, "source_id": who}
    ...     return {"assessment_name": "correct", "trace_id": "tr-1", "source": source} | value
    >>> ann = assessment("HUMAN", "ann", feedback={"value": "no"})
    >>> gold = assessment("HUMAN", "chief", expectation={"value": "yes"})
    >>> observations, truth = from_mlflow([ann, gold])
    >>> observations.annotators, observations.answers.column.tolist(), truth.tolist()
    (('ann',), [0], ['yes'])
    """
    return observations_of(read_mlflow(traces, question), classes)


def read_mlflow(traces: Any, question: str | None = None) -> Export:
    """The statements in traces, rows of a search or assessments."""
    need_records(traces, "traces", "traces or assessments, each a dict")
    refuse_repeats([_trace_id(trace) for trace in traces if "assessment_name" not in trace], "trace")
    place: dict[str, int] = {}
    made: list[tuple[int, dict[str, Any]]] = []
    for trace, assessments in map(_assessments, traces):
        if trace is not None:
            place.setdefault(trace, len(place))
        made += [(place.setdefault(_item(one), len(place)), one) for one in assessments]
    chosen = _one_name([one for _, one in made], question)
    records = ((at, one) for at, one in made if one.get("assessment_name") == chosen)
    statements, notes = walk(records, _statement, _OVERRIDDEN, _ERROR, _BY_TEAM)
    return Export(list(place), statements, "trace", notes)


def _trace_id(trace: dict[str, Any]) -> str:
    info = trace.get("info")
    found = (info if isinstance(info, dict) else trace).get("trace_id")
    if not isinstance(found, str) or not found:
        raise InvalidObservations(
            f"every trace must have a trace_id; one has {cut(repr(found))}. Export it as MLflow 3 does."
        )
    return found


def _assessments(trace: dict[str, Any]) -> tuple[str | None, list[dict[str, Any]]]:
    """The id of a trace and its assessments; an assessment by itself has no trace around it."""
    if "assessment_name" in trace:
        return None, [trace]
    info = trace.get("info")
    found = (info if isinstance(info, dict) else trace).get("assessments")
    found = json.loads(found) if isinstance(found, str) else found
    return _trace_id(trace), [{"trace_id": _trace_id(trace)} | _present(one) for one in found or []]


def _present(record: Any) -> dict[str, Any]:
    """A record without gaps: a table has every key in every row."""
    return {name: value for name, value in record.items() if value is not None}


def _item(assessment: dict[str, Any]) -> str:
    span = assessment.get("span_id")
    return f"{_trace_id(assessment)}/{span}" if span else _trace_id(assessment)


def _one_name(assessments: Sequence[dict[str, Any]], question: str | None) -> str:
    """The name of the assessments that count, which must be given if there are several."""
    found = sorted({str(one.get("assessment_name")) for one in assessments if one.get("feedback") is not None})
    if question is not None and question not in found:
        raise InvalidObservations(
            f"traces must hold feedback called {question!r}; they hold {', '.join(found) or 'none'}."
        )
    if question is None and len(found) != 1:
        there = f"that called {listed(found)}" if found else "none"
        raise InvalidObservations(
            f"traces must hold feedback of one name; they hold {there}. Name one with question (--question)."
        )
    return question or found[0]


def _statement(at: int, one: dict[str, Any]) -> Statement | LeftOut:
    """What an assessment states."""
    feedback, author = one.get("feedback") or {}, one.get("source") or {}
    if one.get("valid") is False:
        return _OVERRIDDEN
    if one.get("expectation") is not None:
        return Truth(at, _label(one["expectation"].get("value"), one), _named(author))
    if feedback.get("value") is None:
        return _ERROR
    if author.get("source_type") == "HUMAN":
        return Answer(at, str(author.get("source_id") or "human"), _label(feedback["value"], one))
    if is_team(author.get("source_id")):
        return _BY_TEAM
    return Prediction(at, _model(author, one), _label(feedback["value"], one))


def _named(author: dict[str, Any]) -> str | None:
    """The person who stated something, if there is a name: many are called default."""
    name = author.get("source_id")
    return str(name) if author.get("source_type") == "HUMAN" and name not in (None, "", "default") else None


def _model(author: dict[str, Any], one: dict[str, Any]) -> str:
    kind, name = author.get("source_type"), author.get("source_id")
    if kind not in _MODELS:
        raise InvalidObservations(
            f"feedback must come from HUMAN, LLM_JUDGE or CODE; that of trace {_item(one)} comes from {kind!r}."
        )
    return _MODELS[kind] if name in (None, "", "default") else str(name)


def _label(value: Any, one: dict[str, Any]) -> str:
    """A value as a label; a score or several values are none."""
    if isinstance(value, str | bool | int) or (isinstance(value, float) and value.is_integer()):
        return label_text(value)
    raise InvalidObservations(
        f"the value of an assessment must be a class: text, a whole number, true or false; that of {_item(one)} is "
        f"{cut(repr(value))}. Choose other assessments with question (--question)."
    )
