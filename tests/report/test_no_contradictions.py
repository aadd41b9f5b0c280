"""Random tables: sentence, cards, advice and curves of a report say the same, and intervals hold their values."""

import numpy as np
import pytest

import twoheads as th
from report.made import problem
from twoheads.report import page, summary
from twoheads.text import SIGNIFICANCE


def table(seed):
    """A team and items of a random kind: people, models, classes, truths, and whether it is fitted on them."""
    rng = np.random.default_rng(seed)
    n_classes, people = int(rng.choice([2, 2, 3, 5, 12])), int(rng.choice([1, 1, 2, 4, 9]))
    n_fit, n_items = int(rng.integers(25, 160)), int(rng.integers(30, 260))
    X, y = problem(
        n_fit + n_items,
        [f"class {at}" for at in range(n_classes)],
        seed=seed,
        people=people,
        accuracy=rng.uniform(0.3, 0.97),
        strength=rng.uniform(0.2, 4.0),
    )
    y = np.where(rng.random(len(y)) < rng.choice([1.0, 1.0, 0.4]), y, None)
    y[0] = "class 0"
    team = th.recommended() if rng.random() < 0.5 else th.ProbabilityLabelCombiner()
    if rng.random() < 0.4:
        return team.fit(X, y), X, y
    return team.fit(X[:n_fit], y[:n_fit]), X[n_fit:], y[n_fit:]


def outside(found, path=""):
    """Where a value is not in its own interval."""
    if isinstance(found, list):
        for at, each in enumerate(found):
            yield from outside(each, f"{path}[{at}]")
    if not isinstance(found, dict):
        return
    for name in [key for key in found if f"{key}_low" in found] + [key for key in ("value", "share") if key in found]:
        low, high = ("low", "high") if name in ("value", "share") else (f"{name}_low", f"{name}_high")
        ends = found[low], found[name], found[high]
        numbers = all(isinstance(end, int | float) for end in ends)
        if numbers and not ends[0] - 1e-9 <= ends[1] <= ends[2] + 1e-9:
            yield f"{path}.{name}: {ends}"
    for key, each in found.items():
        yield from outside(each, f"{path}.{key}")


def contradictions(found):
    """What two places of a summary say differently."""
    verdict, comparison, curve = found["verdict"], found["comparison"], found["learning_curve"]
    said = [*outside(found)]
    steps = " ".join(verdict["next"])
    trend = curve.get("trend", "unknown")
    falls, flat = "still falling" in steps, "hardly" in steps
    said += ["next: still falling"] if falls and trend != "falling" else []
    said += ["next: hardly"] if flat and trend != "flat" else []
    said += ["curve"] if ("more labels help;" in curve["words"]) != (trend == "falling") else []
    if not comparison["available"]:
        return said + (["verdict without truth"] if verdict["answer"] != "unknown" else [])
    apart = comparison["difference"]
    better = [rival for rival in comparison["rivals"] if rival["better_half"]]
    said += ["better half"] if len(better) != 1 or better[0]["key"] != apart["better"] else []
    said += ["card"] if abs(better[0]["error"]["value"] - apart["better_error"]) > 1e-12 else []
    if apart["n_items"] == comparison["n_items"]:
        said += ["team's card"] if abs(comparison["combination"]["error"]["value"] - apart["error"]) > 1e-12 else []
    significant, fewer = apart["p_value"] < SIGNIFICANCE, apart["error"] < apart["better_error"]
    said += ["yes"] if (verdict["answer"] == "yes") != (significant and fewer) else []
    said += ["no"] if (verdict["answer"] == "no") != (significant and apart["error"] > apart["better_error"]) else []
    said += ["statistics"] if significant != ("is significant" in found["statistics"]) else []
    unsure = verdict["sure"].startswith("Not sure")
    said += ["sure"] if unsure != (verdict["answer"] == "too early") else []
    said += ["names"] if verdict["answer"] in ("yes", "no") and apart["words"] not in verdict["sentence"] else []
    uses = [step for step in verdict["next"] if step.startswith("Use ")]
    right = {"yes": "Use the team ", "no": f"Use {apart['words']} ", "same": "Use the cheaper "}.get(verdict["answer"])
    said += ["use"] if len(uses) != (right is not None) or (uses and not uses[0].startswith(right)) else []
    said += people(found["people"])
    both = found["independence"]
    if both["available"] and "more often than by chance" in both["words"]:
        said += ["together"] if both["both_wrong"] <= both["both_wrong_if_independent"] else []
    return said


def people(section):
    if not section["available"] or "the most reliable" not in section["words"] or section["n_more"]:
        return []
    said = section["words"].split("the most reliable ")[-1]
    named = said.removeprefix("by all answers with truth is ").removeprefix("is believed to be ").split(" (")[0]
    enough = [row for row in section["people"] if row["judged" if section["kind"] == "measured" else "answers"] >= 10]
    return (
        [] if enough[0]["accuracy"] == next(row for row in enough if row["annotator"] == named)["accuracy"] else [named]
    )


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 120))])
def test_no_two_places_contradict_each_other(seed):
    found = summary(*table(seed), n_bootstrap=20)
    assert contradictions(found) == []
    shown = page(found)
    assert "nan" not in shown.lower().replace("finance", "").split("<svg")[0]


def test_the_check_sees_a_contradiction():
    found = summary(*table(0), n_bootstrap=20)
    found["verdict"]["next"] = ["Fit the team on more labelled items: its error was still falling.", "Use nobody."]
    found["learning_curve"]["trend"] = "flat"
    found["comparison"]["combination"]["error"]["low"] = 0.99
    assert {"next: still falling", "use"} <= set(contradictions(found))
    assert any(each.startswith(".comparison.combination.error.value") for each in contradictions(found))
