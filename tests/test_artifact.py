"""A fitted object as JSON and back: every bit of it, and a clear word when the file is not what it should be."""

import base64
import hashlib
import json
import os
import stat
import warnings
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from twoheads.calibration.base import Calibrator
from twoheads.combination import LabelLabelCombiner, LogisticCombiner, ProbabilityLabelCombiner
from twoheads.combination.combiner import Combiner
from twoheads.confusion import DirichletConfusion, OneCoinConfusion
from twoheads.errors import CannotWrite, InvalidArtifact, MissingArtifact
from twoheads.storage import artifact

RNG = np.random.default_rng(5)
TRUTH = RNG.integers(0, 4, 120) % 3
PROBA = RNG.dirichlet(np.ones(3), 120) * 0.6 + 0.4 * np.eye(3)[TRUTH]
HUMAN = np.where(RNG.random(120) < 0.7, TRUTH, RNG.integers(0, 3, 120))
NAMES = np.array(["cat", "Füchse 狐", 'a "b", c'])
X = np.column_stack([HUMAN, PROBA])
CROWD = pd.DataFrame(PROBA, columns=[f"p_{name}" for name in NAMES]).assign(
    human_al=NAMES[HUMAN], human_bo=np.where(RNG.random(120) < 0.5, NAMES[TRUTH], "")
)

#: Three packed numbers.
ZEROS = base64.b64encode(zlib.compress(bytes(24))).decode()


def registered(kind):
    return sorted((cls for cls in artifact._registry.values() if issubclass(cls, kind)), key=lambda cls: cls.__name__)


def saved(fitted, tmp_path):
    artifact.save(fitted, tmp_path / "team.json")
    return artifact.load(tmp_path / "team.json")


def same(one, two):
    assert type(one) is type(two)
    if isinstance(one, np.ndarray):
        assert one.dtype == two.dtype
        assert one.shape == two.shape
        assert one.tolist() == two.tolist() if one.dtype.kind in "OU" else one.tobytes() == two.tobytes()
    elif isinstance(one, BaseEstimator):
        assert vars(one).keys() == vars(two).keys()
        for name in vars(one):
            same(getattr(one, name), getattr(two, name))
    elif isinstance(one, list | tuple):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            same(a, b)
    elif isinstance(one, float):
        assert one.hex() == two.hex()
    else:
        assert one == two


@pytest.mark.parametrize("cls", registered(Calibrator))
@pytest.mark.parametrize("y", [TRUTH, np.where(TRUTH == 0, 1, TRUTH)], ids=["all classes", "a class unseen"])
def test_calibrators_come_back_to_the_bit(cls, y, tmp_path):
    fitted = cls().fit(PROBA, y)
    again = saved(fitted, tmp_path)
    same(fitted, again)
    assert again.predict_proba(PROBA).tobytes() == fitted.predict_proba(PROBA).tobytes()
    clone(again).fit(PROBA, y)


