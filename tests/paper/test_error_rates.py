"""Error rates as published: Kerrigan et al. (2021), table "Error rates on CIFAR-10H", mean and sd in per cent.

Human and Model over 25 trials; L+L, Uncalibrated, ETS and IMax with maximum-likelihood matrices from all 7,000 points,
25 trials; TS (P+L) from 5,000 points, the first 10 trials.
"""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.combination import paper_2021

PUBLISHED = {
    "ResNet-110": {
        "Human": (4.62, 0.33),
        "Model": (11.28, 0.44),
        "L+L": (4.70, 0.36),
        "uncalibrated": (4.40, 0.25),
        "P+L": (3.83, 0.15),
        "ETS": (3.76, 0.25),
        "IMax": (3.80, 0.24),
    },
    "DenseNet-BC": {
        "Human": (4.62, 0.33),
        "Model": (3.25, 0.30),
        "L+L": (3.39, 0.32),
        "uncalibrated": (2.22, 0.21),
        "P+L": (2.01, 0.15),
        "ETS": (2.17, 0.17),
        "IMax": (2.04, 0.18),
    },
}
#: I-Max and ETS depend on details of their optimisers.
TOLERANCE = {"ETS": 0.1, "IMax": 0.1}


def _predict(method, split):
    if method == "Human":
        return split.X_test[:, 0]
    if method == "Model":
        return split.X_test[:, 1:].argmax(axis=1)
    n = 5000 if method == "P+L" else 7000
    combiner = paper_2021(method, estimate="likelihood" if method == "L+L" else None)
    return combiner.fit(split.X[:n], split.y[:n]).predict(split.X_test)


@pytest.mark.parametrize(
    ("model", "method", "published"),
    [(model, method, cell) for model, cells in PUBLISHED.items() for method, cell in cells.items()],
)
def test_the_error_rate_is_the_published(cifar10h, model, method, published):
    splits = [cifar10h(model, trial) for trial in range(10 if method == "P+L" else 25)]
    errors = [100 * np.mean(_predict(method, split) != split.y_test) for split in splits]
    # published cells are rounded to two digits
    found = float(np.mean(errors)), float(np.std(errors, ddof=1))
    assert found == pytest.approx(published, abs=TOLERANCE.get(method, 0.0051))
