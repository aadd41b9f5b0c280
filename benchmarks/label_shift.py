"""``python -m benchmarks.label_shift [DIR] [--draws N]``: class shares that differ from those at fit, or not.

One person and one model. A team is fitted on n labels and up to 500 items without. "EM" is that of Saerens et al.
(2002) with the prevalence of the labels; "known" corrects to the true shares.

On the real sets of a folder with more than two classes: items at hand are drawn as they are, or with class shares that
are a geometric series, as steep as the set allows but no steeper than 0.7; the team is fitted on those left. No item is
drawn twice: 300 draws from 180 images say of a class what its few images say, however many draws there are. What that
would do is measured too, with truths drawn from the team's own posteriors, so that nothing else is wrong.

In simulated worlds, where items never run out: also how often 95 % intervals of shares hold those of the world from
which the items at hand come, and those of the items at hand themselves.
"""

import argparse
import warnings
from copy import copy

import numpy as np

import twoheads as th
from benchmarks import DATA
from benchmarks.real_sets import find_sets
from twoheads.evaluation import log_loss

SIZES, AT_HAND, UNLABELLED = (30, 100, 300), (100, 300, 1000), 500
RATIOS, MOST_OF_A_CLASS, TRIES = (0.7, 0.75, 0.8, 0.85), 0.85, 100
#: Classes, and how far apart they are.
WORLDS, SHIFTS = ((2, 1.5), (4, 1.8), (10, 2.4), (16, 2.8)), ("none", "geometric", "any")
#: Of items drawn with repetition, see `repeated`.
TRUTHS = ("real", "right", "right, fresh")
METHODS = ("as at fit", "class_prior='shift'", "EM", "known")


def em_log_ratio(posterior, at_fit):
    shares = at_fit
    for _ in range(500):
        each = posterior * (shares / at_fit)
        shares = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.log(np.maximum(shares, 1e-12) / at_fit)


def fitted(X, y, n):
    """A team, from the first n labels."""
    return th.recommended(class_prior="shift").fit(X, np.where(np.arange(len(y)) < n, y, -1))


def as_at_fit(team, X):
    """Posteriors at the class shares of the fit, (n_items, n_classes)."""
    return copy(team).set_params(class_prior="model").predict_proba(X)


def losses(team, X, truth, known):
    """Log loss of each of `METHODS`, and the class shares that were found.

    known  (n_classes,) log of the true shares over those at fit
    """
    found, posterior = team.class_shares(X), as_at_fit(team, X)
    ratios = np.zeros(len(known)), found.log_ratio, em_log_ratio(posterior, team.prevalence_), known
    corrected = (posterior * np.exp(ratio) for ratio in ratios)
    return [log_loss(truth, p / p.sum(axis=1, keepdims=True), classes=range(len(known))) for p in corrected], found


def other_counts(there, n, rng):
    """How many of each class make about n items of a geometric series of shares; None where the set has too few."""
    for ratio in RATIOS:
        series = ratio ** np.arange(len(there))
        for _ in range(TRIES):
            counts = np.maximum(np.rint(n * rng.permutation(series / series.sum())), 1).astype(int)
            if (counts <= MOST_OF_A_CLASS * there).all():
                return counts
    return None


def on_set(data, n, at_hand, shifted, rng):
    """Log losses on a real set; None where it has too few items."""
    there = np.bincount(data.truth, minlength=data.proba.shape[1])
    counts = other_counts(there, at_hand, rng) if shifted else None
    if (shifted and counts is None) or len(data.truth) < at_hand + n + UNLABELLED / 2:
        return None
    mixed = rng.permutation(len(data.truth))
    if shifted:
        here = np.concatenate([mixed[data.truth[mixed] == each][:count] for each, count in enumerate(counts)])
        others = rng.permutation(np.setdiff1d(mixed, here))
        known = np.log(counts / (there - counts))
    else:
        here, others, known = mixed[:at_hand], mixed[at_hand:], np.zeros(len(there))
    X, rows = data.drawn(rng), others[: n + UNLABELLED]
    return losses(fitted(X[rows], data.truth[rows], n), X[here], data.truth[here], known)[0]


