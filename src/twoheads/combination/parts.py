"""The parts of a team: the estimators that it combines, and its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from sklearn.base import clone

from twoheads.calibration.base import Calibrator
from twoheads.confusion.base import Confusion
from twoheads.dependence import Dependence
from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats

Part = TypeVar("Part")


@dataclass(frozen=True)
class Parts:
    """Unfitted estimators and settings; see the parameters of `ProbabilityLabelCombiner`.

    correlation  of answers on one item, that of the dependence's prior; 0 without a dependence
    """

    confusion: Confusion
    calibrator: Calibrator
    dependence: Dependence | None = None
    correlation: float = 0.0
    class_prior: str | Floats = "model"
    unlabelled_weight: float = 1.0
    max_iter: int = 1000
    tol: float = 1e-8


def clone_or_default(part: Any, kind: type, default: type[Part], argument: str) -> Part:
    """An unfitted copy of ``part``, or the default where it is None; raise if it is not of its kind."""
    if part is None:
        return default()
    if isinstance(part, type) and issubclass(part, kind):
        raise InvalidParameter(
            f"{argument} must be an object, not a class; it is {part.__name__}. Write {part.__name__}()."
        )
    if not isinstance(part, kind):
        raise InvalidParameter(f"{argument} must be a {kind.__name__}, such as {default.__name__}(); it is {part!r}.")
    copied: Part = clone(part)
    return copied
