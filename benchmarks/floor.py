"""``python -m benchmarks.floor [DIR] [--only NAME] [--draws N]``: teams beside the best of their members.

- pairs: one person and one model on every set of the folder. Regret is how far the team's error, a mean over draws, is
  above that of the better of the two.
- rounded: the same with the models' probabilities rounded to two decimals, as many tables have them.
- judges: LLM judges, half of the texts to learn from and half held out, both in turn, beside logistic regression with a
  ridge penalty by cross-validation on the same labels or scores, and the judge with the fewest errors on the latter.
- hindsight: the same judges on random halves of the texts, a new split per draw: errors above those of the judge with
  the fewest on the held-out half, and above those of the judge with the fewest on the learning half.
- crowds: people without a model or truth, beside the majority vote (ties shared) and Dawid and Skene's EM.
- few: judges and crowds with no label, one, two and so on: more truth must not make a team worse.
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.linear_model import LogisticRegressionCV

import twoheads as th
from benchmarks import DATA
from benchmarks.quality import draw
from benchmarks.real_sets import find_sets
from twoheads.evaluation import error_rate, log_loss
from twoheads.observations import as_observations

PAIR_SIZES, JUDGE_SIZES = (0, 10, 30, 100, 300, "all"), (20, 50, 100, 200, 500, "all")
HINDSIGHT_SIZES = (200, 500, 1000)
#: Numbers of labels of `few`; items of crowds beyond so many are left out there.
FEW_SIZES, FEW_ITEMS = (0, 1, 2, 5, 10, 20, 30, 50), 1200
#: Errors above those of the better partner that count as worse, in points.
WORSE = 0.5


def fitted(X, y, n):
    """The recommended team, from so many labels and the other items without."""
    team = th.recommended()
    return team.fit(X, np.where(np.arange(len(y)) < n, y, -1)) if n else team.fit(X)


def scores(truth, proba):
    """Error in percent, and log loss."""
    classes = range(proba.shape[1])
    return 100 * error_rate(truth, proba, classes=classes), log_loss(truth, proba, classes=classes)


def to_decimals(proba, decimals):
    """Rows with so many decimals, normalised; all of them as they are where one would be all zeros."""
    cut = np.round(proba / proba.sum(axis=1, keepdims=True), decimals)
    total = cut.sum(axis=1, keepdims=True)
    return cut / total if total.all() else proba


def rounded(folder, draws):
    """The same as `pairs` from probabilities with two decimals."""
    pairs(folder, draws, decimals=2)


def pairs(folder, draws, decimals=None):
    """Error, log loss and regret of one person and one model, over all sets and by family."""
    rows = []
    for at, data in enumerate(find_sets(folder)[0]):
        if decimals is not None:
            data = replace(data, proba=to_decimals(data.proba, decimals))
        for seed in range(draws):
            X, y, X_test, y_test = draw(data, seed)
            alone = [100 * np.mean(label != y_test) for label in (X_test[:, 0], X_test[:, 1:].argmax(axis=1))]
            for n in PAIR_SIZES:
                team = fitted(X, y, len(y) if n == "all" else min(n, len(y)))
                error, loss = scores(y_test, team.predict_proba(X_test))
                rows.append((data.family, f"{at} {data.name}", str(n), *alone, error, loss))
    table = pd.DataFrame(rows, columns=["family", "set", "n", "human", "model", "error", "log loss"])
    means = table.groupby(["family", "set", "n"]).mean().reset_index()
    means["regret"] = np.maximum(means["error"] - means[["human", "model"]].min(axis=1), 0.0)
    means["worse"] = means["regret"] > WORSE
    print("pairs: error % / log loss / mean regret (sets worse by more than 0.5 points)")
    for name, part in (("all", means), *means.groupby("family")):
        cells = []
        for n in map(str, PAIR_SIZES):
            here = part[part["n"] == n]
            error, loss, regret = here[["error", "log loss", "regret"]].mean()
            cells.append(f"n = {n}: {error:.2f} / {loss:.4f} / {regret:.2f} ({here['worse'].sum()})")
        print(f"  {name} ({part['set'].nunique()})", "   ".join(cells), sep="\n    ", flush=True)


def ridge(X, y, X_test):
    """Logistic regression on standardised columns, its penalty by cross-validation of the log loss."""
    mean, sd = X.mean(axis=0), X.std(axis=0) + 1e-9
    folds = min(10, int(np.bincount(y, minlength=2).min()))
    model = LogisticRegressionCV(Cs=np.logspace(-3, 2, 11), cv=folds, scoring="neg_log_loss", max_iter=2000)
    return model.fit((X - mean) / sd, y).predict_proba((X_test - mean) / sd)


def read_judges(folder):
    """Labels and scores of LLM judges, a column each, and the truth."""
    table = pd.read_parquet(Path(folder) / "judges" / "judges.parquet")
    score = table.pivot(index="item", columns="annotator", values="score")
    label = table.pivot(index="item", columns="annotator", values="answer").loc[score.index].astype(int)
    return label, score, table.groupby("item")["truth"].first().loc[score.index].to_numpy().astype(int)


def judges(folder, draws):
    """A panel of LLM judges, from labels, from scores, and from scores as probabilities."""
    label, score, truth = read_judges(folder)
    kinds = {
        "label": label,
        "score": score,
        "p_1": (score / 9).clip(0.02, 0.98),
    }  # the last as if it were a probability
    rows, item = [], np.random.default_rng(0).permutation(len(truth))
    for half in (0, 1):
        learn, judge = np.array_split(item, 2)[:: 1 - 2 * half]
        best = 100 * (label.to_numpy()[judge] != truth[judge, None]).mean(axis=0).min()
        print(f"judges, half {half}: the best single judge errs on {best:.1f} %")
        for seed in range(draws):
            order = np.random.default_rng(seed).permutation(learn)
            for n in JUDGE_SIZES:
                size = len(order) if n == "all" else n
                if n == "all" and seed:
                    continue
                for kind, wide in kinds.items():
                    frame = wide.add_suffix(f".{kind}").reset_index(drop=True)
                    if kind == "p_1":
                        frame["human"] = pd.Series(pd.NA, frame.index, "Int64")  # nobody was asked
                    team = fitted(frame.iloc[order].reset_index(drop=True), truth[order], size)
                    proba = team.predict_proba(frame.iloc[judge].reset_index(drop=True))
                    rows.append((kind, half, "team", str(n), *scores(truth[judge], proba)))
                    some, X = order[:size], wide.to_numpy(float)
                    rows.append(
                        (kind, half, "ridge", str(n), *scores(truth[judge], ridge(X[some], truth[some], X[judge])))
                    )
    means = pd.DataFrame(rows, columns=["from", "half", "method", "n", "error", "loss"])
    means = pd.concat([means, means.assign(half="both")]).groupby(["from", "half", "method", "n"]).mean()
    shown = means.apply(lambda row: f"{row['error']:.1f} / {row['loss']:.4f}", axis=1).unstack("n")
    print(shown[list(map(str, JUDGE_SIZES))].to_string())


def hindsight(folder, draws):
    """Judges on random halves: points of error above the best judge of the held-out half, and of the learning half."""
    label, score, truth = read_judges(folder)
    rows, best = [], []
    for split in range(draws):
        item = np.random.default_rng([1, split]).permutation(len(truth))
        for half in (0, 1):
            learn, judge = np.array_split(item, 2)[:: 1 - 2 * half]
            wrong = [100 * (label.to_numpy() != truth[:, None])[some] for some in (learn, judge)]
            known, chosen = (each.mean(axis=0).argmin() for each in wrong[::-1])
            best.append(wrong[1][:, known].mean())
            for name, n, errors in errors_of_methods(label, score, truth, learn, judge):
                more = 100 * errors - wrong[1][:, known]
                above_chosen = np.mean(100 * errors - wrong[1][:, chosen])
                rows.append((name, n, more.mean(), above_chosen, more.std() / np.sqrt(len(judge))))
    table = pd.DataFrame(rows, columns=["method", "n", "in hindsight", "chosen", "standard error"])
    table["% above by 0.5"] = 100.0 * (table["in hindsight"] > WORSE)
    print(f"hindsight, {draws} splits: the best judge of a half errs on {np.mean(best):.1f} % of it; points above that")
    print(table.groupby(["method", "n"], sort=False).mean().round(2).to_string())


def errors_of_methods(label, score, truth, learn, judge):
    """Name, number of labels and errors on the held-out half of each method; the last is fitted to that half itself."""
    for n in HINDSIGHT_SIZES:
        some = learn[:n]
        fewest = (label.to_numpy() != truth[:, None])[some].sum(axis=0).argmin()
        yield "judge with fewest errors", n, label.to_numpy()[judge, fewest] != truth[judge]
        for kind, wide in {"label": label, "score": score}.items():
            frame, X = wide.add_suffix(f".{kind}").reset_index(drop=True), wide.to_numpy(float)
            team = fitted(frame.iloc[learn].reset_index(drop=True), truth[learn], n)
            yield f"team, {kind}s", n, team.predict(frame.iloc[judge].reset_index(drop=True)) != truth[judge]
            yield f"ridge, {kind}s", n, ridge(X[some], truth[some], X[judge]).argmax(axis=1) != truth[judge]
    for kind, wide in {"label": label, "score": score}.items():
        X = wide.to_numpy(float)[judge]
        yield f"ridge, {kind}s", "held-out", ridge(X, truth[judge], X).argmax(axis=1) != truth[judge]


def dawid_skene(item, person, answer, n_classes, iterations=50):
    """Probabilities of each item's class by EM from the vote shares, with 0.01 pseudo-answers per column."""
    votes = np.zeros((item.max() + 1, n_classes))
    np.add.at(votes, (item, answer), 1.0)
    share = votes / votes.sum(axis=1, keepdims=True)
    for _ in range(iterations):
        counts = np.full((person.max() + 1, n_classes, n_classes), 0.01 / n_classes)
        np.add.at(counts, (person, answer), share[item])
        logits = np.tile(np.log(share.mean(axis=0) + 1e-12), (len(votes), 1))
        np.add.at(logits, item, np.log(counts / counts.sum(axis=1, keepdims=True))[person, answer])
        share = softmax(logits, axis=1)
    return share


