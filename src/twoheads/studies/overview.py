"""Figure 1 of the paper: the error of human, model and combination, and one worked example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.kernels.arrays import Floats
from twoheads.studies.context import Context, Result
from twoheads.studies.error_rates import error_of
from twoheads.studies.figures import COLOURS, as_files, panels, style
from twoheads.studies.methods import RECOMMENDED, combiner_of, temperature_of
from twoheads.studies.protocol import Column
from twoheads.studies.rows import BEHAVIOURS, CORRECT, PAPER, Row, rows_of
from twoheads.studies.setting import Rows, Setting

N_LABELLED = 5000
#: How sure the combination is in the paper's example.
PAPER_CONFIDENCE = 0.74


@dataclass(frozen=True, eq=False)
class Example:
    """One image that the human has wrong and the model right, by class: the model, calibrated, and combined."""

    human: int
    truth: int
    model: Floats
    calibrated: Floats
    combined: Floats


def overview(context: Context) -> Result:
    """Errors (%) of human, model and combination for one setting of each data set, and an example of each."""
    protocol = context.protocol
    few = protocol.trials(25 if protocol.is_stated else 10)
    columns = (
        Column("Human", 0, protocol.trials(25)),
        Column("Model", 0, protocol.trials(25)),
        Column("P+L", N_LABELLED, few),
        Column(RECOMMENDED, N_LABELLED, few),
    )
    shown = context.data.shown()
    cases = [
        (setting, behaviour, column)
        for setting in shown
        for behaviour in BEHAVIOURS
        for column in columns
        if (behaviour, column.method) != (PAPER, RECOMMENDED)
    ]
    rows_by_case = {case[:2]: protocol.rows(*case[:2]) for case in cases}
    tasks = [(rows_by_case[case[:2]], *case[1:]) for case in cases]
    errors = context.work.map(_errors, tasks)
    rows: list[Row] = []
    for (setting, behaviour, column), values in zip(cases, errors, strict=True):
        rows += rows_of(setting, behaviour, column.method, column.n_labelled, {"error": values})
    examples = {}
    for setting in shown:
        examples[setting] = _examples(rows_by_case[setting, CORRECT])
        for behaviour, example in examples[setting].items():
            rows += _example_rows(setting, behaviour, example)
    notes = [
        f"{setting.name}: the example is a {setting.classes[both[PAPER].truth]} that the human calls "
        f"{setting.classes[both[PAPER].human]}; the model gives the truth {both[PAPER].model[both[PAPER].truth]:.2f}, "
        f"calibrated {both[PAPER].calibrated[both[PAPER].truth]:.2f}, and the combination "
        f"{both[PAPER].combined[both[PAPER].truth]:.2f}."
        for setting, both in examples.items()
    ]
    return Result("overview", rows, _figure(examples, rows), notes)


def _errors(rows: Rows, behaviour: str, column: Column) -> list[float]:
    return [error_of(rows.split(trial), behaviour, column) for trial in range(column.n_trials)]


def _examples(rows: Rows) -> dict[str, Example]:
    """The same image in both behaviours: of the first trial, human wrong, model and P+L right.

    Of those, if any has the human's label second, the one whose combined confidence is nearest to that of
    the paper's example.
    """
    split = rows.split(0)
    X, y, test, truth = split.X[:N_LABELLED], split.y[:N_LABELLED], split.X_test, split.y_test
    human, model = test[:, 0].astype(int), test[:, 1:]
    combined = {
        behaviour: combiner_of(behaviour, "P+L", priors=split.priors).fit(X, y).predict_proba(test)
        for behaviour in BEHAVIOURS
    }
    calibrated = {
        behaviour: temperature_of(behaviour, split.priors).fit(X[:, 1:], y).predict_proba(model)
        for behaviour in BEHAVIOURS
    }
    confidence = combined[PAPER][np.arange(len(truth)), truth]
    fits = (human != truth) & (model.argmax(axis=1) == truth) & (combined[PAPER].argmax(axis=1) == truth)
    second = np.argsort(-combined[PAPER], axis=1, kind="stable")[:, 1] == human
    distance = np.abs(confidence - PAPER_CONFIDENCE) + 1.0 * ~second + 2.0 * ~fits
    chosen = int(distance.argmin())
    return {
        behaviour: Example(
            int(human[chosen]),
            int(truth[chosen]),
            model[chosen],
            calibrated[behaviour][chosen],
            combined[behaviour][chosen],
        )
        for behaviour in BEHAVIOURS
    }


def _example_rows(setting: Setting, behaviour: str, example: Example) -> list[Row]:
    rows = []
    for method, n, proba in (
        ("Model", 0, example.model),
        ("Calibrated model", N_LABELLED, example.calibrated),
        ("P+L", N_LABELLED, example.combined),
    ):
        values = {
            "probability of the truth": [float(proba[example.truth])],
            "probability of the human's label": [float(proba[example.human])],
        }
        rows += rows_of(setting, behaviour, method, n, values)
    return rows


def _figure(examples: dict[Setting, dict[str, Example]], rows: list[Row]) -> dict[str, bytes]:
    with style():
        figure, grid = panels(len(examples), 2, width=4.6, height=3.0)
        for (setting, both), (left, right) in zip(examples.items(), grid, strict=True):
            _draw_example(left, setting, both[PAPER])
            _draw_errors(right, setting, rows)
        return as_files(figure, "overview")


def _draw_example(axes: Any, setting: Setting, example: Example) -> None:
    largest = np.argsort(-example.combined, kind="stable")[:5].tolist()
    classes = [*dict.fromkeys([example.truth, example.human, *largest])][:5]
    place = np.arange(len(classes))
    bars = (("model", "#9aa3ad"), ("model, calibrated", "#56b4e9"), ("combination (P+L)", "#6a3d9a"))
    for at, ((label, colour), proba) in enumerate(
        zip(bars, (example.model, example.calibrated, example.combined), strict=True)
    ):
        axes.bar(place + 0.27 * (at - 1), proba[classes], 0.25, color=colour, label=label)
    marks = {example.truth: "\n(truth)", example.human: "\n(human)"}
    axes.set_xticks(place, [setting.classes[code] + marks.get(code, "") for code in classes], fontsize=8)
    axes.set_ylim(0, 1)
    axes.set_ylabel("probability")
    axes.grid(axis="x", visible=False)
    axes.legend(fontsize=8)
    axes.set_title(f"One image: {setting.name}", fontsize=9)


def _draw_errors(axes: Any, setting: Setting, rows: list[Row]) -> None:
    bars = (
        (PAPER, "Human", "human", COLOURS["Human"]),
        (PAPER, "Model", "model", "#9aa3ad"),
        (PAPER, "P+L", "P+L\n(released)", "#6a3d9a"),
        (CORRECT, "P+L", "P+L\n(mathematics)", "#6a3d9a"),
        (CORRECT, RECOMMENDED, "recommended", "#000000"),
    )
    for at, (behaviour, method, _, colour) in enumerate(bars):
        row = next(
            row
            for row in rows
            if row.setting == setting.key and (row.behaviour, row.method, row.metric) == (behaviour, method, "error")
        )
        axes.bar(at, row.mean, 0.65, color=colour, yerr=np.nan_to_num(row.sd), error_kw={"elinewidth": 1})
        axes.annotate(f"{row.mean:.2f}", (at, row.mean + np.nan_to_num(row.sd)), ha="center", va="bottom", fontsize=8)
    axes.set_xticks(range(len(bars)), [label for _, _, label, _ in bars], fontsize=8)
    axes.set_ylabel("error (%)")
    axes.margins(y=0.12)
    axes.grid(axis="x", visible=False)
    axes.set_title(f"Error: {setting.name}", fontsize=9)
