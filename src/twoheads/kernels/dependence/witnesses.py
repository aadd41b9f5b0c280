"""Two witnesses, the model and the people, whose errors are correlated: how much each one's evidence still counts.

Two Gaussian witnesses of strengths J_m and J_h (distances between the classes, in standard deviations) and correlation
r have the log-odds of two independent ones with the factors

    model  (1 - r J_h / J_m) / (1 - r^2)        people  (1 - r J_m / J_h) / (1 - r^2)

so that the *weaker* witness is discounted, even below 0, while the stronger keeps its weight. A strength is
``J(u) = sqrt(-ln(1 - u))`` of the share u of the entropy of the classes that the witness removes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import expit

from twoheads.kernels.arrays import Floats
from twoheads.kernels.priors import LOG_TEMPERATURE_MEAN
from twoheads.kernels.simplex import normalise_exp

#: Log temperatures at which the model's strength is computed; it is interpolated between them.
STRENGTH_TEMPERATURES: Floats = np.linspace(-4.0, 5.0, 24)
#: More numbers, and more items, than this add little to a strength; with many classes there are at least so many items.
_NUMBERS, _FEWEST, _MOST = 20_000, 150, 1000
#: Bounds of the share of entropy removed, and of the ratio of strengths.
REMOVED_BOUNDS = (0.003, 0.997)
MOST_RATIO = 6.0
#: The ratio is trusted by n / (n + so many labels): without labels both witnesses count as equally strong.
RATIO_LABELS = 30.0
#: Weight of the model's mean row, in labels, in the class shares.
SHARE_LABELS = 10.0
#: The model's evidence is graded, so it shares less of its errors with one label than the label with it.
MODEL_SHARE = 0.8
#: Bounds of the factors and of the correlation, and how soft they are: Newton's method needs a smooth posterior.
MODEL_BOUNDS, ANSWER_BOUNDS, CORRELATION_BOUNDS = (0.2, 1.2), (-0.3, 1.3), (-0.2, 0.9)
SOFTNESS, CORRELATION_SOFTNESS = 0.05, 0.02


def strength_items(n_classes: int) -> int:
    """Most items from which a strength is computed."""
    return int(np.clip(_NUMBERS // n_classes, _FEWEST, _MOST))


@dataclass(frozen=True, eq=False)
class StrengthRatio:
    """Log of the ratio q of the model's strength to the people's, as a function of the model's log temperature.

    curve        None where the two count as equally strong
    model_share  the correlation as the model's factor has it, over r; from `model_share`
    """

    curve: PchipInterpolator | None = None
    model_share: float = MODEL_SHARE

    def __call__(self, log_temperature: Floats | float) -> Floats:
        """Log q at each log temperature."""
        if self.curve is None:
            return np.zeros(np.shape(log_temperature))
        return np.asarray(self.curve(np.clip(log_temperature, STRENGTH_TEMPERATURES[0], STRENGTH_TEMPERATURES[-1])))

    def slope(self, log_temperature: float) -> float:
        """Derivative of log q."""
        if self.curve is None or not STRENGTH_TEMPERATURES[0] <= log_temperature <= STRENGTH_TEMPERATURES[-1]:
            return 0.0
        return float(self.curve(log_temperature, 1))


@dataclass(frozen=True, slots=True)
class Factors:
    """Factors of log m and of the answers' log-likelihood in the combination, and of log m in the model alone.

    model, answer  arrays of one shape
    alone          ``e^-tau``, of that shape or one to broadcast
    """

    model: Floats
    answer: Floats
    alone: Floats


def factors_at(log_temperature: Floats | float, correlation: Floats | float, ratio: StrengthRatio) -> Factors:
    """The factors at each log temperature tau and correlation r, arrays that broadcast."""
    r, q = soft_correlation(correlation), np.exp(ratio(log_temperature))
    alone, shared = np.exp(-np.asarray(log_temperature)), ratio.model_share * r
    model = _soft_clip((1.0 - shared / q) / (1.0 - shared**2), *MODEL_BOUNDS, SOFTNESS)
    answer = _soft_clip((1.0 - r * q) / (1.0 - r**2), *ANSWER_BOUNDS, SOFTNESS)
    return Factors(alone * model, answer, alone)


def factors_and_slopes(
    log_temperature: float, correlation: float, ratio: StrengthRatio
) -> tuple[Factors, Floats, float]:
    """The factors at one tau and r, their derivatives, (model, answer, alone) in (tau, r), (3, 2); and r's bend."""
    r, dr = float(soft_correlation(correlation)), _soft_slope(correlation, *CORRELATION_BOUNDS, CORRELATION_SOFTNESS)
    q, slope = float(np.exp(ratio(log_temperature))), ratio.slope(log_temperature)
    alone, shared = float(np.exp(-log_temperature)), ratio.model_share * r
    rest, model_rest = 1.0 - r**2, 1.0 - shared**2
    model, answer = (1.0 - shared / q) / model_rest, (1.0 - r * q) / rest
    by_model = _soft_slope(model, *MODEL_BOUNDS, SOFTNESS)
    by_answer = _soft_slope(answer, *ANSWER_BOUNDS, SOFTNESS)
    clipped = float(_soft_clip(model, *MODEL_BOUNDS, SOFTNESS))
    slopes = np.array(
        [
            [
                alone * (by_model * slope * shared / q / model_rest - clipped),
                alone * by_model * ratio.model_share * dr * (2.0 * shared * model - 1.0 / q) / model_rest,
            ],
            [-by_answer * slope * r * q / rest, by_answer * dr * (2.0 * r * answer - q) / rest],
            [-alone, 0.0],
        ]
    )
    return factors_at(log_temperature, correlation, ratio), slopes, relative_bend(correlation)


