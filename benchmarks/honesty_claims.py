"""Claims about a team: intervals of `evaluate`, "each held out", `chance_best` and `expected_gain`.

On simulated worlds, and on the sets with a model with one answer per item drawn at random. "said .x5" is a bin of
stated chances with its middle; "said 0" is the mean of what came less what was said.
"""

import numpy as np
from scipy.special import expit, softmax

import twoheads as th
from twoheads.evaluation.bootstrap import difference_score, resampling
from twoheads.evaluation.metric import ScoredItems
from twoheads.evaluation.registry import METRICS, score_all
from twoheads.kernels.inference.calibration import equal_mass_cells, expected_cells

#: In "agree" truth is known only where person and model agree.
WORLDS = ("independent", "shared difficulty", "weak correlated person", "weak model", "adversary", "1 : 99", "agree")
SIZES = (30, 100, 300)
#: Classes, spread of the scores, and the power of the forecast that is true.
FORECASTERS = {
    "K=2, flat": (2, 1.0, 1.0),
    "K=2, sharp": (2, 5.0, 1.0),
    "K=2, too sure": (2, 4.0, 0.5),
    "K=2, not sure enough": (2, 1.5, 2.0),
    "K=10, flat": (10, 1.5, 1.0),
    "K=10, sharp": (10, 6.0, 1.0),
    "K=10, too sure": (10, 5.0, 0.5),
}
#: Share of items that only the team has right, and only the partner.
DISCORDANT = {"as good": (0.1, 0.1), "better": (0.08, 0.02), "worse": (0.05, 0.15)}


def of_teams(repeats, table, sets):
    """All claims of this module."""
    of_intervals(repeats, table)
    of_differences(repeats, table)
    of_worlds(repeats, table)
    of_sets(repeats, table, sets)


def of_intervals(repeats, table):
    """Every metric of `evaluate` on forecasters whose error, loss and calibration are known."""
    for where, (n_classes, spread, power) in FORECASTERS.items():
        rng = np.random.default_rng(0)
        target = population(n_classes, spread, power, rng)
        for size in SIZES:
            for _ in range(10 * repeats):
                proba, truth, _ = forecast(n_classes, spread, power, size, rng)
                wrong, weight = (proba.argmax(axis=0) != truth) * 1.0, np.ones(size)
                found = score_all(ScoredItems(truth, wrong, proba, weight, resampling(size, 2, rng)))
                for metric in (each for each in METRICS if each.shown):
                    low, high = found[metric.name].low, found[metric.name].high
                    held = low <= target[metric.name] + 1e-3 and target[metric.name] <= high + 1e-12
                    table[f"{metric.short_title} of evaluate, 95 %", where][size].append((held, np.nan))


def forecast(n_classes, spread, power, size, rng):
    """Probabilities, outcomes, and the chances of these: (n_classes, size), (size,), (n_classes, size)."""
    score = rng.normal(0, spread, (n_classes, size))
    actual = softmax(power * score, axis=0)
    truth = np.minimum((actual.cumsum(axis=0) < rng.random(size)).sum(axis=0), n_classes - 1)
    return softmax(score, axis=0), truth, actual


def population(n_classes, spread, power, rng, size=100_000):
    """What the metrics are on very many items, without chance in outcomes."""
    proba, _, actual = forecast(n_classes, spread, power, size, rng)
    weight, items = np.ones(size), np.arange(size)
    top, right = proba.max(axis=0)[None], actual[proba.argmax(axis=0), items][None]
    cells, all_cells = equal_mass_cells(top, weight, 15), equal_mass_cells(proba, weight, 15)
    return {
        "error": 1.0 - right.mean(),
        "log_loss": -(actual * np.log(proba)).sum(axis=0).mean(),
        "brier_score": ((proba**2).sum(axis=0) + 1 - 2 * (actual * proba).sum(axis=0)).mean(),
        "expected_calibration_error": np.abs(expected_cells(top, cells) - expected_cells(right, cells)).sum(),
        "classwise_calibration_error": np.abs(
            expected_cells(proba, all_cells) - expected_cells(actual, all_cells)
        ).sum(),
    }


def of_differences(repeats, table):
    """The team's error less a partner's."""
    for where, (won, lost) in DISCORDANT.items():
        rng = np.random.default_rng(1)
        for size in SIZES:
            for _ in range(100 * repeats):
                difference = rng.choice([-1.0, 1.0, 0.0], size, p=[won, lost, 1 - won - lost])
                found = difference_score(difference, np.ones(size), resampling(size, 2, rng))
                held = found.low <= lost - won <= found.high
                table["difference of evaluate, 95 %", where][size].append((held, np.nan))


