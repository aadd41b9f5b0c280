"""Scores as answers: each is the side that it is on, with its level from the cut in place of a confidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import item_of_answers, pack_answers, pack_values, vote_shares
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.chosen_answers import kept_answers
from twoheads.kernels.class_shares import shares_by_labels
from twoheads.kernels.confusion.score_levels import (
    from_the_cut,
    is_silent,
    middle_cut,
    middle_ranks,
    score_cuts,
    score_levels,
    sides_of,
)
from twoheads.kernels.numerics.sampling import evenly_spaced
from twoheads.observations import Observations
from twoheads.observations.members import Scores
from twoheads.storage.artifact import register
from twoheads.text import did_you_mean

#: Levels are cut on all items, or on so many of more, evenly spaced.
LOOK = 1_000_000


@dataclass(frozen=True, eq=False)
class ScoreSample:
    """What levels are cut from: items with scores.

    scores  their scores
    truth   (n_items,) codes, MISSING where unknown
    voted   (n_items,) whether an item has answers
    votes   (n_classes, n_voted) share of each class among the answers of those
    weight  (n_items,) or None
    """

    scores: Scores
    truth: Codes
    voted: NDArray[np.bool_]
    votes: Floats
    weight: Floats | None

    @classmethod
    def of(cls, observations: Observations, truth: Codes | None, weight: Floats | None = None) -> ScoreSample:
        """Of observations with scores."""
        assert observations.scores is not None
        voted = observations.answers.per_item() > 0
        votes = vote_shares(observations.answers.take(np.flatnonzero(voted)), observations.n_classes)
        known = np.full(len(observations), MISSING) if truth is None else truth
        return cls(observations.scores, known, voted, votes, weight)


@register
@dataclass(frozen=True, eq=False)
class ScoreLevels(BaseEstimator):
    """Where each member's scores are cut into levels, found once, at fit.

    names     the members who give scores
    bounds    of each, the lower bounds of all levels but the first
    cuts      of each, (n_classes - 1,) the first level whose answer is the second class, the third and so on
    silent    of each, the ends of the scores in the middle that are no answer (`ScoreCuts`)
    machines  those of them that are machines
    positive  the name of the class that high scores mean
    """

    names: tuple[str, ...]
    bounds: tuple[Floats, ...]
    cuts: tuple[Codes, ...]
    silent: tuple[Floats, ...]
    machines: tuple[str, ...]
    positive: str

    @classmethod
    def of(cls, observations: Observations, truth: Codes | None, weight: Floats | None = None) -> ScoreLevels | None:
        """The levels of scores; None where nobody gives scores. An item of weight 2 is two; weight (n_items,)."""
        if observations.scores is None:
            return None
        rows = evenly_spaced(len(observations), LOOK)
        if weight is not None:
            rows = rows[weight[rows] > 0]
        known, share = None if truth is None else truth[rows], None if weight is None else weight[rows]
        return cls.of_sample([ScoreSample.of(observations.take(rows), known, share)])

    @classmethod
    def of_sample(cls, parts: Sequence[ScoreSample]) -> ScoreLevels | None:
        """The levels of the scores of all parts; None where there is no part."""
        if not parts:
            return None
        first, votes = parts[0].scores, np.concatenate([part.votes for part in parts], axis=1)
        values, truth, voted = (
            np.concatenate(each)
            for each in zip(*((part.scores.values, part.truth, part.voted) for part in parts), strict=True)
        )
        weighted = parts[0].weight is not None
        weight = np.concatenate([part.weight for part in parts if part.weight is not None]) if weighted else None
        shares = _class_shares(truth, voted, votes, np.ones(len(truth)) if weight is None else weight)
        ranks, found = cache(partial(_known_ranks, values, truth, voted, votes, weight)), []
        for column in values.T:
            given = ~np.isnan(column)
            own = None if weight is None else weight[given]
            found.append(score_cuts(column[given], partial(_among, ranks, given), shares, own))
        bounds, cuts, silent = zip(*((each.bounds, each.cuts, each.silent) for each in found), strict=True)
        return cls(first.names, bounds, cuts, silent, first.machines, first.positive)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each member has."""
        return tuple(len(bounds) + 1 for bounds in self.bounds)

    @property
    def middle_cuts(self) -> Floats:
        """The `middle_cut` of each member, from which levels are counted."""
        return middle_cut(np.array(self.cuts).T)

    def places(self, annotators: tuple[str, ...]) -> tuple[int, ...]:
        """The position of each member among annotators; their number for one who is not there."""
        position = {name: at for at, name in enumerate(annotators)}
        return tuple(position.get(name, len(annotators)) for name in self.names)

    def answered(self, observations: Observations) -> Observations:
        """Observations in which scores are answers, and their levels from the middle cut their confidence.

        All of one level say nothing, nor do those in the middle that are on no side.
        """
        scores = observations.scores
        if scores is None:
            return observations
        self._need_known(scores.names)
        n_classes, n_people, old = observations.n_classes, len(observations.annotators), observations.answers
        there = old.column != MISSING
        sure = np.full(len(old.column), np.nan) if observations.confidence is None else observations.confidence
        items, columns, numbers = [item_of_answers(old)[there]], [old.column[there]], [sure[there]]
        for place, (name, column) in enumerate(zip(scores.names, scores.values.T, strict=True)):
            at = self.names.index(name)
            on_a_side = ~np.isnan(column) & ~is_silent(column, self.silent[at])
            given = np.flatnonzero(on_a_side) if len(self.bounds[at]) else np.empty(0, dtype=np.intp)
            level = score_levels(column[given], self.bounds[at])
            items.append(given)
            columns.append((n_people + place) * n_classes + sides_of(level, self.cuts[at]))
            numbers.append(from_the_cut(level, middle_cut(self.cuts[at])))
        item, answer, number = map(np.concatenate, (items, columns, numbers))
        return replace(
            observations,
            annotators=(*observations.annotators, *scores.names),
            answers=pack_answers(item, answer, len(observations)),
            confidence=pack_values(item, answer, number, len(observations)),
            machines=(*observations.machines, *scores.machines),
            scores=None,
        )

    def as_scores(self, observations: Observations) -> Observations:
        """`answered`, undone: each score is its level, so that it can be cut again where a copy of a team is fitted."""
        is_scorer = np.array([name in self.names for name in observations.annotators], dtype=bool)
        if observations.scores is not None or not is_scorer.any():
            return observations
        answers, n_classes, level = observations.answers, observations.n_classes, observations.confidence
        assert level is not None
        scored = np.flatnonzero((answers.column != MISSING) & is_scorer[answers.column // n_classes])
        position = np.where(is_scorer, np.cumsum(is_scorer), np.cumsum(~is_scorer)) - 1
        person = answers.column // n_classes
        values = np.full((len(observations), int(is_scorer.sum())), np.nan)
        values[item_of_answers(answers)[scored], position[person[scored]]] = level[scored]
        kept, confidence = kept_answers(answers, ~is_scorer[person], level)
        names = tuple(name for name, own in zip(observations.annotators, is_scorer, strict=True) if own)
        unsure = observations.unsure
        return replace(
            observations,
            annotators=tuple(name for name in observations.annotators if name not in names),
            answers=replace(kept, column=_renumbered(kept.column, position, n_classes)),
            confidence=None if confidence is None or np.isnan(confidence).all() else confidence,
            unsure=None if unsure is None else replace(unsure, column=_renumbered(unsure.column, position, 1)),
            machines=tuple(name for name in observations.machines if name not in names),
            scores=Scores(names, values, tuple(name for name in names if name in self.machines), self.positive),
        )

    def _need_known(self, names: tuple[str, ...]) -> None:
        new = [name for name in names if name not in self.names]
        if new:
            raise InvalidObservations(
                f"X must hold scores only of those who gave scores at fit, {', '.join(self.names[:8])}; {new[0]!r} is "
                f"new ({len(new)} of {len(names)} are off).{did_you_mean(new[0], self.names)} "
                "Leave it out, or fit again with it."
            )


def answered(observations: Observations, levels: ScoreLevels | None) -> Observations:
    """Observations with scores as answers, by the levels of a fit; without levels there may be no scores."""
    if levels is not None:
        return levels.answered(observations)
    if observations.scores is not None:
        names = observations.scores.names
        raise InvalidObservations(
            f"X must hold scores only if there were scores at fit; those of {names[0]!r} are new "
            f"({len(names)} columns of scores). Leave them out, or fit again with them."
        )
    return observations


def _renumbered(column: Codes, position: Codes, n_answers: int) -> Codes:
    """Columns of answers where annotator ``p`` is ``position[p]``."""
    person, answer = np.divmod(column, n_answers)
    return np.where(column == MISSING, MISSING, position[person] * n_answers + answer)


def _among(values: Callable[[], Floats], items: NDArray[np.bool_]) -> Floats:
    return values()[items]


def _known_ranks(
    values: Floats, truth: Codes, voted: NDArray[np.bool_], votes: Floats, weight: Floats | None
) -> Floats:
    """Of each item the rank of the truth, from 0 to 1, else the mean of the answers' ranks and of scores' ranks.

    NaN where there is nothing.
    """
    rank = np.arange(len(votes)) / (len(votes) - 1)
    total, number = np.zeros(len(truth)), 1.0 * voted
    total[voted] = rank @ votes
    for column in values.T:
        ranks = middle_ranks(column, weight)
        total, number = total + np.nan_to_num(ranks), number + ~np.isnan(ranks)
    mean = np.divide(total, number, out=np.full(len(truth), np.nan), where=number > 0)
    return np.where(truth == MISSING, mean, rank[truth])


def _class_shares(truth: Codes, voted: NDArray[np.bool_], votes: Floats, weight: Floats) -> Floats:
    """Shares of the classes: of the labels that were answered, equal without any, and of the known truth."""
    n_classes, own = len(votes), weight[voted]
    answered = np.array([(own @ share + 1.0) / (own.sum() + n_classes) for share in votes[1:]])
    labels = np.array([weight[truth == at].sum() for at in range(n_classes)])
    return shares_by_labels(labels, np.array([1.0 - answered.sum(), *answered]))
