"""Probabilities in log space, and the only floor of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from twoheads.kernels.arrays import Codes, Floats

#: A model's probability below this is read as this. It is the smallest normal number in single precision, in which most
#: models compute: a smaller value, or 0, is a rounding and not a certainty that no evidence could change.
FLOOR = float(np.finfo(np.float32).tiny)
LOG_FLOOR = float(np.log(FLOOR))


#: Sums of exponentials in this range need no shift against under- or overflow.
_SAFE = (1e-280, 1e280)


def log_sum(log_values: Floats) -> Floats:
    """Log of the sum over classes, ``log sum_j exp(v_j)``; the log of an empty sum (all ``-inf``) is ``-inf``.

    log_values  (n_classes, n_items)
    returns     (n_items,)
    """
    with np.errstate(over="ignore", divide="ignore"):
        total = np.exp(log_values).sum(axis=0)
        result: Floats = np.log(total)
    extreme = _extreme(total)
    if len(extreme):
        result[extreme] = logsumexp(log_values[:, extreme], axis=0)
    return result


def normalise_log(log_values: Floats) -> Floats:
    """Log-probabilities proportional to the given ones, in place: ``v_j - log sum_k exp(v_k)``.

    An item whose values are all ``-inf`` gets the uniform distribution.

    log_values  (n_classes, n_items), overwritten and returned
    """
    total = log_sum(log_values)
    no_information = np.flatnonzero(np.isneginf(total))
    if len(no_information):
        log_values[:, no_information] = 0.0
        total[no_information] = np.log(len(log_values))
    log_values -= total
    return log_values


def normalise_exp(log_values: Floats) -> Floats:
    """Probabilities proportional to ``exp(v_j)``, in place; uniform for an item whose values are all ``-inf``.

    log_values  (n_classes, n_items), overwritten and returned
    """
    with np.errstate(over="ignore"):
        share = np.exp(log_values)
    total = share.sum(axis=0)
    extreme = _extreme(total)
    if len(extreme):
        share[:, extreme] = np.exp(normalise_log(log_values[:, extreme]))
        total[extreme] = 1.0
    np.divide(share, total, out=log_values)
    return log_values


def _extreme(total: Floats) -> Codes:
    low, high = _SAFE
    return np.flatnonzero(~((total > low) & (total < high)))


#: Items copied at a time, few enough for the cache with the usual number of classes.
_PIECE = 2048


def class_major(values: NDArray[Any]) -> Floats:
    """A copy in double precision, class-major.

    values   (n_items, n_classes)
    returns  (n_classes, n_items)
    """
    out = np.empty(values.shape[::-1])
    for start in range(0, len(values), _PIECE):
        out[:, start : start + _PIECE] = values[start : start + _PIECE].T
    return out


def zero_as(proba: NDArray[Any]) -> float:
    """What a 0 among a model's probabilities is read as: a quarter of the smallest positive one, at least ``FLOOR``.

    Of numbers in steps of s, rounded ones or shares of votes, 0 is what is below s / 2; s / 4 is the middle of that.

    proba  (n_items, n_classes), NaN where there is no row
    """
    smallest = np.min(proba, initial=np.inf, where=proba >= FLOOR)
    return max(FLOOR, float(smallest) / 4.0) if np.isfinite(smallest) else FLOOR


def log_simplex(proba: NDArray[Any], zero: float = FLOOR) -> Floats:
    """Log of probabilities, class-major and normalised; those below ``FLOOR`` are read as ``zero``.

    proba    (n_items, n_classes), rows that sum to about 1
    zero     at least ``FLOOR``, see `zero_as`
    returns  (n_classes, n_items)
    """
    log_proba = class_major(proba)
    log_proba[log_proba < FLOOR] = zero
    total = log_proba.sum(axis=0)
    np.log(log_proba, out=log_proba)
    log_proba -= np.log(total)
    return log_proba


def without_zeros_read(log_proba: Floats, zero: float) -> Floats:
    """The probabilities of which `log_simplex` made these, (n_items, n_classes): what was read as ``zero`` is 0."""
    proba = np.exp(log_proba).T
    proba[proba < 2.0 * zero] = 0.0
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


def log_softmax(logits: NDArray[Any]) -> Floats:
    """Log-probabilities of logits or of unnormalised logarithms, class-major, floored.

    logits   (n_items, n_classes)
    returns  (n_classes, n_items)
    """
    log_proba = normalise_log(class_major(logits))
    return np.maximum(log_proba, LOG_FLOOR, out=log_proba)


def mean_log_proba(members: tuple[Floats, ...], weight: Floats | None = None) -> Floats:
    """Mean of several models' log-probabilities, normalised; NaN for an item without any model row.

    members  (n_classes, n_items) each, NaN for items without a row of that model
    weight   (n_models,) or None for equal weights
    """
    weight = np.ones(len(members)) if weight is None else weight
    total, number = np.zeros_like(members[0]), np.zeros(members[0].shape[1])
    for member, member_weight in zip(members, weight, strict=True):
        here = ~np.isnan(member[0])
        np.add(total, member_weight * member, out=total, where=here)
        number += member_weight * here
    with np.errstate(invalid="ignore"):
        total /= number
    has_model = number > 0
    if has_model.all():
        return normalise_log(total)
    total[:, has_model] = normalise_log(total[:, has_model])
    return total


def log_softmax_sums(
    logs: list[Floats], scale: Floats, true_label: Codes, weight: Floats | None
) -> tuple[float, Floats]:
    """Sum over items of ``log softmax(sum_v s_v L_v)[y]``, and its gradient in s.

    logs     (n_classes, n_items) each, L
    scale    (n_members,) s
    returns  a number, (n_members,)
    """
    item = np.arange(len(true_label))
    total = sum(factor * log for factor, log in zip(scale, logs, strict=True))
    log_proba = normalise_log(np.asarray(total))
    proba = np.exp(log_proba)
    value = log_proba[true_label, item]
    slopes = np.stack([log[true_label, item] - np.einsum("kn,kn->n", proba, log) for log in logs])
    if weight is None:
        return float(value.sum()), slopes.sum(axis=1)
    return float((weight * value).sum()), (slopes * weight).sum(axis=1)
