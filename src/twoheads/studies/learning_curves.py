"""Error against the number of labels: the paper's learning curves, and our recommended combiner among them."""

from __future__ import annotations

import numpy as np

from twoheads.evaluation import error_rate
from twoheads.studies.context import Context, Result
from twoheads.studies.imagenet16h import DATASET as IMAGENET
from twoheads.studies.learning_curve_figure import learning_curve_figure
from twoheads.studies.methods import LOG_LR, LR, OURS, RECOMMENDED, combiner_of
from twoheads.studies.rows import BEHAVIOURS, CORRECT, PAPER, Row, rows_of
from twoheads.studies.setting import Rows, Setting

METHODS = (LR, LOG_LR, "SP", "L+L", "P+L", "P+L-EM", "Bayes", RECOMMENDED)
SIZES = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
#: Methods that take seconds a fit, the released EM and a regression on logarithms: how many trials are enough.
SLOW = {(PAPER, "P+L-EM"): 10, (CORRECT, LOG_LR): 5}
SLOW_SIZES = (2, 10, 100, 1000, 5000)
SLOW_ON_IMAGENET = 2


def learning_curves(context: Context) -> Result:
    """Error (%) of each method from the first n labels of a trial, mean and standard deviation over 10 trials."""
    n_trials = context.protocol.trials(10)
    settings = _settings(context)
    cases = [
        (setting, behaviour, method)
        for setting in settings
        for behaviour in BEHAVIOURS
        for method in ("Human", "Model", *METHODS)
        if not (behaviour == PAPER and method in OURS)
    ]
    rows_by_case = {case[:2]: context.protocol.rows(*case[:2]) for case in cases}
    jobs = [(case, trial) for case in cases for trial in range(_trials(*case, n_trials))]
    jobs.sort(key=lambda job: job[0][1:] not in SLOW)  # slow ones first: no core is left with one at the end
    tasks = [(rows_by_case[case[:2]], trial, *case[1:]) for case, trial in jobs]
    errors: dict[tuple[Setting, str, str], list[dict[int, float]]] = {case: [] for case in cases}
    for (case, _), found in zip(jobs, context.work.map(_trial, tasks), strict=True):
        errors[case].append(found)
    rows = [
        row
        for (setting, behaviour, method), trials in errors.items()
        for n in trials[0]
        for row in rows_of(setting, behaviour, method, n, {"error": [trial[n] for trial in trials]})
    ]
    notes = [
        "LR cannot be fitted on labels of a single class: such trials are left out (n_seeds is the number that count).",
        "LR on m is the paper's; LR on log m has P+L as a special case.",
        "P+L-EM is fitted on n items without their truth.",
        "The released EM and LR on log m take seconds a fit: they have fewer sizes and trials (n_seeds).",
    ]
    return Result("learning_curves", rows, _figures(settings, rows), notes)


def _settings(context: Context) -> list[Setting]:
    """All of CIFAR-10H; of ImageNet-16H the paper's two models, or what is there if they are not."""
    chosen = [s for s in context.data.settings if s.dataset != IMAGENET]
    imagenet = context.data.of(IMAGENET)
    return chosen + ([s for s in imagenet if s.model in ("VGG-19", "GoogLeNet")] or list(imagenet))


def _trials(setting: Setting, behaviour: str, method: str, n_trials: int) -> int:
    if (behaviour, method) not in SLOW:
        return n_trials
    return min(n_trials, SLOW_ON_IMAGENET if setting.dataset == IMAGENET else SLOW[behaviour, method])


def _trial(rows: Rows, trial: int, behaviour: str, method: str) -> dict[int, float]:
    """Error in per cent by number of labels; NaN if all labels of a regression are of one class."""
    split = rows.split(trial)
    if method in ("Human", "Model"):
        predicted = split.X_test[:, 0].astype(int) if method == "Human" else split.X_test[:, 1:]
        return {0: 100 * error_rate(split.y_test, predicted)}
    errors = {}
    for n in SLOW_SIZES if (behaviour, method) in SLOW else SIZES:
        X, y = split.X[:n], split.y[:n]
        if len(y) < n:
            break
        if method in (LR, LOG_LR) and len(np.unique(y)) == 1:
            errors[n] = float("nan")
            continue
        combiner = combiner_of(behaviour, method, "mode", priors=split.priors)
        combiner.fit(X, None if method == "P+L-EM" else y)
        errors[n] = 100 * error_rate(split.y_test, combiner.predict(split.X_test))
    return errors


def _figures(settings: list[Setting], rows: list[Row]) -> dict[str, bytes]:
    figures: dict[str, bytes] = {}
    for model in dict.fromkeys(setting.model for setting in settings):
        figures |= learning_curve_figure(model, [row for row in rows if row.model == model])
    return figures
