"""Statistics of each annotator of a fitted team."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import beta

from twoheads.confusion.base import Confusion
from twoheads.kernels.arrays import Floats
from twoheads.kernels.confusion.annotators import accuracy_prior

#: Probability of the credible intervals of accuracies.
LEVEL = 0.9


def annotator_stats(
    annotators: tuple[str, ...], confusion: Confusion, annotation_counts: Floats
) -> dict[str, NDArray[Any]]:
    """A column per fact, an entry per person; for ``pandas.DataFrame``.

    An accuracy is ``Beta(c + a, n - c + b)`` with c of the person's n answers right, where the truth is known or
    estimated, and (a, b) the empirical Bayes estimate from all people.
    """
    counts = confusion.counts_
    right = np.trace(counts, axis1=1, axis2=2)
    evaluated = counts.sum(axis=(1, 2))
    a, b = accuracy_prior(right, evaluated)
    low, high = beta.interval(LEVEL, a + right, b + evaluated - right)
    n_answers, shared, agreed = annotation_counts
    return {
        "annotator": np.array(annotators, dtype=object),
        "answers": n_answers,
        "judged": evaluated,
        "accuracy": (a + right) / (a + b + evaluated),
        "accuracy_low": low,
        "accuracy_high": high,
        "agreement": np.divide(agreed, shared, out=np.full(len(agreed), np.nan), where=shared > 0),
        "bits": information(confusion),
    }


def information(confusion: Confusion) -> Floats:
    """Mutual information of one answer of each person and the true class, in bits, at the prevalence of the counts.

    ``I(h; y) = sum_j pi_j sum_i phi_ij log2(phi_ij / sum_k pi_k phi_ik)``.
    """
    total = confusion.counts_.sum(axis=(0, 1)) + 1.0
    prevalence = total / total.sum()
    matrices = confusion.people()[:-1]
    common = matrices @ prevalence
    nats = xlogy(matrices, matrices).sum(axis=1) @ prevalence - xlogy(common, common).sum(axis=1)
    return np.asarray(np.maximum(nats, 0.0) / np.log(2.0))
