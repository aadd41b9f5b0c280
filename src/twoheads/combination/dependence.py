"""What it costs that people and models err on the same items, learnt from labelled ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.base import BaseEstimator

from twoheads.engines.blocks import map_blocks, sum_blocks
from twoheads.engines.progress import current_callback
from twoheads.errors import InvalidParameter
from twoheads.kernels.answers import Answers, design_effect
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence.likelihood import (
    DependenceNodes,
    dependence_proba,
    dependence_sums,
    dependence_values,
)
from twoheads.kernels.dependence.mode import DependencePrior, dependence_mode, prior_with_agreement
from twoheads.kernels.dependence.posterior import fit_dependence, fit_dependence_mode
from twoheads.kernels.simplex import normalise_exp
from twoheads.storage.artifact import register

#: The log-likelihood of a labelled block's answers from matrices that have not seen them, (n_classes, n_items).
LeftOut = Callable[[Block], Floats]

#: With fewer labels than this, how much answers on one item resemble each other is not asked.
FEW_LABELS = 5


@register
class Dependence(BaseEstimator):
    r"""A temperature of the whole, a bias per class, and the model's temperature, averaged over how likely they are.

    .. math:: \text{logits}_k = e^{-\rho}\,(e^{-\tau} \log m_k + L_k) + c_k, \qquad
              L_k = \frac{\sum_a \log \varphi_{ak}}{1 + (n - 1)\,r}

    The plain product (:math:`\rho = 0, c = 0`) over-counts the agreement of partners who err on the same hard items;
    :math:`e^{-\rho}` takes that back, and c a bias towards some classes that both share. The three are averaged over
    a grid around their mode; from 20,000 labels on the mode stands for all of it. The n answers a on one item resemble
    each other beyond what the true class explains, by the correlation r (Kish's design effect): it is at its mode.

    Parameters
    ----------
    log_dependence_mean, log_dependence_sd : float
        The prior of rho.
    bias_sd, bias_weight : tuple of float
        The prior of c: Normal with one of several standard deviations (0: no bias), each with its prior probability.
    logit_correlation_mean, logit_correlation_sd : float
        The prior of logit r.

    Attributes
    ----------
    log_temperature_, log_dependence_, weight_ : ndarray of shape (n_nodes,)
        Values of tau and rho, and how likely each pair is.
    bias_, bias_of_ : ndarray of shape (n_biases, n_classes), (n_nodes,)
        Values of c, and which of them each node has.
    correlation_ : float
        The correlation r of several answers on one item.
    """

    def __init__(
        self,
        *,
        log_dependence_mean: float = 0.25,
        log_dependence_sd: float = 0.25,
        bias_sd: tuple[float, ...] = (0.0, 0.3, 1.0),
        bias_weight: tuple[float, ...] = (0.7, 0.25, 0.05),
        logit_correlation_mean: float = -0.85,
        logit_correlation_sd: float = 1.0,
    ) -> None:
        self.log_dependence_mean = log_dependence_mean
        self.log_dependence_sd = log_dependence_sd
        self.bias_sd = bias_sd
        self.bias_weight = bias_weight
        self.logit_correlation_mean = logit_correlation_mean
        self.logit_correlation_sd = logit_correlation_sd

    @property
    def prior_correlation(self) -> float:
        """What is believed of r before any label."""
        return float(expit(self.logit_correlation_mean))

    def start(
        self,
        *,
        log_temperature_prior: tuple[float, float],
        n_classes: int,
        agreement: Callable[[Floats], Floats] | None = None,
    ) -> Self:
        """Set the parameters to what is believed without any label; arguments as in `fit`."""
        nothing = Block(np.empty((n_classes, 0)), true_label=np.empty(0, dtype=np.intp))
        return self.fit(
            [nothing],
            [],
            lambda block: block.log_proba,
            n=0.0,
            log_temperature_prior=log_temperature_prior,
            n_classes=n_classes,
            agreement=agreement,
        )

    def fit(
        self,
        blocks: Sequence[Block],
        sample: Sequence[Block],
        left_out: LeftOut,
        *,
        n: float,
        log_temperature_prior: tuple[float, float],
        n_classes: int,
        agreement: Callable[[Floats], Floats] | None = None,
    ) -> Self:
        """Learn from labelled blocks.

        Parameters
        ----------
        blocks : sequence of Block
            The labelled items, their ``log_proba`` as the stage is to see them.
        sample : sequence of Block
            Some of them, evenly spaced, where they are too many for a grid; empty where they are not.
        left_out : callable
            The log-likelihood of a block's answers from matrices that have not seen them.
        n : float
            The labelled items' total weight.
        log_temperature_prior : (float, float)
            Location and scale of tau's prior, a Student t with 3 degrees of freedom.
        agreement : callable, optional
            What items without truth say of tau.
        """
        self._check()
        mean, scale = log_temperature_prior
        prior = DependencePrior(
            mean, scale, self.log_dependence_mean, self.log_dependence_sd, self.bias_sd, self.bias_weight
        )
        if agreement is not None:
            prior = prior_with_agreement(n, prior)
        few = list(map_blocks(lambda block: _parts(block, left_out), sample or blocks))
        few_n = sum(block.total_weight() for block in sample) if sample else n
        self.correlation_ = self._correlation(few, few_n, prior, n_classes)
        shared = [_shared(parts, self.correlation_) for parts in few]
        if sample:
            sums = _sums_anew(blocks, left_out, self.correlation_)
            return self._set(fit_dependence_mode(sums, _sums(shared), n, few_n, n_classes, prior))
        return self._set(fit_dependence(_sums(shared), _values(shared), n, n_classes, prior, agreement))

    def _correlation(self, labelled: Sequence[Parts], n: float, prior: DependencePrior, n_classes: int) -> float:
        """The mode of r, with (tau, rho) at theirs; that of its prior where labels are few or answers single."""
        if n < FEW_LABELS or all(parts.several is None for parts in labelled):
            return self.prior_correlation
        start = prior.log_temperature_mean, prior.log_dependence_mean

        def loss(logit: float) -> float:
            sums = _sums([_shared(parts, float(expit(logit))) for parts in labelled])
            mode = dependence_mode(sums, n, prior, 0.0, start, n_classes)
            return 0.5 * ((logit - self.logit_correlation_mean) / self.logit_correlation_sd) ** 2 - mode.log_posterior

        reach = 4.0 * self.logit_correlation_sd
        bounds = self.logit_correlation_mean - reach, self.logit_correlation_mean + reach
        return float(expit(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3}).x))

    def proba(self, log_proba: Floats, log_given: Floats, answers: Answers | None = None) -> Floats:
        """Probability of each class, (n_classes, n_items), from log m and the answers' log-likelihood of that shape."""
        if answers is not None and answers.start is not None:
            log_given = log_given / design_effect(answers, self.correlation_)
        return dependence_proba(log_proba, log_given, self._nodes())

    def model_proba(self, calibrated: Floats) -> Floats:
        """Probability of each class where the model alone has spoken: no dependence, but the bias, on average.

        calibrated  (n_classes, n_items) the model's log-probabilities, calibrated for themselves
        """
        weight = np.bincount(self.bias_of_, self.weight_, len(self.bias_))
        parts = (
            share * normalise_exp(calibrated + bias[:, None]) for share, bias in zip(weight, self.bias_, strict=True)
        )
        return np.asarray(sum(parts))

    def people_proba(self, log_prior: Floats, log_given: Floats, answers: Answers) -> Floats:
        """Probability of each class where people alone have spoken: neither dependence nor the model's bias."""
        return normalise_exp(log_prior + log_given / design_effect(answers, self.correlation_))

    def plain(self) -> Dependence:
        """The same with rho and c at 0: the plain product, for comparison."""
        tau, of_node = np.unique(self.log_temperature_, return_inverse=True)
        weight = np.bincount(of_node, self.weight_).astype(np.float64)
        bias, bias_of = np.zeros((1, self.bias_.shape[1])), np.zeros(len(tau), dtype=np.intp)
        plain = Dependence()._set(DependenceNodes(tau, np.zeros_like(tau), weight, bias, bias_of))
        plain.correlation_ = 0.0
        return plain

    def mean_log_temperature(self) -> float:
        """The model's log temperature, on average."""
        return float(self.weight_ @ self.log_temperature_)

    def weights(self) -> tuple[float, float]:
        """What the model's and the people's log-odds are multiplied with, on average."""
        whole = np.exp(-self.log_dependence_)
        return float(self.weight_ @ (whole * np.exp(-self.log_temperature_))), float(self.weight_ @ whole)

    def _check(self) -> None:
        for name in "log_dependence_sd", "logit_correlation_sd":
            if not getattr(self, name) > 0:
                raise InvalidParameter(f"{name} must be positive; it is {getattr(self, name)!r}.")
        if len(self.bias_sd) != len(self.bias_weight) or not self.bias_sd or self.bias_sd[0] != 0:
            raise InvalidParameter(
                "bias_sd and bias_weight must be of one length, and bias_sd must begin with 0 (no bias); they are "
                f"{self.bias_sd!r} and {self.bias_weight!r}."
            )

    def _set(self, nodes: DependenceNodes) -> Self:
        self.log_temperature_, self.log_dependence_ = nodes.log_temperature, nodes.log_dependence
        self.weight_, self.bias_, self.bias_of_ = nodes.weight / nodes.weight.sum(), nodes.bias, nodes.bias_of
        return self

    def _nodes(self) -> DependenceNodes:
        return DependenceNodes(self.log_temperature_, self.log_dependence_, self.weight_, self.bias_, self.bias_of_)


class Parts(NamedTuple):
    """What the kernels take of a block: log m, the answers' log-likelihood, the truth and the weights.

    several  (n_items,) how many answers each item has, less 1; None where no item has several
    """

    log_proba: Floats
    log_given: Floats
    true_label: Codes
    weight: Floats | None
    several: Codes | None


def _parts(block: Block, left_out: LeftOut) -> Parts:
    assert block.true_label is not None
    several = None
    if block.answers is not None and block.answers.start is not None:
        several = np.maximum(block.answers.per_item() - 1, 0)
    return Parts(block.log_proba, left_out(block), block.true_label, block.weight, several)


def _shared(parts: Parts, correlation: float) -> tuple[Floats, Floats, Codes, Floats | None]:
    log_proba, log_given, true_label, weight, several = parts
    return log_proba, log_given if several is None else log_given / (1.0 + several * correlation), true_label, weight


def _sums(kept: Sequence[Any]) -> Any:
    return lambda *at: sum_blocks(lambda parts: dependence_sums(*parts, *at), kept)


def _sums_anew(blocks: Sequence[Block], left_out: LeftOut, correlation: float) -> Any:
    """The same with nothing kept between passes, for tables too large for it."""

    def sums(*at: Any) -> Any:
        total = sum_blocks(lambda block: dependence_sums(*_shared(_parts(block, left_out), correlation), *at), blocks)
        current_callback().objective(float(total[0]))
        return total

    return sums


def _values(kept: Sequence[Any]) -> Any:
    return lambda *at: sum_blocks(lambda parts: (dependence_values(*parts, *at),), kept)[0]
