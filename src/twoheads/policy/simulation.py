"""Simulate asking: accuracy against cost on items whose truth and answers are known."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.errors import InvalidObservations
from twoheads.kernels.answers import item_of_answers, pack_answers, pack_values
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.scoring.answer_value import coherent_gains
from twoheads.observations import matched_rows
from twoheads.observations.frames import new_frame
from twoheads.observations.labels import encode_labels
from twoheads.policy.arguments import as_number, as_prices
from twoheads.policy.asking import Outlook, as_team
from twoheads.policy.choosing import CLOSELY
from twoheads.rendering.notebook import Shown

#: Number of pairs of item and person whose matrices are held in memory at a time.
_PAIRS = 8192


@dataclass(frozen=True, repr=False)
class AskingCurve(Shown):
    """Accuracy against cost.

    Attributes
    ----------
    cost, accuracy : ndarray of shape (n_answers + 1,)
        What was spent, and the accuracy over all items then: first before anyone is asked, then after each answer.
    expected : ndarray of shape (n_answers + 1,) or None
        The accuracy predicted from the expected gains, from the same start; only for the policy that computes them.
    """

    cost: Floats
    accuracy: Floats
    expected: Floats | None = None

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per answer, as a frame of a library."""
        expected = {} if self.expected is None else {"expected": self.expected}
        return new_frame({"cost": self.cost, "accuracy": self.accuracy, **expected}, kind)

    def at(self, cost: float) -> float:
        """The accuracy that a budget buys."""
        return float(self.accuracy[np.searchsorted(self.cost, cost * (1 + 1e-12), side="right") - 1])

    def cost_of(self, accuracy: float) -> float:
        """The least cost at which an accuracy is reached; infinite where it never is."""
        reached = np.flatnonzero(self.accuracy >= accuracy)
        return float(self.cost[reached[0]]) if len(reached) else np.inf


def simulate_asking(
    team: ProbabilityLabelCombiner,
    X: Any,
    y: Any,
    *,
    price: float | Mapping[str, float] = 1.0,
    budget: float | None = None,
    random_state: int | None = 0,
) -> dict[str, AskingCurve]:
    """Ask for the answers in ``X`` one after another, by several policies, and record the accuracy that each reaches.

    Parameters
    ----------
    team : ProbabilityLabelCombiner
        A team fitted on other items.
    X : Observations, data frame or array
        What each person would answer if asked; at the start nobody has been asked.
    y : array of shape (n_items,)
        The truth.
    price : float or mapping of names to floats
        What an answer costs; 1 for those whom a mapping does not name.
    budget : float, optional
        Where the curves end; by default what one answer per item costs on average.
    random_state : int, optional
        Seed of the random choices: who is asked, and the items of the random policy.

    Returns
    -------
    dict of AskingCurve
        - ``"expected_gain"``: the most expected gain per price first, as `choose` with a budget of one question at a
          time; it stops where no answer is expected to gain anything
        - ``"nobody"`` and ``"everyone"``: one point each, independent of the budget
        - ``"random"``: a random person about a random item
        - ``"least_sure"``: a random person about the item that the model is least sure of; second answers once every
          item has one
        - ``"threshold"``: the same items, but a person's answer replaces the model's label: deferral below a threshold
          on the model's confidence, each cost being a threshold

    Examples
    --------
    >>> from twoheads import recommended
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 5
    >>> curves = simulate_asking(recommended().fit(X, [0, 1, 0, 1] * 5), X, [0, 1, 0, 1] * 5)
    >>> curves["nobody"].accuracy.tolist(), curves["expected_gain"].cost_of(1.0)
    ([0.75], 15.0)
    """
    pool = _Pool.of(team, X, y, price)
    limit = pool.mean_price() * len(pool.truth) if budget is None else as_number(budget, "budget")
    rng = np.random.default_rng(random_state)
    shuffled = rng.permutation(len(pool.item))
    sure = pool.model_confidence()[pool.item[shuffled]]
    sure_last = shuffled[np.lexsort((sure, _rank(pool.item[shuffled])))]
    first = sure_last[_rank(pool.item[sure_last]) == 0]
    start = pool.outlook.choice == pool.truth
    return {
        "expected_gain": _ask_for_gain(pool, start, limit),
        "nobody": AskingCurve(np.zeros(1), np.array([start.mean()])),
        "everyone": AskingCurve(np.array([pool.price.sum()]), np.array([pool.right_with_all().mean()])),
        "random": _ask_in_order(pool, start, shuffled, limit),
        "least_sure": _ask_in_order(pool, start, sure_last, limit),
        "threshold": _curve(start, pool.item[first], pool.deferred(first), pool.price[first], limit),
    }


