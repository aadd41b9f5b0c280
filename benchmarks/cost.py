"""What fitting and predicting cost, in units of one ``numpy.exp`` over the same (n_items, n_classes) array.

Machines are noisy and differ: a ratio within one run is what can be compared. Memory is counted in copies of the input.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import ConvergenceWarning

import twoheads as th
from benchmarks.simulation import simulate

RESULTS = Path(__file__).parent / "results"


def seconds(call, repeats):
    """The shortest of several runs: what is left when nothing else disturbs it."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def peak_copies(call, array):
    """Most memory held at once during a call, in copies of the array."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / array.nbytes


def em(X, iterations):
    team = th.ProbabilityLabelCombiner(max_iter=iterations, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return team.fit(X)


def fully_bayesian():
    return th.ProbabilityLabelCombiner(th.DirichletConfusion(estimate="mean"), th.TemperatureScaling(estimate="mean"))


#: Fits many classes in a process of its own, and prints the most memory it held, in gigabytes.
LARGE = """
import resource, sys
from benchmarks.simulation import simulate_in_pieces
import twoheads as th
th.recommended().fit(*simulate_in_pieces(100_000, 1_000))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak / (2**30 if sys.platform == "darwin" else 2**20))
"""


def together(calls, repeats):
    """The shortest run of each of several calls, made in turns, so that a busy moment hits them all alike."""
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        best = [min(before, seconds(call, 1)) for before, call in zip(best, calls, strict=True)]
    return best


def recommended_rows(X, truth, repeats):
    """What the recommended combiner costs to fit and to predict with, in units of plain P+L."""
    plain, ours = th.ProbabilityLabelCombiner(), th.recommended()
    fit = together([lambda: plain.fit(X, truth), lambda: ours.fit(X, truth)], repeats)
    predict = together([lambda: plain.predict_proba(X), lambda: ours.predict_proba(X)], repeats)
    return fit[1] / fit[0], predict[1] / predict[0]


def large_rows():
    """What many classes take; slow, and asked for by ``--large``."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    yield "memory of fit recommended, 100,000 x 1,000", float(done.stdout), 2, "GB in all, X among it"


def rows():
    """(what, cost, the most it may cost, unit) for each measured step."""
    X, truth = simulate(1_000_000, 10)
    proba = np.ascontiguousarray(X[:, 1:])
    unit = seconds(lambda: np.exp(proba), 7)
    combiner = th.ProbabilityLabelCombiner()
    team = th.ProbabilityLabelCombiner().fit(X, truth)

    def ratio(call, repeats=5):
        return seconds(call, repeats) / unit

    exp = "x numpy.exp"
    yield "predict_proba, n = 1,000,000", ratio(lambda: team.predict_proba(X)), 8, exp
    yield "fit P+L (MAP), n = 1,000,000", ratio(lambda: combiner.fit(X, truth)), 25, exp
    yield "fit P+L (marginalised), n = 1,000,000", ratio(lambda: fully_bayesian().fit(X, truth), 2), 80, exp
    several = seconds(lambda: em(X, 11), 3) - seconds(lambda: em(X, 1), 3)
    yield "one EM iteration, n = 1,000,000", several / 10 / unit, 8, exp
    copies = "copies of X"
    yield "memory of fit, n = 1,000,000", peak_copies(lambda: combiner.fit(X, truth), X), 1.5, copies
    yield "memory of EM, n = 1,000,000", peak_copies(lambda: em(X, 2), X), 1.5, copies
    yield "memory of predict_proba, n = 1,000,000", peak_copies(lambda: team.predict_proba(X), X), 1.5, copies
    del proba
    plain = "x plain P+L"
    fit, predict = recommended_rows(X, truth, 3)
    yield "fit recommended, n = 1,000,000", fit, 6, plain
    yield "predict_proba recommended, n = 1,000,000", predict, 3, plain

    X, truth = simulate(5_000, 10)
    proba = np.ascontiguousarray(X[:, 1:])
    unit = seconds(lambda: np.exp(proba), 200)
    cost = seconds(lambda: combiner.fit(X, truth), 50)
    yield "fit P+L (MAP) beyond 3 ms, n = 5,000", max(0.0, cost - 3e-3) / unit, 40, exp
    yield "fit recommended, n = 5,000", recommended_rows(X, truth, 20)[0], 60, plain


def machine():
    """What the numbers were measured on."""
    return {
        "twoheads": th.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "processor": platform.processor() or platform.machine(),
        "system": platform.system(),
    }


def keep(name, rows, **more):
    """Keep measured rows as JSON, with what they were measured on."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": machine(), **more, "rows": rows}, indent=1) + "\n")
    print(f"kept in {path}")


def reporter(found, *, form=".2f", **more):
    """A function that prints a number, with its bounds and whether it misses one, and adds it to those found."""

    def report(what, value, unit, **limit):
        missed = value > limit.get("at_most", value) or value < limit.get("at_least", value)
        bounds = "".join(f" ({word.replace('_', ' ')} {bound})" for word, bound in limit.items())
        found.append({**more, "what": what, "value": value, "unit": unit, **limit})
        print(f"{what:70}{value:10{form}} {unit}{bounds}{'   <-- missed' if missed else ''}", flush=True)

    return report


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--large", action="store_true", help="also 1,000 classes: needs 2 GB and a minute or two")
    large = parser.parse_args().large
    table = []
    print(f"{'what':45}{'cost':>8}{'at most':>9}  unit")
    for what, cost, limit, unit in (*rows(), *(large_rows() if large else ())):
        table.append({"what": what, "cost": cost, "limit": limit, "unit": unit})
        print(f"{what:45}{cost:8.2f}{limit:9}  {unit}{'' if cost <= limit else '   <-- above'}", flush=True)
    keep("cost", table)
