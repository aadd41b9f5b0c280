"""The posterior of the true class: calibrated log m + S @ log_phi, normalised over classes."""

from __future__ import annotations

import numpy as np

from twoheads.kernels.answers import Answers, shared_log_likelihood
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.kernels.simplex import log_sum


def joint_log_proba(
    calibrated: Floats,
    answers: Answers,
    log_given_true: Floats,
    correlation: float = 0.0,
    response: Floats | None = None,
) -> Floats:
    """Joint log-probability of class and answers, ``log m_j + sum over answers of log P(answer | j)``.

    The sum includes ``response``, the log-likelihood of confidence levels and "unsure", (n_classes, n_items), if there
    is one; with a ``correlation`` of answers on one item it is divided by their design effect.

    If the answers are impossible under every class that the model allows, they are ignored.

    calibrated      (n_classes, n_items) calibrated log-probabilities
    log_given_true  (n_columns, n_classes)
    returns         (n_classes, n_items)
    """
    joint = shared_log_likelihood(answers, log_given_true, correlation, response)
    joint += calibrated
    fewer = min(joint, log_given_true, key=np.size)
    if np.isneginf(fewer.min(initial=0.0)):
        impossible = np.isneginf(joint.max(axis=0))
        joint[:, impossible] = calibrated[:, impossible]
    return joint


def responsibilities(
    calibrated: Floats,
    answers: Answers,
    log_given_true: Floats,
    true_label: Codes | None,
    correlation: float = 0.0,
    response: Floats | None = None,
) -> tuple[Floats, Floats]:
    """E-step: the posterior as probabilities, one-hot where the truth is known, and each item's log-likelihood.

    true_label  (n_items,) codes, MISSING where unknown, or None
    returns     (n_classes, n_items), (n_items,)
    """
    joint = joint_log_proba(calibrated, answers, log_given_true, correlation, response)
    total = log_sum(joint)
    known = np.flatnonzero(true_label != MISSING) if true_label is not None else np.empty(0, dtype=np.intp)
    truth = true_label[known] if true_label is not None else known
    likelihood = joint[truth, known]
    joint -= total
    share = np.exp(joint, out=joint)
    if len(known):
        share[:, known] = 0.0
        share[truth, known] = 1.0
        total[known] = likelihood
    return share, total