def model_share(answers_per_item: float) -> float:
    """Of r, what the model's factor has: 0.8 beside one answer per item, nearer 1 beside several, graded too."""
    return 1.0 - (1.0 - MODEL_SHARE) / answers_per_item


def group_correlation(correlation: float, own_correlation: float, answers_per_item: float) -> float:
    """The correlation with the model of the mean of n answers, each of which has ``correlation`` with it.

    With s the correlation of two answers, their mean has the variance ``(1 + (n - 1) s) / n`` and the same covariance
    with the model: more of what is left of it is shared.
    """
    variance = (1.0 + (answers_per_item - 1.0) * own_correlation) / answers_per_item
    return float(min(correlation / np.sqrt(variance), CORRELATION_BOUNDS[1]))


def soft_correlation(correlation: Floats | float) -> Floats:
    """The correlation within its bounds."""
    return _soft_clip(correlation, *CORRELATION_BOUNDS, CORRELATION_SOFTNESS)


def relative_bend(correlation: float) -> float:
    """Second derivative of `soft_correlation` over the first: how sharply it bends at its bounds."""
    low, high = ((correlation - bound) / CORRELATION_SOFTNESS for bound in CORRELATION_BOUNDS)
    return float(expit(-low) - expit(high)) / CORRELATION_SOFTNESS


def class_shares(log_proba: Floats, weight: Floats, labels_per_class: Floats) -> Floats:
    """Shares of the classes: the labels', and the model's mean row, at the prior's temperature, as ten labels.

    log_proba         (n_classes, n_items), items with or without truth
    weight            (n_items,) of positive sum
    labels_per_class  (n_classes,) weight of the labelled items of each class
    """
    mean = normalise_exp(np.exp(-LOG_TEMPERATURE_MEAN) * log_proba) @ (weight / weight.sum())
    return np.asarray((labels_per_class + SHARE_LABELS * mean) / (labels_per_class.sum() + SHARE_LABELS))


def model_strengths(log_proba: Floats, weight: Floats, shares: Floats) -> Floats:
    """The model's strength ``J(1 - mean H(softmax(e^-tau log m)) / H(shares))`` at each of `STRENGTH_TEMPERATURES`."""
    entropy = [_mean_entropy(np.exp(-tau) * log_proba, weight) for tau in STRENGTH_TEMPERATURES]
    return _strength(1.0 - np.array(entropy) / _entropy(shares))


def answer_strength(log_likelihood: Floats, weight: Floats, shares: Floats) -> float:
    """Strength of the answers, ``J(1 - mean H(softmax(log shares + log-likelihood)) / H(shares))``.

    For one answer per item it is, in expectation, the mutual information of answer and class over H(shares).
    """
    removed = 1.0 - _mean_entropy(np.log(shares)[:, None] + log_likelihood, weight) / _entropy(shares)
    return float(_strength(np.array(removed)))


def strength_ratio(model: Floats, answer: float, n: float, answers_per_item: float = 1.0) -> StrengthRatio:
    """The ratio of strengths, trusted by ``n / (n + 30)`` over the answers per item.

    What several answers on an item count is fitted already, by their correlation.

    model   (n_temperatures,) from `model_strengths`
    answer  from `answer_strength`
    n       the labelled items' total weight
    """
    log_ratio = np.clip(np.log(model / answer), -np.log(MOST_RATIO), np.log(MOST_RATIO))
    trust = n / (n + RATIO_LABELS) / answers_per_item
    curve = PchipInterpolator(STRENGTH_TEMPERATURES, trust * log_ratio)
    return StrengthRatio(curve, model_share(answers_per_item))


def _strength(removed: Floats) -> Floats:
    return np.asarray(np.sqrt(-np.log1p(-np.clip(removed, *REMOVED_BOUNDS))))


def _entropy(shares: Floats) -> float:
    return max(-float(shares @ np.log(shares)), 1e-9)


def _mean_entropy(logits: Floats, weight: Floats) -> float:
    """Weighted mean over items of the entropy of ``softmax(logits)``; logits (n_classes, n_items)."""
    if len(logits) == 2:
        gap = np.abs(logits[1] - logits[0])
        odds = np.exp(-gap)
        return float((np.log1p(odds) + gap * odds / (1.0 + odds)) @ weight / weight.sum())
    logits = logits - logits.max(axis=0)
    share = np.exp(logits)
    total = share.sum(axis=0)
    entropy = np.log(total) - np.einsum("kn,kn->n", share, logits) / total
    return float(entropy @ weight / weight.sum())


def _soft_clip(x: Floats | float, low: float, high: float, width: float) -> Floats:
    """``x`` between the bounds, bending towards them within a few widths."""
    above, beyond = (np.logaddexp(0.0, (np.asarray(x) - bound) / width) for bound in (low, high))
    return np.asarray(low + width * (above - beyond))


def _soft_slope(x: float, low: float, high: float, width: float) -> float:
    return float(expit((x - low) / width) - expit((x - high) / width))
