"""The model's factor beside fewer answers than on the items of the fit.

The n answers on an item, of correlation s, are worth ``h = n / (1 + (n - 1) s)`` independent ones. If one answer has
correlation r with a model that is q times as strong, the mean of them has ``r sqrt(h)``, and the model is only
``q / sqrt(h)`` times as strong. So the factor of the model's evidence (`witnesses`) is

    alpha(h) = e^-tau (1 - g h r / q) / (1 - g^2 h r^2),

that of the model alone where nobody answers, and nearly linear in h. Both ends are known: the calibrated model, and
the factor of the fit, where the mean of h was H. Between them the model's part is ``(1 - h/H) log m + (h/H) alpha Z``,
with m calibrated. Beside more answers than H the factor stays as it was fitted: how it goes on is not known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from twoheads.kernels.arrays import Floats


def effective_answers(number: ArrayLike, correlation: float) -> Floats:
    """How many independent answers so many of a correlation are worth; 0 for none."""
    n = np.asarray(number, dtype=np.float64)
    return np.asarray(n / (1.0 + np.maximum(n - 1.0, 0.0) * correlation))


def fitted_share(effective: Floats, at_fit: float) -> Floats:
    """``h / H``, at most 1: how far the model's factor is that of the fit and not 1, (n_items,)."""
    return np.minimum(effective / at_fit, 1.0) if at_fit > 0 else np.ones_like(effective)


def between(log_proba: Floats, calibrated: Floats, share: Floats, factor: float) -> Floats:
    """What times the factor is the model's part, ``((1 - t) log m + t alpha Z) / alpha``, (n_classes, n_items).

    log_proba   (n_classes, n_items) Z
    calibrated  (n_classes, n_items) log m
    share       (n_items,) t
    factor      alpha, its mean over the nodes
    """
    return np.asarray(share * log_proba + (1.0 - share) / factor * calibrated)
