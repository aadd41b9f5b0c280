"""Choose the next questions: whom to ask about which item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.engines.blocks import map_blocks
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring.answer_value import coherent_gains
from twoheads.observations.frames import new_frame
from twoheads.policy.arguments import as_number, as_people, as_prices
from twoheads.policy.asking import Outlook, as_worth
from twoheads.rendering.notebook import Shown

#: Exact gains are computed for so many groups of people per item, those with the largest approximate gain,
CLOSELY = 5
#: and for so many times the items that the budget pays for, but at least so many.
MARGIN, LEAST_ITEMS = 2, 1000

#: Numbers in one array of approximate gains: they stay in the cache.
_QUICK_NUMBERS = 65_536


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """Questions worth asking, the best first.

    Attributes
    ----------
    row : ndarray of shape (n_questions,)
        The position of each question's item in ``X``.
    item : ndarray of shape (n_questions,)
        Its id.
    annotator : list of str
        Whom to ask.
    gain, price : ndarray of shape (n_questions,)
        What the answer is expected to gain, and what it costs.
    n_items : int
        How many items there are.
    next_gain : float
        Gain per price of the best question that the budget does not pay for; 0 where no other has any gain.
    expected_now : float
        The expected accuracy before anyone is asked; with a cost matrix, minus the expected cost.
    """

    row: Codes
    item: NDArray[Any]
    annotator: list[str]
    gain: Floats
    price: Floats
    n_items: int
    next_gain: float
    expected_now: float

    def __len__(self) -> int:
        return len(self.row)

    def summary(self) -> dict[str, Any]:
        """What a terminal and a notebook show."""
        first = f"{self.annotator[0]} about {self.item[0]}" if len(self) else "none"
        sums = {"gain": float(self.gain.sum()), "price": float(self.price.sum())}
        return {"questions": len(self), "first": first, **sums, "n_items": self.n_items, "next_gain": self.next_gain}

    def to_frame(self, kind: str = "pandas") -> Any:
        """One line per question, the best first, as a frame of a library."""
        columns = {"row": self.row, "item": self.item, "annotator": self.annotator}
        return new_frame(columns | {"gain": self.gain, "price": self.price}, kind)

    @property
    def expected_after(self) -> float:
        """The same once all answers are in."""
        return self.expected_now + float(self.gain.sum()) / self.n_items


def choose(
    team: ProbabilityLabelCombiner,
    X: Any,
    budget: float,
    *,
    people: Sequence[str] | None = None,
    price: float | Mapping[str, float] = 1.0,
    cost: ArrayLike | None = None,
    least_gain: float = 0.0,
) -> Plan:
    """Whom to ask about which items next: the most expected gain per price, within a budget.

    One question per item: whether a second answer is worth having depends on the first. Choose again once the answers
    are in, and stop when nothing is chosen.

    Parameters
    ----------
    team : ProbabilityLabelCombiner
        A fitted team.
    X : Observations, data frame, array or scanned table
        What is known so far. Nobody is asked twice about the same item.
    budget : float
        The maximum total price of all questions.
    people : sequence of str, optional
        Who can be asked; by default the people of the team. An unknown person is assumed to answer as the crowd does.
    price : float or mapping of names to floats
        What an answer costs; 1 for those whom a mapping does not name.
    cost : array of shape (n_decisions, n_classes), optional
        ``cost[d, j]`` is what decision d costs where j is true; being wrong costs 1 by default.
    least_gain : float
        A question is asked only if it gains more than this per unit of its price.

    Examples
    --------
    >>> from twoheads import recommended
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]] * 5
    >>> team = recommended().fit(X, [0, 1, 0, 1] * 5)
    >>> plan = choose(team, [[-1, 0.99, 0.01], [-1, 0.55, 0.45], [-1, 0.8, 0.2]], budget=2)
    >>> plan.item.tolist(), plan.annotator
    ([1, 2], ['human', 'human'])
    """
    limit, least = as_number(budget, "budget"), as_number(least_gain, "least_gain")
    outlook = Outlook.of(team, X, as_worth(cost, team))
    names = as_people(people, outlook.team.annotators_, outlook.team.machines_)
    groups = Groups.of(names, as_prices(price, names), outlook)
    value = outlook.belief if outlook.worth is None else outlook.worth @ outlook.belief
    row, group = _candidates(outlook, groups, limit)
    gain = outlook.gains(row, groups.place[group])
    ratio = gain / groups.price[group]
    order = np.lexsort((row, -ratio))
    order = order[ratio[order] > least]
    order = order[np.sort(np.unique(row[order], return_index=True)[1])]  # of each item, its best question
    bought, next_gain = _within(groups.price[group[order]], ratio[order], limit)
    order = order[bought]
    row, group = row[order], group[order]
    return Plan(
        row,
        outlook.observations.items[row],
        groups.members_for(row, group),
        gain[order],
        groups.price[group],
        len(outlook.observations),
        next_gain,
        float(value[outlook.choice, np.arange(len(outlook.observations))].mean()),
    )


@dataclass(frozen=True)
class Groups:
    """People who can be asked, grouped by matrix and price: a gain is computed once per group.

    names     of everyone
    of_name   (n_names,) the group of each
    place     (n_groups,) index of the group's matrix
    price     (n_groups,)
    answered  item and name (its position) of each answer so far by one of them
    """

    names: list[str]
    of_name: Codes
    place: Codes
    price: Floats
    answered: tuple[Codes, Codes]

    @classmethod
    def of(cls, names: list[str], prices: Floats, outlook: Outlook) -> Groups:
        """The groups of people who can be asked."""
        place = outlook.places(names)
        known, same = np.unique(place, return_inverse=True)
        number_of: dict[bytes, int] = {}
        matrix = np.array([number_of.setdefault(outlook.given_true[at].tobytes(), len(number_of)) for at in known])
        kind = np.column_stack([matrix[same], prices])
        _, first, group = np.unique(kind, axis=0, return_index=True, return_inverse=True)
        at = {name: number for number, name in enumerate(names)}
        number = np.array([at.get(name, -1) for name in outlook.observations.annotators], dtype=np.intp)
        item, who = outlook.answered()
        ours = number[who] >= 0
        return cls(names, group.ravel(), place[first], prices[first], (item[ours], number[who[ours]]))

    def taken(self, rows: Codes) -> NDArray[np.bool_]:
        """Whether everyone of a group has answered an item, (n_rows, n_groups); rows in order."""
        item, name = self.answered  # in the order of the items
        first, last = np.searchsorted(item, rows), np.searchsorted(item, rows, side="right")
        count = np.zeros((len(rows), len(self.place)), dtype=np.intp)
        for at in np.flatnonzero(last > first).tolist():
            np.add.at(count[at], self.of_name[name[first[at] : last[at]]], 1)
        return np.asarray(count >= np.bincount(self.of_name))

    def members_for(self, row: Codes, group: Codes) -> list[str]:
        """Someone of the group for each question, in turn, who has not answered it yet."""
        members = [np.flatnonzero(self.of_name == each).tolist() for each in range(len(self.place))]
        turn = [0] * len(members)
        done = set(zip(*(part.tolist() for part in self.answered), strict=True))
        asked = []
        for item, each in zip(row.tolist(), group.tolist(), strict=True):
            while (item, members[each][turn[each] % len(members[each])]) in done:
                turn[each] += 1
            asked.append(self.names[members[each][turn[each] % len(members[each])]])
            turn[each] += 1
        return asked


def _candidates(outlook: Outlook, groups: Groups, budget: float) -> tuple[Codes, Codes]:
    """Items and groups with the largest approximate gains per price, whose exact gains are worth computing."""
    given_true = np.ascontiguousarray(np.moveaxis(outlook.given_true[groups.place], 0, 2))
    n_items, n_groups = len(outlook.observations), len(groups.place)
    n_close = min(CLOSELY, n_groups)
    n_looked = int(min(n_items, max(LEAST_ITEMS, MARGIN * (budget // groups.price.min()))))
    rows = _possible_candidates(outlook, groups, given_true, n_looked)
    step = max(1, _QUICK_NUMBERS // n_groups)

    def look(start: int) -> tuple[Codes, Floats]:
        chunk = rows[start : start + step]
        ratio = coherent_gains(outlook.belief[:, chunk, None], given_true, outlook.worth)
        ratio /= groups.price
        ratio[groups.taken(chunk)] = -np.inf
        close = np.argpartition(-ratio, n_close - 1, axis=1)[:, :n_close]
        return close, np.take_along_axis(ratio, close, axis=1)

    looks = list(map_blocks(look, range(0, len(rows), step)))
    close, ratio = (np.concatenate(each) for each in zip(*looks, strict=True))
    best = np.sort(np.argpartition(-ratio.max(axis=1), n_looked - 1)[:n_looked])
    of_best, at = np.nonzero(ratio[best] > -np.inf)
    return rows[best[of_best]], close[best[of_best], at]


def _possible_candidates(outlook: Outlook, groups: Groups, given_true: Floats, n_looked: int) -> Codes:
    """Items that can be among the ``n_looked`` with the largest gain per price, (n,).

    Upper bound of an item's gain: that of knowing the truth, ``sum_y b(y) max_d w(d, y) - max_d sum_y b(y) w(d, y)``,
    over the lowest price. Lower bound: the gain of one able group. An item is dropped if its upper bound is below the
    ``n_looked``-th largest lower bound.
    """
    belief, worth = outlook.belief, outlook.worth
    able = int((np.trace(given_true, axis1=0, axis2=1) / groups.price).argmax())
    least = coherent_gains(belief, given_true[..., able, None], worth) / groups.price[able]
    least[groups.answered[0]] = -np.inf
    value = belief if worth is None else worth @ belief
    knowing = 1.0 if worth is None else worth.max(axis=0) @ belief
    most = (knowing - value.max(axis=0)) / groups.price.min()
    reached = np.partition(least, len(least) - n_looked)[len(least) - n_looked]
    return np.flatnonzero(most >= reached - 1e-12)


def _within(price: Floats, ratio: Floats, budget: float) -> tuple[Codes, float]:
    """Which questions, the best first, the budget pays for; and the gain per price of the best it does not."""
    bought, left, next_gain = [], budget * (1 + 1e-12), 0.0
    for at, each in enumerate(price.tolist()):
        if each <= left:
            bought.append(at)
            left -= each
        elif not next_gain:
            next_gain = float(ratio[at])
    return np.array(bought, dtype=np.intp), next_gain
