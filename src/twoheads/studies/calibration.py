"""Calibration of model and combination: the paper's tables of ECE, cwECE and NLL.

A column is a method and the number of labels used for calibration: 0 means "No Calibration".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from twoheads.evaluation import classwise_calibration_error, expected_calibration_error, log_loss
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.scoring import scores
from twoheads.studies.context import Context, Result
from twoheads.studies.methods import RECOMMENDED, combiner_of, temperature_of
from twoheads.studies.protocol import ALL, Column, Protocol
from twoheads.studies.rows import PAPER, rows_of
from twoheads.studies.setting import Rows, Split

METRICS = ("ECE", "cwECE", "NLL")
N_BINS = 15
MODEL, COMBINATION, RECALIBRATED = "Model", "Comb.", "Recal. Comb."


def columns_of(protocol: Protocol) -> tuple[Column, ...]:
    """Columns of the tables, with their numbers of trials."""
    few = protocol.trials(25 if protocol.is_stated else 10)
    many = protocol.trials(25)
    return (
        Column(MODEL, 0, many),
        Column(COMBINATION, 0, many),
        *(Column(method, n, few) for n in (10, 5000) for method in (MODEL, COMBINATION, RECOMMENDED)),
        Column(RECALIBRATED, 5000, many),
    )


def calibration(context: Context) -> Result:
    """ECE and cwECE (%) and NLL of each column, mean and standard deviation over trials."""
    columns = columns_of(context.protocol)
    n_confusion = 5000 if context.protocol.is_stated else ALL
    computed = [
        (trial, tuple(column for column in columns if trial < column.n_trials))
        for trial in range(max(column.n_trials for column in columns))
    ]
    tasks = {
        (setting, behaviour): [(own, trial, behaviour, some, n_confusion) for trial, some in computed]
        for (setting, behaviour), own in context.rows().items()
    }
    rows = []
    for (setting, behaviour), trials in context.work.by_case(_trial, tasks).items():
        for column in columns:
            scored = [trial[column] for trial in trials if column in trial]
            values = {metric: [score[at] for score in scored] for at, metric in enumerate(METRICS)}
            if scored:
                rows += rows_of(setting, behaviour, column.method, column.n_labelled, values)
    note = (
        "n_labelled is the table's heading: 0 is 'No Calibration', whose combination estimates the human's matrix from "
        + ("5,000 labels." if context.protocol.is_stated else "all the labels of a trial.")
    )
    return Result("calibration", rows, notes=[note])


def _trial(
    rows: Rows, trial: int, behaviour: str, columns: tuple[Column, ...], n_confusion: int
) -> dict[Column, tuple[float, float, float]]:
    split = rows.split(trial)
    wanted = {(column.method, column.n_labelled): column for column in columns}
    return {
        wanted[which]: _scores(split.y_test, proba, behaviour)
        for which, proba in _predicted(split, behaviour, n_confusion, set(wanted))
        if which in wanted
    }


def _predicted(
    split: Split, behaviour: str, n_confusion: int, wanted: set[tuple[str, int]]
) -> Iterator[tuple[tuple[str, int], Floats]]:
    """Probabilities of each column for the test rows."""
    yield (MODEL, 0), split.X_test[:, 1:]
    uncalibrated = combiner_of(behaviour, "Uncalibrated", "mode", priors=split.priors)
    uncalibrated.fit(split.X[:n_confusion], split.y[:n_confusion])
    yield (COMBINATION, 0), uncalibrated.predict_proba(split.X_test)
    for n in (10, 5000):
        X, y = split.X[:n], split.y[:n]
        if (MODEL, n) in wanted:
            yield (
                (MODEL, n),
                temperature_of(behaviour, split.priors).fit(X[:, 1:], y).predict_proba(split.X_test[:, 1:]),
            )
        if {(COMBINATION, n), (RECALIBRATED, n)} & wanted:
            combiner = combiner_of(behaviour, "P+L", priors=split.priors).fit(X, y)
            combined = combiner.predict_proba(split.X_test)
            yield (COMBINATION, n), combined
            if (RECALIBRATED, n) in wanted:
                yield (
                    (RECALIBRATED, n),
                    temperature_of(behaviour, split.priors).fit(combiner.predict_proba(X), y).predict_proba(combined),
                )
        if (RECOMMENDED, n) in wanted and behaviour != PAPER:
            yield (RECOMMENDED, n), combiner_of(behaviour, RECOMMENDED).fit(X, y).predict_proba(split.X_test)


def _scores(y: Codes, proba: Floats, behaviour: str) -> tuple[float, float, float]:
    ece = released_calibration_error if behaviour == PAPER else expected_calibration_error
    return 100 * ece(y, proba), 100 * classwise_calibration_error(y, proba, n_bins=N_BINS), log_loss(y, proba)


def released_calibration_error(y: Codes, proba: Floats) -> float:
    """ECE with the boundaries of the released code: its k-th is the value of rank ``floor(k (n - 1) / 15)``.

    `expected_calibration_error` takes rank ``floor(k n / 15)``, so that bins are equal; the two differ by one item.
    """
    confidence = proba.max(axis=1)
    boundaries = np.percentile(confidence, 100 * np.arange(1, N_BINS) / N_BINS, method="lower")
    right = (proba.argmax(axis=1) == y) * 1.0
    return scores.calibration_error(confidence, right, np.ones(len(y)), boundaries)
