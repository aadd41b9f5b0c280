from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from twoheads.kernels.arrays import MISSING
from twoheads.kernels.dependence.preference import Preference, close_calls_to_partner, fit_preference


def test_lead_by_hand():
    # z = 2 P(theta > 1/2) - 1 with theta ~ Beta(b + 8, c + 8); log theta = z^2 30 / 40 with ten labels
    preference = fit_preference(4.0, 1.0, 10.0)
    lead = 2.0 * beta.sf(0.5, 12.0, 9.0) - 1.0
    assert preference.lead == pytest.approx(lead)
    assert preference.log_threshold == pytest.approx(0.75 * lead**2)
    assert preference.human_leads
    mirrored = fit_preference(1.0, 4.0, 10.0)
    assert mirrored.lead == pytest.approx(-lead)
    assert not mirrored.human_leads


def test_nothing_known_prefers_nobody():
    assert fit_preference(0.0, 0.0, 0.0).log_threshold == pytest.approx(0.0)
    assert fit_preference(4.0, 4.0, 30.0).log_threshold == pytest.approx(0.0)
    assert fit_preference(0.0, 0.0, 0.0).share_alone == 0.0


def test_many_labels_leave_close_calls_to_the_combination():
    assert fit_preference(3000.0, 10.0, 100_000.0).log_threshold < 1e-3


@pytest.mark.parametrize(
    ("chances", "share", "human"),
    [
        ((0.6, 0.7), 0.0, True),
        ((0.6, 0.1), 0.0, False),
        ((0.6, 0.075), 0.5, False),
        ((0.06, 0.5), 0.8, True),
        ((0.05, 0.5), 1.0, True),
        ((0.5, 0.0), 1.0, False),
    ],
)
def test_a_partner_answers_alone_where_the_record_is_sure(chances, share, human):
    preference = Preference(0.0, 0.0, chances)
    assert preference.share_alone == pytest.approx(share)
    assert preference.human_alone is human


def test_close_calls_by_hand():
    # t = log 1.5. x = log 1.25 < t: the partner wins; x = log 8 > 2 t: nothing changes; who leads, leads by more.
    proba = np.array([[0.5, 0.8, 0.4, 0.5], [0.4, 0.1, 0.5, 0.4], [0.1, 0.1, 0.1, 0.1]])
    result = close_calls_to_partner(proba, np.array([1, 1, 1, MISSING]), np.log(1.5))
    np.testing.assert_array_equal(result.argmax(axis=0), [1, 0, 1, 0])
    np.testing.assert_array_equal(result[:, [1, 3]], proba[:, [1, 3]])
    np.testing.assert_allclose(result.sum(axis=0), 1.0)
    x, t = np.log(0.5 / 0.4), np.log(1.5)
    expected = -2 * t + (x + 2 * t) * 2 / 3  # on the line from (-2 t, -2 t) to (t, 0)
    assert np.log(result[0, 0] / result[1, 0]) == pytest.approx(expected)
    assert result[0, 0] / result[2, 0] == pytest.approx(5.0)  # the others keep their proportions
    assert result[1, 2] > proba[1, 2]


def test_close_calls_are_continuous_and_decided_at_the_threshold():
    share = np.linspace(0.01, 0.99, 9801)
    proba = np.stack([share, 1 - share])
    result = close_calls_to_partner(proba, np.ones(len(share), dtype=int), 0.4)
    assert np.abs(np.diff(result[0])).max() < 4e-4
    assert (np.diff(result[0]) > 0).all()
    np.testing.assert_array_equal(result[0] > result[1], np.log(share / (1 - share)) > 0.4)


def test_without_a_threshold_nothing_moves_and_certainty_stays():
    proba = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    np.testing.assert_array_equal(close_calls_to_partner(proba, np.array([1, 1, 1]), 0.0), proba)
    np.testing.assert_array_equal(close_calls_to_partner(proba, np.array([1, 0, MISSING]), 0.5), proba)
