"""The contract of readers of exports: every annotation is read once, in one role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.interop.export import TEAM, Answer, Export, Prediction

#: From an id, answers as (person, label), predictions as (model, label, score) and the truth to a record.
MakeRecord = Callable[[str, list[tuple[str, str]], list[tuple[str, str, float | None]], str | None], Any]
Read = Callable[[list[Any]], Export]


def check_export(read: Read, make: MakeRecord, *, has_truth: bool = True, has_scores: bool = True) -> None:
    """Check the reader of an export against records that it should understand.

    Parameters
    ----------
    read : callable
        From a list of records to an `Export`.
    make : callable
        From an id, answers as (person, label), at most one prediction as (model, label, score) and the truth, None if
        it is not known, to a record as the tool exports it; the person who gave the truth is called ``chief``.
    has_truth, has_scores : bool
        Whether the tool knows the truth of an item, and scores of predictions.

    Examples
    --------
    >>> from twoheads.tables.interop.argilla import read_argilla
    >>> def make(item, answers, predictions, truth):
    ...     model, label, score = predictions[0] if predictions else (None, None, None)
    ...     people = {"q.responses": [label for _, label in answers], "q.responses.users": [who for who, _ in answers]}
    ...     made = {"q.suggestion": label, "q.suggestion.score": score, "q.suggestion.agent": model}
    ...     return {"id": item} | people | made
    >>> check_export(read_argilla, make, has_truth=False)
    """
    check_roles(read, make, has_truth=has_truth, has_scores=has_scores)
    check_truth_is_no_answer(read, make)
    check_repeated_items(read, make)
    check_verdicts_are_no_model(read, make)


def check_roles(read: Read, make: MakeRecord, *, has_truth: bool, has_scores: bool) -> None:
    """Answers, predictions and truth are those made, each once, in the order of the items."""
    records = [
        make("x", [("ann", "a"), ("bob", "b"), ("ann", "b")], [("v1", "b", 0.75)], "a"),
        make("y", [("bob", "a")], [("v2", "a", None)], None),
    ]
    export = read(records)
    assert list(export.ids) == ["x", "y"], f"ids must be those of the records; they are {export.ids}"
    answers = [Answer(0, "ann", "a"), Answer(0, "bob", "b"), Answer(0, "ann", "b"), Answer(1, "bob", "a")]
    assert export.answers == answers, f"answers must be those made; they are {export.answers}"
    predictions = [Prediction(0, "v1", "b", 0.75 if has_scores else None), Prediction(1, "v2", "a")]
    assert export.predictions == predictions, f"predictions must be those made; they are {export.predictions}"
    truths = [(0, "a")] if has_truth else []
    stated = [(each.item, each.label) for each in export.truths]
    assert stated == truths, f"the truth must be that made; it is {export.truths}"


def check_truth_is_no_answer(read: Read, make: MakeRecord) -> None:
    """The same answers are read whether the truth is known or not."""
    answers, predictions = [("ann", "a")], [("v1", "b", None)]
    known, unknown = (read([make("x", answers, list(predictions), truth)]) for truth in ("b", None))
    assert known.answers == unknown.answers, f"the truth must not be an answer; the answers are {known.answers}"
    assert known.predictions == unknown.predictions, "the truth must not be a prediction"


def check_repeated_items(read: Read, make: MakeRecord) -> None:
    """An item that comes twice is refused by its id."""
    message = ""
    try:
        read([make("x", [("ann", "a")], [], None), make("x", [("ann", "b")], [], None)])
    except InvalidObservations as error:
        message = str(error)
    assert "x appears 2 times" in message, f"a repeated item must be refused by its id; the message is {message!r}"


def check_verdicts_are_no_model(read: Read, make: MakeRecord) -> None:
    """The predictions of a team are left out, with a note."""
    export = read([make("x", [("ann", "a")], [(TEAM, "a", None)], None)])
    assert not export.predictions, f"verdicts of a team must not be a model's; they are {export.predictions}"
    assert export.notes, "what is left out must be in a note"
