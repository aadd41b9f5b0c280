"""Renaming the classes changes no number and no statement, of tables with many ties.

Probabilities are whole eighths and numbers of annotators even, so that models and people are tied on many items, and
names are such that the order of the classes is reversed.
"""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import evaluation

NAMES = ["a1", "b2", "c3", "d4"]
REVERSED = ["z1", "y2", "x3", "w4"]
N_ITEMS = 96
#: Iterations that begin with sums in another order end within this.
ITERATED = 1e-4


def table(n_classes, n_people, n_models, seed=0):
    rng = np.random.default_rng([seed, n_classes, n_people, n_models])
    truth = rng.integers(n_classes, size=N_ITEMS)
    models = []
    for _ in range(n_models):
        share = 0.5 * np.eye(n_classes)[truth] + 0.5 / n_classes
        models.append(np.stack([rng.multinomial(8, each) for each in share]) / 8.0)
    answers = np.where(
        rng.random((N_ITEMS, n_people)) < 0.7, truth[:, None], rng.integers(n_classes, size=(N_ITEMS, n_people))
    )
    return truth, models, answers


def named(names, models, answers):
    who = ["human"] if answers.shape[1] == 1 else [f"human_{at}" for at in range(answers.shape[1])]
    columns = {name: np.array(names)[each] for name, each in zip(who, answers.T, strict=True)}
    order = np.argsort(names[: models[0].shape[1]])
    for at, model in enumerate(models):
        prefix = "p_" if len(models) == 1 else f"m{at}.p_"
        columns |= {f"{prefix}{names[label]}": model[:, label] for label in order}
    return pd.DataFrame(columns)


def outputs(names, case, n_known):
    truth, models, answers = case
    X, y = named(names, models, answers), np.array(names)[truth]
    known = np.where(np.arange(N_ITEMS) < n_known, y, None)
    team = th.recommended().fit(X, known if n_known else None)
    metrics = [metric.name for metric in evaluation.METRICS]
    found = {
        "facts": team.facts(),
        "describe": team.describe(),
        "compare": evaluation.compare(team, X, y, held_out=True, n_bootstrap=20).as_dict(),
        "scores": evaluation.score_members(team, X, y, held_out=True, metrics=metrics, people=True).as_dict(),
        "without truth": evaluation.without_truth(team, X).as_dict(),
        "shares": team.class_shares(X).as_dict(),
        "people": {name: np.asarray(column).tolist() for name, column in team.annotator_stats_.items()},
    }
    if answers.shape[1] > 1:
        found["agreement"] = evaluation.agreement(X).as_dict()
    text = json.dumps(found, default=str)
    for at, name in enumerate(names):
        text = text.replace(name, f"<{at}>")
    return json.loads(text)


def numbers(found, path=""):
    """Every number and text by its path; what lists classes is sorted."""
    if isinstance(found, dict):
        for name, value in found.items():
            yield from numbers(value, f"{path}/{name}")
    elif isinstance(found, list):
        alike = all(isinstance(each, str) for each in found)
        for at, value in enumerate(sorted(found) if alike else found):
            yield from numbers(value, f"{path}/{at}")
    elif isinstance(found, str):  # the order in which several classes are named is theirs
        yield path, "".join(sorted(found))
    else:
        yield path, found


@pytest.mark.parametrize(
    ("n_classes", "n_people", "n_models"), [(2, 1, 1), (3, 1, 1), (2, 2, 1), (4, 2, 2), (3, 4, 2), (2, 4, 1)]
)
@pytest.mark.parametrize("n_known", [0, 40, N_ITEMS])
def test_renaming_classes_changes_no_number(n_classes, n_people, n_models, n_known):
    case = table(n_classes, n_people, n_models)
    first, second = (dict(numbers(outputs(names[:n_classes], case, n_known))) for names in (NAMES, REVERSED))
    assert first.keys() == second.keys()
    for path, value in first.items():
        if isinstance(value, float):
            iterated = "calibration_error/" in path and not path.endswith("/value")
            assert second[path] == pytest.approx(value, rel=ITERATED if iterated else 1e-9, abs=1e-9, nan_ok=True), path
        else:
            assert second[path] == value, path


def test_a_tie_counts_by_its_share():
    # The model is tied on both items, and right by half on each, whichever class comes first.
    proba = [[0.5, 0.5], [0.5, 0.5]]
    for truth in itertools.product([0, 1], repeat=2):
        assert evaluation.error_rate(truth, proba, classes=[0, 1]) == 0.5
    # Tied by half and half: the bin of 0.5 is right in half of the cases, and nothing is left of an error.
    assert evaluation.expected_calibration_error([0, 0], proba, classes=[0, 1]) == 0.0


def test_agreement_of_ties_by_hand():
    # Human 0, 0, 1; the model says 0, is tied, says 0: they agree on 1 + 1/2 + 0 of three items.
    X = [[0, 0.9, 0.1], [0, 0.5, 0.5], [1, 0.8, 0.2]]
    team = th.ProbabilityLabelCombiner().fit(X)
    found = evaluation.without_truth(team, X)
    assert found.agreement.value == pytest.approx(0.5)
    assert found.at_least_one_wrong == pytest.approx(0.5)
