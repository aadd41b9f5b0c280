"""``python -m benchmarks.scale``: how cost grows, what threads give, and what a user would pick instead.

All at the same job in the same run; seconds are the shortest of several runs, made in turns. The floor of a pass is one
``numpy.exp`` and one copy of the (n_items, n_classes) array, on all cores.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import twoheads as th
import twoheads.engines.threads as engine
from benchmarks import rivals
from benchmarks.cost import em, fully_bayesian, keep, reporter, seconds, together
from benchmarks.simulation import simulate, simulate_in_pieces, simulate_people
from twoheads.calibration import temperature
from twoheads.engines.blocks import block_slices, map_blocks
from twoheads.kernels.answers import Answers
from twoheads.kernels.calibration.tempering import temperature_sums
from twoheads.kernels.dependence.mode import dependence_sums
from twoheads.kernels.posterior import joint_log_proba, responsibilities
from twoheads.kernels.simplex import log_simplex, normalise_exp


def fit_and_predict(team, X, truth=None):
    return team.fit(X, truth).predict_proba(X)


def floor(proba):
    """One ``numpy.exp`` and one copy of an array, block by block on all cores."""
    out = np.empty_like(proba)

    def kernel(rows):
        np.exp(proba[rows], out=out[rows])
        out[rows] = proba[rows]

    for _ in map_blocks(kernel, block_slices(*proba.shape)):
        pass


def passes_of(call, n_items):
    """How often all items go through a kernel that takes logarithms or exponentials, in fitting."""
    count = [0]

    def counted(block, *args, **options):
        count[0] += block.n_items
        return temperature_sums(block, *args, **options)

    temperature.temperature_sums = counted
    try:
        call()
    finally:
        temperature.temperature_sums = temperature_sums
    return 1 + count[0] / n_items  # the logarithms are taken once


def processor_seconds(call, repeats):
    """What all cores spend on a call together: hardly disturbed by other programs."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


#: How often the floor is measured at a time, so that it lasts as long as what is compared with it.
FLOORS = 20


def against_rivals(report, n_items):
    """The bars of the design, at a million items and ten classes."""
    X, truth = simulate(n_items, 10)
    proba = np.ascontiguousarray(X[:, 1:])
    ours = th.ProbabilityLabelCombiner()
    passes = passes_of(lambda: ours.fit(X, truth), n_items) + 1
    best, scaling, one_pass = together(
        [
            lambda: fit_and_predict(ours, X, truth),
            lambda: rivals.temperature_scaling(X, truth),
            lambda: [floor(proba) for _ in range(FLOORS)],
        ],
        5,
    )
    one_pass /= FLOORS
    report("P+L: fit + predict_proba", best, "s")
    report("floor of a pass: numpy.exp and a copy, both cores", one_pass, "s")
    report("passes of P+L: fit + predict_proba", passes, "")
    report("P+L / (floor x passes)", best / (one_pass * passes), "times", at_most=4)
    work, least = (
        processor_seconds(call, 5) for call in (lambda: fit_and_predict(ours, X, truth), lambda: floor(proba))
    )
    report("the same in processor seconds", work / (least * passes), "times", at_most=4)
    report("scikit-learn's temperature scaling: fit + predict_proba", scaling, "s")
    report("temperature scaling / P+L", scaling / best, "times as slow", at_least=4)
    item, person, answer = simulate_people(X, truth, 2)
    wide = np.full((n_items, 2), np.nan)
    wide[item, person] = answer
    lab = seconds(lambda: rivals.crowdlab(wide, proba), 1)
    report("CROWDLAB", lab, "s")
    report("CROWDLAB / P+L", lab / best, "times as slow", at_least=20)
    pair = th.as_observations(frame_of(wide, proba))
    both = seconds(lambda: fit_and_predict(th.ProbabilityLabelCombiner(), pair, truth), 3)
    report("P+L on the same two people: fit + predict_proba", both, "s")


