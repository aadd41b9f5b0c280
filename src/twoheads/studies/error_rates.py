"""Error rates of human, model and their combinations: the paper's error-rate tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from twoheads.evaluation import error_rate
from twoheads.studies.context import Context, Result
from twoheads.studies.methods import RECOMMENDED, combiner_of
from twoheads.studies.protocol import Column
from twoheads.studies.rows import BEHAVIOURS, PAPER, Row, rows_of
from twoheads.studies.setting import Rows, Setting, Split

#: Columns computed a second time with images split, to measure what splitting answers was worth.
LEAK_METHODS = ("L+L", "TS")
IMAGES_SPLIT = ", images split"


@dataclass(frozen=True, eq=False)
class Case:
    """Columns of a setting that are computed on the same trials; ``suffix`` is added to their names."""

    setting: Setting
    behaviour: str
    rows: Rows
    columns: tuple[Column, ...]
    suffix: str = ""

    def tasks(self) -> list[tuple[Rows, int, str, tuple[Column, ...]]]:
        """The arguments of `_trial`, for as many trials as the column with the most of them has."""
        return [
            (self.rows, trial, self.behaviour, tuple(column for column in self.columns if trial < column.n_trials))
            for trial in range(max(column.n_trials for column in self.columns))
        ]


def error_rates(context: Context) -> Result:
    """Error (%) of each column, mean and standard deviation over trials."""
    found = context.work.by_case(_trial, {case: case.tasks() for case in _cases(context)})
    rows = [row for case, trials in found.items() for row in _rows(case, trials)]
    return Result("error_rates", rows, notes=leak_notes(rows))


def _cases(context: Context) -> list[Case]:
    columns = context.protocol.error_columns()
    twice = tuple(column for column in columns if column.method in LEAK_METHODS)
    cases = []
    for setting in context.data.settings:
        for behaviour in BEHAVIOURS:
            rows = context.protocol.rows(setting, behaviour)
            cases.append(Case(setting, behaviour, rows, columns))
            if not rows.splits_images:
                cases.append(Case(setting, behaviour, setting.every_answer(), twice, IMAGES_SPLIT))
    return cases


def _rows(case: Case, trials: list[dict[str, tuple[float, int]]]) -> list[Row]:
    rows = []
    for column in case.columns:
        errors = [errors[column.method] for errors in trials[: column.n_trials] if column.method in errors]
        if errors:
            n_labelled = max(n for _, n in errors)
            values = {"error": [error for error, _ in errors]}
            rows += rows_of(case.setting, case.behaviour, column.method + case.suffix, n_labelled, values)
    return rows


def leak_notes(rows: Iterable[Row]) -> list[str]:
    """What it was worth to have answers about one image on both sides: a sentence per model and method."""
    means = {(row.model, row.noise_level, row.method): row.mean for row in rows if row.behaviour == PAPER}
    found: dict[tuple[str, str], list[str]] = {}
    for (model, noise, method), mean in means.items():
        whole = means.get((model, noise, method + IMAGES_SPLIT))
        if whole is not None:
            found.setdefault((model, method), []).append(f"{mean:.2f} -> {whole:.2f} at noise {noise}")
    return [
        f"{model}: the error of {method} if images are split, not answers: {', '.join(changes)}."
        for (model, method), changes in found.items()
    ]


def _trial(rows: Rows, trial: int, behaviour: str, columns: tuple[Column, ...]) -> dict[str, tuple[float, int]]:
    """Error in per cent of each column in one trial, and the number of labels it was fitted on."""
    split = rows.split(trial)
    return {
        column.method: (error_of(split, behaviour, column), min(column.n_labelled, len(split.y)))
        for column in columns
        if not (behaviour == PAPER and column.method == RECOMMENDED)
    }


def error_of(split: Split, behaviour: str, column: Column) -> float:
    """Error in per cent of a column in a trial."""
    if column.method == "Human":
        return 100 * error_rate(split.y_test, split.X_test[:, 0].astype(int))
    if column.method == "Model":
        return 100 * error_rate(split.y_test, split.X_test[:, 1:])
    n = column.n_labelled
    combiner = combiner_of(behaviour, column.method, column.estimate, priors=split.priors)
    return 100 * error_rate(split.y_test, combiner.fit(split.X[:n], split.y[:n]).predict(split.X_test))
