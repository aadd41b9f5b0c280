"""Teams of many people on real and simulated crowds: ``python -m benchmarks.crowd [--data DIR] [--only NAME]``.

Each line is a number, the bar it is held to, and whether it holds. ``plain`` is P+L with all answers as those of one
anonymous person; CROWDLAB is cleanlab's, which has no use for labels and sees the judged items alone.
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import twoheads as th
from benchmarks import DATA
from benchmarks.cost import RESULTS, machine, peak_copies, together
from benchmarks.real_crowds import cifar10h, cifar10s, imagenet16h
from benchmarks.real_sets import UnreadableSet
from benchmarks.simulation import simulate, simulate_crowd
from twoheads.evaluation import error_rate, expected_calibration_error, log_loss

SIZES = ("all", 100, 0)
METHODS = ("recommended", "plain", "CROWDLAB")
NLL, ECE, ERROR = "log loss", "ECE %", "error %"


@dataclass(frozen=True)
class Line:
    """A number and its bar: at most (or, if ``least``, at least) ``limit``; none where it is only printed."""

    what: str
    value: float
    limit: float | None = None
    least: bool = False

    @property
    def holds(self):
        """Whether the number is on the right side of its bar."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.least else self.value <= self.limit

    def __str__(self):
        if self.limit is None:
            return f"{self.what:78}{self.value:9.4f}"
        sense = "at least" if self.least else "at most"
        return f"{self.what:78}{self.value:9.4f}  {sense} {self.limit:.4f}{'' if self.holds else '   <-- missed'}"


def known(truth, size, rng):
    """The truth of so many of the items; None where it is of none."""
    if size == "all" or size == 0:
        return truth if size else None
    some = rng.permutation(len(truth))[:size]
    return np.where(np.isin(np.arange(len(truth)), some), truth, -1)


def judged(truth, proba):
    """Log loss, calibration error in per cent, and error in per cent."""
    return {
        NLL: log_loss(truth, proba),
        ECE: 100 * expected_calibration_error(truth, proba),
        ERROR: 100 * error_rate(truth, proba),
    }


def crowdlab(labels, proba):
    """The posterior of cleanlab's CROWDLAB, from what it gives out: a weighted mean of the model and the answers."""
    from cleanlab.multiannotator import get_label_quality_multiannotator

    found = get_label_quality_multiannotator(
        labels, proba, verbose=False, return_detailed_quality=False, return_annotator_stats=False, return_weights=True
    )
    quality, weight = found["label_quality"], found["annotator_weight"]
    likely = quality["annotator_agreement"][quality["num_annotations"] != 1].mean()
    item, person = np.nonzero(~np.isnan(labels))
    n_classes = proba.shape[1]
    posterior = found["model_weight"] * proba
    total = np.bincount(item, weight[person], len(proba))
    votes = np.bincount(item * n_classes + labels[item, person].astype(int), weight[person], proba.size)
    wrong = (1 - likely) / (n_classes - 1)
    posterior += votes.reshape(proba.shape) * (likely - wrong) + total[:, None] * wrong
    return posterior / (total + found["model_weight"])[:, None]


def compared(crowd, learn, judge, sizes, rng, methods=METHODS):
    """{(method, size): scores} on the items to judge."""
    found, truth = {}, crowd.truth[judge]
    for size in sizes:
        y = known(crowd.truth[learn], size, rng)
        for name in (each for each in methods if each != "CROWDLAB"):
            named = name == "recommended"
            team = th.recommended() if named else th.ProbabilityLabelCombiner()
            team.fit(crowd.observations(learn, named=named), y)
            found[name, size] = judged(truth, team.predict_proba(crowd.observations(judge, named=named)))
    if "CROWDLAB" in methods:
        found["CROWDLAB", 0] = judged(truth, crowdlab(crowd.wide(judge), crowd.proba[judge]))
    return found


def averaged(trials):
    """{(method, size): mean scores}."""
    return {
        key: {score: float(np.mean([each[key][score] for each in trials])) for score in trials[0][key]}
        for key in trials[0]
    }


def of_cifar10h(crowd, per_item, *, splits, sizes=SIZES, methods=METHODS):
    """Mean scores with so many answers per image: 7,000 images to learn from, 3,000 to judge."""
    trials = []
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        drawn = crowd.drawn(per_item, rng)
        learn, judge = np.split(rng.permutation(len(crowd.truth)), [round(0.7 * len(crowd.truth))])
        trials.append(compared(drawn, learn, judge, sizes, rng, methods))
    return averaged(trials)


