"""Prior and posterior of the model's temperature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from twoheads.evaluation.bootstrap import Z_95
from twoheads.evaluation.team import CalibratesModel, HasTemperaturePosterior
from twoheads.report.displays.display import Display
from twoheads.report.displays.style import GRID, INK, MUTED, colour_of, n_drawn, new_axes, styled
from twoheads.report.sections.temperature_section import prior_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TemperatureDisplay(Display):
    """Prior and posterior density of the temperature, on a logarithmic axis.

    Parameters
    ----------
    log_temperature, log_temperature_sd : float
        Normal posterior of log T.
    prior_mean, prior_sd : float, optional
        Normal prior of log T.
    """

    def __init__(
        self,
        log_temperature: float,
        log_temperature_sd: float | None,
        *,
        prior_mean: float | None = None,
        prior_sd: float | None = None,
    ) -> None:
        self.log_temperature = log_temperature
        self.log_temperature_sd = log_temperature_sd
        self.prior_mean = prior_mean
        self.prior_sd = prior_sd

    @classmethod
    def from_estimator(cls, team: CalibratesModel) -> Self:
        """The temperature of a fitted team that calibrates by temperature scaling."""
        calibrator = team.calibrator_
        if not isinstance(calibrator, HasTemperaturePosterior):
            raise ValueError(f"{type(calibrator).__name__} has no posterior of a temperature, so it cannot be drawn.")
        mean, sd = prior_of(calibrator)
        log_temperature = float(np.log(calibrator.temperature_))
        return cls(log_temperature, calibrator.log_temperature_sd_, prior_mean=mean, prior_sd=sd)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, color: Any = None, **kwargs: Any) -> Self:
        """Draw it in ``ax``, or in a new figure; over another one in the next colour, without its prior.

        Other keywords are those of the posterior's line.
        """
        with styled():
            ax = new_axes(ax, (4.2, 2.4))
            over, own = n_drawn(ax), colour_of(ax, "model", color)
            curves = [
                (None if over else self.prior_mean, self.prior_sd, MUTED, "--", "prior"),
                (self.log_temperature, self.log_temperature_sd, own, "-", "posterior" if name is None else name),
            ]
            known = [
                (mean, sd, colour, line, label) for mean, sd, colour, line, label in curves if mean is not None and sd
            ]
            ends = [(mean - 3 * sd, mean + 3 * sd) for mean, sd, *_ in known]
            low = min([self.log_temperature - 0.5, -0.3, *(end[0] for end in ends)])
            high = max([self.log_temperature + 0.5, 0.3, *(end[1] for end in ends)])
            if over:
                low, high = min(low, ax.get_xlim()[0]), max(high, ax.get_xlim()[1])
            grid = np.linspace(low, high, 401)
            for mean, sd, colour, line, label in known:
                density = np.exp(-0.5 * ((grid - mean) / sd) ** 2)
                style: dict[str, Any] = {"linestyle": line} | (kwargs if line == "-" else {})
                ax.plot(grid, density, color=colour, label=label, **style)
                if line == "-":
                    inside = np.abs(grid - mean) <= Z_95 * sd
                    ax.fill_between(grid[inside], density[inside], color=colour, alpha=0.2, linewidth=0)
            ax.axvline(0.0, color=INK, linewidth=1, linestyle=":")
            if not self.log_temperature_sd:
                ax.axvline(self.log_temperature, color=own, label="this model" if name is None else name)
            ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= np.log(t) <= high]
            ax.set_xticks(np.log(ticks), [f"{tick:g}" for tick in ticks])
            ax.set(xlim=(low, high), ylim=(0, 1.08), yticks=[], xlabel="temperature (1: calibrated)")
            ax.spines["left"].set_visible(False)
            ax.grid(axis="x", color=GRID)
            if ax.get_legend_handles_labels()[0]:
                ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=2, handlelength=1.7, columnspacing=1.0)
        self._drawn_in(ax)
        return self
