"""What scores add for graded classes: simulated judges who score from 1 to 10, with their exact posterior.

Four judges (graded-response model: a normal impression about the grade, with a bias and a spread of their own, cut at
even thresholds) score 1,000 items, some with truth, and 2,000 others, which are judged on. Compared on these are a
team of the scores, a team of the same scores rounded to the nearest grade, a logistic regression of the grade on the
scores and their squares (scikit-learn's cross-validated penalty), and the exact posterior.

    python -m benchmarks.grades --draws 6
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.linear_model import LogisticRegressionCV

import twoheads as th

N_FIT, N_TEST, N_LEVELS = 1000, 2000, 10
SPREAD = np.array([0.5, 0.7, 0.9, 1.2])
SHARES = {
    "3 grades": (1 / 3, 1 / 3, 1 / 3),
    "5 grades": (0.2, 0.2, 0.2, 0.2, 0.2),
    "3 grades, 80/15/5 %": (0.8, 0.15, 0.05),
    "5 grades, 50/25/13/8/4 %": (0.5, 0.25, 0.13, 0.08, 0.04),
}
LABELS = (0, 30, 100, 300, 1000)
METHODS = ("scores", "rounded to labels", "logistic regression", "exact")


def judged(shares, seed):
    """Truth, scores from 0 to 9 (n_items, n_judges), and the exact posterior (n_items, n_grades)."""
    rng, n_grades = np.random.default_rng(seed), len(shares)
    truth = rng.choice(n_grades, N_FIT + N_TEST, p=shares)
    bias = rng.normal(0.0, 0.5, len(SPREAD))
    edges = np.linspace(-0.7, n_grades - 0.3, N_LEVELS + 1)
    edges[[0, -1]] = -np.inf, np.inf
    scores = np.searchsorted(edges[1:-1], truth[:, None] + bias + SPREAD * rng.normal(size=(len(truth), len(SPREAD))))
    log_proba = np.tile(np.log(shares), (len(truth), 1))
    for judge, (sd, own) in enumerate(zip(SPREAD, bias, strict=True)):
        ends = norm.cdf((edges[:, None] - np.arange(n_grades) - own) / sd)
        log_proba += np.log(np.maximum(np.diff(ends, axis=0)[scores[:, judge]], 1e-300))
    proba = np.exp(log_proba - log_proba.max(axis=1, keepdims=True))
    return truth, scores, proba / proba.sum(axis=1, keepdims=True)


def team_proba(columns, n_grades, kind, truth, n_labels):
    """A team's probabilities of the last items."""
    frame = pd.DataFrame({f"judge{at}.{kind}": column for at, column in enumerate(columns.T)})
    X = th.Observations.from_frame(frame, classes=np.arange(n_grades))
    known = np.where(np.arange(N_FIT) < n_labels, truth[:N_FIT], -1)
    team = th.recommended().fit(X.take(np.arange(N_FIT)), known)
    return team.predict_proba(X.take(np.arange(N_FIT, N_FIT + N_TEST)))


def logistic_proba(scores, n_grades, truth, n_labels):
    """The regression's probabilities of the last items; None without labels, or with a grade that has too few."""
    if n_labels == 0 or np.bincount(truth[:n_labels], minlength=n_grades).min() < 2:
        return None
    features = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    features = np.hstack([features, features**2])
    model = LogisticRegressionCV(Cs=8, cv=3, scoring="neg_log_loss", max_iter=3000)
    return model.fit(features[:n_labels], truth[:n_labels]).predict_proba(features[N_FIT:])


def draw(name, n_labels, seed):
    """Error and log loss of each method, (n_methods, 2); NaN where there is none."""
    shares = np.array(SHARES[name])
    truth, scores, exact = judged(shares, seed)
    n_grades, own = len(shares), truth[N_FIT:]
    rounded = np.clip(np.round((scores + 0.5) / N_LEVELS * n_grades - 0.5), 0, n_grades - 1).astype(int)
    probas = [
        team_proba(scores, n_grades, "score", truth, n_labels),
        team_proba(rounded, n_grades, "label", truth, n_labels),
        logistic_proba(scores, n_grades, truth, n_labels),
        exact[N_FIT:],
    ]
    found = np.full((len(METHODS), 2), np.nan)
    for at, proba in enumerate(probas):
        if proba is not None:
            loss = -np.log(np.maximum(proba[np.arange(N_TEST), own], 1e-12)).mean()
            found[at] = 100 * (proba.argmax(axis=1) != own).mean(), loss
    return found


def main() -> None:
    """Print error in per cent and log loss of each method, the mean over draws with its standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=6)
    draws = parser.parse_args().draws
    warnings.simplefilter("ignore")
    print(f"| | labels | {' | '.join(METHODS)} |\n|---|---:|{'---|' * len(METHODS)}")
    for name in SHARES:
        for n_labels in LABELS:
            found = np.stack([draw(name, n_labels, seed) for seed in range(draws)])
            known = ~np.isnan(found[:, :, 0]).any(axis=0)
            mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(draws)
            cells = [
                f"{m[0]:.1f} / {m[1]:.3f} (±{e[1]:.3f})" if there else "–"
                for m, e, there in zip(mean, error, known, strict=True)
            ]
            print(f"| {name} | {n_labels:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
