"""Methods side by side: one metric of each with its interval, and learning curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from twoheads.evaluation import MethodCurves, ScoreTable, UnfittedTeam, compare_methods
from twoheads.report.displays.display import Display
from twoheads.report.displays.style import CYCLE, GRID, MARKERS, legend, new_axes, shortened, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MethodsDisplay(Display):
    """One metric of each method and member as a point with its 95 % interval, methods first.

    Parameters
    ----------
    table : ScoreTable
        As `twoheads.evaluation.compare_methods` or `score_members` gives it; nothing is fitted again.
    metric : str, optional
        The metric's name; by default the first of the table.
    """

    def __init__(self, table: ScoreTable, metric: str | None = None) -> None:
        self.table = table
        self.metric = table.metrics[0] if metric is None else table.metric(metric)

    @classmethod
    def from_estimators(cls, methods: Mapping[str, UnfittedTeam], X: Any, y: Any, **options: Any) -> Self:
        """Compare methods by `twoheads.evaluation.compare_methods`, which takes the options."""
        return cls(compare_methods(methods, X, y, **options))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, color: Any = None, **kwargs: Any) -> Self:
        """Draw it in ``ax``, or in a new figure; other keywords are those of matplotlib's ``plot`` for the points."""
        known = {row.name: score for row in self.table.rows if (score := row.scores.get(self.metric.name)) is not None}
        methods = {row.name for row in self.table.rows if row.kind == "method"}
        with styled():
            ax = new_axes(ax, (4.2, 0.62 + 0.3 * len(known)))
            for place, (row, score) in enumerate(reversed(list(known.items()))):
                colour = (CYCLE[0] if row in methods else CYCLE[1]) if color is None else color
                value = self.metric.scale * score.value
                ends = [value if end is None else self.metric.scale * end for end in (score.low, score.high)]
                ax.plot(ends, [place, place], color=colour, linewidth=5, alpha=0.3, solid_capstyle="butt")
                style: dict[str, Any] = {
                    "marker": "o" if row in methods else "s",
                    "linestyle": "none",
                    "markersize": 6,
                } | kwargs
                ax.plot([value], [place], color=colour, **style)
            ax.set_yticks(range(len(known)), [shortened(row, 24) for row in reversed(known)])
            ax.set_ylim(-0.6, len(known) - 0.4)
            unit = f", {self.metric.unit}" if self.metric.unit else ""
            better = "less" if self.metric.less_is_better else "more"
            ax.set_xlabel(f"{self.metric.title}{unit} ({better} is better)")
            if name is not None:
                ax.set_title(name)
            ax.grid(axis="x", color=GRID)
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0)
        self._drawn_in(ax)
        return self


class MethodCurvesDisplay(Display):
    """Learning curves of several methods on the same draws, with 95 % intervals, from no label on.

    Parameters
    ----------
    curves : MethodCurves
        As `twoheads.evaluation.method_curves` gives them.
    metric : {"error", "log_loss"}
    """

    def __init__(self, curves: MethodCurves, metric: str = "error") -> None:
        if metric not in ("error", "log_loss"):
            raise ValueError(f"metric must be 'error' or 'log_loss'; it is {metric!r}.")
        self.curves = curves
        self.metric = metric

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, color: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> Self:
        """Draw it in ``ax``, or in a new figure, with the colours of methods by their names."""
        scale, label = (100.0, "error, %") if self.metric == "error" else (1.0, "log loss")
        with styled():
            ax = new_axes(ax, (4.2, 3.0))
            for at, (method, scores) in enumerate(getattr(self.curves, self.metric).items()):
                known = [(size, score) for size, score in zip(self.curves.sizes, scores, strict=True) if score]
                colour = (color or {}).get(method, CYCLE[at % len(CYCLE)])
                sizes = [size for size, _ in known]
                low, value, high = (
                    scale * np.array([score.value if end is None else end for score, end in ends])
                    for ends in (
                        [(score, score.low) for _, score in known],
                        [(score, score.value) for _, score in known],
                        [(score, score.high) for _, score in known],
                    )
                )
                ax.fill_between(sizes, low, high, color=colour, alpha=0.12, linewidth=0)
                style: dict[str, Any] = {
                    "marker": MARKERS[at % len(MARKERS)],
                    "markersize": 5,
                    "label": method,
                } | kwargs
                ax.plot(sizes, value, color=colour, **style)
            ax.set_xscale("symlog", linthresh=5)
            ax.minorticks_off()
            ax.set_xticks(self.curves.sizes, [f"{size:,}" for size in self.curves.sizes])
            ax.set(xlabel="truth labels", ylabel=label)
            ax.set_ylim(bottom=0)
            if name is not None:
                ax.set_title(name)
            ax.grid(color=GRID)
            legend(ax, least=1)
        self._drawn_in(ax)
        return self
