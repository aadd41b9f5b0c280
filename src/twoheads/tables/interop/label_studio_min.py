"""Label Studio's JSON-MIN: an object per annotation, with the task's data and the choices under the control's name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import label_text
from twoheads.tables.interop.export import Answer, Export
from twoheads.tables.interop.records import LeftOut, id_of, walk

#: The keys that follow the choices.
_AFTER = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
_NOTE = (
    "JSON-MIN does not show which annotations are ground truth, so that all of them are answers; "
    "if any are ground truth, export as JSON."
)
_EMPTY = LeftOut("annotation", "without a choice")


def read_label_studio_min(records: Sequence[dict[str, Any]], question: str | None = None) -> Export:
    """The answers in objects of JSON-MIN; tasks keep the order of their first annotation."""
    control = _control(records) if question is None else question
    if not any(control in record for record in records):
        raise InvalidObservations(f"tasks must hold choices of the control {control!r}; none of them does.")
    _refuse_repeated(records)
    place: dict[Any, int] = {}
    items = [place.setdefault(id_of(record, at), len(place)) for at, record in enumerate(records)]
    answers, notes = walk(zip(items, records, strict=True), partial(_answer, control), _EMPTY)
    return Export(list(place), answers, "task", (_NOTE, *notes))


def _answer(control: str, item: int, record: dict[str, Any]) -> Answer | LeftOut | None:
    if record.get("annotation_id") is None:  # a task that nobody has annotated
        return None
    label, author = _label(record, control), record.get("annotator")
    if label is None:
        return _EMPTY
    return Answer(item, "human" if author is None else label_text(author), label)


def _refuse_repeated(records: Sequence[dict[str, Any]]) -> None:
    seen: set[Any] = set()
    for record in records:
        number = record.get("annotation_id")
        if number in seen:
            raise InvalidObservations(
                f"every annotation must appear once; annotation {number} of task {record.get('id')} is repeated. "
                "Export them once, or drop the copies."
            )
        if number is not None:
            seen.add(number)


def _control(records: Sequence[dict[str, Any]]) -> str:
    """The key of the choices: Label Studio writes the task's data, the id, the choices, then the annotator."""
    found = {name: None for record in records for name in _candidates(record)}
    if len(found) != 1:
        there = f"those of {', '.join(found)}" if found else "none"
        raise InvalidObservations(
            f"tasks must hold choices of one control; they hold {there}. Name one with from_name (--question)."
        )
    return next(iter(found))


def _candidates(record: dict[str, Any]) -> Iterator[str]:
    names = list(record)
    start = names.index("id") + 1 if "id" in names else 0
    for name in names[start:]:
        value = record[name]
        if name not in _AFTER and (isinstance(value, str) or (isinstance(value, dict) and "choices" in value)):
            yield name


def _label(record: dict[str, Any], control: str) -> str | None:
    value = record.get(control)
    if isinstance(value, dict | list):
        raise InvalidObservations(
            f"task {record.get('id')} must have one choice per annotation; one has {value!r}. "
            "Several labels per item are not combined."
        )
    return None if value in (None, "") else label_text(value)
