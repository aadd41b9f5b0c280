"""What it costs that people and models err on the same items, learnt from labelled ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.artifact import register
from twoheads.engines.local import sum_blocks
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.dependence import (
    DependenceNodes,
    dependence_proba,
    dependence_sums,
    dependence_values,
)
from twoheads.kernels.dependence_fit import fit_dependence, fit_dependence_mode
from twoheads.kernels.dependence_mode import DependencePrior, prior_with_agreement

#: The log-likelihood of a labelled block's answers from matrices that have not seen them, (n_classes, n_items).
LeftOut = Callable[[Block], Floats]


@register
class Dependence(BaseEstimator):
    r"""A temperature of the whole, a bias per class, and the model's temperature, averaged over how likely they are.

    .. math:: \text{logits}_k = e^{-\rho}\,(e^{-\tau} \log m_k + \log \varphi_{hk}) + c_k

    The plain product (:math:`\rho = 0, c = 0`) over-counts the agreement of partners who err on the same hard items;
    :math:`e^{-\rho}` takes that back, and c a bias towards some classes that both share. The three are averaged over
    a grid around their mode; from 20,000 labels on the mode stands for all of it.

    Parameters
    ----------
    log_dependence_mean, log_dependence_sd : float
        The prior of rho.
    bias_sd, bias_weight : tuple of float
        The prior of c: Normal with one of several standard deviations (0: no bias), each with its prior probability.

    Attributes
    ----------
    log_temperature_, log_dependence_, weight_ : ndarray of shape (n_nodes,)
        Values of tau and rho, and how likely each pair is.
    bias_, bias_of_ : ndarray of shape (n_biases, n_classes), (n_nodes,)
        Values of c, and which of them each node has.
    """

    def __init__(
        self,
        *,
        log_dependence_mean: float = 0.25,
        log_dependence_sd: float = 0.25,
        bias_sd: tuple[float, ...] = (0.0, 0.3, 1.0),
        bias_weight: tuple[float, ...] = (0.7, 0.25, 0.05),
    ) -> None:
        self.log_dependence_mean = log_dependence_mean
        self.log_dependence_sd = log_dependence_sd
        self.bias_sd = bias_sd
        self.bias_weight = bias_weight

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
        if sample:
            sums, few = _sums_anew(blocks, left_out), _sums(_kept(sample, left_out))
            sample_n = sum(block.total_weight() for block in sample)
            return self._set(fit_dependence_mode(sums, few, n, sample_n, n_classes, prior))
        kept = _kept(blocks, left_out)
        return self._set(fit_dependence(_sums(kept), _values(kept), n, n_classes, prior, agreement))

    def proba(self, log_proba: Floats, log_given: Floats) -> Floats:
        """Probability of each class, (n_classes, n_items), from log m and the answers' log-likelihood of that shape."""
        return dependence_proba(log_proba, log_given, self._nodes())

    def plain(self) -> Dependence:
        """The same with rho and c at 0: the plain product, for comparison."""
        tau, of_node = np.unique(self.log_temperature_, return_inverse=True)
        weight = np.bincount(of_node, self.weight_).astype(np.float64)
        bias, bias_of = np.zeros((1, self.bias_.shape[1])), np.zeros(len(tau), dtype=np.intp)
        return Dependence()._set(DependenceNodes(tau, np.zeros_like(tau), weight, bias, bias_of))

    def mean_log_temperature(self) -> float:
        """The model's log temperature, on average."""
        return float(self.weight_ @ self.log_temperature_)

    def weights(self) -> tuple[float, float]:
        """What the model's and the people's log-odds are multiplied with, on average."""
        whole = np.exp(-self.log_dependence_)
        return float(self.weight_ @ (whole * np.exp(-self.log_temperature_))), float(self.weight_ @ whole)

    def _check(self) -> None:
        if not self.log_dependence_sd > 0:
            raise InvalidParameter(f"log_dependence_sd must be positive; it is {self.log_dependence_sd!r}.")
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


#: What the kernels take of a block: log m, the answers' log-likelihood, the truth and the weights.
Parts = tuple[Floats, Floats, Codes, Floats | None]


def _parts(block: Block, left_out: LeftOut) -> Parts:
    assert block.true_label is not None
    return block.log_proba, left_out(block), block.true_label, block.weight


def _kept(blocks: Sequence[Block], left_out: LeftOut) -> list[Parts]:
    return [_parts(block, left_out) for block in blocks]


def _sums(kept: Sequence[Parts]) -> Any:
    return lambda *at: sum_blocks(lambda parts: dependence_sums(*parts, *at), kept)


def _sums_anew(blocks: Sequence[Block], left_out: LeftOut) -> Any:
    """The same with nothing kept between passes, for tables too large for it."""
    return lambda *at: sum_blocks(lambda block: dependence_sums(*_parts(block, left_out), *at), blocks)


def _values(kept: Sequence[Parts]) -> Any:
    return lambda *at: sum_blocks(lambda parts: (dependence_values(*parts, *at),), kept)[0]
