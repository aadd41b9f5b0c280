"""Table "Error rates on CIFAR-10H" of Kerrigan, Smyth & Steyvers (NeurIPS 2021), columns ETS and IMax.

Its protocol: the human's label is drawn once with seed 9658; 25 splits 7,000 / 3,000; confusion matrices by maximum
likelihood with counts clipped at 1e-50.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from twoheads.calibration.base import Calibrator
from twoheads.calibration.ensemble_temperature import EnsembleTemperatureScaling
from twoheads.calibration.imax import IMaxBinning
from twoheads.kernels.arrays import Codes, Floats

SEED = 9658
DATA = Path(os.environ.get("TWOHEADS_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "cifar10h"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA}; set TWOHEADS_DATA")


def resnet_110() -> tuple[Floats, Floats, Codes]:
    table = np.loadtxt(DATA / "human_model_truth_cifar10h.csv", delimiter=",")
    return table[:, :10], table[:, 10:20], table[:, 20].astype(np.intp) - 1


def densenet() -> tuple[Floats, Floats, Codes]:
    table = np.loadtxt(DATA / "densenet-bc-L190-k40.csv", delimiter=",")
    return table[:, 1:11], table[:, 11:21], table[:, 0].astype(np.intp)


def draw_human(votes: Floats) -> Codes:
    rng = np.random.default_rng(SEED)
    drawn = []
    for row in votes.astype(int):
        answers = np.repeat(np.arange(10), row).tolist()
        rng.shuffle(answers)
        drawn.append(answers[0])
    return np.array(drawn)


@pytest.mark.parametrize(
    ("read", "ensemble", "imax"), [(resnet_110, 3.76, 3.80), (densenet, 2.17, 2.04)], ids=["ResNet-110", "DenseNet-BC"]
)
def test_error_rates(read: Callable[[], tuple[Floats, Floats, Codes]], ensemble: float, imax: float) -> None:
    votes, proba, truth = read()
    human = draw_human(votes)
    calibrators: list[Calibrator] = [EnsembleTemperatureScaling(), IMaxBinning()]
    errors: list[list[float]] = [[], []]
    for trial in range(25):
        train, test = train_test_split(np.arange(len(truth)), test_size=0.3, random_state=trial * SEED)
        counts = np.zeros((10, 10))
        np.add.at(counts, (human[train], truth[train]), 1.0)
        counts = np.maximum(counts, 1e-50)
        human_given_true = counts / counts.sum(axis=0)
        for calibrator, rates in zip(calibrators, errors, strict=True):
            calibrated = calibrator.fit(proba[train], truth[train]).predict_proba(proba[test])
            combined = human_given_true[human[test]] * calibrated
            rates.append(100.0 * float((combined.argmax(axis=1) != truth[test]).mean()))
    assert np.mean(errors[0]) == pytest.approx(ensemble, abs=0.02)
    assert np.mean(errors[1]) == pytest.approx(imax, abs=0.05)
