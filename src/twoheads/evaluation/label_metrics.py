"""Clinical and agreement statistics of labels against the truth, with intervals by item."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from twoheads.evaluation.bootstrap import LEVEL, MIN_ITEMS, Score, mean_score, share_score
from twoheads.evaluation.metric import Metric, ScoredItems
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.inference.linearised import linearised
from twoheads.kernels.scoring import label_statistics as statistics
from twoheads.kernels.scoring.label_statistics import LabelSums, as_sums, label_values, ratio
from twoheads.kernels.scoring.ranking import auc_interval, auc_parts
from twoheads.kernels.scoring.scores import weighted_mean

Statistic = Callable[[LabelSums], Floats]
Parts = tuple[Floats, tuple[Floats, Floats]]
#: Score and parts of a metric.
Pair = tuple[Callable[[ScoredItems], Score | None], Callable[[ScoredItems], Floats | None]]

#: Items that might have been seen as well count as so many; at most so many of the commonest classes are among them.
_POSSIBLE_ITEMS, _POSSIBLE_CLASSES = 1.0, 60


def label_parts(items: ScoredItems, statistic: Statistic) -> Parts | None:
    """A statistic as numbers whose weighted mean it is, (n_items,), and those of items that might have been seen."""
    label = items.label
    if label is None:
        return None
    possible, chance = _possible(items, len(label))
    values = label_values(items.true_label, label)
    seen, others = linearised(lambda sums: statistic(as_sums(sums)), values, items.weight, possible)
    return None if np.isnan(seen).all() else (seen, (others, chance))


def _possible(items: ScoredItems, n_classes: int) -> tuple[Floats, Floats]:
    """Items of every true class and every label, and their weights: half are right, the others wrong in any way."""
    share = np.bincount(items.true_label, items.weight, n_classes)
    classes = np.argsort(-share, kind="stable")[: min(_POSSIBLE_CLASSES, np.count_nonzero(share))]
    truth, label = np.repeat(classes, len(classes)), np.tile(classes, len(classes))
    right = 0.5 if len(classes) > 1 else 1.0
    each = np.where(truth == label, right, (1.0 - right) / max(1, len(classes) - 1))
    chance = each * share[truth] / share[classes].sum()
    return label_values(truth, np.eye(n_classes)[:, label]), chance * _POSSIBLE_ITEMS


def _score(items: ScoredItems, parts: Parts | None) -> Score | None:
    if parts is None:
        return None
    found = mean_score(parts[0], items.weight, items.replicates, possible=parts[1])
    if found.low is None or found.high is None:
        return found
    return Score(found.value, max(-1.0, found.low), min(1.0, found.high))


def _of(statistic: Statistic) -> Pair:
    """Score and parts of a statistic of the sums."""

    def score(items: ScoredItems) -> Score | None:
        return _score(items, label_parts(items, statistic))

    def parts(items: ScoredItems) -> Floats | None:
        found = label_parts(items, statistic)
        return None if found is None else found[0]

    return score, parts


def _share(
    share_of: Callable[[Floats, Floats], tuple[Floats, Floats]], statistic: Callable[[LabelSums, int], Floats]
) -> Callable[[int], Pair]:
    """Score and parts, by class, of a share of some of the items, with its interval.

    share_of  from truth and label of a class, (n_items,) each, to what is counted and among which, (n_items,) each
    """

    def of_class(code: int) -> Pair:
        def score(items: ScoredItems) -> Score | None:
            label = items.label
            if label is None:
                return None
            counted, among = share_of(1.0 * (items.true_label == code), label[code])
            here = items.weight * among > 0
            if not here.any():
                return None
            return share_score(counted[here], (items.weight * among)[here], items.replicates.take(here))

        return score, _of(lambda sums: statistic(sums, code))[1]

    return of_class


def _negatives(sums: LabelSums, code: int) -> Floats:
    return sums.total - sums.truth[..., code] - sums.label[..., code] + sums.right[..., code]


_SENSITIVITY = _share(
    lambda truth, label: (label, truth), lambda sums, code: ratio(sums.right[..., code], sums.truth[..., code])
)
_SPECIFICITY = _share(
    lambda truth, label: (1.0 - label, 1.0 - truth),
    lambda sums, code: ratio(_negatives(sums, code), sums.total - sums.truth[..., code]),
)
_PPV = _share(
    lambda truth, label: (truth, label), lambda sums, code: ratio(sums.right[..., code], sums.label[..., code])
)
_NPV = _share(
    lambda truth, label: (1.0 - truth, 1.0 - label),
    lambda sums, code: ratio(_negatives(sums, code), sums.total - sums.label[..., code]),
)


def _auc_of(code: int) -> Pair:
    def parts(items: ScoredItems) -> Floats | None:
        positive = items.true_label == code
        if items.ranked_by is None or positive.all() or not positive.any():
            return None
        return auc_parts(items.ranked_by[code], positive, items.weight)

    # The classes of the interval are this one and the rest.
    return lambda items: _auc_score(items, parts(items), 1 * (items.true_label == code)), parts


def _mean_auc(items: ScoredItems) -> Floats | None:
    """Parts of the mean over classes of the area for one class against the rest; with two classes, of the area."""
    codes = np.unique(items.true_label)
    if items.ranked_by is None or len(codes) < 2:
        return None
    codes = codes[1:] if len(items.ranked_by) == 2 else codes
    areas = [auc_parts(items.ranked_by[code], items.true_label == code, items.weight) for code in codes]
    return np.asarray(np.mean(areas, axis=0))


def _auc_score(items: ScoredItems, parts: Floats | None, true_label: Codes) -> Score | None:
    if parts is None:
        return None
    value = weighted_mean(parts, items.weight)
    if len(parts) < MIN_ITEMS:
        return Score(value, None, None)
    return Score(value, *auc_interval(parts, true_label, items.weight, LEVEL))


def _entry(name: str, statistic: Statistic, title: str, short: str, explanation: str) -> Metric:
    score, parts = _of(statistic)
    return Metric(
        name, score, title, short, explanation, less_is_better=False, needs_proba=False, shown=False, parts=parts
    )


def _by_class(
    name: str,
    of_class: Callable[[int], Pair],
    statistic: Statistic,
    title: str,
    short: str,
    explanation: str,
    among: Callable[[Codes, int], NDArray[np.bool_]] | None = None,
) -> Metric:
    score, parts = _of(statistic)
    return Metric(
        name,
        score,
        title,
        short,
        explanation,
        "%",
        1,
        less_is_better=False,
        needs_proba=False,
        shown=False,
        parts=parts,
        of_class=of_class,
        overall=False,
        among=among,
    )


def _mean(numerator: Callable[[LabelSums], Floats], denominator: Callable[[LabelSums], Floats]) -> Statistic:
    return lambda sums: np.asarray(np.nanmean(ratio(numerator(sums), denominator(sums)), axis=-1))


def _all_negatives(sums: LabelSums) -> Floats:
    return np.asarray(sums.total[..., None] - sums.truth - sums.label + sums.right)


#: In the order they are shown.
LABEL_METRICS: list[Metric] = [
    _by_class(
        "sensitivity",
        _SENSITIVITY,
        statistics.balanced_accuracy,
        "sensitivity",
        "sens.",
        "Of the items of a class, the share that has its label (recall).",
        lambda truth, code: truth == code,
    ),
    _by_class(
        "specificity",
        _SPECIFICITY,
        _mean(_all_negatives, lambda sums: np.asarray(sums.total[..., None] - sums.truth)),
        "specificity",
        "spec.",
        "Of the items of other classes, the share that does not have the class's label.",
        lambda truth, code: truth != code,
    ),
    _by_class(
        "ppv",
        _PPV,
        _mean(lambda sums: sums.right, lambda sums: sums.label),
        "positive predictive value",
        "PPV",
        "Of the items with a class's label, the share that is of that class (precision).",
    ),
    _by_class(
        "npv",
        _NPV,
        _mean(_all_negatives, lambda sums: np.asarray(sums.total[..., None] - sums.label)),
        "negative predictive value",
        "NPV",
        "Of the items with another label, the share that is not of the class.",
    ),
    _entry(
        "balanced_accuracy",
        statistics.balanced_accuracy,
        "balanced accuracy",
        "bal. acc.",
        "The mean over classes of the sensitivity.",
    ),
    _entry(
        "macro_f1",
        statistics.macro_f1,
        "macro F1",
        "macro F1",
        "The mean over classes of the harmonic mean of sensitivity and positive predictive value.",
    ),
    _entry(
        "mcc",
        statistics.matthews,
        "Matthews' correlation",
        "MCC",
        "The correlation of labels and truth; 0 for guessing, 1 for perfect labels.",
    ),
    Metric(
        "auc",
        lambda items: _auc_score(items, _mean_auc(items), items.true_label),
        "area under the ROC curve",
        "AUC",
        "How often an item of a class is ranked above one of the rest; the mean over classes.",
        less_is_better=False,
        needs_proba=False,
        shown=False,
        parts=_mean_auc,
        of_class=_auc_of,
    ),
    _entry(
        "kappa",
        statistics.cohen_kappa,
        "Cohen's kappa",
        "kappa",
        "Agreement with the truth beyond that of independent labels with the same class shares.",
    ),
    _entry(
        "weighted_kappa",
        statistics.weighted_kappa,
        "weighted kappa",
        "w. kappa",
        "Cohen's kappa with squared distances of classes, which must be in a meaningful order.",
    ),
    _entry(
        "fleiss_kappa",
        statistics.scott_pi,
        "Fleiss' kappa",
        "Fleiss",
        "Agreement beyond chance by the class shares of all ratings together; with the truth as the other rater.",
    ),
    _entry(
        "krippendorff_alpha",
        statistics.paired_alpha,
        "Krippendorff's alpha",
        "alpha",
        "One minus the disagreement seen, as a share of that of ratings paired at random.",
    ),
    _entry(
        "gwet_ac1",
        statistics.paired_ac1,
        "Gwet's AC1",
        "AC1",
        "Agreement beyond a chance that stays small where one class has most items.",
    ),
]
