"""The one-coin confusion matrix by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from twoheads.confusion import OneCoinConfusion
from twoheads.errors import InvalidParameter


def _fit(human, truth, n_classes=3, **options):
    return OneCoinConfusion(**options).fit(
        np.column_stack([human, np.full((len(human), n_classes), 1 / n_classes)]), truth
    )


HUMAN, TRUTH = [0, 1, 2, 0, 1], [0, 1, 2, 1, 2]  # three of five are right


@pytest.mark.parametrize(
    ("options", "accuracy"),
    [
        ({"estimate": "likelihood"}, 3 / 5),
        ({}, (3 + 3) / (5 + 4)),  # the prior is worth 4 answers, 3 of them right
        ({"estimate": "mean"}, (3 + 3 + 1) / (5 + 4 + 2)),
        ({"prior_accuracy": 2.3 / 2.4, "prior_strength": 2.4}, (3 + 2.3) / (5 + 2.4)),  # the paper's released code
    ],
)
def test_accuracy_by_hand(options, accuracy):
    fitted = _fit(HUMAN, TRUTH, **options)
    assert fitted.accuracy_ == pytest.approx([accuracy])
    expected = np.full((3, 3), (1 - accuracy) / 2)
    np.fill_diagonal(expected, accuracy)
    np.testing.assert_allclose(fitted.human_given_true_, expected)


def test_mean_and_mode_are_those_of_scipys_beta():
    posterior = beta(3 + 3 + 1, 2 + 1 + 1)
    assert _fit(HUMAN, TRUTH, estimate="mean").accuracy_ == pytest.approx([posterior.mean()])
    grid = np.linspace(0.001, 0.999, 99_801)
    assert _fit(HUMAN, TRUTH).accuracy_ == pytest.approx([grid[posterior.pdf(grid).argmax()]], abs=1e-5)


def test_without_data_or_prior_the_accuracy_is_what_was_believed():
    fitted = OneCoinConfusion(estimate="likelihood", prior_accuracy=0.8).start(2, 4)
    assert fitted.accuracy_ == pytest.approx([0.8, 0.8])


@pytest.mark.parametrize("truth", [HUMAN, [1, 2, 0, 1, 2]])
def test_always_right_and_always_wrong_are_allowed(truth):
    fitted = _fit(HUMAN, truth, estimate="likelihood")
    assert fitted.accuracy_.tolist() == [1.0 if truth == HUMAN else 0.0]
    assert fitted.log_prior() == 0.0
    assert not np.isnan(fitted.log_table()).any()


def test_log_prior_differs_from_scipys_beta_by_a_constant():
    def prior(fitted):
        return beta.logpdf(fitted.accuracy_[0], 4, 2)

    one, other = _fit(HUMAN, TRUTH), _fit(HUMAN, HUMAN)
    assert one.log_prior() - other.log_prior() == pytest.approx(prior(one) - prior(other))


def test_several_people_have_an_accuracy_each():
    counts = np.array([[[3.0, 0], [1, 4]], [[1, 1], [1, 1]]])
    fitted = OneCoinConfusion(estimate="likelihood").fit_counts(counts)
    assert fitted.accuracy_ == pytest.approx([7 / 8, 1 / 2])
    assert fitted.crowd_given_true_[0, 0] == pytest.approx(9 / 12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior_accuracy": 0}, "prior_accuracy must be between 0 and 1; it is 0."),
        ({"prior_strength": -2.0}, "prior_strength must not be negative; it is -2.0."),
        ({"estimate": "mle"}, "estimate must be 'mode', 'mean' or 'likelihood'; it is 'mle'."),
    ],
)
def test_options_outside_their_range_are_refused(options, message):
    with pytest.raises(InvalidParameter, match=message):
        _fit(HUMAN, TRUTH, **options)
