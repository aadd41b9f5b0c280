"""``python -m benchmarks.honesty [--data DIR] [--repeats N] [--only TEXT]``: how often what is stated holds.

One line per claim and world or set: the level stated, how often it held with 30, 60, 100, 300 and all truths (and
with none, where the claim is about beliefs), the mean width over that of the labelled items alone (Jeffreys), and the
number of cases: fits, tables or curves.

Of the real sets, people with at least 20 answers are looked at, and what is to be covered is their accuracy over all
items of the set. With all truths that accuracy is known: there the items are drawn with replacement, and the interval
has to cover the accuracy of the whole set. In the worlds it is the accuracy of the process that is to be covered.

The method was first chosen on half of the sets (chaoyang, imagenet, ecg and four crowds), the half "first". The
half "second" was then looked at: it showed that people without a single error were never covered. Since then rules were
settled with both in sight: the ends of an interval (0 or 1 where less than half an answer away), how much of the
uncertainty about answers to come is added, how much more shares of few answers scatter than abilities, and that no
crowd is sure never to err. For people's intervals no set is held out any more.

Lines of `annotator_stats_` are about the numbers that users see; the others are about the kernels behind them.

Two repeats take about five minutes on one core. "truth where both agree" must fail: where the labelled items are not a
random part of all, nothing is known of the others.
"""

import argparse
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import beta

from benchmarks import DATA
from benchmarks.honesty_claims import of_teams
from benchmarks.honesty_headline import of_headline
from benchmarks.honesty_intervals import of_differences, of_intervals
from benchmarks.honesty_learning import of_learning
from benchmarks.honesty_models import of_calibration, of_independence
from benchmarks.honesty_people import stated_claims, stated_with_all, stated_without, team_of
from benchmarks.honesty_sets import SECOND_HALF, WORLDS, real_sets, simulated
from twoheads.kernels.inference.believed import believed_shares
from twoheads.kernels.inference.grouped_rows import one_group, rows_of
from twoheads.kernels.inference.intervals import effective_counts, jeffreys_interval
from twoheads.kernels.inference.people import Evidence, measured_ratios, measured_shares
from twoheads.kernels.inference.prediction_powered import powered_means

SIZES = (30, 60, 100, 300, "all")
#: Columns of the table; 10 labels are for claims about teams.
COLUMNS = (0, 10, *SIZES[:-1], 1000, "all")
LEVEL = 0.9
FOLDS = 5
#: The claim about what users see; the others are about the kernels behind it.
STATED = "annotator_stats_"
#: People with fewer answers have no accuracy to speak of.
FEWEST = 20


def out_of_fold(data, seen, labelled, rng, folds=FOLDS):
    """Posteriors from teams that were fitted to labelled items alone, never to the item: (n_items, n_classes).

    An item without truth has the mean of the folds' posteriors. A person's own answer is kept: without it beliefs are
    less correlated with being right (.86 instead of .92 on chaoyang, .74 instead of .76 on zencrowd).
    """
    elsewhere = np.setdiff1d(np.arange(len(data.truth)), labelled)
    fold = rng.permutation(len(labelled)) % folds
    posterior = np.zeros((len(data.truth), data.n_classes))
    for at in range(folds):
        fitted, judged = labelled[fold != at], labelled[fold == at]
        proba = (
            team_of(data)
            .fit(seen.take(fitted), data.truth[fitted])
            .predict_proba(seen.take(np.concatenate([judged, elsewhere])))
        )
        posterior[judged] = proba[: len(judged)]
        posterior[elsewhere] += proba[len(judged) :] / folds
    return posterior


def split_rows(data, labelled):
    """Which answers are about labelled items, and the rows of both kinds."""
    known = np.isin(data.item, labelled)
    return known, *(rows_of(data.person[part], data.n_people, cluster=data.item[part]) for part in (known, ~known))


def alone(right, count):
    """The width of Jeffreys' interval on labelled answers alone."""
    low, high = (beta.ppf(tail, right + 0.5, count - right + 0.5) for tail in (0.05, 0.95))
    return high - low


def covered(interval, target, widths):
    """How often a target is in its interval, and the mean width over that of the labelled items alone."""
    low, high = interval
    known = np.isfinite(target)
    held = ((low <= target + 1e-12) & (target <= high + 1e-12))[known]
    return held.mean(), (high - low)[known].mean() / widths[known].mean()


