"""Figure "Learning curves": error against the number of labels, one figure per model."""

from __future__ import annotations

from typing import Any

import numpy as np

from twoheads.studies.figures import COLOURS, MARKERS, as_files, panels, reference_lines, slug, style
from twoheads.studies.rows import BEHAVIOURS, PAPER, Row

_TITLES = {PAPER: "as the released code computes it"}


def learning_curve_figure(model: str, rows: list[Row]) -> dict[str, bytes]:
    """Curves of one model: a row of panels per noise level, the released code left and the mathematics right.

    The vertical axis ends a little above the worse of human and model; curves that begin higher (LR) enter from above.
    """
    levels = list(dict.fromkeys(row.noise_level for row in rows))
    with style():
        figure, grid = panels(len(levels), 2, sharey="row")
        for level, line in zip(levels, grid, strict=True):
            here = [row for row in rows if row.noise_level == level]
            for behaviour, axes in zip(BEHAVIOURS, line, strict=True):
                _panel(axes, [row for row in here if row.behaviour == behaviour])
                noise = "" if level is None else f", noise {level}"
                axes.set_title(f"{model}{noise}: {_TITLES.get(behaviour, 'by the mathematics')}")
            line[0].set_ylabel("error (%)")
            combined = [row.mean for row in here if row.n_labelled]
            alone = [row.mean for row in here if not row.n_labelled]
            line[0].set_ylim(0.85 * min(combined), 1.08 * max(alone))
        for axes in grid[-1]:
            axes.set_xlabel("labels (P+L-EM: items without truth)")
        handles, labels = grid[0][-1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        return as_files(figure, f"learning_curves_{slug(model)}")


def _panel(axes: Any, rows: list[Row]) -> None:
    reference_lines(axes, {f"{row.method.lower()} alone": row.mean for row in rows if row.n_labelled == 0})
    for method in dict.fromkeys(row.method for row in rows if row.n_labelled):
        curve = [row for row in rows if row.method == method]
        n, mean, sd = np.array([(row.n_labelled, row.mean, np.nan_to_num(row.sd)) for row in curve]).T
        strong = method in ("P+L", "Recommended")
        axes.plot(
            n,
            mean,
            color=COLOURS[method],
            marker=MARKERS[method],
            label=method,
            linewidth=2.0 if strong else 1.2,
            zorder=3 if strong else 2,
            markersize=8 if method == "Recommended" else 4,
        )
        if method in ("L+L", "P+L", "P+L-EM"):  # the paper's main figure shows the spread of these
            axes.fill_between(n, mean - sd, mean + sd, color=COLOURS[method], alpha=0.12, linewidth=0)
    axes.set_xscale("log")
    axes.set_xticks((2, 10, 100, 1000, 5000), ("2", "10", "100", "1,000", "5,000"))
