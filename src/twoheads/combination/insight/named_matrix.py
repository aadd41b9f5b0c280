"""The fitted parts with names, for people who read them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.calibration.base import Calibrator
from twoheads.confusion.base import Confusion
from twoheads.errors import InvalidParameter
from twoheads.observations.frames import Columns
from twoheads.observations.labels import label_text
from twoheads.text import percent


def confusion_columns(
    confusion: Confusion, classes: NDArray[Any], annotators: tuple[str, ...], annotator: str | None
) -> Columns:
    """P(answer | truth), a row per answer and a column per true class: of all people, or of one by the name."""
    matrix = confusion.crowd_given_true_
    if annotator is not None:
        if annotator not in annotators:
            known = ", ".join(annotators[:5]) + (", ..." if len(annotators) > 5 else "")
            raise InvalidParameter(f"annotator must be one of {known}; it is {annotator!r}.")
        matrix = confusion.human_given_true_.reshape(-1, *matrix.shape)[annotators.index(annotator)]
    names = [label_text(name) for name in classes.tolist()]
    return Columns({"answer": np.array(names)} | {f"truth {name}": matrix[:, at] for at, name in enumerate(names)})


def part_lines(confusion: Confusion, calibrator: Calibrator, n_labelled: int, n_unlabelled: int) -> list[str]:
    """What the parts of a fitted team have learnt, a line each."""
    right = float(np.diag(confusion.crowd_given_true_).mean())
    temperature = getattr(calibrator, "temperature_", None)
    lines = [
        f"labelled items: {n_labelled:,}; unlabelled: {n_unlabelled:,}",
        f"people together right, mean over classes: {percent(right)}",
    ]
    return lines if temperature is None else [*lines, f"temperature of the model: {float(temperature):.3g}"]