def measured_claims(data, posterior, labelled, accuracy, used):
    """{claim: (held, relative width)} with some truths."""
    known, here, there = split_rows(data, labelled)
    right, belief = data.right, posterior[data.item, data.answer]
    count = np.bincount(here.group, minlength=data.n_people).astype(float)
    correct = np.bincount(here.group, right[known], data.n_people)
    shares = measured_shares(right[known], belief[known], here, belief[~known], there)
    widths = alone(correct, count)
    found = {
        "a person's accuracy": covered([end[used] for end in shares.interval(LEVEL)], accuracy[used], widths[used])
    }
    found["people's mean accuracy"] = crowd_claim(data, belief, known, accuracy)
    found["sensitivity and specificity"] = class_claim(data, posterior, known, here, there)
    return {claim: outcome for claim, outcome in found.items() if outcome is not None}


def crowd_claim(data, belief, known, accuracy):
    """The mean over all answers, which depend on each other within an item; t on the same without beliefs is 1."""
    here, there = (one_group(int(part.sum()), cluster=data.item[part]) for part in (known, ~known))
    outcome = data.right[known]
    means = powered_means(outcome, belief[known], here, belief[~known], there)
    plain = powered_means(outcome, np.zeros_like(outcome), here, np.zeros((~known).sum()), there)
    target = np.average(accuracy, weights=np.bincount(data.person, minlength=data.n_people))
    low, high = jeffreys_interval(*effective_counts(outcome, here, means), LEVEL)
    lower, upper = jeffreys_interval(*effective_counts(outcome, here, plain), LEVEL)
    return covered((low, high), np.array([target]), upper - lower)


def class_claim(data, posterior, known, here, there):
    """Each person's sensitivity and specificity for each class, where 20 answers of the kind exist."""
    held, widths = [], []
    truth, everything = data.truth[data.item], rows_of(data.person, data.n_people)
    for label in range(data.n_classes):
        for kind in (True, False):
            bottom, answer = (truth == label) == kind, (data.answer == label) == kind
            believed = posterior[data.item, label] if kind else 1.0 - posterior[data.item, label]
            top = Evidence((bottom & answer)[known] * 1.0, (believed * answer)[known], (believed * answer)[~known])
            below = Evidence(bottom[known] * 1.0, believed[known], believed[~known])
            low, high = measured_ratios(top, below, here, there).interval(LEVEL)
            of_class = np.bincount(everything.group, bottom, data.n_people)
            labelled = np.bincount(here.group, bottom[known], data.n_people)
            use = of_class >= FEWEST
            if use.any():
                target = np.bincount(data.person, bottom & answer, data.n_people)[use] / of_class[use]
                held += ((low[use] <= target) & (target <= high[use])).tolist()
                plain = np.bincount(here.group, (bottom & answer)[known], data.n_people)[use]
                widths.append([(high - low)[use].sum(), alone(plain, labelled[use]).sum()])
    return (np.mean(held), np.divide(*np.sum(widths, axis=0))) if held else None


def redrawn(data, rng):
    """As many items, drawn with replacement, with all their truths: right, person and item of each answer."""
    drawn = rng.integers(0, len(data.truth), len(data.truth))
    times = np.bincount(drawn, minlength=len(data.truth))[data.item]
    answer = np.repeat(np.arange(len(data.item)), times)
    copy = np.arange(len(answer)) - np.repeat(np.cumsum(times) - times, times)
    return data.right[answer], data.person[answer], data.item[answer] + len(data.truth) * copy


def all_truths(right, person, item, accuracy, used):
    """People's accuracies where every truth is known."""
    n_people, none = len(accuracy), np.array([], dtype=np.intp)
    item = np.unique(item, return_inverse=True)[1]
    rows, empty = rows_of(person, n_people, cluster=item), rows_of(none, n_people, cluster=none)
    shares = measured_shares(right, np.zeros_like(right), rows, np.zeros(0), empty)
    widths = alone(np.bincount(person, right, n_people), np.bincount(person, minlength=n_people))
    return covered([end[used] for end in shares.interval(LEVEL)], accuracy[used], widths[used])


def no_truth(data, seen, accuracy, used):
    """People's accuracies as the team believes them; there is nothing to compare its width with."""
    posterior = team_of(data).fit(seen).predict_proba(seen)
    right = np.bincount(data.person, posterior[data.item, data.answer], data.n_people)
    low, high = believed_shares(right, np.bincount(data.person, minlength=data.n_people)).interval(LEVEL)
    return covered((low[used], high[used]), accuracy[used], np.ones(used.sum()))


