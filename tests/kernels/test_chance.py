"""The chance that a team errs less than its partners."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm, t

from twoheads.kernels.scoring.chance import chance_best, chance_better


@pytest.mark.parametrize(
    ("won", "lost", "expected", "n", "answers"),
    [(7, 2, 3.9, 60, 1.0), (0, 3, 1.3, 100, 1.0), (20, 60, 8.0, 1000, 1.0), (1, 0, 0.2, 30, 2.0)],
)
def test_it_is_the_integral_of_a_posterior(won, lost, expected, n, answers):
    centre = expected + 0.08 + 0.4 * (1 - 1 / answers**2)
    scale = np.sqrt(0.45**2 * (1 + 60 / n) * centre**2 + 0.2**2 * (won + lost) ** 2 + 0.3**2)

    def density(mean):
        return t.pdf((mean - centre) / scale, 3) * norm.pdf(won - lost, mean, np.sqrt(won + lost + 1))

    above, below = (quad(density, *side, points=[won - lost, centre], limit=400)[0] for side in ((0, 400), (-400, 0)))
    assert chance_better(won, lost, expected, n, answers) == pytest.approx(above / (above + below), abs=2e-3)


def test_without_evidence_a_team_is_a_little_more_likely_to_be_better():
    assert 0.55 < chance_better(0.0, 0.0, 0.0, 100.0) < 0.65
    assert 0.75 < chance_better(0.0, 0.0, 0.0, 100.0, 3.0) < 0.85


def test_it_grows_with_what_came_and_with_what_was_expected():
    assert chance_better(2, 5, 2.0, 100) < chance_better(3, 4, 2.0, 100) < chance_better(5, 2, 2.0, 100)
    assert chance_better(1, 1, 0.2, 100) < chance_better(1, 1, 1.0, 100)


def test_many_items_outweigh_what_was_expected():
    assert chance_better(10, 60, 25.0, 1000) < 0.01
    assert chance_better(0, 2, 1.0, 30) > 0.3  # two items do not


def test_a_record_that_contradicts_many_probabilities_decides():
    assert chance_better(10, 30, 12.0, 300) < 0.05 < chance_better(3, 10, 4.0, 300)


def test_the_chance_to_beat_both_lies_between_the_smaller_one_and_the_product():
    assert chance_best((0.5, 0.8)) == pytest.approx(0.5 * 0.8**0.5)
    assert chance_best((0.7, 1.0)) == pytest.approx(0.7)
    assert chance_best((0.6,)) == pytest.approx(0.6)
    assert chance_best(()) == 0.5
