"""The example runs, covers the truth as promised, and its team's sets are smaller than the model's."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import twoheads as th

mapie = pytest.importorskip("mapie.classification")
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_sets_cover_and_are_smaller_than_the_models(capsys):
    example = runpy.run_path(str(EXAMPLES / "label_sets.py"))
    found = example["main"]()
    # 2,000 items to calibrate on and 4,000 to judge: the coverage varies by about .006 around what is promised.
    for member in ("model", "team"):
        assert found[member]["coverage"] == pytest.approx(example["COVERAGE"], abs=0.02)
    assert found["team"]["size"] < 0.7 * found["model"]["size"]
    assert "team" in capsys.readouterr().out


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_combiner_fits_and_conformalizes_inside_mapie(score):
    simulate = runpy.run_path(str(EXAMPLES / "label_sets.py"))["simulate"]
    X, y = simulate(400, 3)
    conformal = mapie.SplitConformalClassifier(
        th.recommended(model_scale="logit"), confidence_level=0.9, conformity_score=score, prefit=False, random_state=0
    )
    conformal.fit(X, y).conformalize(*simulate(1000, 4))
    X_new, y_new = simulate(2000, 5)
    label, sets = conformal.predict_set(X_new)
    np.testing.assert_array_equal(label, th.recommended(model_scale="logit").fit(X, y).predict(X_new))
    assert sets[np.arange(len(y_new)), y_new, 0].mean() > 0.87