def more_rivals(report, n_items):
    """Slow ones, at fewer items."""
    import pandas as pd

    X, truth = simulate(n_items, 10)
    regression = seconds(lambda: rivals.logistic_regression(X, truth), 1)
    plain, ours = together(
        [
            lambda: fit_and_predict(th.ProbabilityLabelCombiner(), X, truth),
            lambda: fit_and_predict(th.recommended(), X, truth),
        ],
        3,
    )
    report("P+L: fit + predict_proba", plain, "s")
    report("recommended: fit + predict_proba", ours, "s")
    report("logistic regression: fit + predict_proba", regression, "s")
    item, person, answer = simulate_people(X, truth, 50, per_item=3)
    long = pd.DataFrame({"task": item, "worker": person, "label": answer})
    skene = seconds(lambda: rivals.dawid_skene(long, 10), 1)
    seen = th.Observations.from_answers(long, classes=np.arange(10))
    report("10 iterations of crowd-kit's Dawid-Skene, 50 people, 3 answers each", skene, "s")
    report("10 iterations of P+L-EM on the same answers", seconds(lambda: em(seen, 10), 2), "s")


def frame_of(wide, proba):
    import pandas as pd

    people = {f"human_{at}": column for at, column in enumerate(wide.T)}
    return pd.DataFrame(people | {f"p_{k}": column for k, column in enumerate(proba.T)})


def kernels(report):
    """One block of 16,384 items and 10 classes, in units of numpy.exp over it."""
    X, truth = simulate(16_384, 10)
    block = th.as_observations(X).block(slice(0, len(X)), true_label=truth)
    z, answers = block.log_proba, Answers(X[:, 0].astype(np.intp))
    table = np.log(np.full((10, 10), 0.02) + 0.8 * np.eye(10))
    given = np.ascontiguousarray(table[answers.column].T)
    unit = seconds(lambda: np.exp(z), 200)
    for name, call in {
        "log_simplex": lambda: log_simplex(X[:, 1:]),
        "temperature_sums": lambda: temperature_sums(block, 0.3),
        "joint_log_proba": lambda: joint_log_proba(z, answers, table),
        "normalise_exp": lambda: normalise_exp(z.copy()),
        "responsibilities": lambda: responsibilities(z, answers, table, None),
        "dependence_sums": lambda: dependence_sums(z, given, truth, None, 0.3, 0.2, np.zeros(10), 0.1),
    }.items():
        report(name, seconds(call, 100) / unit, "x numpy.exp")


def estimators(report, n_items):
    X, truth = simulate(n_items, 10)
    team = th.ProbabilityLabelCombiner().fit(X, truth)
    ours = th.recommended().fit(X, truth)
    for name, call, times in (
        ("P+L: fit", lambda: th.ProbabilityLabelCombiner().fit(X, truth), 5),
        ("P+L with T and the matrix integrated out: fit", lambda: fully_bayesian().fit(X, truth), 2),
        ("recommended: fit", lambda: th.recommended().fit(X, truth), 3),
        ("L+L: fit", lambda: th.LabelLabelCombiner().fit(X, truth), 3),
        ("P+L-EM: 10 iterations", lambda: em(X, 10), 2),
        ("P+L: predict_proba", lambda: team.predict_proba(X), 5),
        ("recommended: predict_proba", lambda: ours.predict_proba(X), 3),
    ):
        report(name, seconds(call, times), "s")
    item, person, answer = simulate_people(X, truth, 5, per_item=3)
    wide = np.full((n_items, 5), np.nan)
    wide[item, person] = answer
    crowd = th.as_observations(frame_of(wide, X[:, 1:]))
    report(
        "team of 5 people, 3 answers each: recommended fit", seconds(lambda: th.recommended().fit(crowd, truth), 1), "s"
    )


def with_threads(n, call):
    def run():
        before, engine.n_threads = engine.n_threads, lambda: n
        try:
            call()
        finally:
            engine.n_threads = before

    return run


