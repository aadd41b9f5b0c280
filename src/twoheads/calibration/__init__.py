"""Calibrators of a model's probabilities, one per file."""

from twoheads.calibration.base import Calibrator
from twoheads.calibration.dirichlet import DirichletCalibration
from twoheads.calibration.ensemble_temperature import EnsembleTemperatureScaling
from twoheads.calibration.identity import Identity
from twoheads.calibration.imax import IMaxBinning
from twoheads.calibration.temperature import TemperatureScaling
from twoheads.calibration.vector import VectorScaling

__all__ = [
    "Calibrator",
    "DirichletCalibration",
    "EnsembleTemperatureScaling",
    "IMaxBinning",
    "Identity",
    "TemperatureScaling",
    "VectorScaling",
]
