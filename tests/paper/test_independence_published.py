"""Conditional and unconditional mutual information as published: Kerrigan et al. (2021), appendix, for CIFAR-10H."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from twoheads.evaluation import independence

DATA = Path(os.environ.get("TWOHEADS_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "cifar10h"


def _evaluation_split(name, first_label, columns):
    """The paper's evaluation split: model probabilities, one human label drawn from the votes, and the truth."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set TWOHEADS_DATA to the folder that holds cifar10h")
    table = np.loadtxt(path, delimiter=",")
    votes, proba, truth = (table[:, part] for part in columns)
    rng = np.random.default_rng(123)
    human = np.empty(len(table), dtype=int)
    for row, count in enumerate(votes.astype(int)):
        answers = np.repeat(np.arange(10), count).tolist()
        rng.shuffle(answers)
        human[row] = answers[0]
    split = train_test_split(human, proba, truth.astype(int) - first_label, test_size=0.3, random_state=1)
    return split[3], split[1], split[5]


@pytest.mark.parametrize(
    ("name", "first_label", "columns", "conditional", "unconditional"),
    [
        ("human_model_truth_cifar10h.csv", 1, (slice(0, 10), slice(10, 20), 20), 0.037, 2.404),
        ("densenet-bc-L190-k40.csv", 0, (slice(1, 11), slice(11, 21), 0), 0.030, 2.829),
    ],
    ids=["ResNet-110", "DenseNet-BC"],
)
def test_information_is_the_published(name, first_label, columns, conditional, unconditional):
    found = independence(*_evaluation_split(name, first_label, columns))
    assert found.conditional_mutual_information == pytest.approx(conditional, abs=5e-4)
    assert found.mutual_information == pytest.approx(unconditional, abs=5e-4)
    # The paper calls the first small; shuffling within classes shows that it is more than chance all the same.
    assert found.by_chance < found.conditional_mutual_information
    assert found.p_value < 0.01
    # "generally close to the diagonal, or slightly above", and below what could be
    shift = found.shift
    assert (shift.mean_proba_human_right - shift.mean_proba > -0.01).all()
    assert (shift.mean_proba_human_right <= shift.largest_mean_proba).all()
