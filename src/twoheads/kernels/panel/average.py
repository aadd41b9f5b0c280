"""Panels averaged over the scale of members' weights, and over the untouched posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from twoheads.kernels.arrays import Floats
from twoheads.kernels.panel.leave_one_out import left_out_proba
from twoheads.kernels.panel.ridge import PanelData, RidgeMode, fit_ridge
from twoheads.kernels.priors import PANEL_LOG_SCALE_SD, PANEL_SCALES, PANEL_UNCHANGED
from twoheads.kernels.simplex import FLOOR

#: A scale with less posterior weight than this is dropped: it would cost time and change nothing.
NEGLIGIBLE = 0.005

#: Log of the prior weight of each scale, and of the untouched posterior.
_DENSITY = norm.logpdf(np.log(PANEL_SCALES), 0.0, PANEL_LOG_SCALE_SD)
_SCALES = np.log1p(-PANEL_UNCHANGED) + _DENSITY - logsumexp(_DENSITY)
_UNCHANGED = np.log(PANEL_UNCHANGED)
#: Where the search begins.
_MIDDLE = len(PANEL_SCALES) // 2


@dataclass(frozen=True)
class PanelPosterior:
    """Modes at the scales that matter, their weights, and that of the untouched posterior.

    scale      (n_scales,)
    weight     (n_scales + 1,) posterior probabilities, the untouched posterior's last
    modes      one per scale
    left_out   (n_items, n_classes) averaged probabilities, each item's own truth left out
    """

    scale: Floats
    weight: Floats
    modes: tuple[RidgeMode, ...]
    left_out: Floats


def fit_panel(data: PanelData, untouched: Floats) -> PanelPosterior:
    """Fit the regression at each scale, and weigh the scales by their left-out log-likelihood.

    The weight of scale s is proportional to .9 Normal(log s; 0, .7^2) times the left-out likelihood, that of the
    untouched posterior to .1 times its own.

    untouched  (n_items, n_classes) the posterior that was fitted without each item
    """
    visited = _visited_scales(data)
    used = sorted(visited)
    probas = [visited[at].left_out for at in used] + [untouched]
    log_weight = np.array([visited[at].log_weight for at in used] + [_UNCHANGED + _log_likelihood(data, untouched)])
    weight = np.exp(log_weight - logsumexp(log_weight))
    kept = np.append(weight[:-1] >= NEGLIGIBLE, True)
    weight = np.where(kept, weight, 0.0) / weight[kept].sum()
    left_out = np.einsum("s,snk->nk", weight, np.stack(probas))
    used = [at for at, keep in zip(used, kept, strict=False) if keep]
    modes = tuple(visited[at].mode for at in used)
    return PanelPosterior(np.array(PANEL_SCALES)[used], weight[kept], modes, left_out)


@dataclass(frozen=True)
class _Visited:
    """A scale's mode, its left-out probabilities, and the log of its unnormalised weight."""

    mode: RidgeMode
    left_out: Floats
    log_weight: float


def chance_at_even_odds(share: float) -> float:
    """The probability that members need weights of their own, had it been 1/2 beforehand: what the labels say alone.

    p / (p + (1 - p) .9 / .1), with p the posterior weight of the regressions, which predictions use.
    """
    needed, not_needed = share * PANEL_UNCHANGED, (1.0 - share) * (1.0 - PANEL_UNCHANGED)
    return needed / (needed + not_needed)


def _visited_scales(data: PanelData) -> dict[int, _Visited]:
    """The scales by their position: from the middle in both directions, until their weight is negligible."""
    visited: dict[int, _Visited] = {}

    def visit(at: int, start: Floats | None) -> None:
        mode = fit_ridge(data, PANEL_SCALES[at], start)
        left_out = left_out_proba(data, mode)
        visited[at] = _Visited(mode, left_out, _SCALES[at] + _log_likelihood(data, left_out))

    visit(_MIDDLE, None)
    for step in (-1, 1):
        at = _MIDDLE + step
        while 0 <= at < len(PANEL_SCALES):
            visit(at, visited[at - step].mode.theta)
            if visited[at].log_weight < max(each.log_weight for each in visited.values()) + np.log(NEGLIGIBLE):
                break
            at += step
    return visited


def _log_likelihood(data: PanelData, proba: Floats) -> float:
    own = proba[np.arange(len(proba)), data.true_label]
    return float(data.weight @ np.log(np.maximum(own, FLOOR)))