def read_crowds(folder):
    """(name, item, person, answer, truth, observations) of each public crowd; a truth of -1 is not known."""
    table = pd.read_parquet(Path(folder) / "crowds" / "answers.parquet")
    for name, part in table.groupby("set"):
        truth_of = part["truth"].where(part["truth"].notna() & (part["truth"] != ""))
        classes = pd.Index(sorted({*part["answer"], *truth_of.dropna()}))
        (item, _), (person, _) = pd.factorize(part["item"]), pd.factorize(part["annotator"])
        answer, truth = classes.get_indexer(part["answer"]), np.full(item.max() + 1, -1)
        truth[item[truth_of.notna()]] = classes.get_indexer(truth_of.dropna())
        columns = {"item": item, "annotator": person.astype(str), "answer": answer}
        seen = th.Observations.from_answers(pd.DataFrame(columns), classes=np.arange(len(classes)))
        yield name, item, person, answer, truth, seen.take(np.argsort(np.asarray(seen.items, dtype=np.intp)))


def crowds(folder, draws):
    """Public crowds without model or truth; ``draws`` is not needed."""
    rows = []
    for name, item, person, answer, truth, seen in read_crowds(folder):
        known, n_classes = np.flatnonzero(truth >= 0), seen.n_classes
        votes = np.zeros((len(truth), n_classes))
        np.add.at(votes, (item, answer), 1.0)
        tied = (votes == votes.max(axis=1, keepdims=True))[known]
        majority = 100 * np.mean(1 - tied[np.arange(len(known)), truth[known]] / tied.sum(axis=1))
        methods = dawid_skene(item, person, answer, n_classes), th.recommended().fit(seen).predict_proba(seen)
        rows.append((name, majority, *(number for each in methods for number in scores(truth[known], each[known]))))
    columns = ["set", "majority %", "Dawid-Skene %", "log loss", "team %", "log loss of the team"]
    shown = pd.DataFrame(rows, columns=columns).set_index("set")
    shown.loc["mean"] = shown.mean()
    print(shown.assign(above_majority=shown["team %"] - shown["majority %"]).round(3).to_string())


