from __future__ import annotations

import numpy as np
import pytest

from twoheads.kernels.arrays import MISSING
from twoheads.kernels.dependence.guard import fit_guard, guarded


def test_lead_by_hand():
    # I_1/2(2, 1) = P(Beta(2, 1) < 1/2) = 1/4: z = 1/2, log theta = 2 / 4 * 30 / 40
    guard = fit_guard(1.0, 0.0, 10.0)
    assert guard.lead == pytest.approx(0.5)
    assert guard.log_threshold == pytest.approx(0.375)
    assert guard.human_leads
    mirrored = fit_guard(0.0, 1.0, 10.0)
    assert mirrored.lead == pytest.approx(-0.5)
    assert not mirrored.human_leads


def test_nothing_known_guards_nothing():
    assert fit_guard(0.0, 0.0, 0.0).log_threshold == pytest.approx(0.0)
    assert fit_guard(4.0, 4.0, 30.0).log_threshold == pytest.approx(0.0)


def test_many_labels_switch_the_guard_off():
    assert fit_guard(3000.0, 10.0, 100_000.0).log_threshold < 1e-3


def test_close_calls_go_to_the_partner():
    proba = np.array([[0.5, 0.8, 0.4, 0.5], [0.4, 0.1, 0.5, 0.4], [0.1, 0.1, 0.1, 0.1]])
    partner = np.array([1, 1, 1, MISSING])
    result = guarded(proba, partner, np.log(1.5))
    np.testing.assert_array_equal(result.argmax(axis=0), [1, 0, 1, 0])
    np.testing.assert_allclose(result[:, 0], [0.45, 0.45, 0.1])
    np.testing.assert_array_equal(result[:, 1:], proba[:, 1:])
    np.testing.assert_allclose(result.sum(axis=0), 1.0)


def test_the_partner_wins_the_tie_whatever_the_order_of_classes():
    proba = np.array([[0.45, 0.05], [0.5, 0.55], [0.05, 0.4]])
    for partner in ([0, 2], [0, MISSING]):
        label = guarded(proba, np.array(partner), 0.5).argmax(axis=0)
        np.testing.assert_array_equal(label, [0, 2 if partner[1] == 2 else 1])
