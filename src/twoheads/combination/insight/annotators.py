"""Statistics of each annotator of a fitted team."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.insight.people_accuracy import PeopleAccuracy
from twoheads.confusion.base import Confusion
from twoheads.kernels.arrays import Floats

#: Level of the intervals of ``annotator_stats_``.
LEVEL = 0.9
#: Level of every interval that is shown: in sentences, tables, reports and their JSON.
SHOWN_LEVEL = 0.95
#: What is reported of one person or machine.
OF_ONE = ("annotator", "answers", "judged", "kind", "accuracy", "accuracy_low", "accuracy_high")


def annotator_stats(
    annotators: tuple[str, ...],
    accuracy: PeopleAccuracy,
    n_answers: Floats,
    annotation_counts: Floats,
    bits: Floats,
    level: float,
) -> dict[str, NDArray[Any]]:
    """A column per fact, an entry per person; for ``pandas.DataFrame``.

    n_answers          (n_annotators,) how many answers each has given
    annotation_counts  (3, n_annotators) weights of answers, of shared answers and of agreements
    bits               (n_annotators,) information of one answer
    """
    shares = accuracy.shares()
    low, high = shares.interval(level)
    _, shared, agreed = annotation_counts
    return {
        "annotator": np.array(annotators, dtype=object),
        "answers": n_answers,
        "judged": accuracy.judged,
        "kind": np.array(accuracy.kinds(), dtype=object),
        "accuracy": shares.mean,
        "accuracy_low": low,
        "accuracy_high": high,
        "agreement": np.divide(agreed, shared, out=np.full(len(agreed), np.nan), where=shared > 0),
        "bits": bits,
    }


def stats_of(result: FitResult, who: list[int], accuracy: PeopleAccuracy, level: float) -> dict[str, NDArray[Any]]:
    """`annotator_stats` of the annotators with these numbers."""
    names = tuple(result.schema.annotators[at] for at in who)
    bits = information(result.rule.confusion)[who]
    numbers = result.statistics.answer_numbers[who].sum(axis=1)
    return annotator_stats(names, accuracy, numbers, result.statistics.annotation_counts[:, who], bits, level)


def facts_of_each(stats: dict[str, NDArray[Any]]) -> dict[str, dict[str, Any]]:
    """`OF_ONE` of each annotator by name, from `annotator_stats`; where they give scores, of the two sides of these."""
    columns = zip(*(stats[fact].tolist() for fact in OF_ONE), strict=True)
    return {name: dict(zip(OF_ONE[1:], facts, strict=True)) for name, *facts in columns}


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
