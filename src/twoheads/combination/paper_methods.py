"""The paper's methods as its released code computes them, quirks included.

For reproducing published tables and nothing else: no default of this package uses anything from here. Where the code
departs from the paper's equations:

- the temperature is sought by Adam from T = 1, which stops as soon as the slope is below 1e-3;
- the temperature's prior is a log-normal density in T, added to the *mean* log-likelihood: it counts n times;
- the temperature of SP has no prior;
- maximum-likelihood counts are clipped at 1e-50;
- a row whose products are all below 1e-8 becomes uniform;
- EM starts from a "confusion matrix" of 10 and -1, and its M-step subtracts 1 on the diagonal only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from twoheads.calibration.base import Calibrator
from twoheads.calibration.ensemble_temperature import EnsembleTemperatureScaling
from twoheads.calibration.identity import Identity
from twoheads.calibration.imax import IMaxBinning
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.combination.combiner import Combiner
from twoheads.combination.fitting.fit import FitResult
from twoheads.combination.items.collect import StatisticsSettings, collect_statistics
from twoheads.combination.items.open import open_items
from twoheads.combination.label_label import LabelLabelCombiner
from twoheads.combination.learnt import LearntItems
from twoheads.combination.logistic import LogisticCombiner
from twoheads.combination.probability_label import ProbabilityLabelCombiner
from twoheads.combination.rule import CombinationRule
from twoheads.confusion.base import Confusion
from twoheads.confusion.dirichlet import DirichletConfusion
from twoheads.confusion.one_coin import OneCoinConfusion
from twoheads.engines.blocks import sum_blocks
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.answers import answer_log_likelihood, soft_counts
from twoheads.kernels.arrays import MISSING, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.tempering import temperature_sums
from twoheads.observations import as_observations
from twoheads.storage.artifact import register
from twoheads.tables.scanned import read_labelled

METHODS = ("P+L", "P+L-EM", "L+L", "SP", "LR", "Bayes", "uncalibrated", "ETS", "IMax")


def paper_2021(method: str, *, estimate: str | None = None) -> Combiner:
    """The paper's method as its released code computes it.

    Parameters
    ----------
    method : {"P+L", "P+L-EM", "L+L", "SP", "LR", "Bayes", "uncalibrated", "ETS", "IMax"}
        The name the paper's tables and figures give it.
    estimate : {"mode", "likelihood"}, optional
        How the confusion matrices of "L+L", "uncalibrated", "ETS" and "IMax" are estimated. The published error-rate
        tables used maximum likelihood for all four, the default but for "L+L", whose learning curves used the mode.

    Examples
    --------
    >>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]
    >>> paper_2021("P+L").fit(X, [0, 1, 0, 1]).calibrator_.temperature_.__round__(1)
    1.3
    """
    if method not in METHODS:
        raise InvalidParameter(f"method must be one of {', '.join(METHODS)}; it is {method!r}.")
    if estimate not in (None, "mode", "likelihood"):
        raise InvalidParameter(f"estimate must be 'mode' or 'likelihood'; it is {estimate!r}.")
    confusion = ReleasedConfusion(estimate=estimate or ("mode" if method in ("L+L", "P+L") else "likelihood"))
    makers: dict[str, Callable[[], Combiner]] = {
        "P+L": lambda: ReleasedCombiner(confusion, ReleasedTemperature()),
        "P+L-EM": lambda: ReleasedEM(),
        "L+L": lambda: ReleasedLabelLabel(confusion),
        "SP": lambda: ReleasedCombiner(
            OneCoinConfusion(prior_accuracy=2.3 / 2.4, prior_strength=2.4), ReleasedTemperature(estimate="likelihood")
        ),
        "LR": lambda: LogisticCombiner(features="probability"),
        "Bayes": lambda: ReleasedCombiner(DirichletConfusion(estimate="mean"), TemperatureScaling(estimate="mean")),
        "uncalibrated": lambda: ReleasedCombiner(confusion, Identity()),
        "ETS": lambda: ReleasedCombiner(confusion, EnsembleTemperatureScaling()),
        "IMax": lambda: ReleasedCombiner(confusion, IMaxBinning()),
    }
    return makers[method]()


@register
class ReleasedTemperature(TemperatureScaling):
    """Temperature scaling as released: Adam that stops early; with ``estimate="mode"``, a prior that counts n times."""

    @property
    def has_em_step(self) -> bool:
        """Never: every fit starts from T = 1."""
        return False

    def fit_statistics(self, values: Floats, *, sampled: bool) -> bool:
        """Never: Adam needs the items."""
        return False

    def search_prior(self) -> tuple[float, float]:
        """No prior: the released one is not a density of log T."""
        return Calibrator.search_prior(self)

    def fit_blocks(self, blocks: Sequence[Block], n_classes: int) -> Self:
        """Adam on T, from 1."""
        self.start(blocks, n_classes)
        weight = float(sum_blocks(lambda block: (block.total_weight(),), blocks)[0])

        def slope(temperature: float) -> float:
            tau = float(np.log(temperature))
            _, first, _ = sum_blocks(lambda block: temperature_sums(block, tau), blocks)
            mean_loss = first / weight / temperature**2
            if self.estimate == "likelihood":
                return float(mean_loss)
            return float(mean_loss + (1 + (tau - self.log_temperature_mean) / self.log_temperature_sd**2) / temperature)

        self._set(float(np.log(_adam(slope, 1.0))))
        return self


def _adam(slope: Callable[[float], float], start: float) -> float:
    """Adam (rate 0.05) in [0.01, 10000] until the slope is below 1e-3 or 7,500 steps were made."""
    at, mean, square = start, 0.0, 0.0
    for step in range(1, 7502):
        now = slope(at)
        mean, square = 0.9 * mean + 0.1 * now, 0.999 * square + 0.001 * now**2
        at -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        at = min(max(at, 1e-2), 1e4)
        if abs(now) < 1e-3:
            break
    return at


@register
class ReleasedConfusion(DirichletConfusion):
    """Counts to matrices in the order of operations of the released code, which decides its ties."""

    def given_true(self, counts: Floats) -> Floats:
        """Mode: prior concentrations added, then 1 subtracted; likelihood: counts clipped at 1e-50."""
        pseudo_counts = self.pseudo_counts(*counts.shape[-2:])
        if self.estimate == "likelihood":
            clipped = np.maximum(counts, 1e-50)
            return np.asarray(clipped / clipped.sum(axis=-2, keepdims=True))
        concentrations = counts + (pseudo_counts + 1.0)
        in_memory_order = np.ascontiguousarray(concentrations.swapaxes(-1, -2))  # rounding follows the order of a sum
        return np.asarray((concentrations - 1.0) / (in_memory_order.sum(axis=-1)[..., None, :] - counts.shape[-2]))


def _products(confusion: Confusion, block: Block, model: Floats) -> Floats:
    """Products of the model's probabilities and the answers' probabilities under each class, (n_classes, n_items)."""
    people = confusion.people()
    return model * _answered(block, people.reshape(-1, people.shape[-1]))


def _answered(block: Block, table: Floats) -> Floats:
    """The probability of each item's one answer under each class, (n_classes, n_items); 1 where nobody was asked."""
    assert block.answers is not None
    if block.answers.start is not None:
        raise InvalidObservations(
            "X must hold at most one answer per item for the methods of paper_2021, which are for one person; "
            f"an item has {block.answers.per_item().max()}. Use ProbabilityLabelCombiner or recommended()."
        )
    answered = answer_log_likelihood(block.answers, table)
    answered[:, block.answers.column == MISSING] = 1.0
    return answered


