"""The contract of confusion estimates, as small checks. ``make`` returns a new, unfitted estimate."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from twoheads.confusion.base import Confusion
from twoheads.kernels.arrays import Floats
from twoheads.storage.artifact import load, save

Make = Callable[[], Confusion]


def counts_of(n_annotators: int = 1, n_classes: int = 3, n_answers: int = 60, seed: int = 0) -> Floats:
    """Counts of annotators who are right on some two thirds of their answers, (n_annotators, n_classes, n_classes)."""
    rng = np.random.default_rng(seed)
    matrix = 0.5 * np.eye(n_classes) + 0.5 * rng.dirichlet(np.full(n_classes, 3.0), n_classes).T
    truth = rng.multinomial(n_answers, np.full(n_classes, 1 / n_classes), n_annotators)
    columns = [[rng.multinomial(n, matrix[:, j]) for j, n in enumerate(each)] for each in truth]
    return np.array(columns, dtype=np.float64).swapaxes(1, 2)


def check_columns_are_distributions(make: Make) -> None:
    """Columns are distributions, of everyone and of the crowd."""
    for n_annotators, n_classes in ((1, 2), (1, 5), (4, 3)):
        for counts in (counts_of(n_annotators, n_classes), np.zeros((n_annotators, n_classes, n_classes))):
            people = make().fit_counts(counts).people()
            assert people.shape == (n_annotators + 1, n_classes, n_classes)
            assert (people >= 0).all()
            np.testing.assert_allclose(people.sum(axis=1), 1.0, atol=1e-12)


def check_counts_are_all_it_needs(make: Make) -> None:
    """Items of weight 2 give the matrices of the items given twice."""
    rng = np.random.default_rng(1)
    human, truth, times = rng.integers(3, size=40), rng.integers(3, size=40), rng.integers(1, 4, 40)
    X = np.column_stack([human, rng.dirichlet(np.ones(3), 40)])
    weighted = make().fit(X, truth, sample_weight=times)
    repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(truth, times))
    np.testing.assert_allclose(weighted.human_given_true_, repeated.human_given_true_, atol=1e-12)


def check_leave_one_out_rows_are_those_of_refits(make: Make) -> None:
    """Leave-one-out rows are those of matrices fitted without the answer and the whole weight of its item."""
    counts = counts_of(n_answers=30)
    confusion = make().fit_counts(counts)
    answer, truth = np.nonzero(counts[0])
    weight = np.minimum(1.0 + np.arange(len(answer)) % 3, counts[0, answer, truth])
    rows = confusion.leave_one_out_rows(answer, truth, weight)(np.arange(len(answer)), None)
    assert rows.shape == (3, len(answer))
    for at, (i, j) in enumerate(zip(answer.tolist(), truth.tolist(), strict=True)):
        fewer = counts.copy()
        fewer[0, i, j] -= weight[at]
        # What all answers share, such as the shape of errors, may be held: the rows are close, not equal.
        np.testing.assert_allclose(rows[:, at], make().fit_counts(fewer).human_given_true_[i], atol=0.02)


def check_renaming_classes_permutes(make: Make) -> None:
    """Renaming classes permutes rows and columns."""
    counts, order = counts_of(2, 4), np.array([2, 0, 3, 1])
    renamed = make().fit_counts(counts[:, order][:, :, order])
    expected = make().fit_counts(counts).people()[:, order][:, :, order]
    np.testing.assert_allclose(renamed.people(), expected, atol=1e-9)


def check_more_answers_bring_it_nearer_to_their_shares(make: Make) -> None:
    """With many answers a person who is always right is believed to be."""
    few, many = (make().fit_counts(n * np.eye(3)[None]).human_given_true_ for n in (2.0, 2000.0))
    assert np.diagonal(many).min() >= np.diagonal(few).min() - 1e-12
    np.testing.assert_allclose(np.diagonal(many), 1.0, atol=0.02)


def check_it_starts_without_counts(make: Make) -> None:
    """Before any answer everyone is taken to be better than chance."""
    people = make().start(3, 4).people()
    np.testing.assert_allclose(people.sum(axis=1), 1.0, atol=1e-12)
    assert (np.diagonal(people, axis1=1, axis2=2) > 0.25).all()


def check_intervals_hold_the_estimate(make: Make) -> None:
    """Credible intervals of accuracies lie between 0 and 1, and the estimate in them, with few classes and many."""
    for n_classes in (3, 40):
        confusion = make().fit_counts(counts_of(n_classes=n_classes))
        low, high = confusion.accuracy_interval(0.9)
        assert (low >= 0).all()
        assert (high <= 1).all()
        assert (low < high).all()
        accuracy = np.diagonal(confusion.crowd_given_true_)
        assert (low <= accuracy).all()
        assert (accuracy <= high).all()


def check_fit_counts_leaves_its_input_alone(make: Make) -> None:
    """``fit_counts`` leaves its input alone."""
    counts = counts_of(2)
    counts.flags.writeable = False
    make().fit_counts(counts)


def check_parameters_are_only_stored(make: Make) -> None:
    """Parameters are stored as they are, and fitting does not change them."""
    confusion = make()
    parameters = confusion.get_params()
    assert not [name for name in vars(confusion) if name not in parameters]
    confusion.fit_counts(counts_of())
    assert confusion.get_params() == parameters == clone(confusion).get_params()


def check_saved_and_loaded_to_the_bit(make: Make) -> None:
    """An estimate that was saved and loaded has the same matrices to the bit."""
    for n_annotators in (1, 3):
        confusion = make().fit_counts(counts_of(n_annotators))
        with tempfile.TemporaryDirectory() as folder:
            save(confusion, Path(folder) / "confusion.json")
            again: Any = load(Path(folder) / "confusion.json")
        assert type(again) is type(confusion)
        np.testing.assert_array_equal(again.people(), confusion.people())


#: Every check; `check_confusion` runs them all.
CHECKS: Sequence[Callable[[Make], None]] = [value for name, value in globals().items() if name.startswith("check_")]


def check_confusion(make: Make) -> None:
    """Run every check; the first that fails raises AssertionError."""
    for check in CHECKS:
        check(make)
