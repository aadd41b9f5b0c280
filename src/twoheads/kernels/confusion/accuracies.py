"""The accuracy of a matrix with a hierarchical prior: over all classes, and on each."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc

from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.hierarchical import ACCURACY, STRENGTH

#: Nodes of less weight beside the largest are left out.
_NEGLIGIBLE = 1e-6


def accuracy_posterior(weight: Floats) -> Floats:
    """Posterior probability of each value of ``ACCURACY``, (n_accuracies,).

    weight  (n_shapes, n_accuracies, n_strengths) of the nodes
    """
    return np.asarray(weight.sum(axis=(0, 2)))


def accuracy_interval(weight: Floats, counts: Floats, level: float) -> tuple[Floats, Floats]:
    """Credible interval of ``P(the right answer | truth j)`` for each class j, (n_classes,) each.

    Quantiles of a mixture over nodes of ``Beta(s a + C_jj, s (1 - a) + N_j - C_jj)``.

    weight  (n_shapes, n_accuracies, n_strengths) of the nodes
    counts  (n_answers, n_classes) C
    """
    of_node = weight.sum(axis=0)
    total, right = counts.sum(axis=0), np.diagonal(counts)
    likely = of_node > _NEGLIGIBLE * of_node.max()
    share = of_node[likely] / of_node[likely].sum()
    on_diagonal = np.multiply.outer(ACCURACY, STRENGTH)[likely]
    off_diagonal = np.multiply.outer(1 - ACCURACY, STRENGTH)[likely]

    def quantile(chance: float, hits: float, misses: float) -> float:
        def excess(x: float) -> float:
            return float(share @ betainc(on_diagonal + hits, off_diagonal + misses, x)) - chance

        return float(brentq(excess, 0.0, 1.0, xtol=1e-6))

    ends = [(1 - level) / 2, (1 + level) / 2]
    # Of many classes most have the same few counts.
    seen, of_class = np.unique(np.stack([right, total - right]), axis=1, return_inverse=True)
    low, high = (np.array([quantile(end, *each) for each in seen.T])[of_class.ravel()] for end in ends)
    return low, high
