"""Members of a fitted team that a table has no column of, and members that it has and the team does not know."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any, Protocol, runtime_checkable

from twoheads.confusion.score_levels import ScoreLevels
from twoheads.errors import InvalidObservations
from twoheads.observations import Observations
from twoheads.observations.frames import is_frame
from twoheads.text import did_you_mean, listed


@runtime_checkable
class Members(Protocol):
    """What is read of a fitted team."""

    annotators_: tuple[str, ...]
    machines_: tuple[str, ...]
    levels_: ScoreLevels | None
    models_: tuple[str, ...]
    has_model_: bool


def notes_on_members(
    team: Members, where: str, models: Collection[str], labels: Collection[str] | None, scores: Collection[str]
) -> list[str]:
    """Whose columns a table lacks, who is new in it, and what follows, in sentences.

    models, labels, scores  the members that the table has columns of, by what they give; no labels where rows say whose
    """
    asked, lacking, new = _changes(team, models, labels, scores)
    other = [name for name in new if name in lacking]
    notes = _absent(where, {name: column for name, column in lacking.items() if name not in other}, len(asked))
    if other:
        columns = listed([f"{name} (not {lacking[name]})" for name in other])
        what = f"{where} has labels of {columns}, who gave scores or probabilities at fit"
        notes.append(f"{what}; they count as its average member's.")
        new = [name for name in new if name not in lacking]
    if new and any(kind == "label" for kind, _ in asked):
        like = _who_is_meant(new, lacking)
        notes.append(
            f"{where} has answers of {listed(new)}, unknown to the team; they count as its average member's.{like}"
        )
    return notes


def notes_on_learnt_members(
    team: Members, where: str, models: Collection[str], labels: Collection[str] | None, scores: Collection[str]
) -> list[str]:
    """The same sentences for a table from which the team learns: whoever is new becomes a member.

    A member must give what the team's items hold of it.
    """
    asked, lacking, _ = _changes(team, models, labels, scores)
    known = {name: kind for kind, name in asked}
    here = {"probabilities": _as_known(team, models), "labels": labels or (), "scores": scores}
    other = next(((kind, name) for kind, names in here.items() for name in names if name in lacking), None)
    if other is not None:
        kind, name = other
        raise InvalidObservations(
            f"{where} must hold the same kind of answer of each member as the items that the team keeps; of {name!r} "
            f"it has {kind}, and they have {lacking[name]}. Rename the column if it is another member; else leave it "
            "out, or fit again."
        )
    notes, new = _absent(where, lacking, len(asked)), [name for names in here.values() for name in names]
    new = [name for name in new if name not in known]
    if new:
        like = _who_is_meant(new, lacking)
        notes.append(f"{where} has answers of {listed(new)}, new to the team, which learns from them.{like}")
    return notes


def _absent(where: str, lacking: Mapping[str, str], n_members: int) -> list[str]:
    """The members of whom a table has no column, in a sentence."""
    if not lacking:
        return []
    shown = listed([f"{name} ({column})" for name, column in lacking.items()])
    many = f"{len(lacking)} of {n_members} members of the team"
    return [f"{where} has no column of {shown}: {many}, absent for all items."]


def columns_of_members(team: Members) -> list[str]:
    """The columns of a team's members, by convention."""
    return list(_columns(team).values())


def warn_of_members(team: Members, X: Any, observations: Observations) -> None:
    """Warn where a data frame ``X`` lacks a model, or a person whom a new one seems to be, misspelt.

    That people are not asked, and that others answer, is no reason for a warning.
    """
    if isinstance(X, Observations) or not is_frame(X):
        return
    scores = () if observations.scores is None else observations.scores.names
    models = observations.models if observations.model_proba else ()
    members = models, observations.annotators, scores
    _, lacking, new = _changes(team, *members)
    if _who_is_meant(new, lacking) or any(name in (*team.models_, *team.machines_) for name in lacking):
        for note in notes_on_members(team, "X", *members):
            warnings.warn(note, UserWarning, stacklevel=7)


def _changes(
    team: Members, models: Collection[str], labels: Collection[str] | None, scores: Collection[str]
) -> tuple[Mapping[tuple[str, str], str], dict[str, str], list[str]]:
    """The columns of all members, those of members that the table lacks, and who is new in it."""
    asked = _columns(team)
    known = {name for kind, name in asked if kind == "label"}
    models = _as_known(team, models)
    there = {"model": models, "label": known if labels is None else labels, "score": scores}
    lacking = {name: column for (kind, name), column in asked.items() if name not in there[kind]}
    return asked, lacking, [name for name in there["label"] if name not in known]


def _as_known(team: Members, models: Collection[str]) -> Collection[str]:
    """The models of a table by their names in the team: a model without a name is the only one of the other."""
    known = team.models_ if team.has_model_ else ()
    return known if len(models) == len(known) == 1 and "model" in (*models, *known) else models


def _who_is_meant(new: list[str], lacking: Collection[str]) -> str:
    return next((text for name in new if (text := did_you_mean(name, lacking))), "")


def _columns(team: Members) -> Mapping[tuple[str, str], str]:
    """The columns of each member by convention, by what it gives and its name."""
    scores = () if team.levels_ is None else team.levels_.names
    machines = () if team.levels_ is None else team.levels_.machines
    models = team.models_ if team.has_model_ else ()
    found = {("model", name): "p_<class>" if name == "model" else f"{name}.p_<class>" for name in models}
    for name in team.annotators_:
        person = "human" if name == "human" else f"human_{name}"
        if name in scores:
            found["score", name] = f"{name if name in machines else person}.score"
        else:
            found["label", name] = f"{name}.label" if name in team.machines_ else person
    return found
