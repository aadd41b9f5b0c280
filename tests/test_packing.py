"""Long arrays as short text, and teams of many classes: small files, and the same team when they are read."""

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.confusion import HierarchicalConfusion
from twoheads.confusion import hierarchical as module
from twoheads.kernels.confusion.matrices import few_digits
from twoheads.storage.packing import pack, unpack

RNG = np.random.default_rng(8)
HALF = RNG.random((30, 30))


@pytest.mark.parametrize(
    "array",
    [
        RNG.normal(size=(7, 11)),
        HALF + HALF.T,
        np.where(np.eye(5, dtype=bool), -0.0, 0.0),
        np.full((3, 3), np.nan),
        np.asfortranarray(RNG.random((4, 6))),
        RNG.integers(-9, 9, 40).astype(np.int32),
        RNG.random(50) < 0.5,
        np.zeros((0, 3)),
    ],
)
def test_an_array_is_unpacked_to_the_bit(array):
    packed = pack(array)
    found = unpack(packed, array.dtype.str, list(array.shape))
    assert found.tobytes() == np.ascontiguousarray(array).tobytes()
    assert packed.get("symmetric", False) == (array is not None and array.shape == (30, 30))


def test_a_matrix_of_zeros_and_a_symmetric_one_are_short():
    assert len(pack(np.zeros((500, 500)))["packed"]) < 4000  # of 2 MB
    assert len(pack(HALF + HALF.T)["packed"]) < 0.65 * len(pack(HALF)["packed"])


def test_few_digits_are_three_and_symmetric():
    rounded = few_digits(HALF)
    np.testing.assert_allclose(rounded, (HALF + HALF.T) / 2, rtol=1e-3)
    np.testing.assert_array_equal(rounded, rounded.T)
    np.testing.assert_array_equal(few_digits(rounded), rounded)
    np.testing.assert_array_equal(few_digits(np.zeros((2, 2))), np.zeros((2, 2)))


@pytest.mark.parametrize("n_people", [1, 2])
def test_matrices_that_are_not_saved_are_computed_again_to_the_bit(n_people, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MANY_CLASSES", 2)
    truth = RNG.integers(4, size=200)
    answers = np.where(RNG.random((200, n_people)) < 0.7, truth[:, None], RNG.integers(4, size=(200, n_people)))
    item, person = np.divmod(np.arange(200 * n_people), n_people)
    frame = {"item": item, "annotator": person, "answer": answers.ravel()}
    proba = np.column_stack([np.arange(200), RNG.dirichlet(np.ones(4), 200) * 0.5 + 0.5 * np.eye(4)[truth]])
    model = {name: proba[:, at] for at, name in enumerate(["item", "p_0", "p_1", "p_2", "p_3"])}
    seen = th.Observations.from_answers(pd.DataFrame(frame), pd.DataFrame(model))
    team = th.recommended().fit(seen, truth)
    team.save(tmp_path / "team.json")
    again = th.load(tmp_path / "team.json")
    saved = team.confusion_.saved_state()
    assert {"shapes_", "crowd_given_true_", "human_given_true_"}.isdisjoint(saved)
    for name in ("shapes_", "crowd_given_true_", "human_given_true_"):
        np.testing.assert_array_equal(getattr(again.confusion_, name), getattr(team.confusion_, name))
    np.testing.assert_array_equal(again.predict_proba(seen), team.predict_proba(seen))


def test_fewer_classes_later_save_all_matrices(monkeypatch):
    confusion = HierarchicalConfusion()
    monkeypatch.setattr(module, "MANY_CLASSES", 2)
    confusion.fit_counts(np.ones((1, 3, 3)))
    assert "human_given_true_" not in confusion.saved_state()
    confusion.fit_counts(np.ones((1, 2, 2)))
    assert "human_given_true_" in confusion.saved_state()
