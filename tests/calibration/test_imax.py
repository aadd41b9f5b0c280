from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit, logit, xlogy

from twoheads.calibration.imax import IMaxBinning
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.kernels.blocks import Block
from twoheads.kernels.calibration.imax import bin_counts, bin_of, information_bins, information_edges, log_odds
from twoheads.kernels.simplex import log_simplex
from twoheads.testing.calibrators import problem


def information(values: Floats, places: tuple[int, ...]) -> float:
    """What the bin tells about the label, up to a constant, when sorted values are cut before each of the places."""
    kept = 0.0
    for part in np.split(expit(values), places):
        if len(part):
            rate = part.mean()
            kept += len(part) * float(xlogy(rate, rate) + xlogy(1 - rate, 1 - rate))
    return kept


def loss(value: float, representative: float) -> float:
    """Information (Kullback and Leibler's) that a value loses in a bin that stands for the representative."""
    p, q = expit(value), expit(representative)
    return float(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))


def test_log_odds_by_hand() -> None:
    found = log_odds(log_simplex(np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])))
    np.testing.assert_allclose(found[:, 0], [0.0, np.log(3 / 7), np.log(1 / 4)], atol=1e-12)
    assert np.isfinite(found).all()
    assert found[0, 1] > 86


def test_log_odds_keep_their_digits_near_one() -> None:
    tail = 1e-25
    found = log_odds(np.log(np.array([[1.0], [tail]])))
    np.testing.assert_allclose(found[:, 0], [-np.log(tail), np.log(tail)])


@pytest.mark.parametrize("pair", [(-1.0, 2.0), (-12.0, -7.0), (3.0, 3.1), (-2.0, -1.5)])
def test_at_an_edge_either_bin_loses_as_much(pair: tuple[float, float]) -> None:
    edge = float(information_edges(np.array(pair))[0])
    assert pair[0] < edge < pair[1]
    assert loss(edge, pair[0]) == pytest.approx(loss(edge, pair[1]), rel=1e-6)


def test_edges_of_extreme_and_equal_representatives() -> None:
    representative = np.array([-88.0, -88.0, -30.0, 0.0, 0.0, 35.0, 88.0])
    edges = information_edges(representative)
    assert np.isfinite(edges).all()
    assert (edges >= representative[:-1]).all()
    assert (edges <= representative[1:]).all()
    np.testing.assert_allclose(information_edges(np.array([-3.0, 3.0])), [0.0], atol=1e-12)


