"""Errors of human, model and combination, with intervals, on one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

from twoheads.evaluation import Comparison, compare
from twoheads.evaluation.headline import name_of
from twoheads.evaluation.team import Team
from twoheads.report.displays.display import Display
from twoheads.report.displays.style import COLOUR, CYCLE, GRID, MARKER, legend, n_drawn, new_axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The members whose errors are drawn.
SHOWN = ("human", "crowd", "model", "combination")


class ComparisonDisplay(Display):
    """Error of each member as a point with its 95 % interval.

    Parameters
    ----------
    errors : mapping of str to mapping
        For "human", "crowd", "model" and "combination" (those there are): ``value``, ``low`` and ``high``.
    """

    def __init__(self, errors: Mapping[str, Mapping[str, float | None]]) -> None:
        self.errors = dict(errors)

    @classmethod
    def from_comparison(cls, comparison: Comparison) -> Self:
        """Take the errors of a `Comparison`."""
        members = comparison.members()
        return cls({name: asdict(members[name].error) for name in SHOWN if name in members})

    @classmethod
    def from_estimator(cls, team: Team, X: Any, y: Any, **options: Any) -> Self:
        """Evaluate a fitted team by `twoheads.evaluation.compare`, which takes the options."""
        return cls.from_comparison(compare(team, X, y, **options))

    def plot(self, ax: Axes | None = None, *, name: str | None = None, color: Any = None, **kwargs: Any) -> Self:
        """Draw it in ``ax``, or in a new figure; over another one below its points, in the next colour, with a legend.

        Other keywords are those of the points.
        """
        with styled():
            ax = new_axes(ax, (4.2, 0.62 + 0.42 * len(self.errors)))
            over = n_drawn(ax)
            members = list(reversed(self.errors))
            shown = {member: name_of(member, several="crowd" in self.errors) for member in members}
            names = [label.get_text() for label in ax.get_yticklabels()] if over else []
            names += [label for label in shown.values() if label not in names]
            title = ("this comparison" if over else "the first") if name is None else name
            for at, member in enumerate(members):
                colour = color if color is not None else CYCLE[(over + 2) % len(CYCLE)] if over else COLOUR[member]
                error, place = self.errors[member], names.index(shown[member]) - 0.22 * over
                value = 100 * (error["value"] or 0.0)
                low, high = (value if error[end] is None else 100 * (error[end] or 0.0) for end in ("low", "high"))
                ax.plot([low, high], [place, place], color=colour, linewidth=7, alpha=0.3, solid_capstyle="butt")
                style: dict[str, Any] = {"marker": MARKER[member], "markersize": 8, "linestyle": "none"} | kwargs
                ax.plot([value], [place], color=colour, label=title if at == 0 else None, **style)
            ax.set_yticks(range(len(names)), names)
            ax.set_ylim(-0.6 - 0.22 * over, len(names) - 0.4)
            ax.set_xlim(left=0)
            ax.set_title(name if name is not None and not over else "")
            legend(ax)
            ax.set_xlabel("error, % of items (less is better)")
            ax.grid(axis="x", color=GRID)
            ax.spines["left"].set_visible(False)
            ax.tick_params(axis="y", length=0)
        self._drawn_in(ax)
        return self