@pytest.mark.parametrize("cls", registered(Combiner))
def test_combiners_come_back_to_the_bit(cls, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = cls().fit(X, TRUTH)
    again = saved(fitted, tmp_path)
    same(fitted, again)
    assert again.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()
    assert again.predict(X).tolist() == fitted.predict(X).tolist()
    assert again.get_params().keys() == fitted.get_params().keys()


@pytest.mark.parametrize("confusion", [None, OneCoinConfusion(), DirichletConfusion(estimate="likelihood")])
@pytest.mark.parametrize(
    "calibrator", [None, *(cls() for cls in registered(Calibrator) if "Released" not in cls.__name__)]
)
def test_every_pair_of_parts_comes_back(confusion, calibrator, tmp_path):
    fitted = ProbabilityLabelCombiner(confusion, calibrator).fit(CROWD, NAMES[TRUTH])
    again = saved(fitted, tmp_path)
    same(fitted, again)
    assert again.predict_proba(CROWD).tobytes() == fitted.predict_proba(CROWD).tobytes()
    assert again.annotators_ == ("al", "bo")
    assert again.classes_.tolist() == sorted(NAMES)
    assert again.feature_names_in_.tolist() == ["human_al", "human_bo", *(f"p_{name}" for name in sorted(NAMES))]


def test_marginalised_em_and_semi_supervised_fits_come_back(tmp_path):
    from twoheads.calibration import TemperatureScaling

    for y in (None, np.where(np.arange(120) < 20, TRUTH, -1)):
        for calibrator in (TemperatureScaling(), TemperatureScaling(estimate="mean")):
            fitted = ProbabilityLabelCombiner(DirichletConfusion(estimate="mean"), calibrator, tol=1e-4).fit(X, y)
            again = saved(fitted, tmp_path)
            same(fitted, again)
            assert again.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()


@pytest.mark.parametrize("y", [np.where(TRUTH == 0, 1, TRUTH), np.ones(120, dtype=int)])
def test_infinite_intercepts_come_back(y, tmp_path):
    fitted = LogisticCombiner().fit(X, y)
    assert np.isneginf(fitted.intercept_).any()
    again = saved(fitted, tmp_path)
    same(fitted, again)
    assert again.predict_proba(X).tobytes() == fitted.predict_proba(X).tobytes()


@pytest.mark.parametrize("labels", [TRUTH.astype(float), TRUTH > 0, np.array(["x", "y", "z"])[TRUTH]])
def test_classes_keep_their_type(labels, tmp_path):
    n_classes = len(np.unique(labels))
    proba = PROBA if n_classes == 3 else np.column_stack([PROBA[:, 0], PROBA[:, 1:].sum(axis=1)])
    human = HUMAN if n_classes == 3 else HUMAN > 0
    fitted = LabelLabelCombiner().fit(np.column_stack([human, proba]), labels)
    assert saved(fitted, tmp_path).classes_.dtype == fitted.classes_.dtype


def test_parameters_keep_their_values(tmp_path):
    team = ProbabilityLabelCombiner(OneCoinConfusion(prior_strength=0.1), max_iter=7, tol=np.inf).fit(X, TRUTH)
    again = saved(team, tmp_path)
    assert again.calibrator is None
    assert again.confusion.prior_strength == 0.1
    assert again.max_iter == 7
    assert again.tol == np.inf
    assert clone(again).get_params()["confusion__prior_strength"] == 0.1


class Holder(BaseEstimator):
    """Whatever may be fitted state."""

    def __init__(self, part=None):
        self.part = part


@pytest.fixture
def holder(monkeypatch):
    monkeypatch.setitem(artifact._registry, "Holder", Holder)
    return Holder()


@pytest.mark.parametrize(
    "value",
    [
        np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e308]),
        np.array([0.1, 1 / 3], dtype=np.float32),
        np.array([1, -(2**63)]),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([True, False]),
        np.array(["a", "", "狐"]),
        np.array(["a", "bc"], dtype=object),
        np.array([], dtype=float),
        np.empty((0, 3)),
        np.array(3.5),
        np.arange(12.0).reshape(3, 4, order="F"),
        np.random.default_rng(0).normal(size=(101, 100)),
        np.arange(20_000, dtype=np.int32),
        np.array(["b", "a"] * 6000),
        0.1,
        -0.0,
        float("nan"),
        float("-inf"),
        10**30,
        True,
        None,
        "text",
        ("a", "b", ()),
        [1, [2.5, None]],
        {"a": {"b": (1,)}, "class": "no class"},
    ],
    ids=repr,
)
def test_every_kind_of_value_comes_back(value, holder, tmp_path):
    holder.value_ = value
    again = saved(holder, tmp_path).value_
    if isinstance(value, dict):
        assert again == value
    else:
        same(value, again)
    if isinstance(value, np.ndarray):
        assert again.flags.writeable
        assert again.flags.c_contiguous == value.flags.c_contiguous


