"""The numbers of a report, against the same numbers by other means."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import twoheads as th
from report.made import problem
from twoheads.evaluation import check_accuracy_bound, compare, cross_validated, expected_calibration_error, predictions
from twoheads.observations import as_observations
from twoheads.report import summary
from twoheads.report.sections.confusion_section import confusion_section
from twoheads.report.sections.people_by_class import people_by_class

SECTIONS = [
    "comparison",
    "exchange",
    "reliability",
    "confusion",
    "temperature",
    "learning_curve",
    "independence",
    "accuracy_bound",
    "items",
    "method",
]


@pytest.fixture(scope="module")
def judged():
    X, y = problem(500, ["cat", "dog", "eel"])
    team = th.ProbabilityLabelCombiner().fit(X[:200], y[:200])
    return team, X[200:], y[200:], summary(team, X[200:], y[200:], n_bootstrap=200)


def test_it_is_json_and_has_every_section(judged):
    *_, found = judged
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [name for name in SECTIONS if not found[name]["available"]] == []
    assert all(found[name]["words"] for name in SECTIONS if name != "comparison")


def test_the_comparison_is_that_of_evaluation(judged):
    team, X, y, found = judged
    direct = compare(team, X, y, n_bootstrap=200).as_dict()
    assert found["headline"] == direct["headline"]
    assert found["comparison"]["combination"] == direct["combination"]
    assert found["exchange"]["human"] == direct["human_exchange"]


def test_reliability_is_behind_the_calibration_error(judged):
    team, X, y, found = judged
    curve = found["reliability"]["curves"]["combination"]
    gap = np.abs(np.subtract(curve["mean_confidence"], curve["accuracy"]))
    n_bins = found["reliability"]["n_bins"]
    expected = expected_calibration_error(y, team.predict_proba(X), classes=team.classes_, n_bins=n_bins)
    assert np.average(gap, weights=curve["weight"]) == pytest.approx(expected)
    proba = X[[f"p_{name}" for name in team.classes_]].to_numpy()
    over = proba.max(axis=1).mean() - np.mean(team.classes_[proba.argmax(axis=1)] == y)
    assert found["reliability"]["overconfidence"]["model"]["value"] == pytest.approx(over)


def test_confusion_counts_and_intervals(judged):
    team, *_, found = judged
    counts = team.labelled_counts_[0]
    for at, entry in enumerate(found["confusion"]["classes"]):
        right, seen = counts[at, at], counts[:, at].sum()
        assert (entry["n_right"], entry["n_seen"]) == (right, seen)
        interval = beta.ppf([0.025, 0.975], right + 0.5, seen - right + 0.5)
        assert [entry["low"], entry["high"]] == pytest.approx(interval.tolist())
        assert entry["used"] == team.confusion_.human_given_true_[at, at]
    first = found["confusion"]["pairs"][0]
    wrong = counts - np.diag(np.diag(counts))
    assert first["count"] == wrong.max()
    classes = team.classes_.tolist()
    assert wrong[classes.index(first["said"]), classes.index(first["truth"])] == wrong.max()
    assert found["confusion"]["kind"] == "measured"
    assert found["confusion"]["human_given_true"] == (counts / counts.sum(axis=0)).tolist()
    assert found["confusion"]["words"].endswith(
        "All counts are of the items with truth the team was fitted on, not those it is evaluated on here."
    )


def test_temperature_has_the_interval_of_its_posterior(judged):
    team, *_, found = judged
    section, calibrator = found["temperature"], team.calibrator_
    assert section["temperature"] == calibrator.temperature_
    assert section["low"] == pytest.approx(
        calibrator.temperature_ * np.exp(-1.96 * calibrator.log_temperature_sd_), rel=1e-4
    )
    assert section["low"] < section["temperature"] < section["high"]


def test_the_bound_is_theorem_1(judged):
    team, X, y, found = judged
    check = check_accuracy_bound(
        predictions(team, X).calibrated_proba,
        team.confusion_.human_given_true_,
        X["human"].to_numpy(),
        y,
        stronger=True,
        classes=team.classes_,
    )
    assert found["accuracy_bound"]["bound"] == check.bound <= found["accuracy_bound"]["product_accuracy"]
    assert found["accuracy_bound"]["accuracy"] == np.mean(team.predict(X) == y)


def test_items_to_look_at_first(judged):
    team, X, y, found = judged
    proba = team.predict_proba(X)
    least = np.argsort(proba.max(axis=1), kind="stable")[:10]
    listed = found["items"]["least_sure"]
    assert [entry["item"] for entry in listed] == X["item"].to_numpy()[least].tolist()
    for entry, row in zip(listed, least, strict=True):
        second = np.sort(proba[row])[-2]
        assert sum(part["log_odds"] for part in entry["parts"]) == pytest.approx(np.log(entry["confidence"] / second))
        assert entry["truth"] == y[row]
        assert {part["kind"] for part in entry["parts"]} <= {"human", "model"}
    apart = found["items"]["disagreements"]
    assert all(entry["human"] != entry["model"] for entry in apart)
    model = X[[f"p_{name}" for name in team.classes_]].to_numpy()
    assert found["items"]["n_disagreements"] == np.sum(team.classes_[model.argmax(axis=1)] != X["human"])
    sure = [entry["model_confidence"] for entry in apart]
    assert sure == sorted(sure, reverse=True)  # a temperature keeps the order of two classes only; here it does


def test_the_method_and_every_setting(judged):
    team, *_, found = judged
    settings = found["method"]["settings"]
    assert found["method"]["name"] == "ProbabilityLabelCombiner"
    assert set(team.get_params()) <= set(settings)
    assert settings["calibrator"] == "TemperatureScaling (default)"
    assert settings["calibrator__log_temperature_mean"] == 0.5
    assert found["method"]["versions"]["numpy"] == np.__version__
    assert found["method"]["learnt_from"] == {"n_labelled": 200, "n_unlabelled": 0}


def test_the_table_it_was_fitted_on_is_cross_validated():
    X, y = problem(80, ["a", "b"], seed=1)
    team = th.ProbabilityLabelCombiner().fit(X, y)
    found = summary(team, X, y, n_bootstrap=100)
    assert found["data"]["how"] == "5-fold cross-validation"
    out_of_fold = cross_validated(team, X, y)
    expected = np.mean(out_of_fold.combined_label != out_of_fold.true_label)
    assert found["comparison"]["combination"]["error"]["value"] == expected
    assert "cross-validation" in found["notes"][1]


def test_without_truth_it_says_so():
    X, _ = problem(100, ["a", "b"], seed=2)
    found = summary(th.ProbabilityLabelCombiner().fit(X), X, n_bootstrap=100)
    assert found["headline"].startswith("No truth is known for these 100 items")
    without = [name for name in SECTIONS if not found[name]["available"]]
    assert without == ["comparison", "exchange", "reliability", "learning_curve", "independence", "accuracy_bound"]
    assert found["exchange"]["words"] == "This needs items of known truth, and there are none here."
    assert found["comparison"]["without_truth"]["agreement"]["value"] > 0.5
    assert found["confusion"]["kind"] == "believed"
    assert found["confusion"]["words"].startswith("No truth was known: all shares are what the team believes")
    assert all(entry["low"] is None for entry in found["confusion"]["classes"])


def test_truth_for_a_single_item():
    X, y = problem(50, ["a", "b"], seed=3)
    single = np.array([y[0], *[None] * 49], dtype=object)
    team = th.ProbabilityLabelCombiner().fit(X, single)
    found = summary(team, X, single, n_bootstrap=50)
    assert found["headline"] == (
        "The truth is known for 1 of 50 items, which the team was fitted on: no error can be measured. "
        "Label more items, or evaluate the team on others."
    )
    other, truth = problem(50, ["a", "b"], seed=4)
    judged = summary(team, other, [truth[0], *[None] * 49], n_bootstrap=50)
    assert judged["comparison"]["n_items"] == 1
    assert judged["comparison"]["combination"]["log_loss"]["low"] is None
    assert not judged["independence"]["available"]


def test_one_item():
    X, y = problem(1, ["a", "b"])
    found = summary(th.ProbabilityLabelCombiner().fit(X, y), X, y, n_bootstrap=50)
    assert len(found["items"]["least_sure"]) == 1
    assert found["learning_curve"]["words"] == "A learning curve needs at least 8 items of known truth; there are 1."


def test_many_classes_are_told_without_their_matrix():
    X, y = problem(400, [f"c{at:03}" for at in range(100)], strength=3)
    found = summary(th.ProbabilityLabelCombiner().fit(X, y), X, y, n_bootstrap=50)
    assert found["confusion"]["human_given_true"] is None
    assert len(found["confusion"]["classes"]) == 100
    assert len(found["confusion"]["pairs"]) == 10


@pytest.mark.parametrize(
    ("team", "missing"),
    [
        (th.LabelLabelCombiner(), {"temperature", "accuracy_bound"}),
        (th.LogisticCombiner(), {"confusion", "temperature", "accuracy_bound"}),
        (th.ProbabilityLabelCombiner(calibrator=th.VectorScaling()), {"temperature"}),
    ],
    ids=["labels", "logistic", "vector"],
)
def test_sections_a_method_has_no_numbers_for_are_left_out(team, missing):
    X, y = problem(100, ["a", "b"], seed=4)
    found = summary(team.fit(X[:40], y[:40]), X[40:], y[40:], n_bootstrap=50)
    assert {name for name in SECTIONS if not found[name]["available"]} == missing
    assert found["items"]["explained"] == hasattr(team, "explain")


def test_several_people():
    X, y = problem(120, ["a", "b"], people=3)
    team = th.ProbabilityLabelCombiner().fit(X[:60], y[:60])
    found = summary(team, X[60:], y[60:], n_bootstrap=50)
    assert found["data"]["n_people"] == 3
    assert found["accuracy_bound"]["words"] == (
        "The theorem is about one person and one model; here are several people."
    )
    assert found["confusion"]["words"].startswith("The 3 people together are most accurate on")
    for entry in found["items"]["least_sure"]:
        row = X.iloc[60 + entry["row"]]
        said = [row[f"human_p{person}"] for person in range(3) if isinstance(row[f"human_p{person}"], str)]
        assert entry["n_answers"] == len(said)
        assert entry["tied"] == (len(said) == 2 and said[0] != said[1])


def test_errors_are_corrected_against_the_majority_and_ties_are_said():
    X, y = problem(120, ["a", "b"], people=2)
    team = th.recommended().fit(X[:60], y[:60])
    found = summary(team, X[60:], y[60:], n_bootstrap=50)
    exchange, answers = found["exchange"], X[60:][["human_p0", "human_p1"]]
    assert f"corrects {exchange['human']['rescued']} errors of the majority" in exchange["words"]
    tied = int((answers.notna().all(axis=1) & (answers["human_p0"] != answers["human_p1"])).sum())
    assert f" {tied} items on which it or the majority is tied are not counted." in exchange["words"]


def test_the_correction_for_dependence_is_a_part_of_its_own():
    X, y = problem(80, ["a", "b"])
    found = summary(th.recommended().fit(X[:40], y[:40]), X[40:], y[40:], n_bootstrap=50)
    assert found["items"]["corrected"]
    assert {part["kind"] for part in found["items"]["least_sure"][0]["parts"]} == {"human", "model", "other"}


def test_partners_who_err_together_are_told():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    wrong = rng.random(400) < 0.3
    said = np.where(wrong, 1 - y, y)
    proba = np.where(np.arange(2) == said[:, None], 0.8, 0.2)
    X = np.column_stack([said, proba])
    found = summary(th.ProbabilityLabelCombiner().fit(X, y), X, y, n_bootstrap=50)
    assert found["independence"]["p_value"] < 0.01
    assert found["independence"]["both_wrong"] == np.mean(wrong)
    assert found["independence"]["words"].startswith(
        "Human and model err on the same items more often than by chance (p < 0.001)"
    )
    apart = [np.mean(wrong[y == k]) ** 2 * np.mean(y == k) for k in (0, 1)]
    assert found["independence"]["both_wrong_if_independent"] == pytest.approx(sum(apart))


def test_partners_who_never_err_together_are_not_told_to_do_so():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    chance = rng.random(400)
    human, model = np.where(chance < 0.3, 1 - y, y), np.where(chance > 0.7, 1 - y, y)
    X = np.column_stack([human, np.where(np.arange(2) == model[:, None], 0.8, 0.2)])
    found = summary(th.ProbabilityLabelCombiner().fit(X, y), X, y, n_bootstrap=50)["independence"]
    assert found["p_value"] < 0.01
    assert found["both_wrong"] == 0
    assert found["words"].startswith(
        "The labels of human and model depend on each other given the truth (p = 0.002), but the two do not err on the "
        "same items significantly more often for it: both are wrong on 0.0 % of the items"
    )


def test_importing_the_package_loads_no_matplotlib():
    import subprocess

    code = "import sys, twoheads, twoheads.report; sys.exit('matplotlib' in sys.modules or 'jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_people_are_shown_by_their_accuracy():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"p_a": rng.uniform(0.1, 0.9, 200)}).assign(p_b=lambda table: 1 - table["p_a"])
    truth = np.where(frame["p_a"] > 0.5, "a", "b")
    for person in range(23):
        asked = rng.random(200) < (person + 1) / 30
        frame[f"human_p{person}"] = np.where(asked, np.where(rng.random(200) < 0.8, truth, "a"), None)
    team = th.recommended().fit(frame, truth)
    found = summary(team, frame, truth, n_bootstrap=20)["people"]
    assert (found["available"], found["n_people"], found["n_more"], len(found["people"])) == (True, 23, 3, 20)
    given = frame.filter(like="human_").notna().sum()
    assert sorted(row["answers"] for row in found["people"]) == sorted(given.tolist())[3:]
    shares = [row["accuracy"] for row in found["people"]]
    assert shares == sorted(shares, reverse=True)
    for row in found["people"]:
        assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]
        assert (row["kind"], row["judged"]) == ("measured", row["answers"])
    assert (found["kind"], found["source"], found["level"]) == ("measured", "these items", 0.95)
    assert found["words"].startswith("Measured on 200 items with truth. Nine in ten of the 23 people are")


def test_one_person_is_no_crowd(judged):
    *_, found = judged
    assert found["people"] == {
        "available": False,
        "words": "One person answered, or people without names: there is nobody to compare.",
    }


def test_people_are_measured_by_the_truth_given_here():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"p_a": rng.uniform(0.1, 0.9, 300)}).assign(p_b=lambda table: 1 - table["p_a"])
    truth = np.where(frame["p_a"] > 0.5, "a", "b")
    changed = np.arange(300) < 100  # here ann answers well; on the other items she does not
    right = np.where(changed, 0.95, 0.55)
    for name, chance in (("ann", right), ("bob", 0.75)):
        frame[f"human_{name}"] = np.where(rng.random(300) < chance, truth, np.where(truth == "a", "b", "a"))
    team = th.recommended().fit(frame[~changed], truth[~changed])
    found = summary(team, frame[changed], truth[changed], n_bootstrap=20)["people"]
    assert [row["annotator"] for row in found["people"]] == ["ann", "bob"]
    shares = [np.mean(frame[f"human_{name}"][changed] == truth[changed]) for name in ("ann", "bob")]
    for row, share in zip(found["people"], shares, strict=True):
        # Jeffreys' interval, but for the crowd's prior: about a tenth of an answer of either kind, and the other person
        interval = beta.ppf([0.025, 0.975], 100 * share + 0.5, 100.5 - 100 * share)
        assert [row["accuracy_low"], row["accuracy_high"]] == pytest.approx(interval.tolist(), abs=5e-3)
    unknown = summary(team, frame[changed], n_bootstrap=20)["people"]
    assert (unknown["kind"], unknown["source"]) == ("measured", "the fit")
    assert [row["annotator"] for row in unknown["people"]] == ["bob", "ann"]
    assert unknown["words"].startswith("No truth is given for these items: accuracies were measured on the items with")


def test_items_of_the_fit_give_the_numbers_of_the_fit():
    X, y = problem(150, ["a", "b"], people=3)
    some = np.where(np.arange(150) < 60, y, None)
    team = th.ProbabilityLabelCombiner().fit(X, some)
    found = summary(team, X, some, held_out=False, n_bootstrap=20)["people"]["people"]
    stats = pd.DataFrame(team.annotator_stats_at(0.95)).set_index("annotator")
    for row in found:
        for fact in ("accuracy", "accuracy_low", "accuracy_high", "judged", "answers"):
            assert row[fact] == pytest.approx(stats.loc[row["annotator"], fact], abs=1e-9)


def test_a_class_that_was_never_seen_has_no_share():
    X, y = problem(60, ["a", "b", "c"], seed=8)
    known = np.where(y == "c", None, y)
    team = th.ProbabilityLabelCombiner().fit(X, known)
    found = summary(team, X, known, held_out=False, n_bootstrap=20)["confusion"]
    unseen = found["classes"][2]
    assert (unseen["accuracy"], unseen["low"], unseen["n_seen"]) == (None, None, 0)
    assert unseen["used"] is not None  # the prior's, under a name of its own
    assert [row[2] for row in found["human_given_true"]] == [None, None, None]
    assert "Nobody answered about an item with truth of “c”." in found["words"]
    # the sentence and the matrix show the same numbers
    best = max(found["classes"][:2], key=lambda entry: entry["accuracy"])
    at = [entry["class"] for entry in found["classes"]].index(best["class"])
    assert f"“{best['class']}” ({100 * found['human_given_true'][at][at]:.0f} % right)" in found["words"]


@pytest.mark.parametrize("make", [th.recommended, th.ProbabilityLabelCombiner, th.LabelLabelCombiner])
def test_what_the_team_uses_counts_weighted_answers_as_what_they_are_worth(make):
    X, y = problem(120, ["a", "b"])

    def used(weight):
        team = make().fit(X, y, sample_weight=weight)
        classes = confusion_section(team)["classes"]
        for each in classes:
            assert each["used_low"] <= each["used"] <= each["used_high"]
        return np.array([[each["used_low"], each["used_high"]] for each in classes]), classes

    plain, _ = used(None)
    hundred, _ = used(np.full(120, 100.0))
    assert hundred == pytest.approx(plain, abs=1e-6)
    uneven, classes = used(np.where(np.arange(120) < 115, 1.0, 1000.0))  # five items have nearly all of the weight
    assert (np.diff(uneven) > 1.5 * np.diff(plain)).all()
    assert all(each["high"] - each["low"] > 0.3 for each in classes)


def test_sensitivities_of_people_count_weighted_answers_as_what_they_are_worth():
    X, y = problem(120, ["a", "b"])
    team = th.ProbabilityLabelCombiner().fit(X, y)

    def shares(weight):
        observations = as_observations(X)
        truth = np.searchsorted(team.classes_, y)
        _, found = people_by_class(team, observations, truth, weight)
        (of_person,) = found.values()
        return [[of_person[name][end] for end in ("value", "low", "high")] for name in ("sensitivity", "specificity")]

    plain = np.array(shares(None))
    assert np.array(shares(np.full(120, 100.0))) == pytest.approx(plain)
    uneven = np.array(shares(np.where(np.arange(120) < 115, 1.0, 1000.0)))
    assert (uneven[:, 2] - uneven[:, 1] > 1.5 * (plain[:, 2] - plain[:, 1])).all()


def test_a_report_says_what_takes_no_weights_where_they_differ():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    X = np.column_stack([truth, np.full((40, 2), 0.5)])
    team = th.ProbabilityLabelCombiner().fit(X, truth)
    for weight, said in ((None, False), (np.full(40, 3.0), False), (rng.integers(1, 4, 40), True)):
        notes = summary(team, X, truth, sample_weight=weight, n_bootstrap=20)["notes"]
        assert any("count every item once" in note for note in notes) == said
