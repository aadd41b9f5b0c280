"""Error against the number of truth labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation import LearningCurve, learning_curve
from twoheads.evaluation.team import UnfittedTeam
from twoheads.report.displays.display import Display
from twoheads.report.displays.style import COLOUR, GRID, LINE, MARKERS, colour_of, legend, n_drawn, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


#: Whose colour and line a partner has, and its name.
_PARTNER = {
    "human": ("human", "human alone"),
    "majority": ("human", "majority of people"),
    "model": ("model", "model alone"),
    "models": ("model", "mean of the models"),
}


class LearningCurveDisplay(Display):
    """Error of the combination on held-out items, with 95 % intervals, against the number of labels it was fitted on.

    Parameters
    ----------
    sizes : array of shape (n_sizes,)
        Numbers of labels.
    error, low, high : array of shape (n_sizes,)
        The error and its interval.
    partners : mapping of str to float, optional
        Errors of "human" or "majority" (of people), and of "model" or "models" (their mean), drawn as level lines.
    """

    def __init__(
        self,
        sizes: ArrayLike,
        error: ArrayLike,
        *,
        low: ArrayLike,
        high: ArrayLike,
        partners: Mapping[str, float] | None = None,
    ) -> None:
        self.sizes = np.asarray(sizes, dtype=np.intp)
        self.error = np.asarray(error, dtype=np.float64)
        self.low = np.asarray(low, dtype=np.float64)
        self.high = np.asarray(high, dtype=np.float64)
        self.partners = dict(partners or {})

    @classmethod
    def from_learning_curve(cls, curve: LearningCurve, *, partners: Mapping[str, float] | None = None) -> Self:
        """Take a `LearningCurve`."""
        error = [score.value for score in curve.error]
        low, high = (
            [score.value if end is None else end for score, end in zip(curve.error, ends, strict=True)]
            for ends in ([score.low for score in curve.error], [score.high for score in curve.error])
        )
        return cls(curve.sizes, error, low=low, high=high, partners=partners)

    @classmethod
    def from_estimator(cls, team: UnfittedTeam, X: Any, y: Any, **options: Any) -> Self:
        """Fit clones of a team by `twoheads.evaluation.learning_curve`, which takes the options."""
        return cls.from_learning_curve(learning_curve(team, X, y, **options))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, color: Any = None, **kwargs: Any) -> Self:
        """Draw it in ``ax``, or in a new figure; over another one in the next colour."""
        with styled():
            ax = new_axes(ax, (4.2, 3.0))
            colour, over = colour_of(ax, "combination", color), n_drawn(ax)
            ax.fill_between(self.sizes, 100 * self.low, 100 * self.high, color=colour, alpha=0.2, linewidth=0)
            style: dict[str, Any] = {"marker": MARKERS[over % len(MARKERS)], "markersize": 5.5} | kwargs
            ax.plot(
                self.sizes,
                100 * self.error,
                color=colour,
                label="combination" if name is None else name,
                **style,
            )
            for who, error in self.partners.items():
                side, label = _PARTNER[who]
                ax.axhline(100 * error, color=COLOUR[side], linestyle=LINE[side], linewidth=1.5, label=label)
            if len(self.sizes) > 1:
                ax.set_xscale("log")
            ax.minorticks_off()
            ticks = _apart(self.sizes)
            ax.set_xticks(ticks, [f"{size:,}" for size in ticks])
            ax.set_ylim(bottom=0)
            ax.set(xlabel="truth labels", ylabel="error, %")
            ax.grid(color=GRID)
            legend(ax, least=1)
        self._drawn_in(ax)
        return self


def _apart(sizes: np.ndarray[Any, Any]) -> list[int]:
    """The sizes whose labels do not touch on a logarithmic axis."""
    kept: list[int] = []
    least = np.log(sizes[-1] / sizes[0]) / 8
    for size in reversed(sizes.tolist()):
        if not kept or np.log(kept[-1] / size) >= least:
            kept.append(size)
    return kept[::-1]
