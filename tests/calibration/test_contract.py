from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from twoheads.calibration.base import Calibrator
from twoheads.calibration.dirichlet import DirichletCalibration
from twoheads.calibration.ensemble_temperature import EnsembleTemperatureScaling
from twoheads.calibration.identity import Identity
from twoheads.calibration.imax import IMaxBinning
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.calibration.vector import VectorScaling
from twoheads.testing import check_calibrator
from twoheads.testing.calibrators import CHECKS

CALIBRATORS: dict[str, Callable[[], Calibrator]] = {
    "Identity": Identity,
    "TemperatureScaling": TemperatureScaling,
    "TemperatureScaling-likelihood": partial(TemperatureScaling, estimate="likelihood"),
    "TemperatureScaling-mean": partial(TemperatureScaling, estimate="mean"),
    "EnsembleTemperatureScaling": EnsembleTemperatureScaling,
    "IMaxBinning": IMaxBinning,
    "IMaxBinning-class_wise": partial(IMaxBinning, mode="class_wise", n_bins=5),
    "VectorScaling": VectorScaling,
    "DirichletCalibration": DirichletCalibration,
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", CALIBRATORS.values(), ids=CALIBRATORS.keys())
def test_calibrator(make: Callable[[], Calibrator], check: Callable[[Callable[[], Calibrator]], None]) -> None:
    check(make)


def test_a_calibrator_whose_rows_do_not_sum_to_one_is_caught():
    class Doubled(Identity):
        def calibrate(self, log_proba):
            return 2.0 * log_proba

    with pytest.raises(AssertionError):
        check_calibrator(Doubled)
