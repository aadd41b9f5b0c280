"""What a team without truth says of members whose accuracy agreement cannot show, and of those who always agree."""

import numpy as np
import pandas as pd
import pytest

from twoheads.combination import recommended
from twoheads.observations import Observations

FEW = "With fewer than three members per item, agreement cannot show which member is more accurate"


def votes(n, *accuracies, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    wrong = (truth + rng.integers(1, n_classes, (len(accuracies), n))) % n_classes
    given = np.where(rng.random((len(accuracies), n)) < np.array(accuracies)[:, None], truth, wrong)
    return pd.DataFrame({f"{name}.label": column for name, column in zip("abcdefgh", given, strict=False)})


def on_agreement(panel):
    """The facts on agreement, and the sentences on it."""
    team = recommended().fit(Observations.from_frame(panel, classes=[0, 1]))
    words = ("agreement cannot", "Agreement cannot", "This cannot")
    return team.facts()["agreement"], [line for line in team.describe().split("\n") if any(w in line for w in words)]


def test_two_members():
    found, (sentence,) = on_agreement(votes(200, 0.9, 0.6))
    assert found == {"members": 2, "undecided": ["a", "b"], "alike": []}
    assert sentence.startswith(FEW)


def test_people_whose_accuracy_agreement_cannot_show_are_not_ranked():
    panel = votes(200, 0.9, 0.6).rename(columns=lambda name: f"human_{name[0]}")
    team = recommended().fit(Observations.from_frame(panel, classes=[0, 1]))
    assert "most_reliable" not in team.facts()["people"]
    assert "No ranking of the 2 people: agreement cannot show how accurate all of them are." in team.describe()
    assert "most reliable" not in team.describe()


def test_three_members():
    assert on_agreement(votes(200, 0.9, 0.6, 0.8)) == ({"members": 3, "undecided": [], "alike": []}, [])


def test_two_of_many_members_who_share_no_item_with_the_others():
    panel = votes(300, *[0.8] * 8).astype(object)
    panel.iloc[:200, 2:] = None
    panel.iloc[200:, :2] = None
    found, (sentence,) = on_agreement(panel)
    assert found["undecided"] == ["a", "b"]
    assert sentence == (
        "Agreement cannot show how accurate a, b are: that takes more items with answers of three members, none of "
        "whom always gives the same answer. Where they disagree, the prior decides. Labels would settle it."
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_in_turn_show_who_is_more_accurate(n_classes):
    panel = votes(600, 0.95, 0.9, 0.7, 0.6, n_classes=n_classes).astype(object)
    rng = np.random.default_rng(1)
    for row in range(600):
        panel.iloc[row, rng.choice(4, 2, replace=False)] = None
    team = recommended().fit(panel)
    assert team.facts()["members_per_item"] == 2
    assert team.facts()["agreement"]["undecided"] == []
    assert FEW not in team.describe()
    accuracy = [machine["accuracy"] for machine in team.facts()["machines"].values()]
    assert min(accuracy[:2]) > max(accuracy[2:])


def test_a_member_who_always_gives_the_same_answer_is_no_third():
    panel = votes(300, 0.9, 0.7).assign(**{"c.label": 1})
    found, (sentence,) = on_agreement(panel)
    assert found == {"members": 2, "undecided": ["a", "b"], "alike": []}
    assert "how accurate a, b are" in sentence


@pytest.mark.parametrize("kind", ["label", "score"])
def test_a_member_who_repeats_another(kind):
    panel = votes(300, 0.9, 0.6, 0.8)
    if kind == "score":
        noise = np.random.default_rng(2).normal(size=(300, 3))
        panel = (5 + 2 * panel + noise).round().rename(columns=lambda name: name.replace("label", "score"))
    panel[f"d.{kind}"] = panel[f"b.{kind}"]
    found, (sentence,) = on_agreement(panel)
    assert found["alike"] == [["b", "d"]]
    assert sentence == (
        "b, d agree on all items that they share. This cannot show whether all of them are right or repeat each other; "
        "the team takes it as evidence that they are right. Labels would settle it; drop copies."
    )


def test_a_model_and_two_people_are_three_members():
    panel = votes(300, 0.9, 0.7).rename(columns=lambda name: f"human_{name[0]}")
    truth = votes(300, 1.0)["a.label"]
    panel["p_1"] = np.where(truth == 1, 0.7, 0.3) + np.random.default_rng(0).uniform(-0.29, 0.29, 300)
    assert on_agreement(panel) == ({"members": 3, "undecided": [], "alike": []}, [])
    found, _ = on_agreement(panel.drop(columns="human_b"))
    assert found["undecided"] == ["a", "model"]


def test_with_truth_nothing_is_said():
    panel = votes(300, 0.9, 0.7)
    assert "agreement" not in recommended().fit(panel, panel["a.label"].where(panel.index < 3, -1)).facts()


@pytest.mark.parametrize("n_items", [1500, 6000])  # all are retained; a part is
def test_many_people_with_few_answers_each_are_compared_through_each_other(n_items):
    rng = np.random.default_rng(0)
    truth, item = rng.integers(0, 2, n_items), np.repeat(np.arange(n_items), 3)
    person = rng.integers(0, n_items, 3 * n_items)
    answer = np.where(rng.random(3 * n_items) < 0.8, truth[item], 1 - truth[item])
    long = pd.DataFrame({"item": item, "annotator": person, "answer": answer}).drop_duplicates(["item", "annotator"])
    team = recommended().fit(Observations.from_answers(long))
    assert team.facts()["agreement"]["undecided"] == []
    assert "greement cannot" not in team.describe()


def test_items_that_are_not_retained_count_too():
    panel = votes(6000, 0.9, 0.7, 0.8).astype(object)
    panel.iloc[60:, 2] = None  # a third of them is retained
    assert on_agreement(panel)[0]["undecided"] == []
