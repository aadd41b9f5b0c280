"""The paper's methods by the names of its columns: as released, and by the mathematics."""

from __future__ import annotations

from collections.abc import Callable

from twoheads.calibration import EnsembleTemperatureScaling, Identity, IMaxBinning, TemperatureScaling
from twoheads.calibration.base import Calibrator
from twoheads.combination import (
    LabelLabelCombiner,
    LogisticCombiner,
    ProbabilityLabelCombiner,
    paper_2021,
    recommended,
)
from twoheads.combination.combiner import Combiner
from twoheads.combination.paper_methods import ReleasedTemperature
from twoheads.confusion import DirichletConfusion, OneCoinConfusion
from twoheads.studies.rows import PAPER

RECOMMENDED = "Recommended"
#: The paper's LR takes the model's probabilities; P+L is a special case of the one on their logarithms.
LR, LOG_LR = "LR on m", "LR on log m"
#: Methods that the paper does not have.
OURS = (LOG_LR, RECOMMENDED)

_RELEASED_NAMES = {"TS": "P+L", "Uncalibrated": "uncalibrated", LR: "LR"}
_WITH_ESTIMATE = {"L+L", "Uncalibrated", "ETS", "IMax"}

_CORRECT: dict[str, Callable[[], Combiner]] = {
    "TS": ProbabilityLabelCombiner,
    "P+L": ProbabilityLabelCombiner,
    "P+L-EM": ProbabilityLabelCombiner,
    "L+L": LabelLabelCombiner,
    "Uncalibrated": lambda: ProbabilityLabelCombiner(calibrator=Identity()),
    "ETS": lambda: ProbabilityLabelCombiner(calibrator=EnsembleTemperatureScaling()),
    "IMax": lambda: ProbabilityLabelCombiner(calibrator=IMaxBinning()),
    "SP": lambda: ProbabilityLabelCombiner(OneCoinConfusion()),
    "Bayes": lambda: ProbabilityLabelCombiner(DirichletConfusion(estimate="mean"), TemperatureScaling(estimate="mean")),
    LR: lambda: LogisticCombiner(features="probability"),
    LOG_LR: lambda: LogisticCombiner(features="log"),
    RECOMMENDED: recommended,
}


def combiner_of(behaviour: str, method: str, estimate: str | None = None) -> Combiner:
    """The combiner of a column, not fitted.

    Parameters
    ----------
    behaviour : {"paper_2021", "correct"}
    method : str
        A column of the paper's tables or a curve of its figures; "Recommended" for ours.
    estimate : {"mode", "likelihood"}, optional
        How the released code estimates the confusion matrices of L+L, Uncalibrated, ETS and IMax.
    """
    if behaviour == PAPER:
        return paper_2021(_RELEASED_NAMES.get(method, method), estimate=estimate if method in _WITH_ESTIMATE else None)
    return _CORRECT[method]()


def temperature_of(behaviour: str) -> Calibrator:
    """Temperature scaling (MAP), not fitted."""
    return ReleasedTemperature() if behaviour == PAPER else TemperatureScaling()