def cifar10h_lines(folder, splits):
    for model, crowd in cifar10h(folder).items():
        title = f"CIFAR-10H, {model}"
        three = of_cifar10h(crowd, 3, splits=splits)
        yield from lines_of_scores(f"{title}, 3 answers", three)
        for size, ratio, ece in (("all", 0.65, 0.45), (100, 0.7, 0.7)):
            ours, plain = three["recommended", size], three["plain", size]
            yield Line(f"{title}, 3 answers, {size} labels: log loss / plain's", ours[NLL] / plain[NLL], ratio)
            yield Line(f"{title}, 3 answers, {size} labels: ECE %", ours[ECE], ece)
        ours, theirs = three["recommended", 100][ERROR], three["CROWDLAB", 0][ERROR]
        yield Line(f"{title}, 100 labels: error - plain's", ours - three["plain", 100][ERROR], 0.1)
        yield Line(f"{title}, 100 labels: error - CROWDLAB's", ours - theirs, 0.1)
        none = three["recommended", 0]
        limit = 0.065 if model == "ResNet-110" else 0.055
        yield Line(f"{title}, 3 answers, no labels: log loss", none[NLL], limit)
        yield Line(f"{title}, 3 answers, no labels: ECE %", none[ECE], 0.8)
        yield Line(f"{title}, no labels: error - CROWDLAB's", none[ERROR] - theirs, 0.0)
        ten, fifty = (of_cifar10h(crowd, n, splits=splits, methods=METHODS[:1]) for n in (10, 50))
        for size in SIZES:
            more, less = fifty["recommended", size][NLL], ten["recommended", size][NLL]
            yield Line(f"{title}, {size} labels: log loss with 50 answers (with 10: {less:.4f})", more, less)


def of_imagenet16h(crowd, *, folds=5, sizes=SIZES, seed=0):
    """Mean scores over so many of five folds of the images, all answers."""
    rng = np.random.default_rng(seed)
    parts, trials = np.array_split(rng.permutation(len(crowd.truth)), 5), []
    for at in range(folds):
        learn = np.concatenate(parts[:at] + parts[at + 1 :])
        trials.append(compared(crowd, learn, parts[at], sizes, rng))
    return averaged(trials)


def imagenet16h_lines(folder, splits):
    for noise in (80, 110):
        for model, crowd in imagenet16h(folder, noise).items():
            title, found = f"ImageNet-16H, noise {noise}, {model}", of_imagenet16h(crowd)
            yield from lines_of_scores(title, found)
            for size in ("all", 100):
                ratio = found["recommended", size][NLL] / found["plain", size][NLL]
                yield Line(f"{title}, {size} labels: log loss / plain's", ratio, 0.5)
            ours, theirs = found["recommended", 0], found["CROWDLAB", 0]
            yield Line(f"{title}, no labels: log loss / CROWDLAB's", ours[NLL] / theirs[NLL], 0.6)
            yield Line(f"{title}, no labels: error - CROWDLAB's", ours[ERROR] - theirs[ERROR], 0.5)


def lines_of_scores(title, found):
    """All scores, without a bar."""
    for (method, size), scores in found.items():
        labels = f"{size} labels" if size else "no labels"
        for score, value in scores.items():
            yield Line(f"  {title}, {labels}, {method}: {score}", value)


def matrix_per_person(crowd, seed, *, n_people=300, n_answers=25):
    """Log loss from 25 answers of each person with truth, on one other answer per item: {estimate: log loss}."""
    rng = np.random.default_rng(seed)
    people, count = np.unique(crowd.person, return_counts=True)
    mine = crowd.some(np.isin(crowd.person, rng.permutation(people[count > 2 * n_answers])[:n_people]))
    order = rng.permutation(len(mine.item))
    order = order[np.argsort(mine.person[order], kind="stable")]
    rank = np.arange(len(order)) - np.searchsorted(mine.person[order], mine.person[order])
    first = mine.some(order[rank < n_answers])
    others = mine.some(order[rank >= n_answers])
    learn = np.unique(first.item)
    others = others.some(~np.isin(others.item, learn)).drawn(1, rng)
    judge = np.unique(others.item)
    found = {}
    for name, confusion in (
        ("hierarchical", th.HierarchicalConfusion()),
        ("pooled", th.HierarchicalConfusion()),
        ("separate", th.DirichletConfusion()),
    ):
        team = th.ProbabilityLabelCombiner(confusion, th.TemperatureScaling(), th.Dependence())
        named = name != "pooled"
        team.fit(first.observations(learn, named=named), first.truth[learn])
        found[name] = log_loss(others.truth[judge], team.predict_proba(others.observations(judge, named=named)))
    return found


def person_lines(folder, splits):
    for model, crowd in cifar10h(folder).items():
        trials = [matrix_per_person(crowd, seed) for seed in range(max(splits, 5))]
        for other in ("pooled", "separate"):
            gain = np.array([each[other] - each["hierarchical"] for each in trials])
            noise = gain.std(ddof=1) / np.sqrt(len(gain))
            what = (
                f"a matrix per person from 25 answers, {model}: gain over {other} (± {noise:.4f}, {(gain > 0).sum()}/"
            )
            # One matrix for all is shrunk harder, and as good for people who are alike: no more than noise below it.
            yield Line(f"{what}{len(gain)} seeds)", float(gain.mean()), -float(noise), least=True)