@dataclass(frozen=True)
class _Pool:
    """Answers that can be asked for, and the outlook before any of them.

    item, column, price  (n_answers,) whose item, which column of S as the team numbers them, at what price
    """

    outlook: Outlook
    truth: Codes
    item: Codes
    column: Codes
    price: Floats

    @classmethod
    def of(cls, team: ProbabilityLabelCombiner, X: Any, y: Any, price: float | Mapping[str, float]) -> _Pool:
        observations = as_team(team).observe(X)
        truth = encode_labels(matched_rows(X, y)[0], observations.classes, argument="y")
        if len(truth) != len(observations) or (truth == MISSING).any():
            raise InvalidObservations(
                f"y must hold the truth of every item; it has {len(truth)} entries, {int((truth == MISSING).sum())} of "
                f"them missing, for {len(observations)} items. Leave the others out."
            )
        asked = Outlook.of(team, observations)
        item, who = asked.answered()
        answers, n_classes = observations.answers, observations.n_classes
        there = answers.column != MISSING
        prices = as_prices(price, observations.annotators)
        column = asked.places(list(observations.annotators))[who] * n_classes + answers.column[there] % n_classes
        is_machine = np.array([name in observations.machines for name in observations.annotators])[who]
        levels = np.full(len(item), np.nan) if observations.confidence is None else observations.confidence[there]
        nobody = replace(
            observations,
            annotators=team.annotators_,
            unsure=None,
            **_packed(item[is_machine], column[is_machine], levels[is_machine], len(observations)),
        )
        people = ~is_machine
        return cls(Outlook.of(team, nobody), truth, item[people], column[people], prices[who[people]])

    def mean_price(self) -> float:
        return float(self.price.mean()) if len(self.price) else 1.0

    def model_confidence(self) -> Floats:
        """The model's largest probability of each item, before calibration."""
        observations = self.outlook.observations
        return np.asarray(observations.block(slice(0, len(observations))).log_proba.max(axis=0))

    def known(self, subset: Codes) -> Outlook:
        """The outlook once a subset of the answers (their positions) is in, on the items that have any of them."""
        rows, item = np.unique(self.item[subset], return_inverse=True)
        before = self.outlook.observations.take(rows)
        there = before.answers.column != MISSING
        levels = np.full(int(there.sum()), np.nan) if before.confidence is None else before.confidence[there]
        item = np.concatenate([item_of_answers(before.answers)[there], item])
        column = np.concatenate([before.answers.column[there], self.column[subset]])
        levels = np.concatenate([levels, np.full(len(subset), np.nan)])
        return Outlook.of(self.outlook.team, replace(before, **_packed(item, column, levels, len(rows))))

    def right_with_all(self) -> Any:
        right = self.outlook.choice == self.truth
        if len(self.item):
            rows = np.unique(self.item)
            right[rows] = self.known(np.arange(len(self.item))).choice == self.truth[rows]
        return right

    def deferred(self, subset: Codes) -> Any:
        """Whether each of a subset of the answers is right by itself."""
        return self.column[subset] % len(self.outlook.posterior) == self.truth[self.item[subset]]


def _packed(item: Codes, column: Codes, levels: Floats, n_items: int) -> dict[str, Any]:
    """Answers, and levels of scores in place of their confidence, as fields of Observations."""
    confidence = None if np.isnan(levels).all() else pack_values(item, column, levels, n_items)
    return {"answers": pack_answers(item, column, n_items), "confidence": confidence}


def _rank(item: Codes) -> Codes:
    """How many of the entries before it have the same item, (n,)."""
    order = np.argsort(item, kind="stable")
    rank = np.empty(len(item), dtype=np.intp)
    rank[order] = np.arange(len(item)) - np.searchsorted(item[order], item[order])
    return rank


