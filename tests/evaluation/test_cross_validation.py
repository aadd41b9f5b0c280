"""Cross-validation: nobody is judged by a team that has seen the truth, and classes stay where they are."""

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.errors import InvalidObservations
from twoheads.evaluation import compare, compare_predictions, cross_validated, predictions

NAMES = np.array(["zebra", "ant", "mole"])


def frame(n, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    logits = rng.normal(size=(n, 3))
    logits[np.arange(n), y] += 2
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    X = pd.DataFrame(proba, columns=[f"p_{name}" for name in NAMES])
    X["human"] = NAMES[np.where(rng.random(n) < 0.8, y, rng.integers(0, 3, n))]
    X["item"] = [f"i{at}" for at in range(n)]
    return X, NAMES[y]


def test_each_item_is_judged_by_a_team_that_has_not_seen_it():
    X, y = frame(40)
    found = cross_validated(th.ProbabilityLabelCombiner(), X, y, n_splits=40)
    assert found.how == "leave-one-out cross-validation"
    assert found.items.tolist() == X["item"].tolist()
    for left_out in (0, 17, 39):
        rest = np.arange(40) != left_out
        team = th.ProbabilityLabelCombiner().fit(X[rest], y[rest])
        np.testing.assert_allclose(found.combined_proba[left_out], team.predict_proba(X)[left_out])


def test_classes_keep_their_places_in_every_form():
    X, y = frame(60)
    found = cross_validated(th.ProbabilityLabelCombiner(), X, y)
    assert found.classes.tolist() == sorted(NAMES)
    assert found.how == "5-fold cross-validation"
    assert (found.classes[found.true_label] == y).all()
    assert (found.classes[found.human_label] == X["human"]).all()
    assert compare_predictions(found, n_bootstrap=20).combination.error.value < 0.3
    seen = th.as_observations(X)
    again = cross_validated(th.ProbabilityLabelCombiner(), seen, y)
    np.testing.assert_array_equal(again.combined_proba, found.combined_proba)


def test_parts_have_a_share_of_every_class():
    from twoheads.evaluation.cross_validation import _folds

    truth = np.repeat([0, 1, 2], [50, 20, 7])
    folds = _folds(truth, 5, 0)
    for label, least in ((0, 10), (1, 4), (2, 1)):
        assert np.bincount(folds[truth == label], minlength=5).min() >= least


def test_items_of_unknown_truth_teach_and_are_never_judged():
    X, y = frame(50)
    some = np.where(np.arange(50) % 2 == 0, y, None)
    found = cross_validated(th.ProbabilityLabelCombiner(), X, some, n_splits=25)
    assert len(found) == 25
    assert found.items.tolist() == X["item"].tolist()[::2]
    rest = np.arange(50) != 4  # left out altogether, as it is in the part that is judged
    team = th.ProbabilityLabelCombiner().fit(X[rest], some[rest])
    np.testing.assert_allclose(found.combined_proba[2], team.predict_proba(X)[4], rtol=1e-6)


def test_few_labels_are_left_out_one_by_one():
    X, y = frame(5)
    found = cross_validated(th.LabelLabelCombiner(), X, y)
    assert found.how == "leave-one-out cross-validation"
    assert found.calibrated_proba is None


def test_one_label_cannot_be_judged():
    X, y = frame(5)
    with pytest.raises(InvalidObservations) as caught:
        cross_validated(th.ProbabilityLabelCombiner(), X, [y[0], None, None, None, None])
    assert str(caught.value) == (
        "cross-validation needs at least 2 items of known truth; 1 of 5 have one. "
        "Label more items, or evaluate the team on others."
    )


def test_weights_are_kept_and_used_in_fitting():
    X, y = frame(30)
    weight = np.where(np.arange(30) < 10, 0.0, 1.0)
    found = cross_validated(th.ProbabilityLabelCombiner(), X, y, sample_weight=weight)
    assert found.weight.tolist() == weight.tolist()
    assert compare_predictions(found, n_bootstrap=10).n_items == 20


def test_the_team_given_stays_as_it_is():
    X, y = frame(30)
    team = th.ProbabilityLabelCombiner().fit(X, y)
    before = predictions(team, X).combined_proba
    cross_validated(team, X, y)
    np.testing.assert_array_equal(predictions(team, X).combined_proba, before)


@pytest.mark.parametrize("beside", ["a model on two items", "a machine"])
def test_people_are_combined_in_every_fold_or_in_none(beside):
    """Whether people are a rival follows from all items; a fold may have no model row, or one answer per item."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=24)
    people = np.where(rng.random((24, 3)) < 0.8, truth[:, None], 1 - truth[:, None]).astype(str).astype(object)
    X = pd.DataFrame({f"human_{at}": people[:, at] for at in range(3)})
    if beside == "a machine":
        X.loc[2:, ["human_1", "human_2"]] = None
        X["judge.label"] = truth.astype(str)
    else:
        X = X.assign(p_0=np.where(np.arange(24) < 2, 0.5, np.nan), p_1=np.where(np.arange(24) < 2, 0.5, np.nan))
    team = th.recommended().fit(X, truth)
    found = compare(team, X, truth, n_bootstrap=10)
    assert found.how == "5-fold cross-validation"
    assert found.crowd is not None
    at_fit = {(rival.key, rival.name) for rival in team.holdout_.rivals.members if rival.key != "best_person"}
    assert {(rival.key, rival.name) for rival in found.rivals if rival.key != "best_person"} == at_fit
