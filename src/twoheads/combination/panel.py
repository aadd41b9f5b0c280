"""A panel of related members: weights of their own for their votes, on top of the team's posterior."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.panel.average import fit_panel
from twoheads.kernels.panel.prediction import FittedPanel, moments, panel_proba
from twoheads.kernels.panel.ridge import PanelData, class_ranks, design_of
from twoheads.kernels.panel.votes import (
    LevelScale,
    effective_members,
    error_correlation,
    level_features,
    vote_features,
    votes_of,
)
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
    less weight, members who see what others do not get more. A member who gives scores has a second weight, of its
    standardised level times the rank of the class (0, ..., 1), over d.

    Attributes
    ----------
    members_ : ndarray of shape (n_members,)
        The annotators with a weight of their own, by their position.
    correlation_ : float
        The correlation r of the design effect.
    scored_, level_mean_, level_sd_ : ndarray of shape (n_scored,)
        The annotators among them who give scores, by their position; mean and standard deviation of their levels.
    scale_, weight_ : ndarray of shape (n_scales,), (n_scales + 1,)
        Values of s and their posterior probabilities, that of the untouched posterior last.
    coefficient_, covariance_ : ndarray of shape (n_scales, n_parameters), (n_scales, n_parameters, n_parameters)
        Mean and covariance of (a, c, u) at each s; weights of votes come first, those of levels last.
    error_correlation_, effective_members_ : ndarray of shape (3,)
        Mean correlation of two members' errors given the truth, and the number of independent members that are worth
        as much: estimate and 90 % interval; NaN where no two members answered one item.
    """

    def fit_labelled(
        self, block: Block, left_out: Floats, members: Codes, *, scored: Codes, correlation: float
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
        scored : ndarray
            The annotators who give scores.
        correlation : float
            The correlation of answers on one item.
        """
        assert block.answers is not None
        assert block.true_label is not None
        self.members_, self.correlation_ = members, float(correlation)
        answered = block.answers.per_item() > 0
        weight = (np.ones(block.n_items) if block.weight is None else block.weight) * answered
        scorers = np.intersect1d(members, scored)
        levels = LevelScale.of(block.answers, block.confidence, scorers, len(left_out), weight)
        self.scored_, self.level_mean_, self.level_sd_ = levels.members, levels.mean, levels.sd
        data = PanelData(self._design(left_out, block), block.true_label, weight)
        posterior = fit_panel(data, left_out.T)
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

    @property
    def levels(self) -> LevelScale:
        """By what levels are standardised."""
        return LevelScale(self.scored_, self.level_mean_, self.level_sd_)

    def proba(self, proba: Floats, block: Block) -> Floats:
        """The probabilities of items with an answer, corrected, (n_classes, n_items); others stay as they are.

        proba  (n_classes, n_items) the team's posterior
        """
        assert block.answers is not None
        if not len(self.scale_):
            return proba
        theta = moments(self.weight_[:-1], self.coefficient_, self.covariance_)
        panel = FittedPanel(self.members_, self.levels, self.correlation_, self.share, *theta)
        answered = block.answers.per_item() > 0
        if answered.all():
            return _in_pieces(panel, proba, block)
        corrected, rows = proba.copy(), np.flatnonzero(answered)
        corrected[:, rows] = _in_pieces(panel, proba[:, rows], block.take(rows))
        return corrected

    def contribution(self, block: Block, annotator: int) -> Floats:
        """What the own weights of a member add to the logits, on average over s, (n_classes, n_items)."""
        assert block.answers is not None
        n_classes = len(block.log_proba)
        own = (self.weight_[:-1] @ self.coefficient_)[1 + n_classes :]
        member = int(np.searchsorted(self.members_, annotator))
        votes = vote_features(block.answers, self.members_[member : member + 1], n_classes, self.correlation_)
        total = np.asarray(own[member] * votes[:, :, 0].T)
        if annotator in self.scored_:
            scorer = int(np.searchsorted(self.scored_, annotator))
            weighted = own[len(self.members_) + scorer] * self._level_features(block)[:, scorer]
            total += class_ranks(n_classes)[:, None] * weighted
        return total

    def _level_features(self, block: Block) -> Floats:
        assert block.answers is not None
        return level_features(block.answers, block.confidence, self.levels, len(block.log_proba), self.correlation_)

    def _design(self, proba: Floats, block: Block) -> Floats:
        assert block.answers is not None
        with np.errstate(divide="ignore"):
            log_proba = np.maximum(np.log(proba), LOG_FLOOR)
        votes = vote_features(block.answers, self.members_, len(proba), self.correlation_)
        return design_of(log_proba, votes, self._level_features(block) if len(self.scored_) else None)


def _in_pieces(panel: FittedPanel, proba: Floats, block: Block) -> Floats:
    size = max(1, _PIECE_NUMBERS // (len(proba) + len(panel.theta)))
    parts = []
    for start in range(0, block.n_items, size):
        piece = block.rows(slice(start, start + size))
        assert piece.answers is not None
        parts.append(panel_proba(panel, proba[:, start : start + size], piece.answers, piece.confidence))
    return parts[0] if len(parts) == 1 else np.concatenate([proba[:, :0], *parts], axis=1)
