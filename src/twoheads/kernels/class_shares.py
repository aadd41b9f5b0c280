"""Class shares of a crowd without a model: those of the majority votes, drawn towards equal ones."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp

from twoheads.kernels.answers import Answers, vote_shares
from twoheads.kernels.arrays import Floats
from twoheads.kernels.priors import MAJORITY_POWER, SHARES_STRENGTHS
from twoheads.kernels.scoring.ties import top_shares


def majority_counts(answers: Answers, n_classes: int, weight: Floats | None) -> Floats:
    """Weight of the answered items whose majority is each class, (n_classes,); a tie is split. Add up over blocks."""
    counted = (answers.per_item() > 0) if weight is None else weight * (answers.per_item() > 0)
    return np.asarray(top_shares(vote_shares(answers, n_classes)) @ counted, dtype=np.float64)


def crowd_class_shares(majority: Floats, labels: Floats) -> Floats:
    """Shares by labels, expected to be proportional to m^.75, m the majority's, (n_classes,).

    Nothing is iterated, so no class can vanish.

    majority  (n_classes,) from `majority_counts`
    labels    (n_classes,) weight of the labelled items of each class
    """
    power = (majority + 0.5) ** MAJORITY_POWER
    return shares_by_labels(labels, power / power.sum())


def shares_by_labels(labels: Floats, expected: Floats) -> Floats:
    """Posterior mean of class shares ``pi ~ Dirichlet(s p)``, (n_classes,); s is one of several, as likely a priori.

    Labels that p explains hardly move it. Labels that contradict it show that s is small, and count for more.

    labels    (n_classes,) weight of the labelled items of each class
    expected  (n_classes,) p, what the shares are without labels
    """
    total, strength = labels.sum(), np.array(SHARES_STRENGTHS)
    prior = strength[:, None] * expected
    evidence = (gammaln(prior + labels) - gammaln(prior)).sum(axis=1) + gammaln(strength) - gammaln(strength + total)
    weight = np.exp(evidence - logsumexp(evidence))
    return np.asarray(weight @ ((prior + labels) / (strength + total)[:, None]))
