"""Answers as rows: who answered what about which item, what is true of it, and what is believed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import item_of_answers
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.inference.grouped_rows import Rows, group_means, kish_count, one_group, ratio, rows_of, sums
from twoheads.observations import Observations


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers that are a class; "unsure" is none.

    n_people             how many people there are, those without an answer counted
    item, person, label  (n_answers,) codes; ``item`` is the position among the observations
    truth                (n_answers,) codes, MISSING where unknown
    cluster              (n_answers,) codes of the items, without gaps
    weight               (n_answers,) positive: intervals count no answer as more than one, whatever its weight
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
        """Those of some people, numbered by their place in ``who``."""
        if len(who) == self.n_people:
            return self
        place = np.full(self.n_people, MISSING)
        place[who] = np.arange(len(who))
        rows = self._take(place[self.person] != MISSING)
        return replace(rows, n_people=len(who), person=place[rows.person])

    def of_one_class(self) -> bool:
        """Whether all known truth is of one class."""
        known = self.truth[self.truth != MISSING]
        return len(known) > 0 and bool((known == known[0]).all())

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

    def numbers(self) -> Floats:
        """How many answers each person has given, (n_people,)."""
        return np.bincount(self.person, minlength=self.n_people).astype(np.float64)

    def counts(self, values: Floats) -> Floats:
        """Sum of the values of each person's answers, whose weights add up to Kish's number of them, (n_people,)."""
        rows = self.by_person()
        return np.asarray(group_means(values, rows) * kish_count(rows))

    def units(self, code: Codes, n_codes: int, own: Floats | None = None) -> Floats:
        """Weight of one answer where those of a code count as Kish's number of them, ``sum w^2 / sum w``, (n_codes,).

        A code without answers has that of all.

        code  (n_answers,)
        own   (n_items,) the items' own weights, where each stands for others that are not here
        """
        each = self.weight if own is None else own[self.item]
        top, bottom = sums(code, self.weight * each, n_codes), sums(code, self.weight, n_codes)
        return ratio(top, bottom, float(top.sum() / bottom.sum()) if len(code) else 1.0)

    def _take(self, rows: NDArray[np.bool_]) -> AnswerRows:
        item, person, label, truth = (each[rows] for each in (self.item, self.person, self.label, self.truth))
        cluster = np.unique(self.cluster[rows], return_inverse=True)[1]
        return AnswerRows(self.n_people, item, person, label, truth, cluster, self.weight[rows], self.posterior)


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
    person, label = np.divmod(column[given], observations.n_classes)
    cluster = np.unique(item[given], return_inverse=True)[1]
    n_people = max(len(observations.annotators), 1)
    return AnswerRows(n_people, item[given], person, label, truth[item[given]], cluster, each[given], posterior)
