"""Items without truth: agreement between people and model informs the model's temperature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import logsumexp

from twoheads.kernels.arrays import Floats

LOG_TEMPERATURES: Floats = np.linspace(-4.0, 5.0, 46)
#: More items than this add little.
ITEMS = 300
#: Weight of all items without truth together, in labels: agreement is weaker evidence than a label.
LABELS = 20.0
#: People err where models are unsure, so agreement makes the model look this much better (in log temperature).
SHIFT = 0.2


@dataclass(frozen=True, eq=False)
class Agreement:
    """Log-density of the model's log temperature from items without truth, as a function of it.

    curve  the log-density between `LOG_TEMPERATURES`
    share  how much these items count of all that items without truth can: 1 from ``LABELS`` items on
    """

    curve: CubicSpline
    share: float

    def __call__(self, tau: Floats) -> Floats:
        """The log-density at each value of tau, up to a constant."""
        return np.asarray(self.curve(np.clip(tau + SHIFT, LOG_TEMPERATURES[0], LOG_TEMPERATURES[-1])))


def share_of_unlabelled(n_items: float) -> float:
    """How much so many items without truth count, of all that such items can: 0 for none, 1 from ``LABELS`` on."""
    return min(1.0, n_items / LABELS)


def agreement_log_density(
    log_proba: Floats, label_share: Floats, accuracy: Floats, accuracy_weight: Floats, weight: Floats | None = None
) -> Agreement:
    """Log-density of the model's log temperature tau, as a function of it, from items without truth.

    ``A(tau) = log sum_a p(a) exp(kappa (l - max l))`` taken at tau + 0.2, where
    ``l(a, tau) = sum_u log(a q_u + (1 - a)(1 - q_u) / (K - 1))``, ``q_u = sum_k s_ku softmax(e^-tau log m_u)[k]``
    and ``kappa = min(1, 20 / n_items)``, an item of weight w as w items. The shares s_u are one-hot at the answer, or
    equal among the labels for which an item's several answers are tied, so that the order of the classes does not
    matter. It informs tau only, never a: a human who copies the model would look perfect.

    log_proba        (n_classes, n_items) at most ``ITEMS`` items
    label_share      (n_classes, n_items) the people's label, sums to 1 over classes
    accuracy         (n_accuracies,) values of a
    accuracy_weight  (n_accuracies,) p(a), their posterior from labelled items
    weight           (n_items,) of each item u; None for 1
    """
    n_classes, n_items = log_proba.shape
    weight = np.ones(n_items) if weight is None else weight
    total = float(weight.sum())
    chosen = np.empty((len(LOG_TEMPERATURES), n_items))
    for row, tau in zip(chosen, LOG_TEMPERATURES, strict=True):
        scaled = np.exp(-tau) * log_proba
        scaled -= scaled.max(axis=0)
        np.exp(scaled, out=scaled)
        row[:] = (scaled * label_share).sum(axis=0) / scaled.sum(axis=0)
    wrong = (1.0 - accuracy[:, None, None]) / (n_classes - 1)
    log_likelihood = np.log(accuracy[:, None, None] * chosen + wrong * (1.0 - chosen)) @ weight
    share = min(1.0, LABELS / max(total, 1e-300))
    log_density = logsumexp(share * (log_likelihood - log_likelihood.max()), axis=0, b=accuracy_weight[:, None])
    return Agreement(CubicSpline(LOG_TEMPERATURES, log_density), share_of_unlabelled(total))
