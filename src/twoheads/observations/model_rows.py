"""Models' rows as the log-probabilities that kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Floats
from twoheads.kernels.simplex import FLOOR, log_simplex, log_softmax, mean_log_proba, zero_as
from twoheads.observations.checks import check_same_models

#: The first so many items show in which steps a model's probabilities come.
LOOK = 10_000


def zeros_as(model_proba: Sequence[NDArray[Any]], scale: str) -> tuple[float, ...]:
    """What a 0 of each model is read as, by the first items; empty where the rows are not probabilities."""
    return tuple(zero_as(proba[:LOOK]) for proba in model_proba) if scale == "probability" else ()


def log_model_rows(
    model_proba: Sequence[NDArray[Any]],
    scale: str,
    zeros: tuple[float, ...],
    rows: slice,
    shape: tuple[int, int],
) -> tuple[Floats, tuple[Floats, ...], NDArray[np.bool_]]:
    """Log-probabilities of the mean model and of each model, and which rows no model has.

    model_proba  (n_items, n_classes) each, on ``scale``
    zeros        what a probability of 0 is read as, of each model; the smallest number there is without any
    shape        (n_classes, n_rows)
    returns      an array of that shape, uniform where no model has a row; a tuple of such arrays; (n_rows,)
    """
    n_classes, n_rows = shape
    if not model_proba:
        return np.full(shape, -np.log(n_classes)), (), np.ones(n_rows, dtype=bool)
    with np.errstate(invalid="ignore"):
        if scale == "probability":
            zeros = zeros or (FLOOR,) * len(model_proba)
            members = tuple(log_simplex(proba[rows], zero) for proba, zero in zip(model_proba, zeros, strict=True))
        else:
            members = tuple(log_softmax(proba[rows]) for proba in model_proba)
    log_proba = members[0] if len(members) == 1 else mean_log_proba(members)
    blank = np.isnan(log_proba[0])
    if blank.any():
        log_proba[:, blank] = -np.log(n_classes)
    return log_proba, members, blank


def rows_of_models(
    model_proba: Sequence[NDArray[Any]], models: tuple[str, ...], wanted: tuple[str, ...], shape: tuple[int, int]
) -> tuple[NDArray[Any], ...] | None:
    """The rows of the models that are wanted, in their order, blank for those that are missing; None if all are there.

    One model and one wanted are the same if either has no name.

    models  the names of those there are
    shape   (n_items, n_classes)
    """
    nameless = len(models) == len(wanted) == 1 and "model" in (*models, *wanted)
    if models == wanted or nameless or (not models and len(wanted) == 1):
        return None
    check_same_models(models, wanted)
    here = dict(zip(models, model_proba, strict=True))
    return tuple(here.get(name, np.broadcast_to(np.nan, shape)) for name in wanted)


def has_row(model_proba: Sequence[NDArray[Any]], n_items: int) -> NDArray[np.bool_]:
    """Whether any model has a row for each item, (n_items,)."""
    found = np.zeros(n_items, dtype=bool)
    for proba in model_proba:
        found |= ~np.isnan(proba[:, 0])
    return found
