"""The columns as `fit` reads them: by its own code, so that a check never tells another story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.observations.columns import TRUTH, first_of
from twoheads.tables.checking.guess import Guess
from twoheads.tables.schema.plan import Names, answer_columns, truth_columns, wide_roles

#: Any class: then a plain column of scores is read too.
_ANY = "any"


def reads_as(guess: Guess, columns: Sequence[str], named: Mapping[str, str]) -> bool:
    """Whether `fit` with the options ``named`` gives each column the role that a check has found."""
    try:
        found = _read_alone(guess, columns, named) if guess.is_answers else _read_wide(guess, columns, named)
    except InvalidObservations:
        return False
    return found == _as_found(guess)


def _read_wide(guess: Guess, columns: Sequence[str], named: Mapping[str, str]) -> dict[str, Any]:
    given = {name: value for name, value in named.items() if name in ("item", "human", "model_columns")}
    names = Names(**given, positive=_ANY if "score" in guess.score_columns else None)
    roles = wide_roles(columns, "the table", names, named.get("truth"))
    people = {*roles.annotators.values()}
    machines = {name: roles.members.scores[name] for name in roles.members.machines}
    return {
        "item": roles.item,
        "annotator": None,
        "people": people,
        "truth": roles.truth,
        "confidence": {roles.annotators[name]: column for name, column in roles.confidence.items()},
        "models": _columns_of(roles.models),
        "labels": roles.members.labels,
        "scores": machines,
        "grades": {*roles.members.scores.values()} - {*machines.values()},
    }


def _read_alone(guess: Guess, columns: Sequence[str], named: Mapping[str, str]) -> dict[str, Any]:
    given = {name: value for name, value in named.items() if name in ("item", "human", "annotator")}
    found = answer_columns(columns, "the table", Names(**given))
    truth = named.get("truth") or first_of(columns, TRUTH)
    if guess.truth and guess.is_people_alone:
        known = truth_columns(columns, "the table", named.get("item"), named.get("truth_column"))
        truth = known.labels["truth"]
    return {
        "item": found.item,
        "annotator": found.annotator,
        "people": {*found.labels.values()},
        "truth": truth,
        "confidence": {found.labels[name]: column for name, column in found.confidence.items()},
    }


def _as_found(guess: Guess) -> dict[str, Any]:
    found = {
        "item": guess.item,
        "annotator": guess.annotator,
        "people": {*guess.people.values()},
        "truth": guess.truth,
        "confidence": {guess.people[name]: column for name, column in guess.confidence.items()},
    }
    if guess.is_answers:
        return found
    others = {"labels": guess.labellers, "scores": guess.scores, "grades": {*guess.grades.values()}}
    return found | {"models": _columns_of(guess.models)} | others


def _columns_of(models: Mapping[str, Mapping[str, str]]) -> list[dict[str, str]]:
    """Each model's columns by class; the name of the only model does not matter."""
    if len(models) == 1:
        return [dict(next(iter(models.values())))]
    return [{"": name} | dict(models[name]) for name in sorted(models)]