def confidence_gain(crowd, size, seed):
    """What confidences lower the log loss by, and what they cost shuffled within each person; one answer per item."""
    rng = np.random.default_rng(seed)
    drawn = crowd.drawn(1, rng)
    learn, judge = np.split(rng.permutation(len(crowd.truth)), [round(0.7 * len(crowd.truth))])
    shuffled = drawn.confidence.copy()
    for person in np.unique(drawn.person):
        own = np.flatnonzero(drawn.person == person)
        shuffled[own] = shuffled[rng.permutation(own)]
    y, found = known(crowd.truth[learn], size, rng), []
    for each in (None, drawn.confidence, shuffled):
        variant, used = replace(drawn, confidence=each), {"named": False, "confidence": each is not None}
        team = th.recommended().fit(variant.observations(learn, **used), y)
        found.append(log_loss(crowd.truth[judge], team.predict_proba(variant.observations(judge, **used))))
    return found[0] - found[1], found[2] - found[0]


def confidence_lines(folder, splits):
    for model, crowd in cifar10s(folder).items():
        for size in SIZES:
            gain, cost = np.mean([confidence_gain(crowd, size, seed) for seed in range(2 * splits)], axis=0)
            labels = f"{size} labels" if size else "no labels"
            yield Line(f"CIFAR-10S, {model}, {labels}: gain in log loss by confidence", gain, 0.005, least=True)
            yield Line(f"CIFAR-10S, {model}, {labels}: cost of shuffled confidence", cost, 0.002)


def recovered(seed, *, n_items=2000):
    """Correlation of believed and true accuracies of 200 people, and how many 90 % intervals hold the true one."""
    rng = np.random.default_rng(seed)
    accuracy = rng.beta(8, 2, 200)
    seen, _ = simulate_crowd(n_items, accuracy, per_item=10, n_classes=5, rng=rng)
    stats = th.recommended().fit(replace(seen, model_proba=(), models=())).annotator_stats_
    inside = (stats["accuracy_low"] < accuracy) & (accuracy < stats["accuracy_high"])
    return np.corrcoef(stats["accuracy"], accuracy)[0, 1], inside.mean()


def recovery_lines(folder, splits):
    correlation, coverage = np.mean([recovered(seed) for seed in range(max(splits, 5))], axis=0)
    yield Line("recovery without truth: correlation of believed and true accuracies", correlation, 0.94, least=True)
    # No upper bar: believed intervals also carry shared errors, which agreement cannot show and this world lacks.
    yield Line("recovery without truth: 90 % intervals that hold the true accuracy", coverage, 0.87, least=True)


def cost_lines(folder, splits):
    X, truth = simulate(1_000_000, 10)
    accuracy = np.random.default_rng(0).beta(8, 2, 10_000)
    for per_item, given, manner in ((3, 1.0, "3 each"), (6, 0.5, "0 to 6 each")):
        rng = np.random.default_rng(1)
        seen, _ = simulate_crowd(
            len(truth), accuracy, per_item=per_item, n_classes=10, rng=rng, model=(X[:, 1:], truth), given=given
        )
        proba = seen.model_proba[0]

        def em(iterations, seen=seen):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return th.recommended().set_params(max_iter=iterations, tol=0.0).fit(seen)

        exp, one, six = together([lambda proba=proba: np.exp(proba), lambda em=em: em(1), lambda em=em: em(6)], 5)
        what = f"1,000,000 items, 10,000 people, 3,000,000 answers, {manner}"
        yield Line(f"{what}: one EM iteration in numpy.exp", (six - one) / 5 / exp, 25)
        copies = peak_copies(lambda em=em: em(2), proba)
        yield Line(f"{what}: memory of a fit in copies of the model's array", copies, 4)


SECTIONS = {
    "cost": cost_lines,
    "recovery": recovery_lines,
    "confidence": confidence_lines,
    "person": person_lines,
    "imagenet16h": imagenet16h_lines,
    "cifar10h": cifar10h_lines,
}


def main(arguments=None):
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowd", description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", default=DATA, type=Path, help="the folder of cifar10h, cifar10s and imagenet16h")
    parser.add_argument("--splits", type=int, default=5, help="splits of CIFAR-10H (twice as many of CIFAR-10S)")
    parser.add_argument("--only", action="append", default=[], choices=SECTIONS, help="may be repeated")
    parser.add_argument("--out", type=Path, default=RESULTS / "crowd.json", help="where all numbers are kept")
    options = parser.parse_args(arguments)
    kept = json.loads(options.out.read_text()) if options.out.exists() and options.only else {}
    for name in options.only or SECTIONS:
        start, rows = time.perf_counter(), []
        try:
            for line in SECTIONS[name](options.data, options.splits):
                rows.append({"what": line.what.strip(), "value": line.value, "limit": line.limit, "holds": line.holds})
                print(line, flush=True)
        except UnreadableSet as error:
            print(f"{name} is left out: {error}")
        took = time.perf_counter() - start
        kept[name] = {"machine": machine(), "seconds": took, "splits": options.splits, "rows": rows}
        print(f"{name}: {took:.0f} s, {sum(not row['holds'] for row in rows)} bars missed", flush=True)
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps(kept, indent=1, default=float) + "\n")
    print(f"kept in {options.out}")


if __name__ == "__main__":
    main()
