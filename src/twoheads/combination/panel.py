"""A panel of related members: weights of their own for their votes, on top of the team's posterior."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.kernels.answers import Answers
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.panel.average import fit_panel
from twoheads.kernels.panel.prediction import FittedPanel, moments, panel_proba
from twoheads.kernels.panel.ridge import PanelData, design_of
from twoheads.kernels.panel.votes import effective_members, error_correlation, vote_features, votes_of
from twoheads.kernels.simplex import LOG_FLOOR
from twoheads.storage.artifact import register

#: Level of the interval of the effective number of members.
LEVEL = 0.9
#: Numbers about the items that are predicted at a time (4 MB).
_PIECE_NUMBERS = 500_000


@register
class Panel(BaseEstimator):
    r"""A ridge regression of the truth on the team's left-out posterior and on members' votes.

    .. math:: z_{ik} = a \log q_{ik} + c_k + \frac{1}{d_i} \sum_j u_j [\text{member } j \text{ voted for } k]

    with q the team's posterior, d the design effect of the item's answers, and priors
    :math:`a \sim N(1, .2^2), c_k \sim N(0, .2^2), u_j \sim N(0, s^2)`. It is averaged over s, and with the untouched
    posterior, each weighted by its approximate leave-one-out likelihood. Members who repeat each other get
    less weight, members who see what others do not get more.

    Attributes
    ----------
    members_ : ndarray of shape (n_members,)
        The annotators with a weight of their own, by their position.
    correlation_ : float
        The correlation r of the design effect.
    scale_, weight_ : ndarray of shape (n_scales,), (n_scales + 1,)
        Values of s and their posterior probabilities, that of the untouched posterior last.
    coefficient_, covariance_ : ndarray of shape (n_scales, n_parameters), (n_scales, n_parameters, n_parameters)
        Mean and covariance of (a, c, u) at each s.
    error_correlation_, effective_members_ : ndarray of shape (3,)
        Mean correlation of two members' errors given the truth, and the number of independent members that are worth
        as much: estimate and 90 % interval; NaN where no two members answered one item.
    """

    def fit_labelled(
        self, block: Block, left_out: Floats, members: Codes, *, correlation: float, unit: float
    ) -> Floats:
        """Learn from labelled items; returns the probabilities of each, its own truth left out, (n_classes, n_items).

        Parameters
        ----------
        block : Block
            The labelled items.
        left_out : ndarray of shape (n_classes, n_items)
            The posterior of each, fitted without it.
        members : ndarray of shape (n_members,)
            The annotators who get a weight, ascending.
        correlation : float
            The correlation of answers on one item.
        unit : float
            The weight of an item that is left out.
        """
        assert block.answers is not None
        assert block.true_label is not None
        self.members_, self.correlation_ = members, float(correlation)
        answered = block.answers.per_item() > 0
        weight = (np.ones(block.n_items) if block.weight is None else block.weight) * answered
        data = PanelData(self._design(left_out, block.answers), block.true_label, weight)
        posterior = fit_panel(data, left_out.T, unit)
        n_parameters = data.design.shape[2]
        self.scale_, self.weight_ = posterior.scale, posterior.weight
        self.coefficient_ = np.array([mode.theta for mode in posterior.modes]).reshape(-1, n_parameters)
        self.covariance_ = np.array([mode.covariance for mode in posterior.modes]).reshape(
            -1, n_parameters, n_parameters
        )
        self._set_effective(block, weight)
        return np.where(answered, posterior.left_out.T, left_out)

    def _set_effective(self, block: Block, weight: Floats) -> None:
        assert block.answers is not None
        assert block.true_label is not None
        n_members = len(self.members_)
        votes = votes_of(block.answers, self.members_, len(block.log_proba))
        found = error_correlation(votes, block.true_label, weight, n_members, LEVEL)
        self.error_correlation_ = np.array(found)
        estimate, low, high = (effective_members(value, n_members) for value in found)
        self.effective_members_ = np.array([estimate, high, low])

    @property
    def share(self) -> float:
        """Posterior probability that members need weights of their own."""
        return float(1.0 - self.weight_[-1])

    def proba(self, proba: Floats, answers: Answers) -> Floats:
        """The probabilities of items with an answer, corrected, (n_classes, n_items); others stay as they are.

        proba  (n_classes, n_items) the team's posterior
        """
        if not len(self.scale_):
            return proba
        theta = moments(self.weight_[:-1], self.coefficient_, self.covariance_)
        panel = FittedPanel(self.members_, self.correlation_, self.share, *theta)
        answered = answers.per_item() > 0
        if answered.all():
            return _in_pieces(panel, proba, answers)
        corrected, rows = proba.copy(), np.flatnonzero(answered)
        corrected[:, rows] = _in_pieces(panel, proba[:, rows], answers.take(rows))
        return corrected

    def contribution(self, answers: Answers, annotator: int, n_classes: int) -> Floats:
        """What the own weight of a member adds to the logits, on average over s, (n_classes, n_items)."""
        member = int(np.searchsorted(self.members_, annotator))
        own = self.weight_[:-1] @ self.coefficient_[:, 1 + n_classes + member]
        features = vote_features(answers, self.members_[member : member + 1], n_classes, self.correlation_)
        return np.asarray(own * features[:, :, 0].T)

    def _design(self, proba: Floats, answers: Answers) -> Floats:
        with np.errstate(divide="ignore"):
            log_proba = np.maximum(np.log(proba), LOG_FLOOR)
        return design_of(log_proba, vote_features(answers, self.members_, len(proba), self.correlation_))


def _in_pieces(panel: FittedPanel, proba: Floats, answers: Answers) -> Floats:
    size = max(1, _PIECE_NUMBERS // (len(proba) + len(panel.theta)))
    pieces = [slice(start, start + size) for start in range(0, len(answers), size)]
    parts = [panel_proba(panel, proba[:, rows], answers.rows(rows)) for rows in pieces]
    return parts[0] if len(parts) == 1 else np.concatenate([proba[:, :0], *parts], axis=1)