def repeated(data, n, at_hand, how, rng):
    """Log losses on items drawn with repetition, of a series of shares as steep as 0.7; None where a set is small.

    how  whose truth: the set's ("real"), or drawn from the team's posteriors, so that these are right, once for each
         image ("right") or for each draw, as if no image were drawn twice ("right, fresh")
    """
    if len(data.truth) < n + 1.2 * UNLABELLED:
        return None
    X, mixed = data.drawn(rng), rng.permutation(len(data.truth))
    rows, others = np.split(mixed, [min(n + UNLABELLED, round(0.7 * len(mixed)))])
    team = fitted(X[rows], data.truth[rows], n)
    posterior, real = as_at_fit(team, X[others]), data.truth[others]
    series = 0.7 ** rng.permutation(posterior.shape[1])
    at_fit = np.bincount(data.truth) / len(data.truth) if how == "real" else as_at_fit(team, X).mean(axis=0)
    if how == "right, fresh":
        known = np.log(series / series.sum() / at_fit)
        joint = posterior * np.exp(known)
        drawn = rng.choice(len(others), at_hand, p=joint.sum(axis=1) / joint.sum())
        return losses(team, X[others[drawn]], any_class(joint[drawn], rng), known)[0]
    truth = real if how == "real" else any_class(posterior, rng)
    there = np.bincount(truth, minlength=len(series))
    shares = np.where(there > 0, series, 0.0) / series[there > 0].sum()
    weight = shares[truth] / there[truth]
    drawn = rng.choice(len(others), at_hand, p=weight / weight.sum())
    return losses(team, X[others[drawn]], truth[drawn], np.log(np.maximum(shares, 1e-9) / at_fit))[0]


def any_class(odds, rng):
    """A class for each row, drawn by its odds, (n_items,)."""
    below = np.cumsum(odds, axis=1) / odds.sum(axis=1, keepdims=True)
    return (rng.random((len(odds), 1)) > below).sum(axis=1).clip(0, odds.shape[1] - 1)


def in_world(n_classes, apart, kind, n, at_hand, rng):
    """Log losses in a simulated world, how often intervals hold its shares and those of the items, and their width."""
    at_fit = rng.dirichlet(np.full(n_classes, 10.0))
    series = 0.7 ** rng.permutation(n_classes)
    shares = {"none": at_fit, "geometric": series / series.sum(), "any": rng.dirichlet(np.ones(n_classes))}[kind]
    accuracy, sharpness = rng.beta(7, 3, n_classes), np.exp(0.4 * rng.normal())

    def items(size, shares):
        truth = rng.choice(n_classes, size, p=shares)
        evidence = rng.normal(size=(size, n_classes))
        evidence[np.arange(size), truth] += apart
        proba = np.exp(sharpness * apart * (evidence - evidence.max(axis=1, keepdims=True)))
        wrong = (truth + rng.integers(1, n_classes, size)) % n_classes
        human = np.where(rng.random(size) < accuracy[truth], truth, wrong)
        return np.column_stack([human, proba / proba.sum(axis=1, keepdims=True)]), truth

    (X, y), (X_here, truth) = items(n + UNLABELLED, at_fit), items(at_hand, shares)
    scores, found = losses(fitted(X, y, n), X_here, truth, np.log(np.maximum(shares, 1e-9) / at_fit))
    targets = shares, np.bincount(truth, minlength=n_classes) / at_hand
    held = [np.mean((found.low <= each) & (each <= found.high)) for each in targets]
    return [*scores, *held, np.mean(found.high - found.low)]


def show(title, table):
    table = np.array([each for each in table if each is not None])
    if not len(table):
        return
    change = (table - table[:, :1]).mean(axis=0)
    shown = "  ".join(f"{name} {value:+.4f}" for name, value in zip(METHODS[1:], change[1:4], strict=True))
    gap = table[:, 1] - table[:, 3]
    held = ""
    if table.shape[1] > 4:
        world, items, width = table[:, 4:].mean(axis=0)
        held = f"  95 % intervals hold the world's {world:.3f}, the items' {items:.3f}, width {width:.3f}"
    print(
        f"  {title}, {len(table):3d} fits: as at fit {table[:, 0].mean():.4f}  {shown}"
        f"  above known {gap.mean():+.4f} ± {gap.std() / np.sqrt(len(gap)):.4f}{held}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=DATA)
    parser.add_argument("--draws", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = [data for data in find_sets(options.folder)[0] if data.proba.shape[1] > 2]
    settings = [(at_hand, n) for at_hand in AT_HAND for n in SIZES]
    pairs = [(at, data, seed) for at, data in enumerate(sets) for seed in range(options.draws)]
    for shifted in (False, True):
        print(f"sets, {'shifted' if shifted else 'not shifted'}; log loss less that as at fit")
        for at_hand, n in settings:
            rows = [on_set(data, n, at_hand, shifted, np.random.default_rng([seed, at])) for at, data, seed in pairs]
            show(f"{at_hand:4d} at hand, n = {n:3d}", rows)
    for how in TRUTHS:
        print(f"sets, shifted, drawn with repetition, truth: {how}")
        for at_hand, n in settings[3:]:
            rows = [repeated(data, n, at_hand, how, np.random.default_rng([seed, at])) for at, data, seed in pairs]
            show(f"{at_hand:4d} at hand, n = {n:3d}", rows)
    for kind in SHIFTS:
        print(f"simulated worlds, {kind} shift")
        for at_hand, n in settings[3:]:
            each = [(world, seed) for world in WORLDS for seed in range(3 * options.draws)]
            rows = [in_world(*world, kind, n, at_hand, np.random.default_rng([seed, world[0]])) for world, seed in each]
            show(f"{at_hand:4d} at hand, n = {n:3d}", rows)


if __name__ == "__main__":
    main()
