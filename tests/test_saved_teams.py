"""A team that is well signed but lacks a field, or has one of another type, is refused with one sentence."""

import copy
import json
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.errors import InvalidArtifact
from twoheads.storage.annotations import is_of
from twoheads.storage.artifact import _checksum

rng = np.random.default_rng(0)
TRUTH = rng.integers(0, 3, 60)
PROBA = rng.dirichlet(np.ones(3), 60) * 0.5 + 0.5 * np.eye(3)[TRUTH]


CROWD = pd.DataFrame(
    {f"human_{who}": np.where(rng.random(60) < 0.8, TRUTH, rng.integers(0, 3, 60)) for who in ("ann", "bob", "eve")}
    | {f"p_{code}": PROBA[:, code] for code in range(3)}
)


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    return saved(th.recommended(), tmp_path_factory.mktemp("team") / "team.json")


def saved(team, path):
    team.fit(CROWD, TRUTH).save(path)
    return json.loads(path.read_text())


def read(document, path):
    document["sha256"] = _checksum(document["object"])
    path.write_text(json.dumps(document))
    return th.load(path)


def places(value, at=()):
    """Where the parts of the fitted state are."""
    if not isinstance(value, dict):
        return
    for name, entry in value.get("fitted", {}).items():
        yield (*at, "fitted", name)
        yield from places(entry, (*at, "fitted", name))
    for name, entry in value.get("parameters", {}).items() if at else ():
        if isinstance(entry, dict) and "array" in entry:
            yield (*at, "parameters", name)


def changed(document, place, change):
    other = copy.deepcopy(document)
    holder = other["object"]
    for key in place[:-1]:
        holder = holder[key]
    change(holder, place[-1])
    return other


CHANGES = {
    "null": lambda holder, key: holder.__setitem__(key, None),
    "missing": lambda holder, key: holder.__delitem__(key),
    "text": lambda holder, key: holder.__setitem__(key, "x"),
    "number": lambda holder, key: holder.__setitem__(key, -7.5),
    "short": lambda holder, key: holder.__setitem__(key, {"array": {"dtype": "<f8", "shape": [1], "values": [0.5]}}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_field_of_another_kind_is_refused_or_does_not_matter(change, document, tmp_path):
    expected = read(copy.deepcopy(document), tmp_path / "t.json").predict_proba(CROWD)
    sentences = []
    for place in places(document["object"]):
        try:
            team = read(changed(document, place, CHANGES[change]), tmp_path / "t.json")
        except InvalidArtifact as refused:
            sentences.append(str(refused))
            continue
        assert team.describe()
        assert team.predict_proba(CROWD) == pytest.approx(expected, abs=1e-12), place
    assert len(sentences) > 10
    assert all("is damaged: " in sentence and "\n" not in sentence for sentence in sentences)


#: Fields by their places, and values of the right type that are out of range, or lead to no probabilities.
OUT_OF_RANGE = {
    "a log-probability above 0": (("statistics_", "parameters", "labelled", "parameters", "log_proba"), 1e308),
    "a large weight": (("statistics_", "parameters", "labelled", "parameters", "weight"), 1e308),
    "a labelled item without a label": (("statistics_", "parameters", "labelled", "parameters", "true_label"), -1),
    "a large count": (("confusion_", "fitted", "counts_"), 1e308),
    "a factor that makes probabilities infinite": (("dependence_", "fitted", "model_factor_"), -5e4),
}


@pytest.mark.parametrize("what", OUT_OF_RANGE)
def test_an_entry_out_of_range_is_refused(what, document, tmp_path):
    place, value = OUT_OF_RANGE[what]
    place = ("fitted", *place, "array", "values", 0)
    with pytest.raises(InvalidArtifact, match="is damaged: "):
        read(changed(document, place, lambda holder, key: holder.__setitem__(key, value)), tmp_path / "t.json")


RECORD = ("fitted", "holdout_", "parameters")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("unit", 0.0, "unit of its HoldoutRecord is not positive"),
        ("unit", -2.0, "unit of its HoldoutRecord is negative"),
        ("unit_over_human", 0.0, "unit_over_human of its HoldoutRecord is not positive"),
        ("unit_over_model", float("inf"), "unit_over_model of its HoldoutRecord is negative or not finite"),
        ("both_labelled", 1e9, "both_labelled of its HoldoutRecord is more than its items"),
        ("both_labelled", -1.0, "both_labelled of its HoldoutRecord is negative"),
        ("both_wrong", 1e6, "both_wrong of its HoldoutRecord is more than its both_labelled"),
        ("both_wrong_by_chance", float("nan"), "both_wrong_by_chance of its HoldoutRecord is negative or not finite"),
        ("both_wrong_p", 1.5, "both_wrong_p of its HoldoutRecord is above 1"),
        ("errors", 1e6, "errors of its HoldoutRecord is more than its n"),
        ("expected_over_human", float("inf"), "expected_over_human of its HoldoutRecord is not finite"),
    ],
)
def test_numbers_of_a_record_must_be_those_of_one(name, value, words, document, tmp_path):
    other = changed(document, (*RECORD, name), lambda holder, key: holder.__setitem__(key, _number(value)))
    with pytest.raises(InvalidArtifact, match=words):
        read(other, tmp_path / "t.json")


