"""Do model and human err together? The paper's table of mutual information, and its three figures."""

from __future__ import annotations

import numpy as np

from twoheads.evaluation import Independence
from twoheads.evaluation import independence as assess
from twoheads.studies.context import Context, Result
from twoheads.studies.figures import as_files, panels, slug, style
from twoheads.studies.imagenet16h import DATASET as IMAGENET
from twoheads.studies.rows import BEHAVIOURS, CORRECT, PAPER, Row, rows_of
from twoheads.studies.setting import SEED, Rows, Setting

#: The seeds of the human's label and of the split behind the published table.
HUMAN_SEED, SPLIT_SEED = 123, 1
METHOD = "Model and human"


def independence(context: Context) -> Result:
    """CMI and MI in bits on evaluation splits, and the model's mean probability of the truth, class by class."""
    stated = context.protocol.is_stated
    n_trials = context.protocol.trials(25 if stated else 1)
    cases = [(setting, behaviour) for setting in context.data.settings for behaviour in BEHAVIOURS]
    seeds = [trial * SEED if stated or trial else SPLIT_SEED for trial in range(n_trials)]
    rows_by_case = {case: _rows(context, *case) for case in cases}
    tasks = {case: [(own, seed) for seed in seeds] for case, own in rows_by_case.items()}
    found = context.work.by_case(_assess, tasks)
    rows = [row for case, trials in found.items() for row in _table(*case, trials)]
    notes = [
        "Chance alone makes CMI positive: 'CMI beyond chance' takes away what shuffling the human's labels among the "
        "images of a class leaves. All answers about an image are shuffled together."
    ]
    drawn = {setting: trials[0] for (setting, behaviour), trials in found.items() if behaviour == PAPER}
    return Result("independence", rows, _figures(drawn), notes)


def _rows(context: Context, setting: Setting, behaviour: str) -> Rows:
    if context.protocol.is_stated or setting.dataset == IMAGENET:
        return context.protocol.rows(setting, behaviour)
    return setting.one_answer(HUMAN_SEED)


def _assess(rows: Rows, random_state: int) -> Independence:
    _, test = rows.sides(random_state)
    X = rows.X[test]
    return assess(
        X[:, 1:],
        X[:, 0].astype(int),
        rows.y[test],
        item=rows.image[test],
        classes=list(range(X.shape[1] - 1)),
        n_permutations=999,
        random_state=0,
    )


def _table(setting: Setting, behaviour: str, trials: list[Independence]) -> list[Row]:
    measured = {
        "CMI": [trial.conditional_mutual_information for trial in trials],
        "MI": [trial.mutual_information for trial in trials],
    }
    if behaviour == CORRECT:
        beyond = {
            "CMI beyond chance": [trial.conditional_mutual_information - trial.by_chance for trial in trials],
            "p-value of independence": [trial.p_value for trial in trials],
        }
        return rows_of(setting, CORRECT, METHOD, 0, measured | beyond)
    return rows_of(setting, PAPER, METHOD, 0, measured) + _class_rows(setting, trials)


def _class_rows(setting: Setting, trials: list[Independence]) -> list[Row]:
    rows = []
    shifts = [trial.shift for trial in trials if trial.shift is not None]
    for code, name in enumerate(setting.classes):
        values = {
            "mean P(y) given y": [float(shift.mean_proba[code]) for shift in shifts],
            "mean P(y) given y and h=y": [float(shift.mean_proba_human_right[code]) for shift in shifts],
            "mean P(y) given y, largest possible": [float(shift.largest_mean_proba[code]) for shift in shifts],
        }
        rows += rows_of(setting, PAPER, f"class {name}", 0, values)
    return rows


def _figures(found: dict[Setting, Independence]) -> dict[str, bytes]:
    """One figure of all CIFAR-10H models, and one for each ImageNet-16H model with its noise levels."""
    groups: dict[str, list[Setting]] = {}
    for setting in found:
        groups.setdefault(setting.model if setting.dataset == IMAGENET else setting.dataset, []).append(setting)
    files: dict[str, bytes] = {}
    for group, settings in groups.items():
        n_columns = min(len(settings), 2)
        with style():
            n_rows = -(-len(settings) // n_columns)
            figure, grid = panels(n_rows, n_columns, width=3.6, height=3.6)
            for axes in grid.flat[len(settings) :]:
                axes.set_visible(False)
            for setting, axes in zip(settings, grid.flat, strict=False):
                shift = found[setting].shift
                assert shift is not None
                axes.axline((0.5, 0.5), slope=1, color="#8c8c8c", linewidth=1)
                x = shift.mean_proba
                axes.vlines(x, shift.mean_proba_human_right, shift.largest_mean_proba, color="#c7ccd1", linewidth=0.8)
                axes.plot(x, shift.largest_mean_proba, "_", color="black", markersize=7, label="largest possible")
                axes.plot(x, shift.mean_proba_human_right, "o", color="#d55e00", label="given y, and human right")
                axes.set_title(setting.name, fontsize=9)
                low = float(np.nanmin([x, shift.mean_proba_human_right]))
                axes.set(xlim=(low - 0.02, 1.005), ylim=(low - 0.02, 1.01), aspect="equal")
                axes.set_xlabel("mean P(true class), given y")
                axes.set_ylabel("given y and h = y")
            grid.flat[0].legend(loc="upper left", fontsize=8)
            files |= as_files(figure, f"independence_{slug(group)}")
    return files
