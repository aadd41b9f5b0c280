"""The paper's methods by the names of its columns: as released, and by the mathematics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

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
from twoheads.confusion.base import Confusion
from twoheads.studies.rows import PAPER
from twoheads.studies.setting import OWN_PRIORS, Priors

Estimator = TypeVar("Estimator", Combiner, Calibrator)

RECOMMENDED = "Recommended"
#: The paper's LR takes the model's probabilities; P+L is a special case of the one on their logarithms.
LR, LOG_LR = "LR on m", "LR on log m"
#: Methods that the paper does not have.
OURS = (LOG_LR, RECOMMENDED)

_RELEASED_NAMES = {"TS": "P+L", "Uncalibrated": "uncalibrated", LR: "LR"}
_WITH_ESTIMATE = {"L+L", "Uncalibrated", "ETS", "IMax"}


def _product(confusion: Confusion | None = None, calibrator: Calibrator | None = None) -> Combiner:
    """P+L with its parts named, so that their priors can be set."""
    return ProbabilityLabelCombiner(confusion or DirichletConfusion(), calibrator or TemperatureScaling())


_CORRECT: dict[str, Callable[[], Combiner]] = {
    "TS": _product,
    "P+L": _product,
    "P+L-EM": _product,
    "L+L": lambda: LabelLabelCombiner(DirichletConfusion()),
    "Uncalibrated": lambda: _product(calibrator=Identity()),
    "ETS": lambda: _product(calibrator=EnsembleTemperatureScaling()),
    "IMax": lambda: _product(calibrator=IMaxBinning()),
    "SP": lambda: _product(OneCoinConfusion()),
    "Bayes": lambda: _product(DirichletConfusion(estimate="mean"), TemperatureScaling(estimate="mean")),
    LR: lambda: LogisticCombiner(features="probability"),
    LOG_LR: lambda: LogisticCombiner(features="log"),
    RECOMMENDED: recommended,
}


def combiner_of(behaviour: str, method: str, estimate: str | None = None, *, priors: Priors = OWN_PRIORS) -> Combiner:
    """The combiner of a column, not fitted.

    Parameters
    ----------
    behaviour : {"paper_2021", "correct"}
    method : str
        A column of the paper's tables or a curve of its figures; "Recommended" for ours.
    estimate : {"mode", "likelihood"}, optional
        How the released code estimates the confusion matrices of L+L, Uncalibrated, ETS and IMax.
    priors : Priors
        In place of the paper's methods' own. The released EM has fixed ones, and SP its own accuracy.
    """
    if behaviour == PAPER:
        estimate = estimate if method in _WITH_ESTIMATE else None
        combiner = paper_2021(_RELEASED_NAMES.get(method, method), estimate=estimate)
    else:
        combiner = _CORRECT[method]()
    wanted = {
        "confusion__prior_accuracy": None if method == "SP" else priors.accuracy,
        "calibrator__log_temperature_sd": priors.log_temperature_sd,
    }
    return combiner if method in OURS else _with(combiner, wanted)


def temperature_of(behaviour: str, priors: Priors = OWN_PRIORS) -> Calibrator:
    """Temperature scaling (MAP), not fitted."""
    calibrator = ReleasedTemperature() if behaviour == PAPER else TemperatureScaling()
    return _with(calibrator, {"log_temperature_sd": priors.log_temperature_sd})


def _with(estimator: Estimator, wanted: Mapping[str, float | None]) -> Estimator:
    """Set the parameters that are given and that the estimator has."""
    known = estimator.get_params()
    estimator.set_params(**{name: value for name, value in wanted.items() if value is not None and name in known})
    return estimator