def threads(report):
    """Two threads and one, in turns."""
    for n_items, repeats in ((1_000_000, 7), (1_000, 100)):
        X, truth = simulate(n_items, 10)

        def call(X=X, truth=truth):
            fit_and_predict(th.ProbabilityLabelCombiner(), X, truth)

        one, two = together([with_threads(1, call), with_threads(2, call)], repeats)
        least = 1.5 if n_items > 10_000 else 0.95
        report(f"n = {n_items:,}: 2 threads / 1", one / two, "times as fast", at_least=least)


def exponent(sizes, costs, least):
    """The slope of log cost in log size, from some size on."""
    pairs = [(np.log(size), np.log(cost)) for size, cost in zip(sizes, costs, strict=True) if size >= least]
    return float(np.polyfit(*zip(*pairs, strict=True), 1)[0])


#: Jobs that take longer than so many seconds are measured twice: the first time memory is fetched from the system.
LONG = 5.0


def grow(report, name, jobs, sizes, make, least, *, bounded=True):
    """Cost of each job at each size, and with which power of it that grows.

    Sizes are measured in turns: a machine that is slower for a minute is so for all of them.
    """
    tables = [make(size) for size in sizes]
    costs = {job: [0.0] * len(sizes) for job in jobs}
    for turn in range(4):
        for job, call in jobs.items():
            for at, table in enumerate(tables):
                if turn < 2 or costs[job][at] < LONG:
                    cost = seconds(lambda call=call, table=table: call(*table), 1)
                    costs[job][at] = min(cost, costs[job][at] or cost)
    for job in jobs:
        for size, cost in zip(sizes, costs[job], strict=True):
            report(f"{job}, {name} = {size:,}", cost, "s")
        limits = {"at_least": 0.9, "at_most": 1.1} if bounded else {}
        report(f"{job}: exponent in {name} from {least:,} on", exponent(sizes, costs[job], least), "", **limits)


def growth(report, large):
    """In items, classes and people."""
    import pandas as pd

    jobs = {
        "P+L: fit + predict_proba": lambda X, truth: fit_and_predict(th.ProbabilityLabelCombiner(), X, truth),
        "P+L-EM: 5 iterations": lambda X, truth: em(X, 5),
        "recommended: fit + predict_proba": lambda X, truth: fit_and_predict(th.recommended(), X, truth),
    }
    items = [1_000, 10_000, 100_000, 300_000, 1_000_000, *([3_000_000, 10_000_000] if large else [])]
    grow(report, "items", jobs, items, lambda n: simulate_in_pieces(n, 10, piece=100_000), 100_000, bounded=large)
    # 30,000 items of 30 classes are as many numbers as 100,000 of 10.
    grow(report, "classes", jobs, [2, 10, 30, 100, 300, 1_000], lambda k: simulate_in_pieces(30_000, k), 30)

    def crowd(n_people):
        X, truth = simulate(100_000, 4)
        item, person, answer = simulate_people(X, truth, n_people, per_item=min(2, n_people))
        answers = pd.DataFrame({"item": item, "annotator": person, "answer": answer})
        model = pd.DataFrame({"item": np.arange(len(X))} | {f"p_{k}": X[:, 1 + k] for k in range(4)})
        return th.Observations.from_answers(answers, model), truth

    grow(report, "people", jobs, [1, 10, 100, 1_000, 10_000, 100_000], crowd, 10, bounded=False)


SECTIONS = {
    "against others, n = 1,000,000": lambda report, large: against_rivals(report, 1_000_000),
    "against slower others, n = 100,000": lambda report, large: more_rivals(report, 100_000),
    "threads": lambda report, large: threads(report),
    "kernels": lambda report, large: kernels(report),
    "estimators, n = 1,000,000": lambda report, large: estimators(report, 1_000_000),
    "growth": growth,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also 10,000,000 items: needs 8 GB")
    parser.add_argument("--only", help="sections whose name begins so")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    found = []
    for section, measure in SECTIONS.items():
        if not section.startswith(options.only or ""):
            continue
        print(f"\n{section}")
        measure(reporter(found, form=".4g", section=section), options.large)
    if options.only is None:
        keep("scale", found)


if __name__ == "__main__":
    main()
