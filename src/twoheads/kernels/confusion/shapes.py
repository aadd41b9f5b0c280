"""Shapes of errors: which wrong answer is given to a true class, apart from how often an answer is wrong.

A shape is (n_answers, n_classes), zero on the diagonal, with columns that sum to 1.
"""

from __future__ import annotations

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.kernels.priors import LOG_TEMPERATURE_MEAN

#: The temperature at which the model's overlaps are taken: the mode of its prior, e^(1/2).
OVERLAP_LOG_TEMPERATURE = LOG_TEMPERATURE_MEAN


def model_overlap(log_proba: Floats, weight: Floats | None = None) -> Floats:
    """How much the model confuses two classes, ``sum_n q_ni q_nj`` with ``q = softmax(e^-0.5 log m)``.

    A sum over items: add up over blocks.

    log_proba  (n_classes, n_items)
    weight     (n_items,) or None
    returns    (n_classes, n_classes)
    """
    tempered = log_proba * np.exp(-OVERLAP_LOG_TEMPERATURE)
    tempered -= tempered.max(axis=0)
    np.exp(tempered, out=tempered)
    tempered /= tempered.sum(axis=0)
    return np.asarray((tempered if weight is None else tempered * weight) @ tempered.T)


def error_shapes(overlap: Floats, answer_total: Floats) -> Floats:
    """Shapes that errors may have: uniform; half uniform and half what the model confuses, or the common answers.

    overlap       (n_answers, n_classes) as `model_overlap` gives it; 0 in rows of answers that are not a class
    answer_total  (n_answers,) how often each answer was given
    returns       (n_shapes, n_answers, n_classes); with two answers there is only one shape
    """
    n_answers, n_classes = overlap.shape
    uniform = _columns_off_diagonal(np.ones((n_answers, n_classes)))
    if n_answers == 2:
        return uniform[None]
    # 1e-9 keeps a column of zeros (no labelled item) uniform.
    confused = _columns_off_diagonal(overlap + 1e-9)
    common = _columns_off_diagonal(np.repeat(answer_total[:, None] + 1.0, n_classes, axis=1))
    return np.stack([uniform, (uniform + confused) / 2, (uniform + common) / 2])


def shape_of_errors(given_true: Floats) -> Floats:
    """The shape of a confusion matrix's errors, (n_answers, n_classes): each column without its right answer."""
    return _columns_off_diagonal(given_true + 1e-9)


def _columns_off_diagonal(values: Floats) -> Floats:
    """Set the diagonal to zero and normalise the columns."""
    values = values.copy()
    np.fill_diagonal(values[: values.shape[1]], 0.0)
    return np.asarray(values / values.sum(axis=0))