@register
class ReleasedCombiner(ProbabilityLabelCombiner):
    """P+L as released: products of probabilities, uniform where all are below 1e-8."""

    supports_several_models = False

    def log_joint(self, block: Block) -> Floats:
        """Log of the products, normalised, (n_classes, n_items)."""
        products = _products(self.confusion_, block, np.exp(self.calibrator_.calibrate(block.log_proba)))
        products[:, (np.abs(products) <= 1e-8).all(axis=0)] = 1.0
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(products / products.sum(axis=0)))


@register
class ReleasedLabelLabel(LabelLabelCombiner):
    """L+L as released: products of probabilities. At few labels many tie, and the rounding of the matrices decides."""

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the items whose truth is known."""
        super().fit(X, y, sample_weight)
        if self.confusion_.estimate == "mode":
            counts = np.ascontiguousarray(self.model_counts_.T)
            concentrations = counts + (self.confusion_.pseudo_counts(*counts.shape) + 1.0)
            self.true_given_model_ = (concentrations - 1.0) / (concentrations.sum(axis=0) - len(counts))
        return self

    def log_joint(self, block: Block) -> Floats:
        """Log of the products, normalised, (n_classes, n_items)."""
        products = _products(self.confusion_, block, self.given_model(block))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(products / products.sum(axis=0)))


@register
class ReleasedEM(ProbabilityLabelCombiner):
    """P+L-EM (MAP) as released; any ``y`` is ignored."""

    supports_several_models = False
    supports_partial_fit = False

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """At least 50 iterations, until the expected log-likelihood changes by less than one in a million."""
        X, y, sample_weight = read_labelled(X, y, sample_weight)
        observations = as_observations(X, y=y, model_scale=self.model_scale)
        items = open_items(observations, model_scale=self.model_scale, zeros=None)
        self._need_model_count(items.schema)
        if items.schema.n_annotators > 1:
            raise InvalidObservations(
                f"X must hold one person's answers for paper_2021('P+L-EM'); it has {items.schema.n_annotators} "
                "people's. Use ProbabilityLabelCombiner or recommended()."
            )
        confusion, calibrator, path = _released_em(observations.block(slice(0, len(observations))))
        settings = StatisticsSettings(0.0, overlap=False, response=None, search_prior=calibrator.search_prior())
        statistics = collect_statistics(items.schema, (0, len(items)), items.blocks(), None, settings).without_sample()
        prevalence = np.full(items.schema.n_classes, 1.0 / items.schema.n_classes)
        rule = CombinationRule(confusion, calibrator, has_model=items.schema.has_model)
        self.adopt(FitResult(items.schema, rule, statistics, None, prevalence, path))
        return self.remember(LearntItems.nothing())


def _released_em(block: Block) -> tuple[Confusion, ReleasedTemperature, Floats]:
    """EM as released; returns the expected log-likelihoods last."""
    assert block.answers is not None
    n_classes = len(block.log_proba)
    identity = np.eye(n_classes)
    concentrations = DirichletConfusion().pseudo_counts(n_classes, n_classes) + 1.0
    calibrator, confusion = ReleasedTemperature(), ReleasedConfusion()
    matrix = identity * 11.0 - 1.0
    calibrated, path = np.exp(block.log_proba), [-1e15]
    while True:
        share = calibrated * _answered(block, matrix)
        share /= share.sum(axis=0)
        counts = soft_counts(block.answers, share, n_classes) + concentrations
        matrix = (counts - identity) / (counts.sum(axis=0) - n_classes)
        calibrator.fit_blocks([Block(block.log_proba, target=share)], n_classes)
        log_calibrated = np.maximum(calibrator.calibrate(block.log_proba), np.log(1e-15))
        calibrated = np.exp(log_calibrated)
        log_answers = answer_log_likelihood(block.answers, np.log(np.clip(matrix, 1e-15, 1)))
        path.append(float((share * (log_calibrated + log_answers)).sum()))
        change = abs(path[-1] - path[-2]) / abs(path[-2])
        if len(path) > 751 or (len(path) > 50 and change < 1e-6):
            break
    confusion.counts_ = counts[None] - concentrations
    confusion.crowd_given_true_ = confusion.human_given_true_ = matrix
    return confusion, calibrator, np.array(path[1:])