def _number(value):
    """As a saved team holds it."""
    return value if np.isfinite(value) else {"float": repr(value)}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("unit_", 0.0, "its unit_ is not a positive number"),
        ("unit_", -1.0, "its unit_ is not a positive number"),
        ("unit_", "x", "its unit_ is not a positive number"),
        ("label_numbers_", {"array": {"dtype": "<f8", "shape": [1], "values": [3.0]}}, "its label_numbers_ are not"),
        ("label_numbers_", None, "its label_numbers_ are not"),
    ],
)
def test_numbers_of_l_and_l_must_be_those_of_one(name, value, words, tmp_path):
    document = saved(OTHERS["L+L"], tmp_path / "t.json")
    other = changed(document, ("fitted", name), lambda holder, key: holder.__setitem__(key, value))
    with pytest.raises(InvalidArtifact, match=words):
        read(other, tmp_path / "t.json")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("parameters", "tol"), "x"),
        (("parameters", "max_iter"), None),
        (("parameters", "dependence", "parameters", "bias_sd"), 0.5),
        (("parameters", "dependence", "parameters", "bias_weight"), {"tuple": [0.5, "x"]}),
        (("parameters", "dependence", "parameters", "partner_correlation_sd"), 0),
        (("fitted", "feature_names_in_"), -7.5),
        (("fitted", "n_features_in_"), "x"),
    ],
    ids=str,
)
def test_a_parameter_of_another_type_is_refused(place, value, document, tmp_path):
    with pytest.raises(InvalidArtifact, match="is damaged: "):
        read(changed(document, place, lambda holder, key: holder.__setitem__(key, value)), tmp_path / "t.json")


def test_a_whole_number_is_a_number(document, tmp_path):
    place = ("parameters", "tol")
    assert read(changed(document, place, lambda holder, key: holder.__setitem__(key, 1)), tmp_path / "t.json").tol == 1


OTHERS = {
    "L+L": th.LabelLabelCombiner(),
    "LR": th.LogisticCombiner(),
    "one coin": th.ProbabilityLabelCombiner(th.OneCoinConfusion(), th.VectorScaling()),
    "Dirichlet": th.ProbabilityLabelCombiner(calibrator=th.DirichletCalibration()),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_field_of_another_kind_in_other_teams(name, tmp_path):
    document = saved(OTHERS[name], tmp_path / "t.json")
    expected, sentences = th.load(tmp_path / "t.json").predict_proba(CROWD), []
    for place in places(document["object"]):
        for change in CHANGES.values():
            try:
                team = read(changed(document, place, change), tmp_path / "t.json")
            except InvalidArtifact as refused:
                sentences.append(str(refused))
                continue
            assert team.describe()
            assert team.predict_proba(CROWD) == pytest.approx(expected, abs=1e-12), place
    assert len(sentences) > 20
    assert not any("\n" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("statistics_", "labelled", "start"), [0, 7], "the answers of its ItemSample are not in the order"),
        (("statistics_", "labelled", "column"), [99], "the answers of its ItemSample are not of its people"),
        (("statistics_", "labelled", "true_label"), [0], "its ItemSample is not of the same items"),
    ],
)
def test_samples_of_items_must_fit(place, value, words, document, tmp_path):
    other = copy.deepcopy(document)
    sample = other["object"]["fitted"][place[0]]["parameters"][place[1]]["parameters"]
    sample[place[2]] = {"array": {"dtype": "<i8", "shape": [len(value)], "values": value}}
    with pytest.raises(InvalidArtifact, match=words):
        read(other, tmp_path / "t.json")


def test_a_record_has_the_types_that_it_declares(document, tmp_path):
    other = copy.deepcopy(document)
    other["object"]["fitted"]["learnt_"]["parameters"]["decimals"] = "x"
    with pytest.raises(InvalidArtifact, match="the decimals of its LearntItems is not of the type that it needs"):
        read(other, tmp_path / "t.json")


def test_a_declared_type_may_be_an_alias():
    # NumPy's NDArray is one with Python 3.12 or later and NumPy 2.5 or later.
    extensions = pytest.importorskip("typing_extensions")
    kind = TypeVar("kind", bound=np.generic)
    array = extensions.TypeAliasType("array", np.ndarray[Any, np.dtype[kind]], type_params=(kind,))
    assert is_of(np.zeros(3), array[np.float64])
    assert is_of(None, array[np.float64] | None)
    assert not is_of(np.zeros(3, dtype=int), array[np.float64])
    assert not is_of(1.0, array[np.float64])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("classes_", "classes"),
        ("annotators_", "its annotators_ are not a list of different names"),
        ("calibrator_", "its calibrator_ is not a Calibrator"),
        ("dependence_", "its dependence_ does not agree with its parameter dependence"),
    ],
)
def test_the_field_is_named(name, words, document, tmp_path):
    with pytest.raises(InvalidArtifact, match=words):
        read(changed(document, ("fitted", name), CHANGES["null"]), tmp_path / "t.json")


@pytest.mark.parametrize("y", [TRUTH, None, np.where(np.arange(60) < 20, TRUTH, -1)], ids=["truth", "none", "some"])
@pytest.mark.parametrize("columns", [["human_ann", "human_bob", "human_eve"], ["p_0", "p_1", "p_2"], []], ids=str)
def test_every_sound_team_is_read(y, columns, tmp_path):
    frame = CROWD if not columns else CROWD.drop(columns=columns[1:] if "human_ann" in columns else [])
    frame = th.Observations.from_answers(_long(CROWD), classes=[0, 1, 2]) if "p_0" in columns else frame
    for team in (th.recommended(), th.ProbabilityLabelCombiner(), th.recommended(class_prior="shift")):
        team.fit(frame, y).save(tmp_path / "t.json")
        assert th.load(tmp_path / "t.json").predict_proba(frame).tobytes() == team.predict_proba(frame).tobytes()


def _long(frame):
    answers = frame[["human_ann", "human_bob", "human_eve"]].melt(
        var_name="annotator", value_name="answer", ignore_index=False
    )
    return answers.rename_axis("item").reset_index().sort_values("item", kind="stable")
