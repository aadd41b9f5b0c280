"""Reliability diagrams: accuracy against confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation import reliability_curve
from twoheads.evaluation.headline import NAME
from twoheads.evaluation.judging import judged
from twoheads.evaluation.team import Team
from twoheads.kernels.arrays import MISSING
from twoheads.report.displays.display import Display
from twoheads.report.displays.style import (
    GRID,
    LINE,
    MARKER,
    MARKERS,
    MUTED,
    colour_of,
    legend,
    n_drawn,
    new_axes,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ReliabilityDisplay(Display):
    """Accuracy against confidence in bins, with 95 % intervals, beside the diagonal of a calibrated forecaster.

    Parameters
    ----------
    mean_confidence, accuracy : array of shape (n_bins,)
        As `twoheads.evaluation.reliability_curve` gives them.
    accuracy_low, accuracy_high : array of shape (n_bins,)
        The intervals.
    name : str
        Whose they are: "model", "calibrated_model", "combination", or the name of a method.
    start : float, optional
        Where both axes begin; by default at 0, or at 50 % if nothing is below.
    """

    def __init__(
        self,
        mean_confidence: ArrayLike,
        accuracy: ArrayLike,
        *,
        accuracy_low: ArrayLike,
        accuracy_high: ArrayLike,
        name: str = "combination",
        start: float | None = None,
    ) -> None:
        self.mean_confidence = np.asarray(mean_confidence, dtype=np.float64)
        self.accuracy = np.asarray(accuracy, dtype=np.float64)
        self.accuracy_low = np.asarray(accuracy_low, dtype=np.float64)
        self.accuracy_high = np.asarray(accuracy_high, dtype=np.float64)
        self.name = name
        lowest = min(self.mean_confidence.min(), self.accuracy_low.min())
        self.start = (0.5 if lowest >= 0.5 else 0.0) if start is None else start

    @classmethod
    def from_predictions(cls, y: ArrayLike, proba: ArrayLike, *, name: str = "combination", **options: Any) -> Self:
        """Bin probabilities by `twoheads.evaluation.reliability_curve`, which takes the options.

        By default there are as many bins as have 20 items each, 3 to 15 of them.
        """
        n_bins = int(np.clip(len(np.asarray(y)) // 20, 3, 15))
        curve = reliability_curve(y, proba, **{"n_bins": n_bins, **options})
        return cls(
            curve.mean_confidence,
            curve.accuracy,
            accuracy_low=curve.accuracy_low,
            accuracy_high=curve.accuracy_high,
            name=name,
        )

    @classmethod
    def from_estimator(cls, team: Team, X: Any, y: Any, *, name: str = "combination", **options: Any) -> Self:
        """The probabilities of a fitted team, or of its model, for items that it has not learnt from.

        If it has learnt from all of them, the probabilities are out of fold (cross-validation).
        """
        predicted = judged(team, X, y).predicted
        known = predicted.true_label != MISSING
        if name != "combination":
            known &= predicted.has_model
        predicted = predicted.take(known)
        proba = {
            "model": predicted.model_proba,
            "calibrated_model": predicted.calibrated_proba,
            "combination": predicted.combined_proba,
        }[name]
        if proba is None:
            raise ValueError(f"{type(team).__name__} does not calibrate its model, so {name!r} cannot be drawn.")
        return cls.from_predictions(
            predicted.classes[predicted.true_label], proba, name=name, **{"classes": predicted.classes, **options}
        )

    def plot(self, ax: Axes | None = None, *, name: str | None = None, color: Any = None, **kwargs: Any) -> Self:
        """Draw it in ``ax``, or in a new figure; over another one in the next colour, with a legend of the names."""
        with styled():
            ax = new_axes(ax, (3.6, 3.4))
            over = n_drawn(ax)
            if not over:
                ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
            colour = colour_of(ax, self.name, color)
            own = MARKER.get(self.name, MARKERS[0])
            marker = [own, *(each for each in MARKERS if each != own)][over % len(MARKERS)]
            style: dict[str, Any] = {
                "marker": marker,
                "linestyle": LINE.get(self.name, "-"),
                "markersize": 5.5,
                "elinewidth": 1,
                "clip_on": False,  # markers at 100 % are whole
                "zorder": 3,
            }
            low = np.maximum(self.accuracy - self.accuracy_low, 0.0)
            high = np.maximum(self.accuracy_high - self.accuracy, 0.0)
            ax.errorbar(
                self.mean_confidence,
                self.accuracy,
                yerr=np.stack([low, high]),
                color=colour,
                label=NAME.get(self.name, self.name) if name is None else name,
                **(style | {"capsize": 0} | kwargs),
            )
            start = min(self.start, ax.get_xlim()[0]) if over else self.start
            ax.set(xlim=(start, 1.01), ylim=(start, 1.02), aspect="equal")
            whose = f" of the {NAME[self.name]}" if self.name in NAME and name is None and not over else ""
            ax.set(xlabel=f"confidence{whose}", ylabel="accuracy")
            legend(ax)
            ticks = np.linspace(start, 1, 6)
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_ticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks])
            ax.grid(color=GRID)
        self._drawn_in(ax)
        return self
