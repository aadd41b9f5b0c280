"""Quantiles of a population, of which weighted values are a sample."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Floats


def higher_quantiles(values: Floats, chances: Floats, weight: Floats | None = None) -> Floats:
    """The values at or above each quantile, (n_chances,): as `numpy.quantile` with ``method="higher"``.

    A value of weight w counts as w values. With W the sum of the weights it is the first whose cumulated weight is more
    than ``ceil(c (W - 1))``. Weights below 1 on average are brought to that: values are not fewer than there are.

    values  (n_values,) at least one
    weight  (n_values,) positive; None for 1
    """
    if weight is None:
        return np.asarray(np.quantile(values, chances, method="higher"))
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weight[order] / min(1.0, float(weight.mean())))
    place = np.ceil(np.round(chances * (cumulated[-1] - 1.0), 9))
    return np.asarray(values[order][np.searchsorted(np.round(cumulated, 9), place, side="right")])