def test_numpy_scalars_become_numbers(holder, tmp_path):
    holder.a_, holder.b_, holder.c_ = np.float64(0.1), np.int32(3), np.True_
    again = saved(holder, tmp_path)
    assert (again.a_, again.b_, again.c_) == (0.1, 3, True)


def test_only_parameters_and_fitted_state_are_written(holder, tmp_path):
    holder.value_, holder.cache, holder._secret_ = 1, 2, 3
    assert vars(saved(holder, tmp_path)) == {"part": None, "value_": 1}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "a object cannot be saved: its class is not registered with twoheads."),
        (np.array([1j]), "an array of dtype complex128 cannot be saved."),
        (np.array([None]), "an array of dtype object cannot be saved."),
        ({1: 2}, "a dict cannot be saved: its class is not registered with twoheads."),
    ],
)
def test_what_cannot_be_saved(value, words, holder, tmp_path):
    holder.value_ = value
    with pytest.raises(InvalidArtifact) as caught:
        artifact.save(holder, tmp_path / "team.json")
    assert str(caught.value) == words
    assert os.listdir(tmp_path) == []


def test_an_unfitted_combiner_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        ProbabilityLabelCombiner().save(tmp_path / "team.json")
    assert os.listdir(tmp_path) == []


def test_combiners_save_themselves(tmp_path):
    team = ProbabilityLabelCombiner().fit(X, TRUTH)
    team.save(tmp_path / "team.json")
    same(artifact.load(str(tmp_path / "team.json")), team)


# ------------------------------------------------------------------------------------------- writing


def test_the_file_has_the_permissions_of_any_file(holder, tmp_path):
    before = os.umask(0o027)
    try:
        artifact.save(holder, tmp_path / "team.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "team.json").stat().st_mode) == 0o640


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_write_that_fails_leaves_the_old_file(step, holder, tmp_path, monkeypatch):
    path = tmp_path / "team.json"
    path.write_text("old")

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="disk full"):
        artifact.save(holder, path)
    assert os.listdir(tmp_path) == ["team.json"]
    assert path.read_text() == "old"


def test_an_old_file_is_replaced(holder, tmp_path):
    holder.value_ = 1
    saved(holder, tmp_path)
    holder.value_ = 2
    assert saved(holder, tmp_path).value_ == 2
    assert os.listdir(tmp_path) == ["team.json"]


def test_a_link_is_followed(holder, tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "team.json")
    artifact.save(holder, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "team.json").is_file()


def test_a_folder_that_does_not_exist(holder, tmp_path):
    with pytest.raises(CannotWrite) as caught:
        artifact.save(holder, tmp_path / "no" / "team.json")
    assert str(caught.value) == (
        f"{tmp_path / 'no' / 'team.json'} cannot be written: the folder '{tmp_path.resolve() / 'no'}' does not exist. "
        "Make it first, or write elsewhere."
    )


def test_a_file_that_does_not_exist(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(MissingArtifact) as caught:
        artifact.load(tmp_path / "team.json")
    assert isinstance(caught.value, FileNotFoundError)
    assert str(caught.value) == (
        f"{tmp_path / 'team.json'} does not exist; its folder has other.json. "
        "Give a file that save() or 'twoheads fit' wrote."
    )


def test_a_folder_in_place_of_a_file(tmp_path):
    with pytest.raises(InvalidArtifact, match=r"cannot be read \(Is a directory\)"):
        artifact.load(tmp_path)


# ------------------------------------------------------------------------------------------- reading


@pytest.fixture
def path(tmp_path):
    ProbabilityLabelCombiner().fit(X, TRUTH).save(tmp_path / "team.json")
    return tmp_path / "team.json"


def refused(path):
    with pytest.raises(InvalidArtifact) as caught:
        artifact.load(path)
    return str(caught.value)


def rewritten(path, change):
    """The file with its object changed and its checksum made right again."""
    document = json.loads(path.read_text())
    document["object"] = change(document["object"])
    text = json.dumps(document["object"], sort_keys=True, separators=(",", ":"))
    document["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("version", [2, 1, 0, 99, "3", None, True, [3]])
def test_an_unknown_version(version, path):
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version}))
    older = type(version) is int and version < artifact.VERSION
    remedy = f"Bring it up to date: twoheads migrate {path}" if older else "Install the twoheads that wrote it."
    assert (
        refused(path) == f"{path} is of version {version!r}; this twoheads reads version {artifact.VERSION}. {remedy}"
    )


