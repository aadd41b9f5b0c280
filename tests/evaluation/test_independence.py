"""Conditional independence: by hand, against scikit-learn, and on labels whose dependence is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.evaluation import conditional_mutual_information, independence, mutual_information


def _team(n=3000, n_classes=4, dependence=0.0, seed=0):
    """Model probabilities, human labels and truth; the human repeats the model's label with rate ``dependence``."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n, n_classes)) + 2.0 * np.eye(n_classes)[y]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    human = np.where(rng.random(n) < 0.8, y, rng.integers(0, n_classes, n))
    return proba, np.where(rng.random(n) < dependence, proba.argmax(axis=1), human), y


def test_mutual_information_by_hand_in_any_base():
    a, b = ["x", "x", "y", "z"], [0, 0, 1, 1]
    # b is a function of a and halves the items: one bit
    assert mutual_information(a, b) == pytest.approx(1.0)
    assert mutual_information(a, b, base=np.e) == pytest.approx(np.log(2))
    assert mutual_information(a, b, base=4) == pytest.approx(0.5)


def test_conditional_mutual_information_of_a_parity():
    # b is the parity of a and c: neither alone tells of it, both together all of it
    a, c = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    assert mutual_information(a, a ^ c) == 0.0
    assert conditional_mutual_information(a, a ^ c, c) == pytest.approx(1.0)


def test_labels_that_give_their_cause_away_are_conditionally_independent():
    y = np.repeat([0, 1, 2], 5)
    assert mutual_information(y, y) == pytest.approx(np.log2(3))
    assert conditional_mutual_information(y, y, y) == 0.0


def test_information_of_a_team_is_scikit_learns():
    proba, human, y = _team(dependence=0.2)
    found = independence(proba, human, y, n_permutations=1)
    model = proba.argmax(axis=1)
    bits = np.log(2)
    expected = sum((y == k).mean() * mutual_info_score(model[y == k], human[y == k]) for k in range(4)) / bits
    assert found.conditional_mutual_information == pytest.approx(expected, abs=1e-12)
    assert found.mutual_information == pytest.approx(mutual_info_score(model, human) / bits, abs=1e-12)


def test_dependence_is_found_and_independence_is_not_denied():
    dependent = independence(*_team(dependence=0.2))
    assert dependent.p_value == 1 / 1001
    assert dependent.conditional_mutual_information > 3 * dependent.by_chance
    independent = independence(*_team())
    assert independent.p_value > 0.05
    assert independent.conditional_mutual_information == pytest.approx(independent.by_chance, rel=0.5)


def test_p_values_of_independent_teams_are_uniform():
    p_values = [independence(*_team(n=200, seed=seed), n_permutations=99).p_value for seed in range(100)]
    assert 0.4 < np.mean(p_values) < 0.6
    assert np.mean(np.array(p_values) <= 0.1) < 0.2


