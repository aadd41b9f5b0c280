"""Error rates of human, model and their combinations: the paper's error-rate tables."""

from __future__ import annotations

from twoheads.evaluation import error_rate
from twoheads.studies.context import Context, Result
from twoheads.studies.methods import RECOMMENDED, combiner_of
from twoheads.studies.protocol import Column
from twoheads.studies.rows import BEHAVIOURS, PAPER, rows_of
from twoheads.studies.setting import Rows, Split


def error_rates(context: Context) -> Result:
    """Error (%) of each column, mean and standard deviation over trials."""
    columns = context.protocol.error_columns()
    cases = [(setting, behaviour) for setting in context.data.settings for behaviour in BEHAVIOURS]
    n_trials = max(column.n_trials for column in columns)
    rows_by_setting = {setting: context.protocol.rows(setting) for setting in context.data.settings}
    tasks = [
        (rows_by_setting[setting], trial, behaviour, tuple(c for c in columns if trial < c.n_trials))
        for setting, behaviour in cases
        for trial in range(n_trials)
    ]
    found = iter(context.work.map(_trial, tasks))
    rows = []
    for setting, behaviour in cases:
        trials = [next(found) for _ in range(n_trials)]
        for column in columns:
            errors = [errors[column.method] for errors in trials[: column.n_trials] if column.method in errors]
            if errors:
                n_labelled = max(n for _, n in errors)
                rows += rows_of(
                    setting, behaviour, column.method, n_labelled, {"error": [error for error, _ in errors]}
                )
    return Result("error_rates", rows)


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
    combiner = combiner_of(behaviour, column.method, column.estimate).fit(split.X[:n], split.y[:n])
    return 100 * error_rate(split.y_test, combiner.predict(split.X_test))