@pytest.mark.parametrize(
    "content", [b"", b"{", b"not json", b"\xff\xfe\x00", b"[" * 100_000, b'{"a": NaN}', b"9" * 9999]
)
def test_what_is_no_json(content, path):
    path.write_bytes(content)
    words = refused(path)
    assert words.startswith(f"{path} is damaged: not valid JSON (")
    assert words.endswith("). Save the team again.")


def test_a_file_cut_short_anywhere(path):
    text = path.read_text()
    for length in range(0, len(text) - 2, 97):
        path.write_text(text[:length])
        assert "is damaged: not valid JSON" in refused(path)


@pytest.mark.parametrize("content", ["[]", "{}", "1", "null", '"twoheads"', '{"format": "other", "version": 1}'])
def test_foreign_json(content, path):
    path.write_text(content)
    assert refused(path) == f"{path} is not a saved team of twoheads. Give a file that save() or 'twoheads fit' wrote."


def test_a_changed_digit_is_noticed(path):
    text = path.read_text()
    path.write_text(text.replace('"max_iter": 1000', '"max_iter": 1001'))
    assert refused(path) == f"{path} is damaged: its content does not match its checksum. Save the team again."


def test_an_unknown_class(path):
    rewritten(path, lambda team: team | {"class": "Popen"})
    assert refused(path) == (
        f"{path}: it holds a 'Popen', which is not registered here. Import the module that defines it, or install the "
        "twoheads that wrote the file."
    )


def test_an_unknown_parameter(path):
    rewritten(path, lambda team: team | {"parameters": team["parameters"] | {"speed": 3}})
    assert refused(path) == (
        f"{path}: it gives ProbabilityLabelCombiner a parameter 'speed', which this twoheads does not know. "
        "Install the twoheads that wrote it."
    )


@pytest.mark.parametrize(
    "name", ["__class__", "_private_", "predict", "max_iter", "__dict__", "fit", "a b_", "", "__init__", "accuracy"]
)
def test_nothing_but_fitted_state_can_be_set(name, path):
    rewritten(path, lambda team: team | {"fitted": {name: 1}})
    assert refused(path) == (
        f"{path} is damaged: {name!r} is not a fitted attribute of ProbabilityLabelCombiner. Save the team again."
    )


