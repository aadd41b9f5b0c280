"""Models' rows as the log-probabilities that kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import Floats
from twoheads.kernels.simplex import log_simplex, log_softmax, mean_log_proba
from twoheads.observations.checks import check_same_models


def log_model_rows(
    model_proba: Sequence[NDArray[Any]], scale: str, rows: slice, n_rows: int, n_classes: int
) -> tuple[Floats, tuple[Floats, ...], NDArray[np.bool_]]:
    """Log-probabilities of the mean model and of each model, and which rows no model has.

    model_proba  (n_items, n_classes) each, on ``scale``
    returns      (n_classes, n_rows), uniform where no model has a row; a tuple of such arrays; (n_rows,)
    """
    log_rows = log_simplex if scale == "probability" else log_softmax
    with np.errstate(invalid="ignore"):
        members = tuple(log_rows(proba[rows]) for proba in model_proba)
    if not members:
        return np.full((n_classes, n_rows), -np.log(n_classes)), (), np.ones(n_rows, dtype=bool)
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
