"""Intervals of `evaluate` hold as often as they say with few items; `benchmarks/honesty_intervals.py` measures more."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.honesty_intervals import CALIBRATION, FORECASTERS, LOSSES, difference_coverage, held, share_coverage

#: A cell may be so far from 95 %; of means over few draws, twice their standard error more.
BAR, CALIBRATION_BAR = 0.025, 0.04


def far(shares, draws):
    """The furthest a mean of draws may be from its level."""
    return BAR + 2 * (0.95 * 0.05 / (draws * len(shares))) ** 0.5


@pytest.mark.parametrize("name", LOSSES)
def test_mean_losses_of_thirty_items_are_covered(name):
    kinds = ["K=2, flat", "K=2, very sharp", "K=3, slightly too sure", "K=16, 3 % mislabelled"]
    shares = [np.mean(held(where, 30, 50, [name], seed=5, n_large=50_000)[name]) for where in kinds]
    assert np.mean(shares) == pytest.approx(0.95, abs=far(shares, 50))


@pytest.mark.parametrize("size", [30, 100, 300])
def test_errors_and_differences_are_covered(size):
    assert share_coverage(2.0, size) == pytest.approx(0.95, abs=BAR)
    assert share_coverage(5.0, size) == pytest.approx(0.95, abs=BAR)
    # With five items expected to differ it is .976: a test that four of four do not pass is wrong in 2.4 % of cases.
    assert difference_coverage(8.0, [0.1, 0.3, 0.5], size) == pytest.approx([0.95] * 3, abs=BAR)


@pytest.mark.parametrize("name", CALIBRATION)
def test_calibration_errors_of_thirty_items_are_covered(name):
    kinds = ["K=2, flat", "K=2, too sure", "K=4, sharp and too sure"]
    shares = [np.mean(held(where, 30, 50, [name], seed=5, n_large=50_000)[name]) for where in kinds]
    assert np.mean(shares) > 0.95 - CALIBRATION_BAR - 2 * (0.95 * 0.05 / 150) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("size", [30, 100, 300])
@pytest.mark.parametrize("where", FORECASTERS)
def test_every_forecaster_is_covered(where, size):
    for name, each in held(where, size, 800, LOSSES, seed=6).items():
        assert np.mean(each) == pytest.approx(0.95, abs=far([1], 800)), name
    for name, each in held(where, size, 200, CALIBRATION, seed=6).items():
        assert np.mean(each) > 0.95 - CALIBRATION_BAR - 2 * (0.95 * 0.05 / 200) ** 0.5, name