def _six_answers_per_item(seed, n_items=80, n_classes=3):
    """A model that is independent given the truth, and six answers per item that share the item's look."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_items)
    model, looks_like = (np.where(rng.random(n_items) < 0.6, y, rng.integers(0, n_classes, n_items)) for _ in range(2))
    item = rng.permutation(np.repeat(np.arange(n_items), 6))
    human = np.where(rng.random(item.size) < 0.8, looks_like[item], rng.integers(0, n_classes, item.size))
    return model[item], human, y[item], item, looks_like[item]


def test_p_values_of_an_independent_model_hold_with_six_answers_per_item():
    clustered, one_by_one = [], []
    for seed in range(400):
        model, human, y, item, _ = _six_answers_per_item(seed)
        clustered.append(independence(model, human, y, item=item, n_permutations=99).p_value <= 0.05)
        if seed < 50:
            one_by_one.append(independence(model, human, y, n_permutations=99).p_value <= 0.05)
    assert 0.017 <= np.mean(clustered) <= 0.083  # 5 %, and three standard errors of 400 trials
    assert np.mean(one_by_one) > 0.5


def test_dependence_is_found_with_six_answers_per_item():
    _, human, y, item, looks_like = _six_answers_per_item(0)
    found = independence(looks_like, human, y, item=item)
    assert found.p_value == 1 / 1001
    assert found.conditional_mutual_information > 3 * found.by_chance


def test_items_of_one_answer_each_change_nothing_and_names_are_free():
    proba, human, y = _team(n=200, dependence=0.1)
    alone, named = independence(proba, human, y), independence(proba, human, y, item=[f"i{k}" for k in range(200)])
    assert (alone.p_value, alone.by_chance) == (named.p_value, named.by_chance)
    model, human, y, item, _ = _six_answers_per_item(1)
    texts = np.array([f"image {k:03d}" for k in item])
    assert independence(model, human, y, item=item).p_value == independence(model, human, y, item=texts).p_value


def test_a_thousand_classes_with_two_answers_per_item():
    proba, human, y = _team(n=1000, n_classes=1000)
    item = np.repeat(np.arange(1000), 2)
    found = independence(proba[item], human[item], y[item], item=item, n_permutations=20)
    assert 0.0 < found.p_value <= 1.0


def test_an_item_has_one_truth_and_one_prediction():
    with pytest.raises(
        InvalidObservations, match=r"y must be the same in all rows of an item; row 1 differs from row 0 \(1 of 3"
    ):
        independence([0, 0, 1], [0, 1, 1], [0, 1, 1], item=["a", "a", "b"])
    with pytest.raises(InvalidObservations, match="model_label_or_proba must be the same in all rows of an item"):
        independence([0, 1, 1], [0, 1, 1], [0, 0, 1], item=["a", "a", "b"])
    with pytest.raises(InvalidObservations, match="item and model_label_or_proba must have the same number of rows"):
        independence([0, 1], [0, 1], [0, 1], item=[0, 1, 2])


def test_the_same_seed_gives_the_same_p_value():
    team = _team(n=300)
    first, second, other = (independence(*team, random_state=seed).p_value for seed in (3, 3, 4))
    assert first == second != other
    assert independence(*team, random_state=np.random.default_rng(3)).p_value == first


def test_labels_that_cannot_be_shuffled_are_no_evidence():
    assert independence([0, 1, 1], [0, 1, 0], [0, 1, 2]).p_value == 1.0


def test_labels_and_probabilities_give_the_same_information():
    proba, human, y = _team(n=400)
    by_label, by_proba = independence(proba.argmax(axis=1), human, y), independence(proba, human, y)
    assert by_label.conditional_mutual_information == by_proba.conditional_mutual_information
    assert by_label.p_value == by_proba.p_value
    assert by_label.shift is None


def test_shift_by_hand():
    proba = [[0.9, 0.1], [0.5, 0.5], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3]]
    y, human = ["a", "a", "a", "b", "b"], ["b", "a", "a", "b", "a"]
    shift = independence(proba, human, y).shift
    assert shift.classes.tolist() == ["a", "b"]
    assert shift.n_items.tolist() == [3, 2]
    assert shift.n_human_right.tolist() == [2, 1]
    np.testing.assert_allclose(shift.mean_proba, [0.6, 0.55])
    np.testing.assert_allclose(shift.mean_proba_human_right, [0.45, 0.8])
    np.testing.assert_allclose(shift.largest_mean_proba, [0.7, 0.8])


def test_shift_of_classes_without_items_or_without_right_answers():
    shift = independence([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]], [0, 0], [0, 1]).shift
    assert shift.n_items.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(np.isnan(shift.mean_proba), [False, False, True])
    np.testing.assert_array_equal(np.isnan(shift.mean_proba_human_right), [False, True, True])
    np.testing.assert_array_equal(np.isnan(shift.largest_mean_proba), [False, True, True])


def test_shift_is_bounded_and_moves_with_dependence():
    shift = independence(*_team(dependence=0.3), n_permutations=1).shift
    assert (shift.mean_proba < shift.mean_proba_human_right).all()
    assert (shift.mean_proba_human_right < shift.largest_mean_proba).all()


def test_a_thousand_classes():
    found = independence(*_team(n=3000, n_classes=1000), n_permutations=20)
    assert 0.0 <= found.conditional_mutual_information <= found.mutual_information
    assert len(found.shift.classes) == 1000


@pytest.mark.parametrize("base", [1, 0, -2, np.inf, np.nan])
def test_the_base_is_above_one(base):
    with pytest.raises(InvalidParameter, match="base must be a number above 1"):
        mutual_information([0, 1], [0, 1], base=base)


def test_the_number_of_permutations_is_a_whole_number():
    with pytest.raises(InvalidParameter, match="n_permutations must be a whole number of at least 1; it is 0"):
        independence([0, 1], [0, 1], [0, 1], n_permutations=0)


@pytest.mark.parametrize("model", [[0, 1], [[0.5, 0.5], [0.5, 0.5]]])
def test_lengths_that_differ(model):
    with pytest.raises(InvalidObservations, match="human_label and model_label_or_proba must have the same number"):
        independence(model, [0, 1, 1], [0, 1])
    with pytest.raises(InvalidObservations, match="b and a must have the same number of rows; b has 3, a has 2"):
        mutual_information([0, 1], [0, 1, 1])


def test_human_labels_must_be_classes():
    with pytest.raises(InvalidObservations, match="human_label must hold classes; row 1 has 7"):
        independence([[0.5, 0.5], [0.5, 0.5]], [0, 7], [0, 1])
    with pytest.raises(InvalidObservations, match="model_label_or_proba and human_label must hold labels of one type"):
        independence([0, 1], ["a", "b"], [0, 1])
