"""Scores in a long table, ``item, annotator, score``: a row holds an answer or a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import Codes, Floats
from twoheads.observations.columns import ANSWER, first_of, one_of
from twoheads.observations.frames import Frame
from twoheads.observations.members import Scores, as_scores, class_of_high_scores
from twoheads.text import are


def answers_and_scores(long: Frame, positive: Any) -> tuple[NDArray[Any], Floats | None]:
    """The answers, blank where a row has a score, and the scores; None unless ``positive`` says what scores mean."""
    if positive is None or "score" not in long.columns:
        return long.column(one_of(long.columns, ANSWER, "answers")), None
    score = as_scores(long.column("score"), "score")
    named = first_of(long.columns, ANSWER)
    answer = np.full(len(score), None, dtype=object) if named is None else long.column(named).astype(object)
    answer[~np.isnan(score)] = None
    return answer, score


@dataclass(frozen=True)
class LongScores:
    """The scores of a long table.

    value            (n_rows,) NaN where a row has none
    item, annotator  (n_rows,) the number of each row's item and annotator
    names            of all annotators
    """

    value: Floats
    item: Codes
    annotator: Codes
    names: tuple[str, ...]

    @property
    def scorers(self) -> Codes:
        """The numbers of the annotators who give scores."""
        return np.unique(self.annotator[~np.isnan(self.value)])

    def others(self, answered: Codes) -> tuple[Codes, tuple[str, ...]]:
        """The number of each annotator among those who give answers, and the names of these.

        answered  the rows with an answer
        """
        scorers = self.scorers
        mixed = answered[np.isin(self.annotator[answered], scorers)]
        if len(mixed):
            raise InvalidObservations(
                f"answers must hold one kind of answer of each member; {self.names[self.annotator[mixed[0]]]!r} has "
                f"scores, but only an answer in row {mixed[0]} ({len(mixed)} of {len(self.value)} rows are off). "
                "Give the score, or leave those rows out."
            )
        gives_answers = np.isin(np.arange(len(self.names)), scorers, invert=True)
        names = tuple(name for name, kept in zip(self.names, gives_answers, strict=True) if kept)
        return np.cumsum(gives_answers) - 1, names

    def scores(self, n_items: int, classes: NDArray[Any], positive: Any) -> Scores | None:
        """The scores by item and annotator; each may give one per item."""
        rises, name = class_of_high_scores(classes, positive, "score")
        scorers, rows = self.scorers, np.flatnonzero(~np.isnan(self.value))
        if not len(scorers):
            return None
        place = self.item[rows] * len(scorers) + np.searchsorted(scorers, self.annotator[rows])
        times = np.bincount(place, minlength=n_items * len(scorers))
        if times.max() > 1:
            row = rows[(times[place] > 1).argmax()]
            raise InvalidObservations(
                f"answers must hold one score per item and annotator; {self.names[self.annotator[row]]!r} has "
                f"{times.max()} on the item of row {row} ({are(len(rows) - int((times > 0).sum()), 'row')} repeated). "
                "Keep one of each."
            )
        values = np.full(n_items * len(scorers), np.nan)
        values[place] = self.value[rows] if rises else -self.value[rows]
        names = tuple(self.names[at] for at in scorers)
        return Scores(names, values.reshape(n_items, len(scorers)), (), name)
