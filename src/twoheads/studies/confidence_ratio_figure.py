"""Figure "Confidence ratios": error and ECE against the model's temperature, and the distributions of the ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.studies.figures import COLOURS, as_files, panels, reference_lines, style
from twoheads.studies.rows import CORRECT, PAPER, Row
from twoheads.studies.setting import Setting

TEMPERATURES = tuple(float(t) for t in np.geomspace(0.1, 20.0, 25).round(3))
ERROR, ECE, MODEL_ECE = "error", "ECE", "ECE of the model"
BOUND, STRONGER = "error at most (Theorem 1)", "error at most (Theorem 1, stronger)"
TEMPERATURE = "temperature"

#: Powers of ten between which ratios are drawn; those beyond are in the outermost bins.
LOWEST, HIGHEST, N_BINS = -4.0, 8.0, 48
_RATIO_COLOURS = ("#009e73", "#d55e00", "#6a3d9a")

_Table = dict[tuple[str, str, str], float]


@dataclass(frozen=True, eq=False)
class Ratios:
    """Confidence ratios of one trial, (n_rows,) each: the human's, and the model's by temperature."""

    human: Floats
    model: dict[float, Floats]


def confidence_ratio_figure(ratios: dict[Setting, Ratios], rows: list[Row]) -> dict[str, bytes]:
    """A row of panels for each setting: error, ECE, and the distributions of the ratios."""
    with style():
        figure, grid = panels(len(ratios), 3)
        for (setting, found), line in zip(ratios.items(), grid, strict=True):
            table = {(row.behaviour, row.method, row.metric): row.mean for row in rows if row.setting == setting.key}
            _draw_error(line[0], table)
            _draw_ece(line[1], table)
            _draw_ratios(line[2], found)
            for axes in line:
                axes.set_title(setting.name)
        named = {
            label: handle
            for axes in grid[0][:2]
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3)
        return as_files(figure, "confidence_ratios")


def log_shares(ratio: Floats) -> Floats:
    """Share of the ratios in each bin of their logarithm, (N_BINS,)."""
    with np.errstate(divide="ignore"):
        power = np.clip(np.log10(ratio), LOWEST, HIGHEST)
    return np.asarray(np.histogram(power, N_BINS, (LOWEST, HIGHEST))[0] / len(ratio))


def _curve(table: _Table, metric: str) -> list[float]:
    return [table[CORRECT, f"T={temperature:g}", metric] for temperature in TEMPERATURES]


def _draw_error(axes: Any, table: _Table) -> None:
    error = _curve(table, ERROR)
    axes.plot(TEMPERATURES, error, color="#3b3b8f", label="combination")
    bounds = ((STRONGER, (5, 2), "at most (Theorem 1, stronger)"), (BOUND, (1, 1.5), "at most (Theorem 1)"))
    for metric, dashes, label in bounds:
        axes.plot(TEMPERATURES, _curve(table, metric), color="#009e73", dashes=dashes, label=label)
    _mark_fitted(axes, table, ERROR)
    alone = {who: table[CORRECT, who, ERROR] for who in ("Human", "Model")}
    reference_lines(axes, {f"{who.lower()} alone": value for who, value in alone.items()})
    axes.set_ylim(0.8 * min(error), 1.25 * max(alone.values()))
    _label_temperature(axes, "error (%)")


def _draw_ece(axes: Any, table: _Table) -> None:
    _mark_fitted(axes, table, ECE)
    axes.plot(TEMPERATURES, _curve(table, ECE), color="#3b3b8f", label="combination")
    axes.plot(TEMPERATURES, _curve(table, MODEL_ECE), color="#8c8c8c", dashes=(4, 2), label="model alone")
    axes.set_ylim(0, 2.5 * max(table[CORRECT, "Model", ECE], max(_curve(table, ECE)) / 2))
    _label_temperature(axes, "ECE (%)")


def _draw_ratios(axes: Any, ratios: Ratios) -> None:
    """Histograms of r_m by temperature and of 1 / r_h: the combination is right where r_m is the larger one."""
    edges = 10.0 ** np.linspace(LOWEST, HIGHEST, N_BINS + 1)
    with np.errstate(divide="ignore"):
        inverse = 1.0 / ratios.human
    axes.stairs(100 * log_shares(inverse), edges, fill=True, color="#d7dbe0", label="human, 1 / ratio")
    for (temperature, ratio), colour in zip(ratios.model.items(), _RATIO_COLOURS, strict=True):
        axes.stairs(100 * log_shares(ratio), edges, color=colour, linewidth=1.3, label=f"model, T = {temperature:.2g}")
    axes.axvline(1.0, color=COLOURS["Human"], linewidth=1, dashes=(4, 3))
    axes.set_xscale("log")
    axes.set_xlabel("confidence ratio (outermost: and beyond)")
    axes.set_ylabel("answers (%)")
    axes.legend(fontsize=8, loc="upper center")


def _mark_fitted(axes: Any, table: _Table, metric: str) -> None:
    for behaviour, marker in ((CORRECT, "o"), (PAPER, "s")):
        label = f"P+L, {'released code' if behaviour == PAPER else 'the mathematics'}"
        place = table[behaviour, "P+L", TEMPERATURE], table[behaviour, "P+L", metric]
        axes.plot(*place, marker, color=COLOURS["L+L"], markersize=7, label=label, zorder=4, mec="white")


def _label_temperature(axes: Any, metric: str) -> None:
    axes.set_ylabel(metric)
    axes.set_xscale("log")
    axes.set_xlabel("temperature of the model (more confident ← → less)")
