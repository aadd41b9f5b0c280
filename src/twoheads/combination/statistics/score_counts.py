"""Counts of levels of scores under other levels, so that teams whose scores were cut elsewhere can be merged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from twoheads.combination.statistics.reservoir import ItemSample
from twoheads.confusion.response import scored_rank
from twoheads.confusion.score_levels import ScoreLevels
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.confusion.score_levels import (
    N_LEVELS,
    from_the_cut,
    is_silent,
    level_at,
    middle_cut,
    score_levels,
    sides_of,
)


def score_rows(response_counts: Floats, levels: ScoreLevels | None) -> Floats:
    """The rows of scores among the counts of responses, the first, (n_members * n_levels, n_classes)."""
    return response_counts[: 0 if levels is None else len(levels.names) * N_LEVELS]


@dataclass(frozen=True)
class LevelChange:
    """From levels of scores to others: an old level goes to the new one of the score in it that is next to the cut.

    old         (n_members,) the middle cuts of the old ones
    levels      the new ones
    place       (n_members, n_levels) the new level of each old one
    annotators  (n_members,) the number of each member among the annotators
    """

    old: Floats
    levels: ScoreLevels
    place: Codes
    annotators: Codes

    @classmethod
    def between(
        cls, old: ScoreLevels | None, new: ScoreLevels | None, annotators: tuple[str, ...]
    ) -> LevelChange | None:
        """The change from old to new levels; None where there is none."""
        if old is None or new is None or _are_same(old, new):
            return None
        return cls(old.middle_cuts, new, _new_levels(old, new), np.array(new.places(annotators)))

    def responses(self, response_counts: Floats) -> Floats:
        """Counts of responses whose first rows are those of scores."""
        n_members, n_classes = len(self.place), response_counts.shape[1]
        n_rows = n_members * N_LEVELS
        before = response_counts[:n_rows].reshape(n_members, N_LEVELS, n_classes)
        after = np.zeros_like(before)
        for member, new in enumerate(self.place):
            np.add.at(after[member], new, before[member])
        return np.concatenate([after.reshape(n_rows, n_classes), response_counts[n_rows:]])

    def answers(self, counts: Floats, response_counts: Floats) -> Floats:
        """Counts of each annotator's answers; those of scores follow from counts of responses under new levels."""
        counts = counts.copy()
        for member, (annotator, cuts) in enumerate(zip(self.annotators, self.levels.cuts, strict=True)):
            rows = response_counts[member * N_LEVELS : (member + 1) * N_LEVELS]
            if annotator < len(counts):
                counts[annotator] = [side.sum(axis=0) for side in np.split(rows, cuts)]
        return counts

    def sample(self, sample: ItemSample | None) -> ItemSample | None:
        """A sample of items."""
        if sample is None or sample.confidence is None:
            return sample
        n_classes, cuts = len(sample.log_proba), np.array(self.levels.cuts).T
        member = scored_rank(self.annotators, sample.column // n_classes)
        at = np.flatnonzero((member >= 0) & ~np.isnan(sample.confidence))
        member = member[at]
        level = self.place[member, level_at(sample.confidence[at], self.old[member])]
        column, confidence = sample.column.copy(), sample.confidence.copy()
        column[at] = column[at] // n_classes * n_classes + sides_of(level, cuts[:, member])
        confidence[at] = from_the_cut(level, self.levels.middle_cuts[member])
        return replace(sample, column=column, confidence=confidence)


def _are_same(one: ScoreLevels, other: ScoreLevels) -> bool:
    found = ((*each.bounds, *each.silent, *each.cuts) for each in (one, other))
    return all(np.array_equal(*pair) for pair in zip(*found, strict=True))


def _new_levels(old: ScoreLevels, new: ScoreLevels) -> Codes:
    """The new level of each old one, (n_members, n_levels)."""
    place = np.zeros((len(old.names), N_LEVELS), dtype=np.intp)
    for member, (before, after) in enumerate(zip(old.bounds, new.bounds, strict=True)):
        cut, (start, end) = int(middle_cut(old.cuts[member])), old.silent[member]
        lower, higher = before[:cut].copy(), before[cut - 1 :]
        if start < end:  # the lower side ends where the silent scores begin
            lower[-1:] = start
        ends = np.concatenate([np.nextafter(lower, -np.inf), higher])
        level = score_levels(ends, after)
        # What was on a side, and is on none now, is in the level of that side next to the cut.
        level[cut:][is_silent(higher, new.silent[member])] = int(middle_cut(new.cuts[member]))
        place[member, : len(ends)] = level
    return place
