"""Models equally accurate, not equally confident: the paper's figure on temperature, error and ECE, with Theorem 1."""

from __future__ import annotations

import numpy as np

from twoheads.evaluation import combination_accuracy_bound, error_rate, expected_calibration_error
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.calibration.tempering import tempered
from twoheads.studies.context import Context, Result
from twoheads.studies.figures import COLOURS, as_files, panels, reference_lines, style
from twoheads.studies.methods import combiner_of, temperature_of
from twoheads.studies.rows import BEHAVIOURS, CORRECT, PAPER, Row, rows_of
from twoheads.studies.setting import Rows, Setting, Split

N_LABELLED = 5000
TEMPERATURES = tuple(float(t) for t in np.geomspace(0.1, 20.0, 25).round(3))
ERROR, ECE, MODEL_ECE = "error", "ECE", "ECE of the model"
BOUND, STRONGER = "error at most (Theorem 1)", "error at most (Theorem 1, stronger)"
TEMPERATURE = "temperature"


def confidence_ratios(context: Context) -> Result:
    """Error and ECE of a human combined with tempered copies of a model, and the bound of Theorem 1, in per cent."""
    n_trials = context.protocol.trials(10)
    cases = [(setting, behaviour) for setting in context.data.settings for behaviour in BEHAVIOURS]
    rows_by_case = {case: context.protocol.rows(*case) for case in cases}
    tasks = [(rows_by_case[case], trial, case[1]) for case in cases for trial in range(n_trials)]
    found = iter(context.work.map(_trial, tasks))
    rows = []
    for setting, behaviour in cases:
        trials = [next(found) for _ in range(n_trials)]
        for method in trials[0]:
            values = {metric: [trial[method][metric] for trial in trials] for metric in trials[0][method]}
            n_labelled = 0 if method in ("Human", "Model") else N_LABELLED
            rows += rows_of(setting, behaviour, method, n_labelled, values)
    notes = [
        "Theorem 1 is drawn with the human's row normalised over classes: as printed it can exceed the accuracy "
        "(see the documentation of evaluation)."
    ]
    return Result("confidence_ratios", rows, _figure(context.data.shown(), rows), notes)


def _trial(rows: Rows, trial: int, behaviour: str) -> dict[str, dict[str, float]]:
    split = rows.split(trial)
    y, proba = split.y_test, split.X_test[:, 1:]
    fitted = temperature_of(behaviour, split.priors).fit(split.X[:N_LABELLED, 1:], split.y[:N_LABELLED])
    scored = {
        "Human": {ERROR: 100 * error_rate(y, split.X_test[:, 0].astype(int))},
        "Model": {ERROR: 100 * error_rate(y, proba), ECE: 100 * expected_calibration_error(y, proba)},
    }
    at = {f"T={temperature:g}": temperature for temperature in TEMPERATURES}
    at["P+L"] = float(fitted.temperature_)
    for method, temperature in at.items():
        scored[method] = _scores(split, temperature, behaviour)
    scored["P+L"][TEMPERATURE] = at["P+L"]
    return scored


def _scores(split: Split, temperature: float, behaviour: str) -> dict[str, float]:
    """Scores of the human combined with a copy of the model at another temperature, not calibrated again."""
    training, test = _tempered(split.X[:N_LABELLED], temperature), _tempered(split.X_test, temperature)
    combiner = combiner_of(behaviour, "Uncalibrated", "mode", priors=split.priors).fit(training, split.y[:N_LABELLED])
    y, human, proba = split.y_test, test[:, 0].astype(int), test[:, 1:]
    combined = combiner.predict_proba(test)
    matrix = combiner.confusion_.human_given_true_
    classes: Codes = np.arange(proba.shape[1])
    scored = {
        ERROR: 100 * error_rate(y, combined),
        ECE: 100 * expected_calibration_error(y, combined),
        MODEL_ECE: 100 * expected_calibration_error(y, proba),
    }
    for name, stronger in ((BOUND, False), (STRONGER, True)):
        bound = combination_accuracy_bound(proba, matrix, human, y, stronger=stronger, classes=classes)
        scored[name] = 100 * (1 - bound)
    return scored


def _tempered(X: Floats, temperature: float) -> Floats:
    with np.errstate(divide="ignore"):
        log_proba = np.log(X[:, 1:].T)
    return np.column_stack([X[:, 0], np.exp(tempered(log_proba, float(np.log(temperature)))).T])


def _figure(shown: tuple[Setting, ...], rows: list[Row]) -> dict[str, bytes]:
    with style():
        figure, grid = panels(len(shown), 2)
        for setting, (left, right) in zip(shown, grid, strict=True):
            table = {
                (row.behaviour, row.method, row.metric): row.mean
                for row in rows
                if (row.dataset, row.model, row.noise_level) == (setting.dataset, setting.model, setting.noise_level)
            }

            def curve(metric: str, table: dict[tuple[str, str, str], float] = table) -> list[float]:
                return [table[CORRECT, f"T={temperature:g}", metric] for temperature in TEMPERATURES]

            left.plot(TEMPERATURES, curve(ERROR), color="#3b3b8f", label="combination")
            left.plot(
                TEMPERATURES, curve(STRONGER), color="#009e73", dashes=(5, 2), label="at most (Theorem 1, stronger)"
            )
            left.plot(TEMPERATURES, curve(BOUND), color="#009e73", dashes=(1, 1.5), label="at most (Theorem 1)")
            for metric, axes in ((ERROR, left), (ECE, right)):
                for behaviour, marker in ((CORRECT, "o"), (PAPER, "s")):
                    label = f"P+L, {'released code' if behaviour == PAPER else 'the mathematics'}"
                    place = table[behaviour, "P+L", TEMPERATURE], table[behaviour, "P+L", metric]
                    axes.plot(*place, marker, color=COLOURS["L+L"], markersize=7, label=label, zorder=4, mec="white")
            reference_lines(left, {f"{who.lower()} alone": table[CORRECT, who, ERROR] for who in ("Human", "Model")})
            right.plot(TEMPERATURES, curve(ECE), color="#3b3b8f", label="combination")
            right.plot(TEMPERATURES, curve(MODEL_ECE), color="#8c8c8c", dashes=(4, 2), label="model alone")
            highest = max(table[CORRECT, method, ERROR] for method in ("Human", "Model"))
            left.set_ylim(0.8 * min(curve(ERROR)), 1.25 * highest)
            right.set_ylim(0, 2.5 * max(table[CORRECT, "Model", ECE], max(curve(ECE)) / 2))
            left.set_ylabel("error (%)")
            right.set_ylabel("ECE (%)")
            for axes in (left, right):
                axes.set_title(setting.name)
                axes.set_xscale("log")
                axes.set_xlabel("temperature of the model (more confident ← → less)")
        named = {
            label: handle for axes in grid[0] for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3)
        return as_files(figure, "confidence_ratios")
