"""Answers as rows: who answered what about which item, what is true of it, and what is believed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.inference.grouped_rows import Rows, one_group, rows_of
from twoheads.observations import Observations

#: Answers about items of whole weights are repeated, so that weight 2 is the item twice, up to so many in all.
MOST_COPIES = 100_000


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers that are a class; "unsure" is none.

    n_people             how many people there are, those without an answer counted
    item, person, label  (n_answers,) codes; ``item`` is the position among the observations
    truth                (n_answers,) codes, MISSING where unknown
    cluster              (n_answers,) codes of what is one item; each copy of an item of weight 2 is one
    weight               (n_answers,)
    posterior            (n_items, n_classes) what is believed of each item; None where nothing is
    """

    n_people: int
    item: Codes
    person: Codes
    label: Codes
    truth: Codes
    cluster: Codes
    weight: Floats
    posterior: Floats | None

    def labelled(self) -> AnswerRows:
        """Those about items of known truth."""
        return self._take(self.truth != MISSING)

    def unlabelled(self) -> AnswerRows:
        """The others; none where nothing is believed of them."""
        return self._take((self.truth == MISSING) & (self.posterior is not None))

    def of(self, who: list[int]) -> AnswerRows:
        """Those of some people, who are numbered anew."""
        if len(who) == self.n_people:
            return self
        place = np.full(self.n_people, MISSING)
        place[who] = np.arange(len(who))
        rows = self._take(place[self.person] != MISSING)
        return replace(rows, n_people=len(who), person=place[rows.person])

    def right(self) -> Floats:
        """1 for an answer that is right, else 0, (n_answers,)."""
        return np.asarray(self.label == self.truth, dtype=np.float64)

    def belief(self, label: Codes | int) -> Floats:
        """Belief that a class is the true one, (n_answers,); 0 where nothing is believed."""
        return np.zeros(len(self.item)) if self.posterior is None else np.asarray(self.posterior[self.item, label])

    def by_person(self) -> Rows:
        """The rows grouped by person."""
        return rows_of(self.person, self.n_people, cluster=self.cluster, weight=self.weight)

    def together(self) -> Rows:
        """The rows as one group."""
        return one_group(len(self.item), cluster=self.cluster, weight=self.weight)

    def sums(self, values: Floats) -> Floats:
        """Weighted sum of the values of each person's answers, (n_people,)."""
        return np.asarray(np.bincount(self.person, self.weight * values, self.n_people), dtype=np.float64)

    def _take(self, some: NDArray[np.bool_]) -> AnswerRows:
        item, person, label, truth = (each[some] for each in (self.item, self.person, self.label, self.truth))
        cluster = np.unique(self.cluster[some], return_inverse=True)[1]
        return AnswerRows(self.n_people, item, person, label, truth, cluster, self.weight[some], self.posterior)


def answer_rows(
    observations: Observations, truth: Codes, weight: Floats | None = None, posterior: Floats | None = None
) -> AnswerRows:
    """The answers of observations; those of weight 0 are left out.

    truth, weight  (n_items,)
    posterior      (n_items, n_classes)
    """
    column = observations.answers.column
    item = item_of_answers(observations.answers)
    each = np.ones(len(item)) if weight is None else weight[item]
    given = np.flatnonzero((column != MISSING) & (each > 0))
    given, copy, each = _copies(given, each[given])
    person, label = np.divmod(column[given], observations.n_classes)
    cluster = np.unique(item[given] + len(observations) * copy, return_inverse=True)[1]
    n_people = max(len(observations.annotators), 1)
    return AnswerRows(n_people, item[given], person, label, truth[item[given]], cluster, each, posterior)


def _copies(rows: Codes, weight: Floats) -> tuple[Codes, Codes, Floats]:
    """Rows of whole weights as often as they count, the number of each copy, and the weights that are left."""
    if (weight == 1.0).all() or (weight % 1.0).any() or weight.sum() > MOST_COPIES:
        return rows, np.zeros(len(rows), dtype=np.intp), weight
    times = weight.astype(np.intp)
    copy = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return np.repeat(rows, times), copy, np.ones(len(copy))
