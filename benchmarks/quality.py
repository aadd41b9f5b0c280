"""How good combinations are on real sets: ``python -m benchmarks.quality DIR [--draws N] [--only NAME] [--out FILE]``.

One answer per item is drawn at random, items are permuted and split 70 / 30 (4,000 of them at most), and of those to
learn from the first n have a label: n = 0, 10, 30, 100, 300 and all. Error, log loss, calibration error and Brier score
of the person, the model and the combinations on the others, averaged over draws; differences are paired within draws.
"""

import argparse
import json
import sys
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

import twoheads as th
from benchmarks.real_sets import UnreadableSet, find_sets
from twoheads.evaluation import brier_score, error_rate, expected_calibration_error, log_loss

SIZES = (0, 10, 30, 100, 300, "all")
MOST_ITEMS = 4000
SCORES = ("error", "log loss", "ECE", "Brier")
BASE = "P+L (MAP)"
OURS = "recommended"
METHODS = (
    "human",
    "model",
    "model, calibrated",
    "L+L",
    "logistic",
    "P+L as released",
    "P+L, temperature held",
    BASE,
    "recommended, labelled items alone",
    OURS,
)
SLOW_DRAWS = 2
WIDTH = 32  # of a column


def draw(data, seed):
    """A trial: what to learn from and what to judge, as arrays (human code, model rows), with the truth."""
    rng = np.random.default_rng(seed)
    X = data.drawn(rng)
    item = rng.permutation(len(X))[:MOST_ITEMS]
    learn, judge = np.split(item, [round(0.7 * len(item))])
    return X[learn], data.truth[learn], X[judge], data.truth[judge]


def methods(X, y, n, X_test, *, slow):
    """(name, probabilities or labels of the items to judge) of every method, from the first n labels."""
    some, labels = X[:n], y[:n]
    known = np.where(np.arange(len(y)) < n, y, -1)
    yield "human", X_test[:, 0].astype(int)
    yield "model", X_test[:, 1:]
    if n == 0:
        temperature = th.TemperatureScaling(log_temperature_sd=0).fit(X[:1, 1:], y[:1])
        yield "model, calibrated", temperature.predict_proba(X_test[:, 1:])
        yield BASE, th.ProbabilityLabelCombiner().fit(X).predict_proba(X_test)
        held = th.ProbabilityLabelCombiner(calibrator=th.TemperatureScaling(log_temperature_sd=0))
        yield "P+L, temperature held", held.fit(X).predict_proba(X_test)
        yield OURS, th.recommended().fit(X).predict_proba(X_test)
        if slow:
            yield "P+L as released", th.paper_2021("P+L-EM").fit(X).predict_proba(X_test)
        return
    yield "model, calibrated", th.TemperatureScaling().fit(some[:, 1:], labels).predict_proba(X_test[:, 1:])
    yield "L+L", th.LabelLabelCombiner().fit(some, labels).predict_proba(X_test)
    yield "P+L as released", th.paper_2021("P+L").fit(some, labels).predict_proba(X_test)
    yield BASE, th.ProbabilityLabelCombiner().fit(some, labels).predict_proba(X_test)
    if slow:
        yield "logistic", th.LogisticCombiner().fit(some, labels).predict_proba(X_test)
    yield "recommended, labelled items alone", th.recommended().fit(some, labels).predict_proba(X_test)
    yield OURS, th.recommended().fit(X, known).predict_proba(X_test)


def judged(truth, predicted):
    """Error in percent, log loss, calibration error in percent and Brier score; only the error of labels."""
    error = 100 * float(np.mean(predicted != truth)) if predicted.ndim == 1 else 100 * error_rate(truth, predicted)
    if predicted.ndim == 1:
        return error, np.nan, np.nan, np.nan
    ece = 100 * expected_calibration_error(truth, predicted)
    return error, log_loss(truth, predicted), ece, brier_score(truth, predicted)


