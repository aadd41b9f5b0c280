"""What a team says of scores that never vary, and of scores that mean the other class."""

import numpy as np
import pandas as pd
import pytest

from twoheads import load
from twoheads.combination import recommended
from twoheads.observations import Observations


def graded(kind, n=300):
    """Three members who grade from 0 to 10, the last of them the other way round, and one who always gives 5."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, n)
    grades = np.round(3 + 4 * truth + 2 * rng.normal(size=(3, n))).clip(0, 10)
    columns = {"a": grades[0], "b": grades[1], "c": 10 - grades[2], "d": np.full(n, 5.0)}
    names = np.array(["no", "yes"])
    X = pd.DataFrame(
        {(f"{name}.score" if kind == "judges" else f"human_{name}.score"): s for name, s in columns.items()}
    )
    return Observations.from_frame(X, classes=names, positive="yes"), names[truth].astype(object)


@pytest.mark.parametrize("kind", ["judges", "people"])
@pytest.mark.parametrize("labelled", [0, 100])
def test_reversed_and_constant_scores_are_named(kind, labelled):
    X, truth = graded(kind)
    team = recommended().fit(X, np.where(np.arange(len(truth)) < labelled, truth, None))
    found, sentences = team.facts()["scores"], team.describe().split("\n")
    assert list(found["reversed"]) == ["c"]
    assert found["reversed"]["c"]["accuracy_high"] < 0.5
    assert any(
        sentence.startswith("Scores of a (9 levels), b (9 levels) count by their rank") for sentence in sentences
    )
    assert "Scores of d are not used, since they never vary." in sentences
    (about_c,) = [sentence for sentence in sentences if "reversed" in sentence]
    believed = "" if labelled else " believed to be"
    assert about_c.startswith(
        "Scores of c look reversed: low ones mean 'yes', and the team uses them so. "
        f"Read as given, these are{believed} right less often than a coin: c ("
    )
    assert np.mean(team.predict(X) == truth) > 0.9


def test_scores_that_mean_what_they_should_are_not_reversed():
    X, truth = graded("judges")
    names = [name for name in X.scores.names if name in "ab"]
    frame = pd.DataFrame({f"{name}.score": X.scores.values[:, X.scores.names.index(name)] for name in names})
    team = recommended().fit(Observations.from_frame(frame, y=truth, positive="yes"), truth)
    assert team.facts()["scores"] == {"positive": "yes", "levels": {"a": 9, "b": 9}}
    assert "reversed" not in team.describe()
    assert "never vary" not in team.describe()


def test_a_saved_team_says_the_same_of_people_beside_judges(tmp_path):
    X, truth = graded("judges")
    names = {name: X.scores.values[:, at] for at, name in enumerate(X.scores.names)}
    frame = pd.DataFrame(
        {"human_eve": truth, "a.score": names["a"], "human_b.score": names["b"], "human_c.score": names["c"]}
    )
    team = recommended().fit(Observations.from_frame(frame, positive="yes"), truth)
    team.save(tmp_path / "team.json")
    assert "Scores of c look reversed" in team.describe()
    assert load(tmp_path / "team.json").describe() == team.describe()


def test_scores_that_seem_reversed_but_not_significantly_are_unclear():
    rng, truth = np.random.default_rng(5), np.arange(20) % 2
    frame = pd.DataFrame({"a.score": truth + 0.3 * rng.normal(size=20), "b.score": 1 - truth})
    frame.loc[:6, "b.score"] = truth[:7]  # 7 of 20 are right
    names = np.array(["no", "yes"])[truth].astype(object)
    team = recommended().fit(Observations.from_frame(frame, y=names, positive="yes"), names)
    (facts,) = team.facts()["scores"]["unclear"].values()
    assert facts["accuracy"] < 0.5 <= facts["accuracy_high"]
    (about_b,) = [sentence for sentence in team.describe().split("\n") if "not clear" in sentence]
    assert about_b.startswith(
        "It is not clear that high scores of b mean 'yes'. Read so, these are right less often than a coin, but not "
        "significantly: b ("
    )
    assert "Scores of a (10 levels) count by their rank" in team.describe()


def test_models_whose_scores_never_vary_are_not_counted_among_those_beside_people():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 60)
    answers = np.where(rng.random((2, 60)) < 0.8, truth, 1 - truth)
    frame = pd.DataFrame({"human_x": answers[0], "human_y": answers[1], "c.score": np.ones(60)})

    def several(frame):
        team = recommended().fit(Observations.from_frame(frame, y=truth, positive=1), truth)
        return team.facts()["several_answers"], team.describe()

    found, words = several(frame)
    assert list(found) == ["correlation"]
    assert "models that give" not in words
    assert "model that gives" not in words
    found, words = several(frame.assign(**{"d.score": truth + rng.normal(size=60)}))
    assert found["machines"] == 1
    assert "Combined with 1 model that gives labels or scores" in words