def of_worlds(repeats, table):
    """A team of one person and a model in each world, whose parameters are drawn anew each time."""
    for place, world in enumerate(WORLDS):
        for size in (10, *SIZES):
            outcomes = []
            for repeat in range(4 * repeats):
                rng = np.random.default_rng([place, size, repeat])
                draw = world_of(world, rng)
                X, y = draw(20 * size)
                known = np.arange(len(y))
                if world == "agree":
                    known = known[X[:, 0] == X[:, 1:].argmax(axis=1)]
                rows = known[:size]
                if len(np.unique(y[rows])) < X.shape[1] - 1:
                    continue
                outcomes.append(team_claims(X[rows], y[rows], *draw(1500)))
            record(outcomes, "all simulated worlds", world, size, table)


def of_sets(repeats, table, sets):
    """The sets with a model: one answer per item drawn at random, judged on the items that the team did not see."""
    for name, data in sets.items():
        if data.proba is None:
            continue
        for size in (10, *SIZES):
            outcomes = []
            for repeat in range(repeats):
                rng = np.random.default_rng([size, repeat])
                shuffled = rng.permutation(len(data.item))
                item, first = np.unique(data.item[shuffled], return_index=True)
                X = np.column_stack([data.answer[shuffled][first], data.proba[item]])
                order = rng.permutation(len(item))
                here, there = order[:size], order[size:][:1000]
                seen = np.isin(np.arange(data.n_classes), data.truth[item][here])
                if len(there) < 200 or not seen.any():
                    continue
                outcomes.append(team_claims(X[here], data.truth[item][here], X[there], data.truth[item][there]))
            record(outcomes, "all sets with a model", name, size, table)


def team_claims(X, y, new, truth):
    """Stated chance and whether it came, held-out and fresh error, expected and realised gain."""
    team = th.recommended().fit(X, y)
    unasked = np.column_stack([np.full(len(new), -1), new[:, 1:]])
    error, before = np.mean(team.predict(new) != truth), np.mean(team.predict(unasked) != truth)
    better = min(np.mean(new[:, 0] != truth), np.mean(new[:, 1:].argmax(axis=1) != truth))
    came = 0.5 if error == better else float(error < better)
    found = team.holdout_
    promised = th.expected_gain(team, unasked).mean()
    return found.chance_best, came, found.errors / found.n, error, promised, before - error


def record(outcomes, together, where, size, table):
    """Bins of chances over all worlds or sets, and ratios for each."""
    if not outcomes:
        return
    for chance, came, *_ in outcomes:
        table[f"errs less, said {min(int(10 * chance), 9) / 10 + 0.05:.2f}", together][size].append((came, np.nan))
    _, _, held_out, fresh, promised, realised = np.mean(outcomes, axis=0)
    table["fresh less held-out error, said 0", where][size].append((fresh - held_out, np.nan))
    table["gain came less gain said, said 0", where][size].append((realised - promised, np.nan))
    table["gain came less gain said, said 0", together][size].append((realised - promised, np.nan))


def world_of(world, rng):
    """A function from a number of items to observations and truth, with parameters drawn for this world."""
    n_classes = 2 if world in ("weak correlated person", "1 : 99") else int(rng.choice([2, 3, 5, 10]))
    prevalence = np.array([0.99, 0.01]) if world == "1 : 99" else np.full(n_classes, 1 / n_classes)
    strength = rng.uniform(0.3, 0.9) if world == "weak model" else rng.uniform(0.8, 3.5)
    ability, sharpness, slope = rng.uniform(0.6, 3.0), rng.uniform(0.5, 3.0), rng.uniform(0.3, 1.2)
    spread = rng.uniform(0.8, 2.2) if world in ("shared difficulty", "agree") else 0.0

    def draw(size):
        truth, hard = rng.choice(n_classes, size, p=prevalence), rng.normal(0, spread, size)
        logits = rng.normal(0, 1, (size, n_classes))
        logits[np.arange(size), truth] += np.maximum(strength + slope * hard, -1.0)
        model = logits.argmax(axis=1)
        chance = expit(ability + hard)
        if world == "weak correlated person":
            chance = np.where(model == truth, 0.8, 0.15)
        if world == "adversary":
            chance = np.full(size, 0.1)
        wrong = (truth + rng.integers(1, n_classes, size)) % n_classes
        wrong = np.where((rng.random(size) < 0.6) & (model != truth), model, wrong)
        human = np.where(rng.random(size) < chance, truth, wrong)
        return np.column_stack([human, softmax(sharpness * logits + np.log(prevalence), axis=1)]), truth

    return draw