def trial(data, number, seed, slow):
    """{n: {method: scores}} of one draw."""
    X, y, X_test, y_test = draw(data, [seed, number])
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for size in SIZES:
            n = len(y) if size == "all" else size
            if n < len(y) or size == "all":
                every = methods(X, y, n, X_test, slow=slow and number < SLOW_DRAWS)
                found[size] = {name: judged(y_test, predicted) for name, predicted in every}
    return found


def summarised(trials):
    """{method: {n: {score: {mean, se, difference, difference_se}}}}: differences from P+L within the same draws."""
    table = {}
    for name in METHODS:
        for size in trials[0]:
            if name not in trials[0][size]:
                continue
            rows = np.array([each[size][name] for each in trials if name in each[size]])
            base = np.array([each[size][BASE] for each in trials if name in each[size]])
            table.setdefault(name, {})[str(size)] = {
                score: {
                    "mean": float(value.mean()),
                    "se": _standard_error(value),
                    "difference": float((value - other).mean()),
                    "difference_se": _standard_error(value - other),
                }
                for score, value, other in zip(SCORES, rows.T, base.T, strict=True)
                if np.isfinite(value).all()
            }
    return table


def _standard_error(values):
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None


def mean_of(table, method, size, score, what="mean"):
    """One number of a set's table, NaN where it was not measured."""
    return table.get(method, {}).get(str(size), {}).get(score, {}).get(what, float("nan"))


def bars(results):
    """By n and method: the sets whose log loss is above P+L's, and those that err more than the better partner."""
    found = {}
    for size in SIZES:
        sets = [each for each in results if str(size) in each["table"][OURS]]
        row = found[str(size)] = {"sets": len(sets)}
        for method in (BASE, "recommended, labelled items alone", OURS):
            measured = [each for each in sets if str(size) in each["table"].get(method, {})]
            if not measured:
                continue
            regret = {each["set"]: _regret(each["table"], method, size) for each in measured}
            above = {each["set"]: mean_of(each["table"], method, size, "log loss", "difference") for each in measured}
            row[method] = {
                "worse than the better partner by > 0.5": [name for name, much in regret.items() if much > 0.5],
                "mean regret": float(np.mean([max(much, 0.0) for much in regret.values()])),
                "log loss above P+L": [name for name, much in above.items() if much > 0],
            }
    return found


def _regret(table, method, size):
    partners = [mean_of(table, partner, size, "error") for partner in ("human", "model, calibrated")]
    return mean_of(table, method, size, "error") - min(partners)


def family_means(results, what):
    """{method: {n: {score: mean over families of the mean over their sets}}}."""
    table = {}
    for method in METHODS:
        for size in SIZES:
            for score in SCORES:
                by_family = {}
                for each in results:
                    value = mean_of(each["table"], method, size, score, what)
                    if np.isfinite(value):
                        by_family.setdefault(each["family"], []).append(value)
                if by_family:
                    mean = float(np.mean([np.mean(values) for values in by_family.values()]))
                    table.setdefault(method, {}).setdefault(str(size), {})[score] = {what: mean}
    return table


def _cell(scores, what):
    if "error" not in scores:
        return "–"
    sign = "" if what == "mean" else "+"
    text = f"{scores['error'][what]:{sign}.1f}"
    if "log loss" not in scores:
        return text
    numbers = (
        f"{scores['log loss'][what]:{sign}.3f}",
        f"{scores['ECE'][what]:{sign}.1f}",
        f"{scores['Brier'][what]:{sign}.3f}",
    )
    return " / ".join([text, *numbers])


def print_table(title, table, what="mean"):
    """Methods down, n across; error % / log loss / ECE % / Brier in each cell."""
    sizes = [str(size) for size in SIZES if any(str(size) in row for row in table.values())]
    print(f"\n{title}")
    print(f"{'':34}" + "".join(f"{'n = ' + size:>{WIDTH}}" for size in sizes))
    for name, row in table.items():
        print(f"{name:34}" + "".join(f"{_cell(row.get(size, {}), what):>{WIDTH}}" for size in sizes))


