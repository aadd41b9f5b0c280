"""What is assumed of errors on one item where answers hardly agree: by hand, and against simulated crowds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from twoheads import Observations
from twoheads.combination import recommended
from twoheads.combination.fitting.shared_errors import correlation_share
from twoheads.kernels.answers import pack_answers
from twoheads.kernels.blocks import Block
from twoheads.kernels.priors import LOGIT_CORRELATION_MEAN

PRIOR = float(expit(LOGIT_CORRELATION_MEAN))


def block_of(rows, weight=None):
    """Items of two classes that people 0, 1, 2 answered; of rows of labels."""
    labels = np.array(rows)
    item, person = np.indices(labels.shape)
    answers = pack_answers(item.ravel(), (2 * person + labels).ravel(), len(labels))
    return Block(np.zeros((2, len(labels))), answers=answers, weight=weight)


def crowd(accuracy, *, seed=0, n_items=600, n_people=20, per_item=5, n_classes=2):
    """Long tables of independent people of one accuracy; and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    person = np.concatenate([rng.choice(n_people, per_item, replace=False) for _ in range(n_items)])
    item = np.repeat(np.arange(n_items), per_item)
    wrong = (truth[item] + rng.integers(1, n_classes, len(item))) % n_classes
    answer = np.where(rng.random(len(item)) < accuracy, truth[item], wrong)
    table = pd.DataFrame({"item": item, "annotator": person.astype(str), "answer": answer})
    return Observations.from_answers(table, classes=np.arange(n_classes)), truth, table


def majority_errors(table, truth, n_classes):
    votes = pd.crosstab(table["item"], table["answer"]).reindex(columns=range(n_classes), fill_value=0).to_numpy()
    leading = votes == votes.max(axis=1, keepdims=True)
    return float(np.mean(1 - leading[np.arange(len(truth)), truth] / leading.sum(axis=1)))


def test_the_share_by_hand():
    # Four items of which one in three pairs agrees, two of which all do: (4/3 + 2) / 6 = 5/9 agree, by chance 1/2.
    # Kappa 1/9; 12 answers more than items: k = (12 / 9 + 10) / 62, over 0.2.
    rows = [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]]
    expected = (12 / 9 + 10) / 62 / 0.2
    assert correlation_share([block_of(rows)]) == pytest.approx(expected)
    assert correlation_share([block_of(rows[:2]), block_of(rows[2:])]) == pytest.approx(expected)
    assert correlation_share([block_of([[0, 0, 0], [1, 1, 1]])]) == 1.0


def test_a_weight_is_as_many_items():
    rows = [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
    once, again = block_of(rows, np.array([1.0, 3.0, 2.0])), block_of([rows[at] for at in (0, 1, 1, 1, 2, 2)])
    assert correlation_share([once]) == pytest.approx(correlation_share([again]))
    assert correlation_share([once]) < 1


@pytest.mark.parametrize(("accuracy", "n_classes"), [(0.62, 2), (0.58, 2), (0.42, 4)])
def test_people_who_are_often_wrong_are_no_worse_together_than_their_majority(accuracy, n_classes):
    errors = []
    for seed in range(3):
        seen, truth, table = crowd(accuracy, seed=seed, n_classes=n_classes)
        team = recommended().fit(seen)
        order = np.asarray(seen.items, dtype=int)
        wrong = np.mean(team.predict(seen) != truth[order])
        errors.append((wrong, majority_errors(table, truth, n_classes)))
    of_team, of_majority = np.mean(errors, axis=0)
    assert of_team < of_majority + 0.02
    assert of_majority < 0.5


def test_among_weak_people_the_better_ones_are_found():
    """Ten of accuracy .52 and ten of .72, of kappa (.04 + .44)^2 / 4 = .058, below the .1 of EM."""
    accuracy = np.repeat([0.52, 0.72], 10)
    for seed in range(3):
        _, truth, table = crowd(0.5, seed=seed)
        item, person = table["item"].to_numpy(), table["annotator"].astype(int).to_numpy()
        right = np.random.default_rng(seed + 100).random(len(item)) < accuracy[person]
        told = table.assign(answer=np.where(right, truth[item], 1 - truth[item]))
        stats = recommended().fit(Observations.from_answers(told, classes=np.arange(2))).annotator_stats_
        believed = np.array(stats["accuracy"])[np.argsort(np.array(stats["annotator"], dtype=int))]
        assert (believed[10:] > np.median(believed)).sum() >= 8


def test_people_who_agree_have_the_correlation_of_the_prior():
    assert recommended().fit(crowd(0.85)[0]).dependence_.correlation_ == pytest.approx(PRIOR)


def test_the_first_labels_do_not_move_what_agreement_shows():
    seen, truth, _ = crowd(0.6)
    truth = truth[np.asarray(seen.items, dtype=int)]
    without = recommended().fit(seen).dependence_.correlation_
    with_two = recommended().fit(seen, np.where(np.arange(len(truth)) < 2, truth, -1)).dependence_.correlation_
    assert without == with_two < 0.5 * PRIOR