def test_a_property_cannot_be_set(path):
    coin = {"class": "OneCoinConfusion", "parameters": {}, "fitted": {"accuracy_": 1}}
    rewritten(path, lambda team: coin)
    assert "'accuracy_' is not a fitted attribute of OneCoinConfusion" in refused(path)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ([1, 2], "unexpected list"),
        ({}, "an entry has 0 kinds"),
        ({"list": [], "tuple": []}, "an entry has 2 kinds"),
        ({"pickle": "gASVAAAA"}, "unknown kind of entry 'pickle'"),
        ({"float": "1e5"}, "'1e5' is not a float"),
        ({"float": 3}, "3 is not a float"),
        ({"dict": []}, "a dict has no entries"),
        ({"tuple": "ab"}, "a tuple has no entries"),
        ({"list": {"a": 1}}, "a list has no entries"),
        ({"array": []}, "an array has no entries"),
        ({"array": {"dtype": "<f8", "shape": [1]}}, "an array has no entries"),
        ({"array": {"dtype": "O", "shape": [1], "values": [1]}}, "unknown array type 'O'"),
        ({"array": {"dtype": "<f8,<f8", "shape": [1], "values": [1]}}, "unknown array type '<f8,<f8'"),
        ({"array": {"dtype": 5, "shape": [1], "values": [1]}}, "unknown array type 5"),
        ({"array": {"dtype": "<f8", "shape": 1, "values": [1.0]}}, "1 is not a shape"),
        ({"array": {"dtype": "<f8", "shape": [-1], "values": [1.0]}}, "[-1] is not a shape"),
        ({"array": {"dtype": "<f8", "shape": [True], "values": [1.0]}}, "[True] is not a shape"),
        ({"array": {"dtype": "<f8", "shape": [2], "values": [1.0]}}, "an array of shape [2] has 1 entries"),
        ({"array": {"dtype": "<f8", "shape": [1], "order": "K", "values": [1.0]}}, "unknown memory order 'K'"),
        ({"array": {"dtype": "<f8", "shape": [1], "values": ["1.0"]}}, "'1.0' in an array of <f8"),
        ({"array": {"dtype": "|b1", "shape": [1], "values": ["no"]}}, "'no' in an array of |b1"),
        ({"array": {"dtype": "<i8", "shape": [1], "values": [0.5]}}, "0.5 in an array of <i8"),
        ({"array": {"dtype": "<U3", "shape": [1], "values": [None]}}, "None in an array of <U3"),
        ({"array": {"dtype": "<f8", "shape": [1], "packed": "?"}}, "the entries of an array cannot be unpacked ("),
        ({"array": {"dtype": "<f8", "shape": [1], "packed": "AAAA"}}, "the entries of an array cannot be unpacked ("),
        ({"array": {"dtype": "<f8", "shape": [9**9, 9**9], "packed": ""}}, "is larger than 2 GB"),
        (
            {"array": {"dtype": "<f8", "shape": [2], "packed": ZEROS}},
            "of an array are not 2 numbers",
        ),
        (
            {"array": {"dtype": "<f8", "shape": [1], "packed": ZEROS}},
            "of an array are not 1 numbers",
        ),
        (
            {"array": {"dtype": "<f8", "shape": [3], "packed": ZEROS, "symmetric": True}},
            "an array of shape [3] is not symmetric",
        ),
        (
            {"array": {"dtype": "object", "shape": [1], "packed": ZEROS}},
            "the packed entries of an array are not numbers as text",
        ),
        ({"array": {"dtype": "|i1", "shape": [1], "values": [300]}}, "in an array of |i1"),
        ({"class": "Identity"}, "an estimator needs a class, parameters and fitted state"),
        ({"class": "Identity", "parameters": [], "fitted": {}}, "Identity has no parameters or no fitted state"),
        ({"class": ["Identity"], "parameters": {}, "fitted": {}}, "a class name is not text"),
    ],
)
def test_fields_of_the_wrong_type(entry, words, path):
    for where in ("fitted", "parameters"):
        name = {"fitted": "counts_", "parameters": "tol"}[where]
        rewritten(path, lambda team, where=where, name=name: team | {where: team[where] | {name: entry}})
        message = refused(path)
        assert message.startswith(f"{path} is damaged: ")
        assert words in message
        assert message.endswith(". Save the team again.")


@pytest.mark.parametrize(
    "content", [3, [], {"list": []}, None, {"array": {"dtype": "<f8", "shape": [0], "values": []}}]
)
def test_an_object_that_is_no_estimator(content, path):
    rewritten(path, lambda team: content)
    assert refused(path) == f"{path} is damaged: its object is not an estimator. Save the team again."


def test_a_document_without_an_object(path):
    path.write_text(json.dumps({"format": "twoheads", "version": artifact.VERSION}))
    assert refused(path) == f"{path} is damaged: it has no object. Save the team again."