def print_differences(table):
    """What `recommended` changes against P+L, with standard errors over draws."""
    print(f"{OURS} - {BASE}, ± standard error over draws")
    for score, digits in (("error", 2), ("log loss", 4), ("ECE", 2), ("Brier", 4)):
        cells = []
        for size in table[OURS]:
            mean, noise = (mean_of(table, OURS, size, score, what) for what in ("difference", "difference_se"))
            cells.append(f"{mean:+.{digits}f}" + ("" if noise is None else f" ± {noise:.{digits}f}"))
        print(f"{'  ' + score:34}" + "".join(f"{cell:>{WIDTH}}" for cell in cells))


def print_bars(found):
    """How many sets are on the wrong side, by n."""
    for size, row in found.items():
        print(f"\nn = {size}: {row['sets']} set{'' if row['sets'] == 1 else 's'}")
        for method in METHODS:
            if method in row:
                worse, above = row[method]["worse than the better partner by > 0.5"], row[method]["log loss above P+L"]
                print(
                    f"  {method:34} errs > 0.5 points more than the better partner in {len(worse)} "
                    f"(mean regret {row[method]['mean regret']:.2f}); log loss above {BASE} in {len(above)}"
                    + (f": {', '.join(above)}" if above else "")
                )


def run(data, *, draws, seed, slow, jobs):
    """The table of one set."""
    number = draws or (25 if len(data.truth) <= MOST_ITEMS else 8)
    trials = Parallel(n_jobs=jobs)(delayed(trial)(data, each, seed, slow) for each in range(number))
    return {
        "family": data.family,
        "set": f"{data.family}/{data.name}",
        "items": len(data.truth),
        "classes": data.proba.shape[1],
        "draws": number,
        "table": summarised(trials),
    }


def main(arguments=None):
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", metavar="DIR", help="a folder per family of sets, in the layouts of public releases")
    parser.add_argument(
        "--draws", type=int, help="draws per set (default: 25; 8 where there are more than 4,000 items)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], help="sets whose name holds this text; may be repeated")
    parser.add_argument("--slow", action="store_true", help="also logistic regression and EM as released, in 2 draws")
    parser.add_argument("--jobs", type=int, default=1, help="draws at a time")
    parser.add_argument("--out", help="write all numbers to this JSON file")
    options = parser.parse_args(arguments)
    try:
        sets, problems = find_sets(options.folder)
    except UnreadableSet as error:
        parser.error(str(error))
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    sets = [
        each for each in sets if not options.only or any(text in f"{each.family}/{each.name}" for text in options.only)
    ]
    if not sets:
        parser.error(f"no set to run was found in {options.folder}.")
    for each in sets:
        print(f"{each.family}/{each.name}: {len(each.truth):,} items, {each.proba.shape[1]} classes")
    results = []
    for each in sets:
        start = time.perf_counter()
        result = run(each, draws=options.draws, seed=options.seed, slow=options.slow, jobs=options.jobs)
        results.append(result)
        seconds = time.perf_counter() - start
        title = f"{result['set']}: error % / log loss / ECE % / Brier, {result['draws']} draws, {seconds:.0f} s"
        print_table(title, result["table"])
        print_differences(result["table"])
        sys.stdout.flush()
    means, differences, found = family_means(results, "mean"), family_means(results, "difference"), bars(results)
    print_table("mean over families", means)
    print_table(f"mean over families, difference from {BASE}", differences, "difference")
    print_bars(found)
    if options.out:
        document = {"seed": options.seed, "results": results, "family_means": means, "differences": differences}
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({**document, "bars": found}, file, indent=1)
        print(f"\nkept in {options.out}")


if __name__ == "__main__":
    main()