@pytest.mark.parametrize("n_bins", [2, 3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_no_other_bins_keep_clearly_more_information(seed: int, n_bins: int) -> None:
    values = np.sort(3.0 * np.random.default_rng(seed).normal(size=14))
    edges, _ = information_bins(values, None, n_bins)
    found = information(values, tuple(np.searchsorted(values, edges)))
    everything = information(values, tuple(range(1, len(values))))
    nothing = information(values, ())
    best = max(information(values, places) for places in combinations(range(1, len(values)), n_bins - 1))
    assert nothing <= found <= best + 1e-12
    # Turns of edges and representatives end where neither can be bettered alone: near the best of all, if not on it.
    assert best - found <= 0.1 * (everything - nothing)


def test_it_finds_the_best_bins_of_clear_groups() -> None:
    values = np.concatenate([np.linspace(low, low + 0.3, 7) for low in (-6.0, -1.0, 2.0)])
    edges, representative = information_bins(values, None, 3)
    places = tuple(np.searchsorted(values, edges))
    assert places == (7, 14)
    best = max(combinations(range(1, 21), 2), key=lambda places: information(values, places))
    assert places == best
    np.testing.assert_allclose(representative, [logit(expit(part).mean()) for part in np.split(values, places)])


def test_edges_and_representatives_are_each_the_best_for_the_other() -> None:
    values = np.sort(4.0 * np.random.default_rng(0).normal(size=5000) - 2.0)
    edges, representative = information_bins(values, None, 15)
    np.testing.assert_allclose(edges, information_edges(representative))
    parts = np.split(expit(values), np.searchsorted(values, edges))
    np.testing.assert_allclose(representative, [logit(part.mean()) for part in parts], atol=1e-9)
    found = information(values, tuple(np.searchsorted(values, edges)))
    assert found > information(values, tuple(np.linspace(0, 5000, 16).astype(int)[1:-1]))
    widths = np.linspace(values[0], values[-1], 16)[1:-1]
    assert found > information(values, tuple(np.searchsorted(values, widths)))


def test_weights_repeat_values() -> None:
    rng = np.random.default_rng(3)
    values, times = 3.0 * rng.normal(size=200), rng.integers(0, 4, 200)
    weighted = information_bins(values, times.astype(float), 6)
    repeated = information_bins(np.repeat(values, times), None, 6)
    for some, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(some, other, atol=1e-9)


def test_a_bin_means_how_often_it_was_right() -> None:
    # 30 rows, 2 classes: log-odds +-log 9; 18 of the 30 confident pairs are true. One more pair is as the model said.
    model = np.tile([[0.9, 0.1]], (30, 1))
    calibrator = IMaxBinning(n_bins=2).fit(model, [0] * 18 + [1] * 12)
    np.testing.assert_allclose(calibrator.bin_proba_, [[(12 + 0.1) / 31, (18 + 0.9) / 31]], rtol=1e-9)
    np.testing.assert_allclose(calibrator.predict_proba(model[:1]), [[18.9 / 31, 12.1 / 31]], rtol=1e-9)


def test_an_empty_bin_means_what_the_model_said() -> None:
    calibrator = IMaxBinning(n_bins=6).fit([[0.9, 0.1]], [0])
    every, _ = bin_counts(Block(log_simplex(np.array([[0.9, 0.1]])), true_label=np.array([0])), calibrator.edges_)
    assert (every == 0).sum() == 4
    np.testing.assert_allclose(np.unique(calibrator.bin_proba_[every == 0].round(9)), [0.1, 0.9])


def test_a_value_on_an_edge_belongs_to_the_bin_above() -> None:
    edges = np.array([[-1.0, 1.0]])
    assert bin_of(np.array([[-2.0, -1.0], [1.0, 0.0]]), edges).tolist() == [[0, 1], [2, 1]]
    own = np.array([[-1.0, 1.0], [0.0, 0.5]])
    assert bin_of(np.array([[-2.0, -1.0], [1.0, 0.0]]), own).tolist() == [[0, 1], [2, 1]]


def test_counts_by_hand() -> None:
    block = Block(
        log_simplex(np.array([[0.9, 0.1], [0.4, 0.6]])),
        target=np.array([[1.0, 0.25], [0.0, 0.75]]),
        weight=np.array([1.0, 2.0]),
    )
    every, true = bin_counts(block, np.array([[0.0]]))
    np.testing.assert_allclose(every, [[3.0, 3.0]])
    np.testing.assert_allclose(true, [[0.5, 2.5]])
    every, true = bin_counts(block, np.array([[0.0], [0.0]]))
    np.testing.assert_allclose(every, [[2.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(true, [[0.5, 1.0], [0.0, 1.5]])


def test_shared_bins_are_one_set_and_class_wise_bins_one_per_class() -> None:
    proba, label = problem(200, 4)
    shared = IMaxBinning().fit(proba, label)
    own = IMaxBinning(mode="class_wise", n_bins=5).fit(proba, label)
    assert (shared.edges_.shape, shared.bin_proba_.shape) == ((1, 14), (1, 15))
    assert (own.edges_.shape, own.bin_proba_.shape) == ((4, 4), (4, 5))
    assert (np.diff(shared.edges_) >= 0).all()


@pytest.mark.parametrize("mode", ["shared", "class_wise"])
def test_it_calibrates(mode: str) -> None:
    proba, label = problem(20_000, 3)
    out = IMaxBinning(mode=mode).fit(proba, label).predict_proba(proba)
    loss_before, loss_after = (-np.log(rows[np.arange(len(label)), label]).mean() for rows in (proba, out))
    honest = proba**0.6 / (proba**0.6).sum(axis=1, keepdims=True)
    assert loss_after < loss_before - 0.05
    assert np.abs(out - honest).mean() < 0.03


def test_parameters_outside_their_range() -> None:
    with pytest.raises(InvalidParameter) as caught:
        IMaxBinning(n_bins=1).fit([[0.5, 0.5]], [0])
    assert str(caught.value) == "n_bins must be a whole number of at least 2; it is 1. Try 15."
    with pytest.raises(InvalidParameter, match="it is nan"):
        IMaxBinning(n_bins=np.nan).fit([[0.5, 0.5]], [0])
    with pytest.raises(InvalidParameter) as caught:
        IMaxBinning(mode="CW").fit([[0.5, 0.5]], [0])
    assert str(caught.value) == "mode must be 'shared' or 'class_wise'; it is 'CW'."
