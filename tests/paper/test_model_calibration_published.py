"""ECE, cwECE, NLL and error of the models alone as published: Kerrigan et al. (2021), CIFAR-10H."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from twoheads.evaluation import classwise_calibration_error, error_rate, expected_calibration_error, log_loss

DATA = Path(os.environ.get("TWOHEADS_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "cifar10h"


@pytest.mark.parametrize(
    ("name", "first_label", "columns", "published"),
    [
        (
            "human_model_truth_cifar10h.csv",
            1,
            (slice(10, 20), 20),
            {"ece": 5.23, "cwece": 0.81, "nll": 0.40, "error": 11.28},
        ),
        ("densenet-bc-L190-k40.csv", 0, (slice(11, 21), 0), {"ece": 2.18, "cwece": 0.23, "nll": 0.17, "error": 3.25}),
    ],
    ids=["ResNet-110", "DenseNet-BC"],
)
def test_scores_of_the_model_are_the_published_to_the_digit(name, first_label, columns, published):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set TWOHEADS_DATA to the folder that holds cifar10h")
    table = np.loadtxt(path, delimiter=",")
    proba, truth = (table[:, part] for part in columns)
    found = []
    for trial in range(25):
        _, m, _, y = train_test_split(proba, truth.astype(int) - first_label, test_size=0.3, random_state=trial * 9658)
        found.append(
            (
                100 * expected_calibration_error(y, m),
                100 * classwise_calibration_error(y, m),
                log_loss(y, m),
                100 * error_rate(y, m),
            )
        )
    assert dict(zip(published, np.mean(found, axis=0).round(2), strict=True)) == published
