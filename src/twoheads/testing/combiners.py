"""The contract of combiners, as small checks. ``make`` returns a new, unfitted combiner."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from twoheads.combination.combiner import Combiner
from twoheads.kernels.arrays import Codes, Floats
from twoheads.storage.artifact import load

Make = Callable[[], Combiner]


def problem(n_items: int = 80, n_classes: int = 3, seed: int = 0) -> tuple[Floats, Codes]:
    """An array of one person's codes and a model's rows, (n_items, 1 + n_classes), and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    human = np.where(rng.random(n_items) < 0.7, truth, rng.integers(n_classes, size=n_items))
    proba = np.exp(1.5 * np.eye(n_classes)[truth] + rng.normal(size=(n_items, n_classes)))
    return np.column_stack([human, proba / proba.sum(axis=1, keepdims=True)]), truth


def check_rows_are_distributions(make: Make) -> None:
    """Rows are distributions, also of items without an answer or without a model row."""
    for n_classes in (2, 4):
        X, truth = problem(n_classes=n_classes)
        combiner = make().fit(X, truth)
        unasked, unseen = X.copy(), X.copy()
        unasked[:, 0], unseen[:, 1:] = np.nan, np.nan
        for given in (X, unasked, unseen):
            proba = combiner.predict_proba(given)
            assert proba.shape == (len(X), n_classes)
            assert (proba >= 0).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
            np.testing.assert_allclose(np.exp(combiner.predict_log_proba(given)), proba, atol=1e-9)
            np.testing.assert_array_equal(combiner.predict(given), combiner.classes_[proba.argmax(axis=1)])


def check_renaming_classes_permutes(make: Make) -> None:
    """Renaming classes permutes the columns."""
    X, truth = problem(n_classes=4)
    order = np.array([2, 0, 3, 1])
    renamed = np.column_stack([np.argsort(order)[X[:, 0].astype(int)], X[:, 1:][:, order]])
    found = make().fit(renamed, np.argsort(order)[truth]).predict_proba(renamed)
    np.testing.assert_allclose(found, make().fit(X, truth).predict_proba(X)[:, order], atol=1e-4)


def check_weight_two_is_the_item_twice(make: Make) -> None:
    """Weight 2 counts as the item twice. Many items: of few, each is left out, and one of two equal rows would stay."""
    X, truth = problem(8000)
    times = np.random.default_rng(1).integers(1, 3, len(X))
    weighted = make().fit(X, truth, sample_weight=times.astype(float))
    repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(truth, times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-3)


def check_the_same_data_give_the_same_bits(make: Make) -> None:
    """Two fits to the same data give the same bits."""
    X, truth = problem()
    np.testing.assert_array_equal(make().fit(X, truth).predict_proba(X), make().fit(X, truth).predict_proba(X))


def check_parameters_are_only_stored(make: Make) -> None:
    """Parameters are stored as they are, and fitting does not change them; a clone is unfitted and fits the same."""
    combiner, (X, truth) = make(), problem()
    parameters = repr(combiner.get_params())
    assert not [name for name in vars(combiner) if name not in combiner.get_params()]
    assert combiner.fit(X, truth) is combiner
    assert repr(combiner.get_params()) == parameters
    np.testing.assert_array_equal(clone(combiner).fit(X, truth).predict_proba(X), combiner.predict_proba(X))


def check_saved_and_loaded_to_the_bit(make: Make) -> None:
    """A combiner that was saved and loaded predicts the same bits."""
    X, truth = problem()
    combiner = make().fit(X, truth)
    with tempfile.TemporaryDirectory() as folder:
        combiner.save(Path(folder) / "team.json")
        again: Any = load(Path(folder) / "team.json")
    assert type(again) is type(combiner)
    np.testing.assert_array_equal(again.predict_proba(X), combiner.predict_proba(X))


def check_explanations_add_up(make: Make) -> None:
    """Where it explains, contributions add up to the log-odds."""
    X, truth = problem()
    combiner: Any = make().fit(X, truth)
    if not hasattr(combiner, "explain"):
        return
    explanation, log_proba = combiner.explain(X), combiner.predict_log_proba(X)
    label = log_proba.argmax(axis=1)
    odds = log_proba[np.arange(len(X)), label][:, None] - log_proba
    np.testing.assert_array_equal(explanation.label, combiner.classes_[label])
    np.testing.assert_allclose(explanation.log_odds, odds, atol=1e-8)


def check_it_describes_itself(make: Make) -> None:
    """Facts are numbers that JSON can hold, and the description is not empty."""
    import json

    X, truth = problem()
    combiner = make().fit(X, truth)
    assert json.loads(json.dumps(combiner.facts()))["classes"] == ["0", "1", "2"]
    assert combiner.describe()


#: Every check; `check_combiner` runs them all.
CHECKS: Sequence[Callable[[Make], None]] = [value for name, value in globals().items() if name.startswith("check_")]


def check_combiner(make: Make) -> None:
    """Run every check; the first that fails raises AssertionError."""
    for check in CHECKS:
        check(make)
