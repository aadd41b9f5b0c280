"""The order of rows does not matter: several people, known and unknown truth, in memory and from disk."""

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items

N_ITEMS, N_CLASSES, N_PEOPLE = 160, 3, 3


def crowd(share_known, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(N_CLASSES, size=N_ITEMS)
    proba = 0.5 * rng.dirichlet(np.ones(N_CLASSES), N_ITEMS) + 0.5 * np.eye(N_CLASSES)[truth]
    answers = np.where(rng.random((N_PEOPLE, N_ITEMS)) < 0.7, truth, rng.integers(N_CLASSES, size=(N_PEOPLE, N_ITEMS)))
    frame = pd.DataFrame({"item": [f"i{at}" for at in range(N_ITEMS)]})
    for person, given in enumerate(answers):
        frame[f"human_{person}"] = np.where(rng.random(N_ITEMS) < 0.8, given.astype(str), "")
    for label in range(N_CLASSES):
        frame[f"p_{label}"] = proba[:, label]
    return frame.assign(truth=np.where(rng.random(N_ITEMS) < share_known, truth.astype(str), ""))


@pytest.mark.parametrize("share_known", [1.0, 0.4, 0.0])
@pytest.mark.parametrize("from_disk", [False, True])
def test_rows_in_another_order_give_the_same_team(share_known, from_disk, tmp_path):
    frame = crowd(share_known)
    teams = []
    for name, order in (("there", np.arange(N_ITEMS)), ("mixed", np.random.default_rng(1).permutation(N_ITEMS))):
        frame.iloc[order].to_csv(tmp_path / f"{name}.csv", index=False)
        items = open_items(tables.scan(tmp_path / f"{name}.csv"), max_numbers=10 if from_disk else 10**6)
        teams.append(th.recommended().fit_items(items))
    one, other = (team.predict_proba(frame.drop(columns="truth")) for team in teams)
    np.testing.assert_allclose(one, other, atol=1e-10)
