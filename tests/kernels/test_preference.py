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


def test_close_calls_go_to_the_partner():
    proba = np.array([[0.5, 0.8, 0.4, 0.5], [0.4, 0.1, 0.5, 0.4], [0.1, 0.1, 0.1, 0.1]])
    partner = np.array([1, 1, 1, MISSING])
    result = close_calls_to_partner(proba, partner, np.log(1.5))
    np.testing.assert_array_equal(result.argmax(axis=0), [1, 0, 1, 0])
    np.testing.assert_allclose(result[:, 0], [0.45, 0.45, 0.1])
    np.testing.assert_array_equal(result[:, 1:], proba[:, 1:])
    np.testing.assert_allclose(result.sum(axis=0), 1.0)


def test_the_partner_wins_the_tie_whatever_the_order_of_classes():
    proba = np.array([[0.45, 0.05], [0.5, 0.55], [0.05, 0.4]])
    for partner in ([0, 2], [0, MISSING]):
        label = close_calls_to_partner(proba, np.array(partner), 0.5).argmax(axis=0)
        np.testing.assert_array_equal(label, [0, 2 if partner[1] == 2 else 1])
