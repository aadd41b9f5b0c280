"""Whether two tables are of the same items, where nothing in a single row tells."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.stats import binom, chi2_contingency, ks_2samp

from twoheads.kernels.arrays import MISSING, Codes, Floats

#: Values beyond so many different ones are not compared in their order: they are rare.
_MOST_VALUES = 256
#: Shifts on either side of one that show how often values agree where rows are not the same items.
_NEIGHBOURS = 3
#: Values that fewer rows have are counted together.
_RARE = 10
#: Of so many pairs of items or fewer, probabilities are exact.
_FEW_PAIRS = 10_000


def aligned_p_value(first: Codes, second: Codes) -> float:
    """How likely values agree as often, at any shift of the rows, if the two are of different items.

    At the right shift the rows of the same items agree; at the next shifts they agree as different items do, also where
    tables are sorted. The number that agrees is compared with a binomial of that share. Half of the probability is for
    rows that begin together, the rest for all shifts (Bonferroni).

    first, second  (n_items,) codes, MISSING for rows that are not compared; the numbers of items may differ
    """
    n_agree, n_rows = _agreement(first, second)
    share = _share_of_neighbours(n_agree, n_rows)
    chance = np.asarray(binom.sf(n_agree - 1, n_rows, share))
    together = len(second) - 1
    return float(min(1.0, 2.0 * min(chance[together], len(chance) * chance.min())))


def _agreement(first: Codes, second: Codes) -> tuple[Codes, Codes]:
    """Rows that agree and all rows that are compared, at each shift of ``second``, (n_first + n_second - 1,)."""
    n_shifts = len(first) + len(second) - 1
    size = next_fast_len(n_shifts, real=True)

    def pairs(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> NDArray[np.complex128]:
        return np.asarray(rfft(one, size) * rfft(other[::-1], size))

    agree = np.zeros(size // 2 + 1, dtype=complex)
    for value in np.argsort(-np.bincount(first[first != MISSING]))[:_MOST_VALUES]:
        agree += pairs(first == value, second == value)
    both = pairs(first != MISSING, second != MISSING)
    n_agree, n_rows = (np.rint(irfft(each, size)[:n_shifts]).astype(np.intp) for each in (agree, both))
    return n_agree, n_rows


def _share_of_neighbours(n_agree: Codes, n_rows: Codes) -> Floats:
    """The share that agrees at the next shifts, no less than at all shifts, (n_shifts,)."""
    window = np.ones(2 * _NEIGHBOURS + 1)
    window[_NEIGHBOURS] = 0.0
    agree, rows = (np.convolve(np.pad(each, _NEIGHBOURS), window, mode="valid") for each in (n_agree, n_rows))
    overall = n_agree.sum() / n_rows.sum()
    return np.asarray(np.maximum(overall, (agree + overall) / (rows + 1.0)))


def other_numbers_p_value(first: Floats, second: Floats) -> float:
    """How likely numbers are as different if both tables are of one kind (Kolmogorov and Smirnov, Bonferroni).

    Of few items the probability is exact: by the asymptotic one, two that are wholly apart of two were impossible.

    first, second  (n_numbers, n_items); the numbers of items may differ
    """
    method: Literal["exact", "asymp"] = "exact" if first.shape[1] * second.shape[1] <= _FEW_PAIRS else "asymp"
    with warnings.catch_warnings():  # where its exact sum is off by rounding, SciPy takes the limit, and warns
        warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful", RuntimeWarning)
        chances = [ks_2samp(one, other, method=method).pvalue for one, other in zip(first, second, strict=True)]
    return float(min(1.0, len(chances) * min(chances)))


def other_values_p_value(first: Codes, second: Codes) -> float:
    """How likely the frequencies of values are as different if both tables are of one kind (chi squared).

    first, second  (n_items,) codes >= 0; values that fewer than ten rows have count as one
    """
    n_values = max(first.max(), second.max()) + 1
    counts = np.stack([np.bincount(each, minlength=n_values) for each in (first, second)])
    rare = counts.sum(axis=0) < _RARE
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    counts = counts[:, counts.any(axis=0)]
    return float(chi2_contingency(counts, correction=False).pvalue) if counts.shape[1] > 1 else 1.0


def equal_counts_p_value(first: Codes, second: Codes) -> float:
    """How likely two tables of different items have each value as often as these do; 1 where they have not.

    Counts of k values in n rows are equal with a probability of about ``(4 pi n)^(-(k-1)/2) / sqrt(prod of shares)``.

    first, second  (n_items,) codes >= 0
    """
    if len(first) != len(second) or not np.array_equal(np.sort(first), np.sort(second)):
        return 1.0
    n, count = len(first), np.unique(first, return_counts=True)[1]
    log_chance = -0.5 * ((len(count) - 1) * np.log(4.0 * np.pi * n) + np.log(count / n).sum())
    return float(min(1.0, np.exp(log_chance)))
