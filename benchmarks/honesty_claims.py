"""Claims about a team: "each held out", `chance_best`, `expected_gain`, and sentences of `describe`.

On simulated worlds, and on the sets with a model with one answer per item drawn at random. "stated 0" is the mean of
what was observed less what was stated; a bin of stated chances is named by where it begins. A sentence is looked at
where it is stated: that the correction for dependence lowers the log loss significantly, that people and model err on
the same items, and that one member alone errs less than the combination.
"""

from dataclasses import dataclass, replace

import numpy as np

import twoheads as th
from benchmarks.honesty_worlds import OTHER_WORLDS, WORLDS, any_world_of
from twoheads.kernels.inference.both_wrong import both_wrong_p_value
from twoheads.kernels.simplex import normalise_exp
from twoheads.text import SIGNIFICANCE

SIZES = (30, 100, 300)
GAIN = "realised less expected gain, stated 0"


@dataclass(frozen=True)
class Claims:
    """What a team states, and what was observed on fresh items.

    chance, observed          of erring less than the better partner; a draw is half
    held_out, fresh           errors
    expected, realised        gain of an answer
    effect, lowers            whether it states that the correction for dependence lowers the log loss; whether it does
    together, are_together    whether it states that both err on the same items more often than by chance, None with no
                              label of both; whether they do (p < .05 on the fresh items)
    alone, alone_less         probability that one member alone errs less, None where it is not stated; whether it does
    """

    chance: float
    observed: float
    held_out: float
    fresh: float
    expected: float
    realised: float
    effect: bool
    lowers: bool
    together: bool | None
    are_together: bool
    alone: float | None
    alone_less: bool


def of_teams(repeats, table, sets):
    """All claims of this module."""
    of_worlds(repeats, table)
    of_sets(repeats, table, sets)


def of_worlds(repeats, table):
    """A team of one person and a model in each world, whose parameters are drawn anew each time."""
    for place, world in enumerate((*WORLDS, *OTHER_WORLDS)):
        together = "agree" if world == "agree" else "other worlds" if world in OTHER_WORLDS else "worlds"
        for size in (10, *SIZES):
            outcomes = []
            for repeat in range(4 * repeats):
                rng = np.random.default_rng([place, size, repeat])
                draw = any_world_of(world, rng)
                X, y = draw(20 * size)
                known = np.arange(len(y))
                if world == "agree":
                    known = known[X[:, 0] == X[:, 1:].argmax(axis=1)]
                rows = known[:size]
                if len(np.unique(y[rows])) < (2 if world in OTHER_WORLDS else X.shape[1] - 1):
                    continue
                outcomes.append(team_claims(X[rows], y[rows], *draw(1500)))
            record(outcomes, together, world, size, table)


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
    """`Claims` of a team fitted to one table, on another."""
    team = th.recommended().fit(X, y)
    unasked = np.column_stack([np.full(len(new), -1), new[:, 1:]])
    error, before = np.mean(team.predict(new) != truth), np.mean(team.predict(unasked) != truth)
    members = np.mean(new[:, 0] != truth), np.mean(new[:, 1:].argmax(axis=1) != truth)
    found, rule, block = team.holdout_, team.result().rule, team.observe(new).block(slice(0, len(new)))
    preference = rule.preference
    combined = replace(rule, preference=replace(preference, chances=(1.0, 1.0)))
    plain = replace(rule, preference=None, dependence=rule.dependence.plain())
    proba, product = (normalise_exp(each.log_joint(block)) for each in (combined, plain))
    gain, noise = found.plain_log_loss - found.log_loss, 2 * found.log_loss_gain_se
    wrong = new[:, 0] != truth, new[:, 1:].argmax(axis=1) != truth
    return Claims(
        chance=found.chance_best,
        observed=0.5 if error == min(members) else float(error < min(members)),
        held_out=found.errors / found.n,
        fresh=error,
        expected=th.expected_gain(team, unasked[:300]).mean(),
        realised=before - error,
        effect=bool(found.n >= SIZES[0] and gain > noise),
        lowers=bool(np.log(proba[truth, np.arange(len(truth))] / product[truth, np.arange(len(truth))]).mean() > 0),
        together=found.both_wrong_p < SIGNIFICANCE if found.both_labelled else None,
        are_together=both_wrong_p_value(*wrong, truth.astype(int))[1] < SIGNIFICANCE,
        alone=1.0 - min(preference.chances) if preference.share_alone else None,
        alone_less=bool(members[0 if preference.human_alone else 1] < np.mean(proba.argmax(axis=0) != truth)),
    )


def record(outcomes, together, where, size, table):
    """Bins of chances and sentences over all worlds or sets, and differences for each."""
    for each in outcomes:
        if size >= SIZES[0]:
            start = min(int(10 * each.chance), 9) / 10
            claim = f"errs less, bin {start}: observed less stated 0"
            table[claim, together][size].append((each.observed - each.chance, np.nan))
        if each.effect:
            table["correction: log loss lower, 95 %", together][size].append((each.lowers, np.nan))
        if each.together:
            table["err on the same items, 95 %", together][size].append((each.are_together, np.nan))
        if each.alone is not None:
            table["one alone errs less, stated 0.95", together][size].append((each.alone_less, np.nan))
    if not outcomes:
        return
    means = np.mean([(each.held_out, each.fresh, each.expected, each.realised) for each in outcomes], axis=0)
    table["fresh less held-out error, stated 0", where][size].append((means[1] - means[0], np.nan))
    table[GAIN, where][size].append((means[3] - means[2], np.nan))
    if together != where:
        table[GAIN, together][size].append((means[3] - means[2], np.nan))