def chosen_items(data, size, rng):
    """So many items at random; where truth is known only where both agree, among those."""
    order = rng.permutation(len(data.truth))
    if data.name == "truth where both agree":
        votes = np.zeros((len(data.truth), data.n_classes))
        np.add.at(votes, (data.item, data.answer), 1.0)
        agree = votes.argmax(axis=1) == data.proba.argmax(axis=1)
        order = order[agree[order]]
    return np.sort(order[:size])


def of_data(data, accuracy, repeats, fresh, table):
    """All claims about people on one set or world; ``fresh`` where the accuracy is that of the process."""
    seen, used = data.observations(), np.bincount(data.person) >= FEWEST
    for size in SIZES[:-1]:
        if size > 0.8 * len(data.truth):
            continue
        for repeat in range(repeats):
            rng = np.random.default_rng(1000 * repeat + size)
            labelled = chosen_items(data, size, rng)
            posterior = out_of_fold(data, seen, labelled, rng)
            for claim, outcome in measured_claims(data, posterior, labelled, accuracy, used).items():
                table[claim, data.name][size].append(outcome)
            table[STATED, data.name][size].append(stated_claims(data, seen, labelled, accuracy, used))
    for repeat in range(repeats):
        rng = np.random.default_rng(repeat)
        sample = (data.right, data.person, data.item) if fresh else redrawn(data, rng)
        table["a person's accuracy", data.name]["all"].append(all_truths(*sample, accuracy, used))
        table[STATED, data.name]["all"].append(stated_with_all(data, seen, accuracy, used, rng, fresh))
    table["a person's accuracy, believed", data.name][0].append(no_truth(data, seen, accuracy, used))
    table[f"{STATED}, believed", data.name][0].append(stated_without(data, seen, accuracy, used))


def level_of(claim):
    if "stated " in claim:
        return float(claim.split("stated ")[-1])
    return 0.05 if "p <" in claim else 0.95 if "95 %" in claim else LEVEL


def half_of(where, sets):
    if where not in sets:
        return "simulated"
    return "second" if where in SECOND_HALF else "first"


def printed(table, sets):
    """The table, and per claim and half the mean over sets and sizes."""
    head = [f"{size!s:>6}" for size in COLUMNS]
    print(f"{'claim':44}{'where':26}{'half':11}{'level':>6} " + "".join(head) + f"{'mean':>7}{'width':>7}{'cases':>7}")
    halves = defaultdict(list)
    for (claim, where), by_size in sorted(table.items()):
        means = {size: np.mean(outcomes, axis=0) for size, outcomes in by_size.items()}
        cells = "".join(f"{means[size][0]:6.2f}" if size in means else "     ." for size in COLUMNS)
        held, width = np.mean(list(means.values()), axis=0)
        half = half_of(where, sets)
        halves[claim, half].append((held, width))
        cases = sum(map(len, by_size.values()))
        print(f"{claim:44}{where:26}{half:11}{level_of(claim):6.2f} {cells}{held:7.2f}{width:7.2f}{cases:7}")
    print()
    for (claim, half), outcomes in sorted(halves.items()):
        held, width = np.mean(outcomes, axis=0)
        print(f"{claim:44}{half:11}{level_of(claim):6.2f}  mean {held:.3f}  lowest {min(outcomes)[0]:.2f}  {width:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="people, intervals, learning or team; or worlds and sets by name")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    table = defaultdict(lambda: defaultdict(list))
    sets = real_sets(given.data)
    named = "" if given.only == "people" else given.only
    for name in (name for name in WORLDS if named in name):
        for seed in range(given.repeats):
            of_data(*simulated(name, seed), 2, True, table)
    for name, data in sets.items():
        if named in name:
            of_data(data, data.accuracy(), given.repeats, False, table)
    if not given.only:
        of_calibration(given.repeats, table)
        of_independence(given.repeats, table)
        of_headline(given.repeats, table)
    if given.only in ("", "intervals"):
        of_intervals(given.repeats, table)
        of_differences(given.repeats, table)
    if given.only in ("", "learning"):
        of_learning(given.repeats, table)
    if given.only in ("", "team"):
        of_teams(given.repeats, table, sets)
    printed(table, sets)


if __name__ == "__main__":
    main()
