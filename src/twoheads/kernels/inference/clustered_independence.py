"""Whether people and a model err together: a permutation test that keeps the answers about one item together."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from twoheads.kernels.arrays import Codes, Floats


def clustered_conditional_mutual_information(
    model_label: Codes, human_label: Codes, true_label: Codes, item: Codes, size: int, rng: np.random.Generator
) -> Floats:
    """``I(M; H | Y)`` after shuffling the model's labels among the items of equal truth, ``size`` times.

    Under independence given the truth any item of the class could have had any other's model label, with all of its
    answers left as they are. Shuffling answers one by one instead breaks the likeness of the answers about one item,
    and finds dependence where there is none.

    model_label, true_label  (n_items,) codes
    human_label, item        (n_answers,) codes: an answer, and the item it is about
    returns                  (size,) in nats
    """
    n_model, n_human = int(model_label.max()) + 1, int(human_label.max()) + 1
    truth = np.unique(true_label, return_inverse=True)[1]
    order = np.argsort(truth, kind="stable")
    found = np.empty(size)
    for at in range(size):
        shuffled = np.empty_like(model_label)
        shuffled[order] = model_label[order[shuffled_within(truth[order], rng)]]
        found[at] = conditional_information(shuffled[item], human_label, truth[item], (n_model, n_human))
    return found


def shuffled_within(sorted_codes: Codes, rng: np.random.Generator) -> Codes:
    """A permutation of positions that keeps each code in place; codes ascending, (n,)."""
    return np.lexsort((rng.random(len(sorted_codes)), sorted_codes))


def conditional_information(first: Codes, second: Codes, given: Codes, sizes: tuple[int, int]) -> float:
    """``I(A; B | C) = sum_c p(c) I(A; B | C = c)`` of frequencies, in nats, by counting.

    first, second, given  (n,) codes
    sizes                 how many codes ``first`` and ``second`` have
    """
    n_first, n_second = sizes
    table = np.bincount((given * n_first + first) * n_second + second, minlength=(given.max() + 1) * n_first * n_second)
    table = table.reshape(-1, n_first, n_second).astype(np.float64)
    parts = (table, table.sum((1, 2)), table.sum(2), table.sum(1))
    joint, alone, one, other = (float(xlogy(part, part).sum()) for part in parts)
    return max((joint + alone - one - other) / len(first), 0.0)


def clustered_p_value(observed: float, shuffled: Floats) -> float:
    """``(1 + #{as much or more}) / (1 + size)``; equal tables, summed in another order, count as equal."""
    return float((1 + np.count_nonzero(shuffled >= observed - 1e-12)) / (1 + len(shuffled)))


def item_labels(item: Codes, label: Codes, n_items: int) -> Codes:
    """The model's label of each item, from one per answer; (n_items,)."""
    labels = np.zeros(n_items, dtype=np.intp)
    labels[item] = label
    return labels
