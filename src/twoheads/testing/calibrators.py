"""The contract of calibrators, as small checks. ``make`` returns a new, unfitted calibrator."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from twoheads.calibration.base import Calibrator
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.blocks import Block, one_hot
from twoheads.kernels.simplex import log_simplex
from twoheads.storage.artifact import load, save

Make = Callable[[], Calibrator]


def problem(n_items: int = 120, n_classes: int = 3, seed: int = 0) -> tuple[Floats, Codes]:
    """Rows (n_items, n_classes) of an over-confident model, and labels drawn from what it should have said."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=(n_items, n_classes))
    proba, honest = (np.exp(scale * logits) for scale in (1.0, 0.6))
    proba /= proba.sum(axis=1, keepdims=True)
    honest /= honest.sum(axis=1, keepdims=True)
    return proba, (honest.cumsum(axis=1) < rng.random((n_items, 1))).sum(axis=1)


def fitted(make: Make, proba: Floats, label: Codes, weight: Floats | None = None) -> Calibrator:
    """A calibrator fitted to rows and labels."""
    block = Block(log_simplex(proba), true_label=label, weight=weight)
    return make().fit_blocks([block], proba.shape[1])


def calibrated(calibrator: Calibrator, proba: Floats) -> Floats:
    """Calibrated rows, (n_items, n_classes)."""
    return np.exp(calibrator.calibrate(log_simplex(proba))).T


def check_rows_are_distributions(make: Make) -> None:
    """Calibrated rows are distributions, whatever the number of classes."""
    for n_classes in (2, 3, 7):
        proba, label = problem(n_classes=n_classes)
        out = calibrated(fitted(make, proba, label), proba)
        assert out.shape == proba.shape
        assert (out >= 0).all()
        reason = "calibrate must return the logarithms of distributions: the classes of each item must sum to 1"
        np.testing.assert_allclose(out.sum(axis=1), 1.0, atol=1e-12, err_msg=reason)


def check_unnormalised_lacks_a_constant_per_item(make: Make) -> None:
    """``unnormalised`` differs from ``calibrate`` by one number per item."""
    proba, label = problem()
    calibrator = fitted(make, proba, label)
    lacking = calibrator.calibrate(log_simplex(proba)) - calibrator.unnormalised(log_simplex(proba))
    np.testing.assert_allclose(lacking, np.broadcast_to(lacking[0], lacking.shape), atol=1e-12)


def check_one_hot_targets_are_labels(make: Make) -> None:
    """One-hot targets give the calibrator that labels give."""
    proba, label = problem()
    log_proba = log_simplex(proba)
    hard = make().fit_blocks([Block(log_proba, true_label=label)], 3)
    soft = make().fit_blocks([Block(log_proba, target=one_hot(label, 3))], 3)
    np.testing.assert_array_equal(calibrated(hard, proba), calibrated(soft, proba))


def check_a_soft_target_is_a_mixture_of_labels(make: Make) -> None:
    """An item of one class with probability 0.25 and of another with 0.75 counts as one of each, with these weights."""
    proba, label = problem()
    other = (label + 1) % 3
    soft = 0.25 * one_hot(label, 3) + 0.75 * one_hot(other, 3)
    mixed = make().fit_blocks([Block(log_simplex(proba), target=soft)], 3)
    weight = np.repeat([0.25, 0.75], len(proba))
    both = fitted(make, np.concatenate([proba, proba]), np.concatenate([label, other]), weight)
    np.testing.assert_allclose(calibrated(mixed, proba), calibrated(both, proba), atol=1e-6)


def check_weight_two_is_the_row_twice(make: Make) -> None:
    """A whole number as weight counts as so many equal rows."""
    proba, label = problem()
    times = np.random.default_rng(1).integers(0, 4, len(label))
    weighted = fitted(make, proba, label, times.astype(float))
    repeated = fitted(make, np.repeat(proba, times, axis=0), np.repeat(label, times))
    np.testing.assert_allclose(calibrated(weighted, proba), calibrated(repeated, proba), atol=1e-6)


def check_order_of_rows_does_not_matter(make: Make) -> None:
    """The order of the rows does not matter."""
    proba, label = problem()
    order = np.random.default_rng(2).permutation(len(label))
    there, shuffled = fitted(make, proba, label), fitted(make, proba[order], label[order])
    np.testing.assert_allclose(calibrated(there, proba), calibrated(shuffled, proba), atol=1e-7)


def check_cutting_into_blocks_does_not_matter(make: Make) -> None:
    """It does not matter how rows are cut into blocks."""
    proba, label = problem()
    log_proba = log_simplex(proba)
    blocks = [
        Block(log_proba[:, rows], true_label=label[rows]) for rows in (slice(0, 1), slice(1, 50), slice(50, len(label)))
    ]
    whole, cut = fitted(make, proba, label), make().fit_blocks(blocks, 3)
    np.testing.assert_allclose(calibrated(whole, proba), calibrated(cut, proba), atol=1e-7)


def check_renaming_classes_permutes(make: Make) -> None:
    """Renaming classes permutes the columns."""
    proba, label = problem(n_classes=4)
    order = np.array([2, 0, 3, 1])
    renamed = fitted(make, proba[:, order], np.argsort(order)[label])
    np.testing.assert_allclose(
        calibrated(renamed, proba[:, order]), calibrated(fitted(make, proba, label), proba)[:, order], atol=1e-6
    )