def _ask_in_order(pool: _Pool, start: Any, order: Codes, budget: float) -> AskingCurve:
    """The curve of answers that come in a fixed order."""
    order = order[np.cumsum(pool.price[order]) <= budget * (1 + 1e-12)]
    item, rank = pool.item[order], _rank(pool.item[order])
    right = np.empty(len(order), dtype=bool)
    for turn in range(int(rank.max(initial=-1)) + 1):
        now = np.flatnonzero(rank == turn)
        so_far = np.flatnonzero((rank <= turn) & np.isin(item, item[now]))
        outlook = pool.known(order[so_far])
        rows = np.unique(item[so_far])
        right[now] = outlook.choice[np.searchsorted(rows, item[now])] == pool.truth[item[now]]
    return _curve(start, item, right, pool.price[order], budget)


class _Question(NamedTuple):
    """A question about an item, with whether the item is right after its answer."""

    item: int
    gain: float
    price: float
    right: bool


def _ask_for_gain(pool: _Pool, start: Any, budget: float) -> AskingCurve:
    """The curve of the most gain per price first.

    The gain of a question depends only on the answers to the same item. So the questions of all items are computed
    round by round, and then asked in the order of their current gain per price.
    """
    asked = list(heapq.merge(*_questions(pool), key=lambda question: -question.gain / question.price))
    item, gain, price, right = np.array(asked, dtype=np.float64).reshape(-1, 4).T
    return _curve(start, item.astype(np.intp), right.astype(bool), price, budget, gain)


def _questions(pool: _Pool) -> list[list[_Question]]:
    """For each item the questions about it that are worth something, in the order in which they are asked."""
    left = np.ones(len(pool.item), dtype=bool)
    had = np.empty(0, dtype=np.intp)
    found: list[list[_Question]] = [[] for _ in pool.truth]
    rows, outlook = np.arange(len(pool.truth)), pool.outlook
    while len(rows):
        answer, gain = _best_answers(pool, outlook, rows, left)
        worthwhile = gain > 0
        rows, answer, gain = rows[worthwhile], answer[worthwhile], gain[worthwhile]
        if not len(rows):
            break
        left[answer] = False
        had = np.concatenate([had[np.isin(pool.item[had], rows)], answer])
        outlook = pool.known(had)
        right = outlook.choice == pool.truth[rows]
        columns = rows.tolist(), gain.tolist(), pool.price[answer].tolist(), right.tolist()
        for question in map(_Question, *columns):
            found[question.item].append(question)
    return found


def _best_answers(pool: _Pool, outlook: Outlook, rows: Codes, left: Any) -> tuple[Codes, Floats]:
    """Position and gain of the answer with the most gain per price, for each item; gain 0 where none is left."""
    at = np.full(len(pool.truth), MISSING)
    at[rows] = np.arange(len(rows))
    pair = np.flatnonzero(left & (at[pool.item] != MISSING))
    place = pool.column[pair] // len(outlook.posterior)
    own = at[pool.item[pair]]
    quick = np.empty(len(pair))
    for begin in range(0, len(pair), _PAIRS):
        chunk = slice(begin, begin + _PAIRS)
        given_true = np.ascontiguousarray(np.moveaxis(outlook.given_true[place[chunk]], 0, 2))
        quick[chunk] = coherent_gains(outlook.belief[:, own[chunk]], given_true) / pool.price[pair[chunk]]
    order = np.lexsort((-quick, own))
    close = order[_rank(own[order]) < CLOSELY]
    gain = outlook.gains(own[close], place[close])
    ratio = gain / pool.price[pair[close]]
    best = np.lexsort((-ratio, own[close]))
    best = best[_rank(own[close][best]) == 0]
    answer, gained = np.zeros(len(rows), dtype=np.intp), np.zeros(len(rows))
    answer[own[close[best]]], gained[own[close[best]]] = pair[close[best]], gain[best]
    return answer, gained


def _curve(
    start: Any, item: Codes, right: Any, price: Floats, budget: float, gains: Floats | None = None
) -> AskingCurve:
    """The curve of answers to items, in order, with whether the item is right after each."""
    rank, before = _rank(item), np.empty(len(item), dtype=bool)
    order = np.lexsort((rank, item))
    before[order[1:]] = right[order[:-1]]
    before[rank == 0] = start[item[rank == 0]]
    cost = np.concatenate([[0.0], np.cumsum(price)])
    accuracy = start.mean() + np.concatenate([[0.0], np.cumsum(right * 1.0 - before)]) / len(start)
    expected = None if gains is None else start.mean() + np.concatenate([[0.0], np.cumsum(gains)]) / len(start)
    within = cost <= budget * (1 + 1e-12)
    return AskingCurve(cost[within], accuracy[within], None if expected is None else expected[within])
