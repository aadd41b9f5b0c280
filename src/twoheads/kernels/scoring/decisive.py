"""Which answers can change a decision: with many classes few can, and only those need a posterior.

After the answer h a class y can be more probable than the current choice k only if ``l[h, y] - l[h, k]`` exceeds a
margin of y, with ``l = log P(answer | truth)``. All other answers gain exactly nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Codes, Floats

#: From this many classes on, gains are computed from the answers that can matter; below, from all of them.
MANY_CLASSES = 100
#: So many of a question's answers, the most probable, are computed each; the others in so many groups of similar
#: probability, of which one answer stands for all.
EACH, GROUPS = 64, 64
#: Among so many classes, the most probable, the class is looked for that an answer makes most probable.
N_FIRST = 16


@dataclass(frozen=True, slots=True)
class DecisiveAnswers:
    """The log matrix of one person, with what bounds its differences between two classes.

    by_class  (n_classes, n_answers) l, transposed
    most      (n_classes,) the largest ``l[h, y] - mean(l[h])`` of class y over answers h other than y
    least     (n_classes,) the smallest
    """

    by_class: Floats
    most: Floats
    least: Floats

    @classmethod
    def of(cls, log_given_true: Floats) -> DecisiveAnswers:
        """Of a square matrix, (n_answers, n_classes), without -inf."""
        by_class = np.ascontiguousarray(log_given_true.T)
        centred = by_class - by_class.mean(axis=0)
        np.fill_diagonal(centred, -np.inf)
        most = centred.max(axis=1)
        np.fill_diagonal(centred, np.inf)
        return cls(by_class, most, centred.min(axis=1))

    def find(self, margin: Floats, choice: int) -> Codes:
        """Answers after which some class y has ``l[h, y] - l[h, choice] > margin[y]``, in order.

        margin  (n_classes,)
        """
        own, chosen = np.diagonal(self.by_class), self.by_class[choice]
        decisive: NDArray[np.bool_] = own - chosen > margin
        decisive[choice] = (self.by_class[:, choice] - chosen[choice] > margin).any()
        # For an answer other than y and the choice, the difference is at most that of the bounds.
        near = np.flatnonzero(self.most - self.least[choice] > margin)
        decisive |= (self.by_class[near] - chosen > margin[near, None]).any(axis=0)
        return np.flatnonzero(decisive)


def represented(question: Codes, proba: Floats) -> tuple[Codes, Floats]:
    """Which answers are computed, and the probability that each of them stands for; (n,) each.

    question  (n_answers,) numbers of the questions, ascending
    proba     (n_answers,) probability of each answer
    """
    starts = np.flatnonzero(np.diff(question, prepend=-1))
    ends = np.append(starts[1:], len(question))
    computed, weight = [np.empty(0, dtype=np.intp)], [np.empty(0)]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        order = start + np.argsort(-proba[start:end], kind="stable")
        first, rest = order[:EACH], order[EACH:]
        edges = np.unique(np.linspace(0, len(rest), GROUPS + 1).astype(np.intp))[:-1] if len(rest) else rest
        middle = (edges + np.append(edges[1:], len(rest)) - 1) // 2
        computed += [first, rest[middle]]
        weight += [proba[first], np.add.reduceat(proba[rest], edges) if len(rest) else np.empty(0)]
    return np.concatenate(computed), np.concatenate(weight)


def best_products(belief: Floats, given_true: Floats) -> Floats:
    """``sum_h max_y phi[h, y] b(y)`` of each item, (n_items,), for one person and many classes.

    The maximum is looked for among the `N_FIRST` most probable classes and at y = h. It is at another class only if
    the largest ``phi[h, y]`` of the row times the next probability exceeds it; such rows are computed in full.

    belief      (n_classes, n_items)
    given_true  (n_answers, n_classes), square
    """
    by_class = np.ascontiguousarray(given_true.T)
    own = np.diagonal(given_true)
    off_diagonal = given_true.copy()
    np.fill_diagonal(off_diagonal, 0.0)
    largest = off_diagonal.max(axis=1)
    n_first = min(N_FIRST, len(belief) - 1)
    first = np.argpartition(-belief, n_first, axis=0)[: n_first + 1]
    total = np.empty(belief.shape[1])
    for item, share in enumerate(np.ascontiguousarray(belief.T)):
        best = np.maximum((by_class[first[:-1, item]] * share[first[:-1, item], None]).max(axis=0), own * share)
        open_rows = np.flatnonzero(largest * share[first[-1, item]] > best)
        best[open_rows] = (given_true[open_rows] * share).max(axis=1)
        total[item] = best.sum()
    return total