def few(folder, draws):
    """Judges (half of the texts held out) and crowds (50 labels held back for the draws) with few labels."""
    label, score, truth = read_judges(folder)
    rows, item = [], np.random.default_rng(0).permutation(len(truth))
    for kind, wide in (("label", label), ("score", score)):
        seen = as_observations(wide.add_suffix(f".{kind}").reset_index(drop=True), classes=[0, 1])
        for half in (0, 1):
            learn, judge = np.array_split(item, 2)[:: 1 - 2 * half]
            for seed in range(draws):
                order = np.random.default_rng(seed).permutation(learn)
                for n in FEW_SIZES:
                    proba = fitted(seen.take(order), truth[order], n).predict_proba(seen.take(judge))
                    rows.append((f"judges, {kind}s, half {half}", n, *scores(truth[judge], proba)))
    for name, _, _, _, truth, seen in read_crowds(folder):
        some = np.sort(np.random.default_rng(5).permutation(len(truth))[:FEW_ITEMS])
        seen, truth = seen.take(some), truth[some]
        for seed in range(draws):
            known = np.random.default_rng(seed).permutation(np.flatnonzero(truth >= 0))
            judge, order = known[FEW_SIZES[-1] :], np.concatenate([known, np.flatnonzero(truth < 0)])
            for n in FEW_SIZES:
                proba = np.empty((len(truth), seen.n_classes))
                proba[order] = fitted(seen.take(order), truth[order], n).predict_proba(seen.take(order))
                rows.append((name, n, *scores(truth[judge], proba[judge])))
    means = pd.DataFrame(rows, columns=["set", "n", "error", "loss"]).groupby(["set", "n"]).mean()
    print(means.apply(lambda row: f"{row['error']:.1f} / {row['loss']:.3f}", axis=1).unstack("n").to_string())


PARTS = {"judges": judges, "hindsight": hindsight, "crowds": crowds, "few": few, "pairs": pairs, "rounded": rounded}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=DATA)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--draws", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, part in PARTS.items():
        if options.only in (None, name):
            part(options.folder, options.draws)


if __name__ == "__main__":
    main()
