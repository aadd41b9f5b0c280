"""The interval of a share, against exact coverage."""

import numpy as np
import pytest
from scipy.stats import binom

from twoheads.kernels.inference.shares import share_interval


def test_with_many_of_both_kinds_a_share_has_the_mid_p_interval():
    low, high = share_interval(0.2, 100.0, 0.95)
    assert binom.sf(20, 100, low) + binom.pmf(20, 100, low) / 2 == pytest.approx(0.025)
    assert binom.cdf(19, 100, high) + binom.pmf(20, 100, high) / 2 == pytest.approx(0.025)


def test_few_of_a_kind_have_exact_limits():
    # P(none of 30) = (1 - p)^30 is .0375 = 1.5 * .025 at the upper end of 0, and .925 at the lower end of 1.
    assert share_interval(0.0, 30.0, 0.95) == pytest.approx((0.0, 1 - 0.0375 ** (1 / 30)))
    assert share_interval(1 / 30, 30.0, 0.95)[0] == pytest.approx(1 - 0.925 ** (1 / 30))
    assert share_interval(29 / 30, 30.0, 0.95)[1] == pytest.approx(0.925 ** (1 / 30))


@pytest.mark.parametrize("n", [1, 3, 10, 30, 100, 300])
def test_a_share_is_covered_within_two_and_a_half_points_wherever_that_is_possible(n):
    ends = np.array([share_interval(right / n, float(n), 0.95) for right in range(n + 1)])
    jumps = ends[ends[:, 0] > 0, 0]
    shares = np.concatenate([np.geomspace(0.02 / n, 0.5, 200), jumps - 1e-9, jumps + 1e-9])
    for share in shares[(shares > 0) & (shares <= 0.5)]:
        chance = binom.pmf(np.arange(n + 1), n, share)
        held = chance[(ends[:, 0] <= share) & (share <= ends[:, 1])].sum()
        assert held > 0.925 - 1e-6
        # Numbers that are not ruled out are consecutive: of few, no set of them may have a probability near 95 %.
        up_to = np.append(0.0, chance.cumsum()[: min(n, 12) + 1])
        sets = up_to[None] - up_to[:, None]
        if share * n < 3 and n >= 30:
            assert (held <= 0.975) == ((sets >= 0.925) & (sets <= 0.975)).any()


@pytest.mark.parametrize("n", [30, 100, 300])
def test_a_share_is_covered_at_its_level_on_average(n):
    ends = np.array([share_interval(right / n, float(n), 0.95) for right in range(n + 1)])
    for expected in ((0.3, 1.0), (1.0, 3.0), (3.0, 10.0)):
        shares = np.linspace(*expected, 100) / n
        held = [binom.pmf(np.arange(n + 1), n, p)[(ends[:, 0] <= p) & (p <= ends[:, 1])].sum() for p in shares]
        assert np.mean(held) == pytest.approx(0.955, abs=0.006)


def test_numbers_of_items_need_not_be_whole():
    low, high = np.array([share_interval(x / 20, 20.0, 0.95) for x in np.linspace(0, 20, 101)]).T
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert np.abs(np.diff(low)).max() < 0.06
    assert low == pytest.approx(1 - high[::-1])
