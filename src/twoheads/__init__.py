"""Combine what people answered with what models predicted, and know how sure to be.

>>> import twoheads
>>> X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]  # the human's code, then the model's row
>>> team = twoheads.recommended().fit(X, [0, 1, 0, 1])
>>> team.predict(X).tolist()
[0, 1, 0, 1]
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# What the library does is logged under this name; where nobody listens, nothing is printed.
logging.getLogger("twoheads").addHandler(logging.NullHandler())

if TYPE_CHECKING:
    from twoheads.calibration import (
        Calibrator,
        DirichletCalibration,
        EnsembleTemperatureScaling,
        Identity,
        IMaxBinning,
        TemperatureScaling,
        VectorScaling,
    )
    from twoheads.combination import (
        Dependence,
        Explanation,
        HoldoutRecord,
        LabelLabelCombiner,
        LogisticCombiner,
        ProbabilityLabelCombiner,
        load,
        paper_2021,
        recommended,
    )
    from twoheads.confusion import Confusion, DirichletConfusion, HierarchicalConfusion, OneCoinConfusion
    from twoheads.errors import (
        CannotWrite,
        ClusterTrouble,
        InvalidArtifact,
        InvalidObservations,
        InvalidParameter,
        MissingArtifact,
        MissingExtra,
        NoRoom,
        TwoheadsError,
    )
    from twoheads.observations import Observations, as_observations
    from twoheads.policy import AskingCurve, Plan, choose, expected_gain, simulate_asking

# Where each public name lives. It is imported when first asked for: `import twoheads` itself costs nothing.
_HOMES = {
    "calibration": (
        "Calibrator",
        "DirichletCalibration",
        "EnsembleTemperatureScaling",
        "IMaxBinning",
        "Identity",
        "TemperatureScaling",
        "VectorScaling",
    ),
    "combination": (
        "Dependence",
        "Explanation",
        "HoldoutRecord",
        "LabelLabelCombiner",
        "LogisticCombiner",
        "ProbabilityLabelCombiner",
        "load",
        "paper_2021",
        "recommended",
    ),
    "confusion": ("Confusion", "DirichletConfusion", "HierarchicalConfusion", "OneCoinConfusion"),
    "errors": (
        "CannotWrite",
        "ClusterTrouble",
        "InvalidArtifact",
        "InvalidObservations",
        "InvalidParameter",
        "MissingArtifact",
        "MissingExtra",
        "NoRoom",
        "TwoheadsError",
    ),
    "observations": ("Observations", "as_observations"),
    "policy": ("AskingCurve", "Plan", "choose", "expected_gain", "simulate_asking"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AskingCurve",
    "Calibrator",
    "CannotWrite",
    "ClusterTrouble",
    "Confusion",
    "Dependence",
    "DirichletCalibration",
    "DirichletConfusion",
    "EnsembleTemperatureScaling",
    "Explanation",
    "HierarchicalConfusion",
    "HoldoutRecord",
    "IMaxBinning",
    "Identity",
    "InvalidArtifact",
    "InvalidObservations",
    "InvalidParameter",
    "LabelLabelCombiner",
    "LogisticCombiner",
    "MissingArtifact",
    "MissingExtra",
    "NoRoom",
    "Observations",
    "OneCoinConfusion",
    "Plan",
    "ProbabilityLabelCombiner",
    "TemperatureScaling",
    "TwoheadsError",
    "VectorScaling",
    "as_observations",
    "choose",
    "expected_gain",
    "load",
    "paper_2021",
    "recommended",
    "simulate_asking",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'twoheads' has no attribute {name!r}")
    value = getattr(import_module(f"twoheads.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
