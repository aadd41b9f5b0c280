"""Models equally accurate, not equally confident: the paper's figure on temperature, error and ECE, with Theorem 1."""

from __future__ import annotations

import numpy as np

from twoheads.evaluation import (
    combination_accuracy_bound,
    error_rate,
    expected_calibration_error,
    human_confidence_ratio,
    model_confidence_ratio,
)
from twoheads.kernels.arrays import Codes, Floats
from twoheads.kernels.calibration.tempering import tempered
from twoheads.studies.confidence_ratio_figure import (
    BOUND,
    ECE,
    ERROR,
    MODEL_ECE,
    STRONGER,
    TEMPERATURE,
    TEMPERATURES,
    Ratios,
    confidence_ratio_figure,
)
from twoheads.studies.context import Context, Result
from twoheads.studies.methods import combiner_of, temperature_of
from twoheads.studies.rows import CORRECT, rows_of
from twoheads.studies.setting import Rows, Split

N_LABELLED = 5000
#: Temperatures of an overconfident and of an underconfident copy, whose ratios are drawn beside those of the fitted.
CONFIDENT, HESITANT = 0.25, 8.0


def confidence_ratios(context: Context) -> Result:
    """Error and ECE of a human combined with tempered copies of a model, and the bound of Theorem 1, in per cent."""
    n_trials = context.protocol.trials(10)
    rows_by_case = context.rows()
    tasks = {case: [(own, trial, case[1]) for trial in range(n_trials)] for case, own in rows_by_case.items()}
    rows = []
    for (setting, behaviour), trials in context.work.by_case(_trial, tasks).items():
        for method in trials[0]:
            values = {metric: [trial[method][metric] for trial in trials] for metric in trials[0][method]}
            n_labelled = 0 if method in ("Human", "Model") else N_LABELLED
            rows += rows_of(setting, behaviour, method, n_labelled, values)
    notes = [
        "Theorem 1 is drawn with the human's row normalised over classes: as printed it can exceed the accuracy "
        "(see the documentation of evaluation).",
        "The ratios drawn are those of one trial. On ImageNet-16H the released code's point need not be on the curve: "
        "by the published protocol its trials split answers, those of the curve images.",
    ]
    ratios = {setting: ratios_of(rows_by_case[setting, CORRECT].split(0)) for setting in context.data.shown()}
    return Result("confidence_ratios", rows, confidence_ratio_figure(ratios, rows), notes)


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


def ratios_of(split: Split) -> Ratios:
    """Confidence ratios of the test rows of a trial: the human's, and the model's at a few temperatures."""
    X, y = split.X[:N_LABELLED], split.y[:N_LABELLED]
    matrix = combiner_of(CORRECT, "Uncalibrated", "mode", priors=split.priors).fit(X, y).confusion_.human_given_true_
    classes: Codes = np.arange(X.shape[1] - 1)
    fitted = float(temperature_of(CORRECT, split.priors).fit(X[:, 1:], y).temperature_)
    model = {
        temperature: model_confidence_ratio(_tempered(split.X_test, temperature)[:, 1:], split.y_test, classes=classes)
        for temperature in (CONFIDENT, fitted, HESITANT)
    }
    human = human_confidence_ratio(matrix, split.X_test[:, 0].astype(int), split.y_test, classes=classes)
    return Ratios(human, model)


def _tempered(X: Floats, temperature: float) -> Floats:
    with np.errstate(divide="ignore"):
        log_proba = np.log(X[:, 1:].T)
    return np.column_stack([X[:, 0], np.exp(tempered(log_proba, float(np.log(temperature)))).T])
