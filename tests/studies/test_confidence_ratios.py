"""The ratios that the figure draws: their shares, and what Theorem 1 makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from studies.small_files import write_imagenet16h
from twoheads.studies.confidence_ratio_figure import BOUND, N_BINS, log_shares
from twoheads.studies.confidence_ratios import CONFIDENT, HESITANT, _scores, ratios_of
from twoheads.studies.data import read_data
from twoheads.studies.protocol import Protocol


def test_the_ratios_drawn_are_those_of_theorem_1(tmp_path):
    split = Protocol().rows(read_data(write_imagenet16h(tmp_path)).settings[0], "correct").split(0)
    found = ratios_of(split)
    assert {CONFIDENT, HESITANT} < set(found.model)
    assert len(found.model) == 3
    for temperature, ratio in found.model.items():
        share = np.mean(ratio * found.human > 1)
        assert 100 * (1 - share) == pytest.approx(_scores(split, temperature, "correct")[BOUND])


def test_every_ratio_is_drawn_once_the_infinite_ones_too():
    shares = log_shares(np.array([0.0, 1e-9, 1.5, np.inf]))
    assert len(shares) == N_BINS
    assert (shares[0], shares[-1], shares.sum()) == (0.5, 0.25, 1.0)
    assert shares[16] == 0.25  # of 10^0 to 10^0.25
