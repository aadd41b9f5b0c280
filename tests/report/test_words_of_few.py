"""Small random tables: numbers in words agree with the data, whatever the weights, gaps and ties."""

import re

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.errors import TwoheadsError
from twoheads.evaluation import compare
from twoheads.report import summary
from twoheads.text import SIGNIFICANCE

#: What no sentence may say.
WRONG = re.compile(r"\b(1 items|1 answers|1 people|1 errors|the 1 with|nan|inf)\b|-0\.00\b")


def table(seed):
    """Observations, truth with gaps, and weights, perhaps of 0 or 1000, of a few items."""
    rng = np.random.default_rng(seed)
    n_classes, n, n_people = int(rng.integers(2, 6)), int(rng.choice([2, 3, 9, 20, 40])), int(rng.choice([1, 2, 5]))
    names, truth, columns = np.array(list("abcdef")[:n_classes]), rng.integers(0, n_classes, n), {}
    for person in range(n_people):
        right = rng.random(n) < rng.choice([0.0, 0.6, 0.9, 1.0])
        label = names[np.where(right, truth, (truth + 1) % n_classes)].astype(object)
        label[rng.random(n) < rng.choice([0.0, 0.4])] = None
        label[rng.random(n) < rng.choice([0.0, 0.2])] = "unsure"
        columns[f"human_{person}"] = label
    proba = rng.dirichlet(np.ones(n_classes), n)
    proba[rng.random(n) < 0.3] = 1 / n_classes
    columns |= {f"p_{name}": proba[:, at] for at, name in enumerate(names)}
    weight = (None, np.full(n, 1000.0), rng.integers(0, 4, n) * 1.0 + (np.arange(n) == 0), rng.gamma(1, size=n) + 0.01)
    y = names[truth].astype(object)
    y[rng.random(n) >= rng.choice([0.3, 1.0])] = None
    y[0] = names[truth[0]]
    return pd.DataFrame(columns), y, weight[seed % 4]


def words_of(found):
    if isinstance(found, str):
        yield found
    for each in found.values() if isinstance(found, dict) else found if isinstance(found, list) else ():
        yield from words_of(each)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 120))])
def test_words_and_numbers_agree_with_the_data(seed):
    X, y, weight = table(seed)
    counted = np.ones(len(X), dtype=bool) if weight is None else weight > 0
    known = counted & np.array([each is not None for each in y])
    try:
        team = (th.recommended if seed % 3 else th.ProbabilityLabelCombiner)().fit(X, y, sample_weight=weight)
    except TwoheadsError:
        return
    stats, found, said = team.annotator_stats_, team.facts(), [team.describe()]
    answered = np.stack([X[f"human_{name}"].isin(list("abcdef")) for name in stats["annotator"]])
    np.testing.assert_array_equal(stats["answers"], (answered & counted).sum(axis=1))
    np.testing.assert_array_equal(stats["judged"], (answered & known).sum(axis=1))
    assert found["labelled"] == known.sum()
    assert (stats["accuracy_low"] <= stats["accuracy"] + 1e-9).all()
    assert (stats["accuracy"] <= stats["accuracy_high"] + 1e-9).all()
    if "record" in found:
        assert found["record"]["items"] <= known.sum()
        assert 0 <= found["record"]["chance_best"] <= 1
    compared = compare(team, X, y, sample_weight=weight, held_out=True, n_bootstrap=20)
    apart = compared.difference
    assert compared.n_items == known.sum()
    if apart is not None:
        has_none = apart.difference.low <= 0 <= apart.difference.high
        assert (apart.p_value < SIGNIFICANCE) != has_none
    said += [compared.headline(), *compared.notes()]
    if known.sum() > 2:
        said += words_of(summary(team, X, y, sample_weight=weight, n_bootstrap=20))
    assert [line for line in said if WRONG.search(line)] == []
