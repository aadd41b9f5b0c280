"""People and machines that answer about one item: one group of witnesses, or two.

Answers on one item are correlated given the true class, so that n of them are worth n over their design effect
``d(n) = 1 + (n - 1) s``. But a person beside a dozen judges of one family is not a thirteenth relative: a person and a
machine share less, ``(1 - b) s`` with a separation b. Witnesses that are Gaussian, equally strong, and so correlated
have the weights

    w_p = (d(n_m) - n_m c) / D,    w_m = (d(n_p) - n_p c) / D,    c = (1 - b) s,    D = d(n_p) d(n_m) - n_p n_m c^2

With b = 0 both are ``1 / d(n_p + n_m)``: one group. With b = 1 they are ``1 / d(n_p)`` and ``1 / d(n_m)``: two
independent ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.priors import (
    AGREEMENT_ANSWERS,
    EVIDENT_AGREEMENT,
    LEAST_CORRELATION,
    SEPARATION_MEAN,
    SEPARATION_SD,
)
from twoheads.kernels.simplex import normalise_exp

#: Values of b over which its posterior is summed; above 1 where a group is better than its matrices say.
SEPARATIONS = np.linspace(0.0, 1.25, 26)


def allowed_correlation(kappa: float, n_more: float) -> float:
    """The factor min(1, k / .2) on what the correlation s of answers on one item is by prior, k kappa shrunk to .2.

    Answers agree because they are right, or because their errors are alike: kappa is about ``e^2 + s (1 - e^2)``, with
    e the people's informedness (2 accuracy - 1, of two classes). Without truth the two cannot be told apart, but s much
    above kappa contradicts the answers. In EM it would be fatal: near matrices that say nothing, an iteration
    multiplies what they say by ``(1 + (n - 1) kappa) / (1 + (n - 1) s)``.

        k = (n_more kappa + 50 * .2) / (n_more + 50)

    kappa   agreement beyond chance; NaN where it is not known
    n_more  how many more answers there are than items, of items with several
    """
    if np.isnan(kappa):
        return 1.0
    prior = AGREEMENT_ANSWERS * EVIDENT_AGREEMENT
    share = (n_more * kappa + prior) / (n_more + AGREEMENT_ANSWERS) / EVIDENT_AGREEMENT
    return float(np.clip(share, LEAST_CORRELATION, 1.0))


def group_weights(n_people: Any, n_machines: Any, correlation: float, separation: float) -> tuple[Any, Any]:
    """The weights of a person's and of a machine's evidence beside that of the others, of numbers or arrays."""
    shared = (1.0 - separation) * correlation
    people, machines = (1.0 + np.maximum(n - 1.0, 0.0) * correlation for n in (n_people, n_machines))
    determinant = people * machines - n_people * n_machines * shared**2
    return (machines - n_machines * shared) / determinant, (people - n_people * shared) / determinant


@dataclass(frozen=True, eq=False)
class Groups:
    """The evidence of people and machines about the same items.

    people, machines      (n_classes, n_items) log-likelihood of the answers of each
    n_people, n_machines  (n_items,) how many answers each gave
    correlation           s, of two answers of one group
    """

    people: Floats
    machines: Floats
    n_people: Codes
    n_machines: Codes
    correlation: float

    def gain(self, separation: float) -> Floats:
        """Their evidence beyond that of one group of all, (n_classes, n_items)."""
        counts = self.n_people, self.n_machines, self.correlation
        apart, whole = np.array(group_weights(*counts, separation)), np.array(group_weights(*counts, 0.0))
        person, machine = apart - whole
        return np.asarray(self.people * person + self.machines * machine)

    def apart(self, proba: Floats, separation: float) -> Floats:
        """Probabilities that were found with one group, times ``exp(gain)`` and normalised, (n_classes, n_items)."""
        with np.errstate(divide="ignore"):
            return normalise_exp(np.log(proba) + self.gain(separation))

    def log_likelihood(self, proba: Floats, true_label: Codes, weight: Floats | None) -> Floats:
        """Log-likelihood of labelled items at each of `SEPARATIONS`, (n_separations,).

        proba  (n_classes, n_items) found with one group, without the item's own label
        """
        item = np.arange(len(true_label))
        chances = (self.apart(proba, at)[true_label, item] for at in SEPARATIONS.tolist())
        logs = [np.log(np.maximum(chance, 1e-300)) for chance in chances]
        return np.array([float(log.sum() if weight is None else weight @ log) for log in logs])


def separation_mean(log_likelihood: Floats) -> float:
    """Posterior mean of b, from its log-likelihood at each of `SEPARATIONS`."""
    prior = -0.5 * ((SEPARATIONS - SEPARATION_MEAN) / SEPARATION_SD) ** 2
    return float(SEPARATIONS @ normalise_exp((log_likelihood + prior)[:, None])[:, 0])
