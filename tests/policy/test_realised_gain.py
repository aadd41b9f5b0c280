"""Expected gains are held against what answers gained on labelled items."""

import numpy as np
import pytest

import twoheads as th
from twoheads.kernels.scoring.answer_value import gain_factor


def test_the_factor_by_hand():
    # 100 items, 12 won, 4 lost: r = .08, v = .17, g = .1: (1 + 100 .1 .08 / .17) / (1 + 100 .01 / .17)
    assert gain_factor(0.1, 12.0, 4.0, 100.0) == pytest.approx((1 + 0.8 / 0.17) / (1 + 1 / 0.17))
    assert gain_factor(0.1, 0.0, 0.0, 0.0) == 1.0
    assert gain_factor(0.1, 4.0, 40.0, 100.0) == 0.0


def test_nothing_is_promised_of_a_person_who_makes_labels_wrong():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    sure = rng.random(600) < 0.95
    model = np.where(sure, truth, 1 - truth)
    proba = np.clip(0.5 + 0.25 * (2 * model - 1) + rng.normal(0, 0.1, 600), 0.02, 0.98)
    # Right on what the model has right, wrong on the rest: alone 80 %, beside the model worth nothing.
    human = np.where(rng.random(600) < np.where(sure, 0.8, 0.1), truth, 1 - truth)
    X = np.column_stack([human, 1 - proba, proba])
    team = th.recommended().fit(X[:300], truth[:300])
    asked, unasked = X[300:], np.column_stack([np.full(300, -1), X[300:, 1:]])
    came = np.mean(team.predict(asked) == truth[300:]) - np.mean(team.predict(unasked) == truth[300:])
    promised = th.expected_gain(team, unasked).mean()
    assert came <= 0.01
    assert promised < 0.01


def test_a_team_saved_without_its_sample_promises_the_same(tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 80)
    human = np.where(rng.random(80) < 0.8, truth, 1 - truth)
    proba = softmax_rows(rng.normal(0, 1, (80, 2)) + 1.5 * np.eye(2)[truth])
    team = th.recommended().fit(np.column_stack([human, proba]), truth)
    team.save(tmp_path / "team.json", keep_sample=False)
    assert th.load(tmp_path / "team.json").gain_factor_ == team.gain_factor_


def softmax_rows(logits):
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
