"""The correction for models and annotators that err on the same items, learnt from labelled ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from twoheads.dependence.answer_correlation import answer_correlation, mean_effective_answers
from twoheads.dependence.evidence import Evidence, KeptEvidence, StreamedEvidence
from twoheads.dependence.strengths import Strengths
from twoheads.errors import InvalidParameter
from twoheads.kernels import priors
from twoheads.kernels.answers import Answers, design_effect
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.dependence.agreement import Agreement
from twoheads.kernels.dependence.fewer_answers import between, effective_answers, fitted_share
from twoheads.kernels.dependence.grid import model_alone_weight
from twoheads.kernels.dependence.left_out import Weights, left_out_probas
from twoheads.kernels.dependence.mode import (
    DependencePrior,
    prior_with_agreement,
)
from twoheads.kernels.dependence.nodes import DependenceNodes, dependence_proba
from twoheads.kernels.dependence.posterior import fit_dependence, fit_dependence_mode
from twoheads.kernels.dependence.witnesses import StrengthRatio, group_correlation, model_share
from twoheads.kernels.simplex import normalise_exp
from twoheads.storage.artifact import register


@register
class Dependence(BaseEstimator):
    r"""Factors on the evidence of model and people, and a bias per class, averaged over their posterior.

    .. math:: \text{logits}_k = \alpha \log m_k + \beta L_k + c_k, \qquad
              L_k = \frac{\sum_a \log \varphi_{ak}}{1 + (n - 1)\,s}

    .. math:: \alpha = e^{-\tau}\,\frac{1 - g\,r / q}{1 - g^2 r^2}, \qquad \beta = \frac{1 - r\,q}{1 - r^2}

    The plain product (:math:`r = 0, c = 0`) over-counts the agreement of a model and people who err on the same hard
    items. If the evidence of the two has correlation r and the model's is q times as strong, their factors are
    :math:`\alpha` and :math:`\beta` (within [0.2, 1.2] and [-0.3, 1.3]): the weaker one is discounted, the stronger
    keeps its weight. q is estimated from the items, and closer to 1 with few labels or several answers per item. g is
    0.8 with one answer per item, which is less graded than a model's row, and :math:`1 - 0.2 / n` with n answers on
    average; c is a shared bias towards certain classes. :math:`\tau`, the model's log temperature, r and c are
    averaged over a grid around their posterior mode; from 20,000 labels on, the mode alone is used. The n answers a on
    one item have the correlation s given the true class (Kish's design effect), set to its posterior mode.

    Parameters
    ----------
    partner_correlation_mean, partner_correlation_sd : float
        The prior of r, the correlation of the model's and the people's evidence.
    bias_sd, bias_weight : tuple of float
        The prior of c: Normal with one of several standard deviations (0: no bias), each with its prior probability.
    logit_correlation_mean, logit_correlation_sd : float
        The prior of logit s.

    Attributes
    ----------
    log_temperature_, partner_correlation_, weight_ : ndarray of shape (n_nodes,)
        Values of tau and r, and the posterior probability of each pair.
    model_factor_, answer_factor_ : ndarray of shape (n_nodes,)
        The factors alpha and beta there.
    bias_, bias_of_ : ndarray of shape (n_biases, n_classes), (n_nodes,)
        Values of c, and the index of the value at each node.
    correlation_ : float
        The correlation s of several answers on one item.
    effective_answers_ : float
        How many independent answers those on an item of the fit are worth on average; 0 where fewer make no difference.
    separation_ : float
        How far people and machines that answer about one item are two groups (1) instead of one (0).
    strength_ratio_ : float
        The strength of the model's evidence relative to the people's, q, at the mean temperature.
    """

    def __init__(
        self,
        *,
        partner_correlation_mean: float = priors.PARTNER_CORRELATION_MEAN,
        partner_correlation_sd: float = priors.PARTNER_CORRELATION_SD,
        bias_sd: tuple[float, ...] = priors.BIAS_SD,
        bias_weight: tuple[float, ...] = priors.BIAS_WEIGHT,
        logit_correlation_mean: float = priors.LOGIT_CORRELATION_MEAN,
        logit_correlation_sd: float = priors.LOGIT_CORRELATION_SD,
    ) -> None:
        self.partner_correlation_mean = partner_correlation_mean
        self.partner_correlation_sd = partner_correlation_sd
        self.bias_sd = bias_sd
        self.bias_weight = bias_weight
        self.logit_correlation_mean = logit_correlation_mean
        self.logit_correlation_sd = logit_correlation_sd

    @property
    def prior_correlation(self) -> float:
        """The correlation s of answers on one item at the mean of its prior."""
        return float(expit(self.logit_correlation_mean))

    def start(
        self,
        *,
        log_temperature_prior: tuple[float, float],
        n_classes: int,
        agreement: Agreement | None = None,
        answers_per_item: float = 1.0,
        correlation_share: float = 1.0,
    ) -> Self:
        """Fit without labels: the prior, updated by unlabelled items; arguments as in `fit`."""
        nothing = Evidence(np.empty((n_classes, 0)), np.empty((n_classes, 0)), np.empty(0, dtype=np.intp), None, None)
        return self.fit(
            [nothing],
            n=0.0,
            log_temperature_prior=log_temperature_prior,
            n_classes=n_classes,
            agreement=agreement,
            answers_per_item=answers_per_item,
            correlation_share=correlation_share,
        )

    def fit(
        self,
        evidence: Sequence[Evidence],
        whole: StreamedEvidence | None = None,
        *,
        n: float,
        log_temperature_prior: tuple[float, float],
        n_classes: int,
        agreement: Agreement | None = None,
        unlabelled: Evidence | None = None,
        has_model: bool = True,
        answers_per_item: float = 1.0,
        correlation_share: float = 1.0,
    ) -> Self:
        """Learn from labelled items.

        Parameters
        ----------
        evidence : sequence of Evidence
            The labelled items, block by block; of very many a sample.
        whole : StreamedEvidence, optional
            All labelled items, where ``evidence`` is a sample of them.
        n : float
            The labelled items' total weight.
        log_temperature_prior : (float, float)
            Location and scale of tau's prior, a Student t with 3 degrees of freedom.
        agreement : Agreement, optional
            Log-density of tau from unlabelled items.
        unlabelled : Evidence, optional
            Some unlabelled items, each with the weight of those it represents, for the strengths of model and people.
        has_model : bool
            Whether there is a model; without one there is no ratio of strengths.
        answers_per_item : float
            Mean number of answers on an item beside the model: the more there are, the less noise of their own they
            have together, and the more they share with the model.
        correlation_share : float
            Factor on the prior's s, below 1 where the answers' agreement contradicts it.
        """
        self._check()
        self.separation_, own = priors.SEPARATION_MEAN, self.prior_correlation
        kept_n = n if whole is None else sum(block.total_weight() for block in evidence)
        strengths = Strengths.of(evidence, unlabelled, n, answers_per_item) if has_model and n > 0 else None
        ratio_at = _equal_strengths(answers_per_item) if strengths is None else strengths.ratio
        together = group_correlation(self.partner_correlation_mean, own, answers_per_item)
        # Without labels nothing shows a bias; without a model, class shares have learnt it from the same labels.
        biases = (self.bias_sd, self.bias_weight) if n > 0 and has_model else ((0.0,), (1.0,))
        prior = DependencePrior(*log_temperature_prior, together, self.partner_correlation_sd, *biases)
        if agreement is not None:
            prior = prior_with_agreement(n, prior, share=agreement.share)
        of_prior = {"expected": correlation_share * own, "logit_sd": self.logit_correlation_sd}
        self.correlation_ = answer_correlation(evidence, kept_n, prior, ratio_at, n_classes, **of_prior)
        self.effective_answers_ = mean_effective_answers(evidence, self.correlation_, answers_per_item)
        ratio = ratio_at(self.correlation_)
        kept = KeptEvidence([block.discounted(self.correlation_) for block in evidence])
        if whole is None:
            nodes = fit_dependence(kept.sums, kept.values, n, n_classes, prior, agreement, ratio)
        else:
            sums = partial(whole.sums, self.correlation_)
            nodes = fit_dependence_mode(sums, kept.sums, n, kept_n, n_classes, prior, ratio)
        self._set(nodes)
        self.strength_ratio_ = float(np.exp(ratio(self.mean_log_temperature())))
        return self

    def model_evidence(self, log_proba: Floats, calibrated: Callable[[Codes], Floats], answers: Answers) -> Floats:
        """The model's log-probabilities, with fewer answers than at fit nearer to the model alone (`fewer_answers`).

        log_proba   (n_classes, n_items) with an answer and a model row
        calibrated  the calibrated log-probabilities of the items at given positions
        """
        effective = effective_answers(answers.per_item(), self.correlation_)
        share = fitted_share(effective, self.effective_answers_)
        fewer = np.flatnonzero(share < 1.0 - 1e-9)
        if not len(fewer):
            return log_proba
        evidence, factor = log_proba.copy(), self.weights()[0]
        evidence[:, fewer] = between(log_proba[:, fewer], calibrated(fewer), share[fewer], factor)
        return evidence

    def proba(self, log_proba: Floats, log_likelihood: Floats, answers: Answers | None = None) -> Floats:
        """Probability of each class, (n_classes, n_items), from log m and the answers' log-likelihood of that shape."""
        if answers is not None and answers.start is not None:
            log_likelihood = log_likelihood / design_effect(answers, self.correlation_)
        return dependence_proba(log_proba, log_likelihood, self._nodes())

    def left_out_probas(
        self, logs: tuple[Floats, Floats], log_likelihood: Floats, true_label: Codes, answers: Answers, weights: Weights
    ) -> tuple[Floats, Floats]:
        """The same of labelled items, each under the parameters' posterior without it; and so for the plain product.

        logs            (n_classes, n_items) each: log m, and what `model_evidence` makes of it
        log_likelihood  (n_classes, n_items) from matrices fitted without the item
        weights         (n_items,) or None, and that of all labelled items of the fit
        """
        several = answers.start is not None
        discounted = log_likelihood / design_effect(answers, self.correlation_) if several else log_likelihood
        tau, of_node = np.unique(self.log_temperature_, return_inverse=True)
        model = np.exp(-tau)[:, None, None] * logs[0]
        rest = self.answer_factor_[:, None, None] * discounted + self.bias_[self.bias_of_][:, :, None]
        logits = self.model_factor_[:, None, None] * logs[0] + rest
        predicted = None if logs[1] is logs[0] else self.model_factor_[:, None, None] * logs[1] + rest
        parts, nodes = (logits, model + log_likelihood, model), (of_node, self.weight_)
        alone = model_alone_weight(weights[1])
        return left_out_probas(*parts, *nodes, true_label, weights[0], alone_weight=alone, predicted=predicted)

    def model_proba(self, calibrated: Floats) -> Floats:
        """Probability of each class for items with a model row and no answer: no dependence, but the average bias.

        calibrated  (n_classes, n_items) the model's calibrated log-probabilities
        """
        weight = np.bincount(self.bias_of_, self.weight_, len(self.bias_))
        each = zip(weight, self.bias_, strict=True)
        return np.asarray(sum(share * normalise_exp(calibrated + bias[:, None]) for share, bias in each))

    def answers_proba(self, log_prior: Floats, log_likelihood: Floats, answers: Answers) -> Floats:
        """Probability of each class for items with answers and no model row: neither dependence nor bias."""
        return normalise_exp(log_prior + log_likelihood / design_effect(answers, self.correlation_))

    def plain(self) -> Dependence:
        """The same with r and c at 0: the plain product, for comparison."""
        tau, of_node = np.unique(self.log_temperature_, return_inverse=True)
        weight = np.bincount(of_node, self.weight_).astype(np.float64)
        bias, bias_of = np.zeros((1, self.bias_.shape[1])), np.zeros(len(tau), dtype=np.intp)
        nodes = DependenceNodes(tau, np.zeros_like(tau), np.exp(-tau), np.ones_like(tau), weight, bias, bias_of)
        plain = Dependence()._set(nodes)
        plain.correlation_, plain.effective_answers_, plain.separation_, plain.strength_ratio_ = 0.0, 0.0, 0.0, 1.0
        return plain

    def mean_log_temperature(self) -> float:
        """Posterior mean of the model's log temperature."""
        return float(self.weight_ @ self.log_temperature_)

    def weights(self) -> tuple[float, float]:
        """Posterior mean of the factors on the model's and on the annotators' log-odds."""
        return float(self.weight_ @ self.model_factor_), float(self.weight_ @ self.answer_factor_)

    def _check(self) -> None:
        for name in "partner_correlation_sd", "logit_correlation_sd":
            if not getattr(self, name) > 0:
                raise InvalidParameter(f"{name} must be positive; it is {getattr(self, name)!r}.")
        if len(self.bias_sd) != len(self.bias_weight) or not self.bias_sd or self.bias_sd[0] != 0:
            raise InvalidParameter(
                "bias_sd and bias_weight must have the same length, and bias_sd must begin with 0 (no bias); they are "
                f"{self.bias_sd!r} and {self.bias_weight!r}."
            )

    def _set(self, nodes: DependenceNodes) -> Self:
        self.log_temperature_, self.partner_correlation_ = nodes.log_temperature, nodes.correlation
        self.model_factor_, self.answer_factor_ = nodes.model_factor, nodes.answer_factor
        self.weight_, self.bias_, self.bias_of_ = nodes.weight / nodes.weight.sum(), nodes.bias, nodes.bias_of
        return self

    def _nodes(self) -> DependenceNodes:
        values = self.log_temperature_, self.partner_correlation_, self.model_factor_, self.answer_factor_
        return DependenceNodes(*values, self.weight_, self.bias_, self.bias_of_)


def _equal_strengths(answers_per_item: float) -> Callable[[float], StrengthRatio]:
    """Model and people as equally strong, whatever the correlation of answers on one item."""
    ratio = StrengthRatio(model_share=model_share(answers_per_item))
    return lambda _: ratio
