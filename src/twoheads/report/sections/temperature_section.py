"""The temperature of the model, if it is calibrated by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.evaluation.bootstrap import Z_95
from twoheads.evaluation.team import HasTemperature, HasTemperaturePosterior, Team, calibrator_of, n_labelled_of
from twoheads.report.sections.common import unavailable
from twoheads.text import percent

_EXAMPLE = 0.95  # a stated confidence, between two classes
_LARGEST_SD = 10.0  # of log T: beyond it nothing is known of T


def temperature_section(team: Team) -> dict[str, Any]:
    """The temperature with its 95 % interval and prior, and what it does to a stated confidence."""
    calibrator = calibrator_of(team)
    if not getattr(team, "has_model_", True):
        return unavailable("There is no model, so there is no temperature to show.")
    if calibrator is None:
        return unavailable("This method has no calibrator, so there is no temperature to show.")
    if not isinstance(calibrator, HasTemperature):
        return unavailable(f"This method calibrates by {type(calibrator).__name__}: there is no temperature to show.")
    temperature, log_temperature = float(calibrator.temperature_), float(np.log(calibrator.temperature_))
    sd = _known_sd(calibrator)
    low, high = (None if sd is None else float(np.exp(log_temperature + sign * Z_95 * sd)) for sign in (-1, 1))
    prior_mean, prior_sd = prior_of(calibrator)
    calibrated = _calibrated(_EXAMPLE, temperature)
    return {
        "available": True,
        "temperature": temperature,
        "low": low,
        "high": high,
        "log_temperature": log_temperature,
        "log_temperature_sd": sd,
        "prior_mean": prior_mean,
        "prior_sd": prior_sd,
        "example": {"says": _EXAMPLE, "means": calibrated},
        "words": _sentence(temperature, low, high, calibrated, measured=n_labelled_of(team) != 0),
    }


def prior_of(calibrator: HasTemperature) -> tuple[float | None, float | None]:
    """Mean and standard deviation of the prior of log T; None without a prior."""
    params = calibrator.get_params()
    if params.get("estimate") == "likelihood" or "log_temperature_mean" not in params:
        return None, None
    return float(params["log_temperature_mean"]), float(params["log_temperature_sd"])


def _known_sd(calibrator: HasTemperature) -> float | None:
    sd = float(calibrator.log_temperature_sd_) if isinstance(calibrator, HasTemperaturePosterior) else 0.0
    return sd if 0.0 < sd < _LARGEST_SD else None


def _calibrated(confidence: float, temperature: float) -> float:
    """Confidence between two classes, after temperature scaling."""
    chosen, other = confidence ** (1 / temperature), (1 - confidence) ** (1 / temperature)
    return float(chosen / (chosen + other))


def _sentence(temperature: float, low: float | None, high: float | None, calibrated: float, *, measured: bool) -> str:
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    start = f"The temperature is {temperature:.2f}{interval}"
    if not measured:
        return f"{start}, an estimate without truth, from people's agreement with the model only."
    about = "more than 99 %" if calibrated > 0.99 else f"about {percent(calibrated)}"
    change = f"between two classes, a stated confidence of {percent(_EXAMPLE)} means {about}"
    if low is None or high is None:
        unknown = "an estimate without an interval, which cannot show whether the model is over- or underconfident"
        return f"{start}, {unknown}; {change}."
    if low <= 1 <= high:
        return f"{start}, not significantly different from 1, that of a model as confident as it is accurate."
    found = "above 1: the model is overconfident" if low > 1 else "below 1: the model is underconfident"
    return f"{start}, {found}; {change}."