def check_the_same_data_give_the_same_bits(make: Make) -> None:
    """Two fits to the same data give the same bits."""
    proba, label = problem()
    np.testing.assert_array_equal(
        calibrated(fitted(make, proba, label), proba), calibrated(fitted(make, proba, label), proba)
    )


def check_nothing_is_nan(make: Make) -> None:
    """Probabilities are finite after a fit to extreme data: certain rows, a single row, classes that are never seen."""
    certain = np.eye(3)[[0, 1, 2, 0, 1]]
    doubtful, label = problem()
    cases = {
        "certain and right": (certain, [0, 1, 2, 0, 1]),
        "certain and wrong": (certain, [1, 2, 0, 1, 2]),
        "certain, sometimes right": (certain, [0, 2, 2, 0, 0]),
        "one row": (doubtful[:1], label[:1]),
        "one certain row": (certain[:1], [0]),
        "one wrong row": (certain[:1], [2]),
        "two classes": (np.array([[1.0, 0.0], [0.5, 0.5], [0.3, 0.7]]), [0, 1, 1]),
        "a class never seen": (doubtful[label != 2], label[label != 2]),
        "only one class seen": (doubtful[label == 1], label[label == 1]),
        "always right": (doubtful, doubtful.argmax(axis=1)),
        "always wrong": (doubtful, doubtful.argmin(axis=1)),
        "no opinion": (np.full((6, 3), 1 / 3), [0, 0, 1, 2, 2, 2]),
        "many classes": problem(20, 100),
    }
    for name, (proba, truth) in cases.items():
        calibrator = fitted(make, proba, np.asarray(truth))
        seen = np.concatenate([proba, np.eye(proba.shape[1]), np.full((1, proba.shape[1]), 1 / proba.shape[1])])
        out = calibrated(calibrator, seen)
        assert np.isfinite(out).all(), name
        np.testing.assert_allclose(out.sum(axis=1), 1.0, atol=1e-9, err_msg=name)
        assert np.isfinite(calibrator.log_prior()), name


def check_fit_leaves_its_input_alone(make: Make) -> None:
    """A fit writes nothing into its input."""
    proba, label = problem()
    log_proba, weight = log_simplex(proba), np.ones(len(label))
    for array in (log_proba, label, weight):
        array.flags.writeable = False
    make().fit_blocks([Block(log_proba, true_label=label, weight=weight)], 3)


def check_parameters_are_only_stored(make: Make) -> None:
    """Parameters are stored as they are, and fitting does not change them."""
    calibrator = make()
    parameters = calibrator.get_params()
    assert list(parameters) == sorted(parameters)
    assert "model_scale" in parameters
    assert not [name for name in vars(calibrator) if name not in parameters]
    proba, label = problem()
    assert calibrator.fit(proba, label) is calibrator
    assert calibrator.get_params() == parameters
    assert clone(calibrator).get_params() == parameters


def check_it_is_a_classifier(make: Make) -> None:
    """It takes arrays of any layout and scale, and predicts classes by name, as classifiers of scikit-learn do."""
    proba, code = problem()
    names = np.array(["ant", "bee", "cat"])
    for given in (proba, proba.astype(np.float32), np.asfortranarray(proba), proba.tolist()):
        calibrator = make().fit(given, names[code])
        out = calibrator.predict_proba(given)
        assert out.shape == proba.shape
        assert calibrator.classes_.tolist() == names.tolist()
        np.testing.assert_array_equal(calibrator.predict(given), names[out.argmax(axis=1)])
    from_log = clone(make()).set_params(model_scale="log").fit(np.log(proba), names[code])
    expected = make().fit(proba, names[code]).predict_proba(proba)
    np.testing.assert_allclose(from_log.predict_proba(np.log(proba)), expected, atol=1e-7)


def check_saved_and_loaded_to_the_bit(make: Make) -> None:
    """A calibrator that was saved and loaded predicts the same bits."""
    proba, label = problem()
    calibrator = make().fit(proba, label)
    with tempfile.TemporaryDirectory() as folder:
        save(calibrator, Path(folder) / "calibrator.json")
        again: Any = load(Path(folder) / "calibrator.json")
    assert type(again) is type(calibrator)
    np.testing.assert_array_equal(again.predict_proba(proba), calibrator.predict_proba(proba))


def check_the_model_itself_is_where_it_starts(make: Make) -> None:
    """Without labels the model stays roughly as it is: no class gains or loses on average."""
    proba, _ = problem(400)
    calibrator = make().start([Block(log_simplex(proba))], 3)
    out = calibrated(calibrator, proba)
    np.testing.assert_allclose(out.mean(axis=0), proba.mean(axis=0), atol=0.02)


#: Every check; `check_calibrator` runs them all.
CHECKS: Sequence[Callable[[Make], None]] = [value for name, value in globals().items() if name.startswith("check_")]


def check_calibrator(make: Make) -> None:
    """Run every check; the first that fails raises AssertionError."""
    for check in CHECKS:
        check(make)
