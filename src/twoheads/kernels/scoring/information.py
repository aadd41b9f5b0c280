"""Mutual information of labels: plug-in estimates from frequencies, in nats."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy
from scipy.stats import random_table

from twoheads.kernels.arrays import Codes, Floats

#: Table entries drawn at a time (8 bytes each).
TABLE_BLOCK = 1 << 20


def joint_codes(*codes: Codes) -> Codes:
    """One code for each combination of codes: equal exactly where all of them are equal.

    codes    (n_items,) each, 0 or more
    returns  (n_items,)
    """
    joint = codes[0]
    for other in codes[1:]:
        joint = np.unique(joint, return_inverse=True)[1] * (other.max() + 1) + other
    return joint


def count_log_count(*codes: Codes) -> float:
    """``sum_v n_v log n_v`` over the combinations v that occur, n_v times, among the codes; (n_items,) each."""
    counts = np.unique(joint_codes(*codes), return_counts=True)[1]
    return float(xlogy(counts, counts).sum())


def mutual_information(first: Codes, second: Codes) -> float:
    """``I(A; B) = sum_ab p(a, b) log(p(a, b) / (p(a) p(b)))`` of frequencies; codes (n_items,) each."""
    return conditional_mutual_information(first, second, np.zeros_like(first))


def conditional_mutual_information(first: Codes, second: Codes, condition: Codes) -> float:
    """``I(A; B | C) = sum_c p(c) I(A; B | C = c)`` of frequencies; codes (n_items,) each."""
    joint, alone = count_log_count(first, second, condition), count_log_count(condition)
    excess = joint + alone - count_log_count(first, condition) - count_log_count(second, condition)
    return max(excess / first.size, 0.0)


def permuted_count_log_count(first: Codes, second: Codes, size: int, rng: np.random.Generator) -> Floats:
    """``sum n_ab log n_ab`` of the table of (first, second) after shuffling second, ``size`` times.

    Shuffling keeps both margins, and every table with these margins has its probability under independence: tables are
    drawn from that distribution directly, at a cost that hardly grows with the number of items.

    first, second  (n_items,), codes
    returns        (size,)
    """
    rows = np.unique(first, return_counts=True)[1]
    columns = np.unique(second, return_counts=True)[1]
    if min(rows.size, columns.size) == 1:  # shuffling changes nothing, and random_table (SciPy 1.17) is wrong here
        return np.full(size, count_log_count(first, second))
    block = max(1, TABLE_BLOCK // (rows.size * columns.size))
    sums = []
    for start in range(0, size, block):
        tables = random_table.rvs(rows, columns, size=min(block, size - start), random_state=rng)
        sums.append(xlogy(tables, tables).sum(axis=(-2, -1)).reshape(-1))
    return np.concatenate(sums)


def permuted_conditional_mutual_information(
    first: Codes, second: Codes, condition: Codes, size: int, rng: np.random.Generator
) -> Floats:
    """``I(A; B | C)`` after shuffling B among the items of equal C, ``size`` times.

    first, second, condition  (n_items,), codes
    returns                   (size,)
    """
    joint = np.zeros(size)
    for value in np.unique(condition):
        here = condition == value
        joint += permuted_count_log_count(first[here], second[here], size, rng)
    excess = joint + count_log_count(condition) - count_log_count(first, condition) - count_log_count(second, condition)
    return np.maximum(excess / first.size, 0.0)
