"""Weighted means by group, and their sandwich covariances by cluster.

A row is an answer, or an item. Rows of one cluster (the answers about one item) may depend on each other; clusters do
not. Groups (people, classes) share clusters; each group's mean is looked at by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.weights import heavy_factor


class Rows(NamedTuple):
    """Which rows belong together, and what each counts.

    group     (n_rows,) codes
    cluster   (n_rows,) codes
    weight    (n_rows,) positive
    cell      (n_rows,) which pair of group and cluster a row is in
    of_cell   (n_cells,) the group of each cell
    n_groups  how many groups there are, empty ones counted
    """

    group: Codes
    cluster: Codes
    weight: Floats
    cell: Codes
    of_cell: Codes
    n_groups: int


def rows_of(group: Codes, n_groups: int, *, cluster: Codes | None = None, weight: Floats | None = None) -> Rows:
    """`Rows` from codes; without clusters each row is its own, without weights each counts 1.

    group, cluster, weight  (n_rows,)
    """
    weight = np.ones(len(group)) if weight is None else weight
    if cluster is None:
        each = np.arange(len(group))
        return Rows(group, each, weight, each, group, n_groups)
    pair = cluster.astype(np.int64) * n_groups + group
    pairs, cell = np.unique(pair, return_inverse=True)
    return Rows(group, cluster, weight, cell, np.asarray(pairs % n_groups, dtype=np.intp), n_groups)


def one_group(n_rows: int, *, cluster: Codes | None = None, weight: Floats | None = None) -> Rows:
    """All rows as one group."""
    return rows_of(np.zeros(n_rows, dtype=np.intp), 1, cluster=cluster, weight=weight)


def sums(code: Codes, values: Floats, n_codes: int) -> Floats:
    """Sum of the values of each code, (n_codes,); code, values (n_rows,)."""
    return np.asarray(np.bincount(code, values, n_codes), dtype=np.float64)


def group_sums(values: Floats, rows: Rows) -> Floats:
    """``sum_{i in g} w_i v_i``, (n_groups,), of values (n_rows,)."""
    return sums(rows.group, rows.weight * values, rows.n_groups)


def group_means(values: Floats, rows: Rows) -> Floats:
    """``sum_{i in g} w_i v_i / sum_{i in g} w_i``, (n_groups,); 0 for a group without rows."""
    return ratio(group_sums(values, rows), group_sums(np.ones(len(values)), rows))


def ratio(top: Floats, bottom: Floats, empty: float = 0.0) -> Floats:
    """``top / bottom``, and ``empty`` where ``bottom`` is not positive."""
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(top), empty), where=np.asarray(bottom) > 0))


def influence(values: Floats, rows: Rows) -> Floats:
    """What each row adds to its group's mean, ``w_i (v_i - mean_g) / W_g``; they sum to 0 in each group.

    values, returns  (n_rows,)
    """
    total = group_sums(np.ones(len(values)), rows)
    centred = values - group_means(values, rows)[rows.group]
    return np.asarray(rows.weight * centred / total[rows.group])


def clusters_per_group(rows: Rows) -> Floats:
    """How many clusters each group has rows in, (n_groups,)."""
    return np.bincount(rows.of_cell, minlength=rows.n_groups).astype(np.float64)


def sandwich(first: Floats, second: Floats, rows: Rows) -> Floats:
    """Covariance of two means, ``C/(C - 1) sum_c (sum_{i in c} a_i) (sum_{i in c} b_i)``; 0 with one cluster.

    first, second  (n_rows,) influences of the two
    returns        (n_groups,)
    """
    one, other = (sums(rows.cell, each, len(rows.of_cell)) for each in (first, second))
    clusters = clusters_per_group(rows)
    return np.asarray(sums(rows.of_cell, one * other, rows.n_groups) * ratio(clusters, clusters - 1.0))


def mean_variances(values: Floats, rows: Rows) -> Floats:
    """Sandwich variance of each group's mean of the values, (n_groups,); values (n_rows,)."""
    each = influence(values, rows)
    return sandwich(each, each, rows)


def kish_count(rows: Rows) -> Floats:
    """Kish's effective number of rows, ``(sum w)^2 / sum w^2``, (n_groups,); 0 for a group without rows."""
    return ratio(group_sums(np.ones(len(rows.weight)), rows) ** 2, group_sums(rows.weight, rows))


def item_count(rows: Rows) -> Floats:
    """Kish's number of clusters by the mean weight of their rows, (n_groups,): all of them where weights are equal."""
    n_cells = len(rows.of_cell)
    weight = sums(rows.cell, rows.weight, n_cells) / np.bincount(rows.cell, minlength=n_cells)
    total, squares = (sums(rows.of_cell, weight**power, rows.n_groups) for power in (1, 2))
    return ratio(total**2, squares)


def uneven(values: Floats, rows: Rows) -> Floats:
    """How many times the variance of a mean is that of as many equal rows as Kish's number, at least 1, (n_groups,).

    ``K sum w^2 d^2 / (W sum w d^2)`` with ``d = v - mean``: above 1 where rows far from the mean have the larger
    weights; times `heavy`. See `twoheads.kernels.inference.weights.effective_number`.

    values  (n_rows,)
    """
    squares = (values - group_means(values, rows)[rows.group]) ** 2
    total, second = group_sums(np.ones(len(values)), rows), group_sums(rows.weight * squares, rows)
    seen = ratio(kish_count(rows) * second, total * group_sums(squares, rows), 1.0)
    return np.asarray(np.maximum(seen, 1.0) * heavy(rows))


def heavy(rows: Rows) -> Floats:
    """`heavy_factor` of the weights of each group, (n_groups,)."""
    second, fourth = group_sums(rows.weight, rows), group_sums(rows.weight**3, rows)
    return heavy_factor(kish_count(rows), ratio(second**2, fourth))


def cluster_count(rows: Rows) -> Floats:
    """Kish's effective number of clusters, each of the weight of its rows, (n_groups,)."""
    weight = sums(rows.cell, rows.weight, len(rows.of_cell))
    squared = sums(rows.of_cell, weight**2, rows.n_groups)
    return ratio(group_sums(np.ones(len(rows.weight)), rows) ** 2, squared)
