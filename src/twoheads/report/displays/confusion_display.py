"""Which classes people confuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from twoheads.evaluation.team import EstimatesConfusion, Team
from twoheads.observations.labels import label_text
from twoheads.report.displays.display import Display
from twoheads.report.displays.style import COLOUR, GRID, INK, new_axes, shortened, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_MATRIX = 30  # classes of a readable matrix
_MAX_NUMBERS = 12  # classes, for numbers to fit into the cells


class ConfusionTeam(Team, EstimatesConfusion, Protocol):
    """A fitted team that estimates how people confuse classes."""


class ConfusionDisplay(Display):
    """The confusion matrix with the truth on the rows; with more than 30 classes each class's accuracy, sorted.

    Parameters
    ----------
    human_given_true : array of shape (n_classes, n_classes)
        ``human_given_true[i, j]`` is P(answer i | truth j); columns sum to 1, or are NaN for a class that was never
        seen: its row says so.
    classes : array of shape (n_classes,)
        The names.
    low, high : array of shape (n_classes,), optional
        Interval of each class's accuracy, drawn with many classes.
    accuracy : array of shape (n_classes,), optional
        Each class's accuracy, if there is no matrix; NaN for a class that was never seen.
    """

    def __init__(
        self,
        human_given_true: ArrayLike | None,
        classes: ArrayLike,
        *,
        accuracy: ArrayLike | None = None,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
    ) -> None:
        self.human_given_true = None if human_given_true is None else np.asarray(human_given_true, dtype=np.float64)
        self.classes = [label_text(name) for name in np.asarray(classes).tolist()]
        matrix = self.human_given_true
        self.accuracy = np.asarray(accuracy, dtype=np.float64) if matrix is None else np.diag(matrix)
        self.low = None if low is None else np.asarray(low, dtype=np.float64)
        self.high = None if high is None else np.asarray(high, dtype=np.float64)

    @classmethod
    def from_estimator(cls, team: ConfusionTeam, *, annotator: str | None = None) -> Self:
        """The matrix that a fitted team uses, counts and prior together: of all people, or of one by the name."""
        confusion = team.confusion_
        if annotator is None:
            return cls(confusion.crowd_given_true_, team.classes_)
        if annotator not in team.annotators_:
            known = ", ".join(team.annotators_[:5]) + (", ..." if len(team.annotators_) > 5 else "")
            raise ValueError(f"annotator must be one of {known}; it is {annotator!r}.")
        matrices = confusion.human_given_true_.reshape(-1, *confusion.crowd_given_true_.shape)
        return cls(matrices[team.annotators_.index(annotator)], team.classes_)

    @classmethod
    def from_predictions(cls, y: ArrayLike, human_label: ArrayLike) -> Self:
        """Measured frequencies of each label for each true class; NaN for a class that is never true."""
        truth, answer = np.asarray(y), np.asarray(human_label)
        classes = np.unique(np.concatenate([truth, answer]))
        counts = np.zeros((len(classes), len(classes)))
        np.add.at(counts, (np.searchsorted(classes, answer), np.searchsorted(classes, truth)), 1.0)
        total = counts.sum(axis=0)
        return cls(np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0), classes)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, color: Any = None, **kwargs: Any) -> Self:
        """Draw it in ``ax``, or in a new figure, errors in ``color`` if given; other keywords are of the numbers."""
        with styled():
            if self.human_given_true is not None and len(self.classes) <= _MAX_MATRIX:
                ax = self._plot_matrix(ax, self.human_given_true.T, COLOUR["human"] if color is None else color, kwargs)
            else:
                ax = self._plot_accuracy(ax, COLOUR["human"] if color is None else color, kwargs)
            if name is not None:
                ax.set_title(name)
        self._drawn_in(ax)
        return self

    def _plot_matrix(
        self, ax: Axes | None, shares_of: np.ndarray[Any, Any], color: Any, kwargs: dict[str, Any]
    ) -> Axes:
        n_classes = len(self.classes)
        names = [shortened(name) for name in self.classes]
        longest = max(map(len, names))
        size = float(np.clip(1.3 + 0.33 * n_classes + 0.09 * max(0, longest - 4), 2.6, 5.6))
        ax = new_axes(ax, (size, size))
        # Squares in place of an image: sharp at any size, on light and dark pages.
        for row in range(n_classes):
            if np.isnan(shares_of[row]).any():
                ax.text((n_classes - 1) / 2, row, "never seen", ha="center", va="center", color=INK, fontsize=8)
                continue
            for column in range(n_classes):
                share = float(shares_of[row, column])
                if share >= 0.015:
                    colour = COLOUR["combination"] if row == column else color
                    ax.add_patch(_square(column, row, colour, 0.06 + 0.5 * share))
                if n_classes <= _MAX_NUMBERS and share >= 0.015:
                    style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK, "fontsize": 9} | kwargs
                    ax.text(column, row, f"{100 * share:.0f}", **style)
        ax.set(xlim=(-0.5, n_classes - 0.5), ylim=(n_classes - 0.5, -0.5), aspect="equal")
        turned = longest > (2 if n_classes > 3 else 24 // n_classes)
        ax.set_xticks(range(n_classes), names, rotation=60 if turned else 0, ha="right" if turned else "center")
        if turned:
            for label in ax.get_xticklabels():
                label.set_rotation_mode("anchor")
        ax.set_yticks(range(n_classes), names)
        ax.set(xlabel="answer", ylabel="truth")
        ax.tick_params(length=0)
        for edge in np.arange(-0.5, n_classes):
            ax.axhline(edge, color=GRID, linewidth=0.6, zorder=0)
            ax.axvline(edge, color=GRID, linewidth=0.6, zorder=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
        return ax

    def _plot_accuracy(self, ax: Axes | None, color: Any, kwargs: dict[str, Any]) -> Axes:
        ax = new_axes(ax, (4.2, 2.6))
        low = np.zeros_like(self.accuracy) if self.low is None else np.nan_to_num(self.low)
        order = np.lexsort((low, self.accuracy))
        order = order[np.isfinite(self.accuracy[order])]
        place = np.arange(1, len(order) + 1)
        if self.low is not None and self.high is not None:
            ax.fill_between(place, 100 * self.low[order], 100 * self.high[order], color=color, alpha=0.25, linewidth=0)
        ax.plot(place, 100 * self.accuracy[order], color=color, **kwargs)
        ax.set(
            xlim=(1, max(2, len(order))), ylim=(0, 102), xlabel="classes, the hardest first", ylabel="human right, %"
        )
        ax.grid(color=GRID)
        return ax


def _square(column: int, row: int, colour: str, alpha: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, color=colour, alpha=alpha, linewidth=0)
