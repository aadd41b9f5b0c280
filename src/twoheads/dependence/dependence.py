"""The correction for models and annotators that err on the same items, learnt from labelled ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.base import BaseEstimator

from twoheads.dependence.evidence import Evidence, KeptEvidence, StreamedEvidence
from twoheads.errors import InvalidParameter
from twoheads.kernels import priors
from twoheads.kernels.answers import Answers, design_effect
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.dependence.agreement import Agreement
from twoheads.kernels.dependence.left_out import left_out_probas
from twoheads.kernels.dependence.mode import DependencePrior, dependence_mode, prior_with_agreement
from twoheads.kernels.dependence.nodes import DependenceNodes, dependence_proba
from twoheads.kernels.dependence.posterior import fit_dependence, fit_dependence_mode, model_alone_weight
from twoheads.kernels.simplex import normalise_exp
from twoheads.storage.artifact import register

#: With fewer labels than this, the correlation of answers on one item is that of its prior.
FEW_LABELS = 5


@register
class Dependence(BaseEstimator):
    r"""A temperature of the product, a bias per class, and the model's temperature, averaged over their posterior.

    .. math:: \text{logits}_k = e^{-\rho}\,(e^{-\tau} \log m_k + L_k) + c_k, \qquad
              L_k = \frac{\sum_a \log \varphi_{ak}}{1 + (n - 1)\,r}

    The plain product (:math:`\rho = 0, c = 0`) over-counts the agreement of a model and people who err on the same hard
    items; :math:`e^{-\rho}` corrects for that, and c for a bias of both towards certain classes. The three are
    averaged over a grid around their posterior mode; from 20,000 labels on, the mode alone is used. The n answers a on
    one item have the correlation r given the true class (Kish's design effect); it is set to its posterior mode.

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
        Values of tau and rho, and the posterior probability of each pair.
    bias_, bias_of_ : ndarray of shape (n_biases, n_classes), (n_nodes,)
        Values of c, and the index of the value at each node.
    correlation_ : float
        The correlation r of several answers on one item.
    """

    def __init__(
        self,
        *,
        log_dependence_mean: float = priors.LOG_DEPENDENCE_MEAN,
        log_dependence_sd: float = priors.LOG_DEPENDENCE_SD,
        bias_sd: tuple[float, ...] = priors.BIAS_SD,
        bias_weight: tuple[float, ...] = priors.BIAS_WEIGHT,
        logit_correlation_mean: float = priors.LOGIT_CORRELATION_MEAN,
        logit_correlation_sd: float = priors.LOGIT_CORRELATION_SD,
    ) -> None:
        self.log_dependence_mean = log_dependence_mean
        self.log_dependence_sd = log_dependence_sd
        self.bias_sd = bias_sd
        self.bias_weight = bias_weight
        self.logit_correlation_mean = logit_correlation_mean
        self.logit_correlation_sd = logit_correlation_sd

    @property
    def prior_correlation(self) -> float:
        """The correlation r at the mean of its prior."""
        return float(expit(self.logit_correlation_mean))

    def start(
        self,
        *,
        log_temperature_prior: tuple[float, float],
        n_classes: int,
        agreement: Agreement | None = None,
    ) -> Self:
        """Fit without labels: the prior, updated by unlabelled items; arguments as in `fit`."""
        nothing = Evidence(np.empty((n_classes, 0)), np.empty((n_classes, 0)), np.empty(0, dtype=np.intp), None, None)
        return self.fit(
            [nothing], n=0.0, log_temperature_prior=log_temperature_prior, n_classes=n_classes, agreement=agreement
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
    ) -> Self:
        """Learn from labelled items.

        Parameters
        ----------
        evidence : sequence of Evidence
            The labelled items, block by block; of very many a sample, evenly spaced.
        whole : StreamedEvidence, optional
            All labelled items, where ``evidence`` is a sample of them.
        n : float
            The labelled items' total weight.
        log_temperature_prior : (float, float)
            Location and scale of tau's prior, a Student t with 3 degrees of freedom.
        agreement : Agreement, optional
            Log-density of tau from unlabelled items.
        """
        self._check()
        mean, scale = log_temperature_prior
        prior = DependencePrior(
            mean, scale, self.log_dependence_mean, self.log_dependence_sd, self.bias_sd, self.bias_weight
        )
        if agreement is not None:
            prior = prior_with_agreement(n, prior, share=agreement.share)
        kept_n = n if whole is None else sum(block.total_weight() for block in evidence)
        self.correlation_ = self._correlation(evidence, kept_n, prior, n_classes)
        kept = KeptEvidence([block.discounted(self.correlation_) for block in evidence])
        if whole is None:
            return self._set(fit_dependence(kept.sums, kept.values, n, n_classes, prior, agreement))
        sums = partial(whole.sums, self.correlation_)
        return self._set(fit_dependence_mode(sums, kept.sums, n, kept_n, n_classes, prior))

    def _correlation(self, labelled: Sequence[Evidence], n: float, prior: DependencePrior, n_classes: int) -> float:
        """The mode of r, with (tau, rho) at theirs; the prior's where labels are few or no item has several answers."""
        if n < FEW_LABELS or all(evidence.more_answers is None for evidence in labelled):
            return self.prior_correlation
        start = prior.log_temperature_mean, prior.log_dependence_mean

        def loss(logit: float) -> float:
            kept = KeptEvidence([evidence.discounted(float(expit(logit))) for evidence in labelled])
            mode = dependence_mode(kept.sums, model_alone_weight(n), prior, 0.0, start, n_classes)
            return 0.5 * ((logit - self.logit_correlation_mean) / self.logit_correlation_sd) ** 2 - mode.log_posterior

        reach = 4.0 * self.logit_correlation_sd
        bounds = self.logit_correlation_mean - reach, self.logit_correlation_mean + reach
        return float(expit(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-3}).x))

    def proba(self, log_proba: Floats, log_likelihood: Floats, answers: Answers | None = None) -> Floats:
        """Probability of each class, (n_classes, n_items), from log m and the answers' log-likelihood of that shape."""
        if answers is not None and answers.start is not None:
            log_likelihood = log_likelihood / design_effect(answers, self.correlation_)
        return dependence_proba(log_proba, log_likelihood, self._nodes())

    def left_out_probas(
        self, log_proba: Floats, log_likelihood: Floats, true_label: Codes, answers: Answers, *, n: float
    ) -> tuple[Floats, Floats]:
        """The same of labelled items, each under the parameters' posterior without it; and so for the plain product.

        log_likelihood  (n_classes, n_items) from matrices fitted without the item
        n               the weight of all labelled items of the fit
        """
        discounted = log_likelihood
        if answers.start is not None:
            discounted = log_likelihood / design_effect(answers, self.correlation_)
        model = np.exp(-self.log_temperature_)[:, None, None] * log_proba
        logits = np.exp(-self.log_dependence_)[:, None, None] * (model + discounted)
        logits += self.bias_[self.bias_of_][:, :, None]
        return left_out_probas(
            logits, model + log_likelihood, model, self.weight_, true_label, alone_weight=model_alone_weight(n)
        )

    def model_proba(self, calibrated: Floats) -> Floats:
        """Probability of each class for items with a model row and no answer: no dependence, but the average bias.

        calibrated  (n_classes, n_items) the model's calibrated log-probabilities
        """
        weight = np.bincount(self.bias_of_, self.weight_, len(self.bias_))
        parts = (
            share * normalise_exp(calibrated + bias[:, None]) for share, bias in zip(weight, self.bias_, strict=True)
        )
        return np.asarray(sum(parts))

    def answers_proba(self, log_prior: Floats, log_likelihood: Floats, answers: Answers) -> Floats:
        """Probability of each class for items with answers and no model row: neither dependence nor bias."""
        return normalise_exp(log_prior + log_likelihood / design_effect(answers, self.correlation_))

    def plain(self) -> Dependence:
        """The same with rho and c at 0: the plain product, for comparison."""
        tau, of_node = np.unique(self.log_temperature_, return_inverse=True)
        weight = np.bincount(of_node, self.weight_).astype(np.float64)
        bias, bias_of = np.zeros((1, self.bias_.shape[1])), np.zeros(len(tau), dtype=np.intp)
        plain = Dependence()._set(DependenceNodes(tau, np.zeros_like(tau), weight, bias, bias_of))
        plain.correlation_ = 0.0
        return plain

    def mean_log_temperature(self) -> float:
        """Posterior mean of the model's log temperature."""
        return float(self.weight_ @ self.log_temperature_)

    def weights(self) -> tuple[float, float]:
        """Posterior mean of the factors on the model's and on the annotators' log-odds."""
        factor = np.exp(-self.log_dependence_)
        return float(self.weight_ @ (factor * np.exp(-self.log_temperature_))), float(self.weight_ @ factor)

    def _check(self) -> None:
        for name in "log_dependence_sd", "logit_correlation_sd":
            if not getattr(self, name) > 0:
                raise InvalidParameter(f"{name} must be positive; it is {getattr(self, name)!r}.")
        if len(self.bias_sd) != len(self.bias_weight) or not self.bias_sd or self.bias_sd[0] != 0:
            raise InvalidParameter(
                "bias_sd and bias_weight must have the same length, and bias_sd must begin with 0 (no bias); they are "
                f"{self.bias_sd!r} and {self.bias_weight!r}."
            )

    def _set(self, nodes: DependenceNodes) -> Self:
        self.log_temperature_, self.log_dependence_ = nodes.log_temperature, nodes.log_dependence
        self.weight_, self.bias_, self.bias_of_ = nodes.weight / nodes.weight.sum(), nodes.bias, nodes.bias_of
        return self

    def _nodes(self) -> DependenceNodes:
        return DependenceNodes(self.log_temperature_, self.log_dependence_, self.weight_, self.bias_, self.bias_of_)
