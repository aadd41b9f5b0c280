"""The order of classes is decided once; where it is not clear which class is meant, the input is refused."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import cross_val_predict

import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items
from twoheads.errors import InvalidArtifact, InvalidObservations, InvalidParameter
from twoheads.evaluation import log_loss
from twoheads.observations.labels import in_order, label_text, ordered_classes
from twoheads.storage.artifact import _checksum
from twoheads.tables import from_label_studio, verdicts

TWELVE = [str(number) for number in range(12)]


def table(n=60, names=TWELVE, seed=0):
    """A frame with text labels, and the truth as text."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % len(names))
    proba = np.full((n, len(names)), 0.1 / (len(names) - 1))
    proba[np.arange(n), truth] = 0.9
    frame = pd.DataFrame(proba, columns=[f"p_{name}" for name in names])
    frame["human"] = [names[code] for code in truth]
    return frame, np.array([names[code] for code in truth])


@pytest.mark.parametrize(
    ("names", "labels", "classes"),
    [
        (["2", "10", "9"], np.array([2]), [2, 9, 10]),
        (["2", "10", "9"], np.array(["2"]), ["10", "2", "9"]),
        (["2", "10", "9"], np.array([2.0]), [2.0, 9.0, 10.0]),
        (["9.5", "10"], np.array([1]), [9.5, 10.0]),
        (["True", "False"], np.array([True]), [False, True]),
        (["b", "a", "10"], np.array([1]), ["10", "a", "b"]),
        (["9223372036854775808", "7"], np.array([7]), [7.0, 9223372036854775808.0]),
        (["9223372036854775809", "7"], np.array([7]), ["7", "9223372036854775809"]),
    ],
)
def test_the_order_is_that_of_the_type(names, labels, classes):
    found = ordered_classes(names, labels)
    assert found.tolist() == classes
    assert in_order(found)


def test_a_name_that_numpy_would_cut_is_refused():
    with pytest.raises(InvalidObservations, match="must not end in a NUL character; 'a\\\\x00' does"):
        ordered_classes(["a\0", "a"])


def test_arrays_with_class_names_in_any_order():
    proba = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5]])
    seen = th.Observations.from_arrays([0, 1, 2], proba, classes=["2", "10", "9"])
    assert seen.classes.tolist() == ["10", "2", "9"]
    assert seen.model_proba[0].tolist() == [[0.2, 0.7, 0.1], [0.6, 0.1, 0.3], [0.3, 0.2, 0.5]]
    assert seen.classes[seen.answers.column].tolist() == ["2", "10", "9"]


def test_codes_that_scikit_learn_makes_of_such_labels_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match=r"y must hold texts, as the answers do; it holds whole numbers, and 2 may be"):
        cross_val_predict(th.ProbabilityLabelCombiner(), X, y, method="predict_proba")
    seen = th.Observations.from_frame(X)
    with pytest.raises(InvalidObservations, match=r"2 may be the class '2' or, as a code .*, '10'"):
        th.ProbabilityLabelCombiner().fit(seen, np.arange(60) % 12)
    assert (cross_val_predict(th.ProbabilityLabelCombiner(), X, y) == y).mean() > 0.9


def test_numbers_that_can_only_be_names_are_names():
    X, y = table(names=["2", "10", "9"])
    team = th.ProbabilityLabelCombiner().fit(X, y.astype(int))
    assert team.classes_.tolist() == [2, 9, 10]
    assert (team.predict(X) == y.astype(int)).all()
    retyped = th.ProbabilityLabelCombiner().fit(th.Observations.from_frame(X), y.astype(int))
    assert (retyped.predict(X) == y.astype(int)).all()


def test_arrays_without_names_and_truth_of_such_texts_are_refused():
    X, y = table()
    array = np.column_stack([y.astype(int), X[[f"p_{name}" for name in TWELVE]]])
    with pytest.raises(InvalidObservations, match=r"y must hold numbers when X is an array of 12 probability columns"):
        th.ProbabilityLabelCombiner().fit(array, y)
    assert (th.ProbabilityLabelCombiner().fit(array, y.astype(int)).predict(array) == y.astype(int)).all()


def test_metrics_want_the_class_of_each_column():
    X, y = table()
    proba = X[[f"p_{name}" for name in TWELVE]].to_numpy()
    with pytest.raises(InvalidObservations, match="classes must be given where labels are texts of numbers"):
        log_loss(y, proba)
    assert log_loss(y, proba, classes=TWELVE) == pytest.approx(-np.log(0.9))


def test_classes_of_partial_fit_are_in_order():
    X, y = table(names=["2", "10", "9"])
    with pytest.raises(InvalidObservations, match=r"classes must be sorted; the first should be '10'"):
        th.ProbabilityLabelCombiner().partial_fit(X, y, classes=["2", "10", "9"])


def test_verdicts_take_the_classes_of_the_team():
    X, y = table()
    team = th.ProbabilityLabelCombiner().fit(X, y)
    numbers = th.Observations.from_frame(X.assign(human=y.astype(int)))
    assert numbers.classes.tolist() == list(range(12))
    rows = verdicts(numbers, team.predict_proba(numbers), team.classes_)
    assert rows["combined_label"].to_pylist() == y.tolist()
    with pytest.raises(InvalidObservations, match=r"classes must be sorted, as a team's classes_ are"):
        verdicts(numbers, team.predict_proba(numbers), TWELVE)
    with pytest.raises(InvalidObservations, match=r"X must have the same classes as at fit"):
        verdicts(numbers, team.predict_proba(numbers), np.sort([f"c{name}" for name in TWELVE]))


def test_a_team_whose_classes_are_out_of_order_is_not_loaded(tmp_path):
    X, y = table(names=["a", "b"])
    th.ProbabilityLabelCombiner().fit(X, y).save(tmp_path / "team.json")
    document = json.loads((tmp_path / "team.json").read_text())
    document["object"]["fitted"]["classes_"]["array"]["values"] = ["b", "a"]
    document["sha256"] = _checksum(document["object"])
    (tmp_path / "team.json").write_text(json.dumps(document))
    with pytest.raises(InvalidArtifact, match="the classes of ProbabilityLabelCombiner are not sorted"):
        th.load(tmp_path / "team.json")


def test_label_studio_with_such_names():
    def chosen(name):
        return [{"from_name": "kind", "to_name": "image", "type": "choices", "value": {"choices": [name]}}]

    tasks = [
        {
            "id": at,
            "annotations": [{"completed_by": 1, "result": chosen(name)}],
            "predictions": [{"model_version": "v1", "score": 0.9, "result": chosen(name)}],
        }
        for at, name in enumerate(TWELVE)
    ]
    seen, _ = from_label_studio(tasks)
    team = th.ProbabilityLabelCombiner().fit(seen, np.array(TWELVE))
    assert team.predict(seen).tolist() == TWELVE


@pytest.mark.parametrize("form", ["pandas", "polars", "Arrow", "list"])
def test_whole_numbers_beyond_floats_keep_their_class_beside_gaps(form):
    names = [2**53 + 1, 2**53, 5, 2**63 + 1]
    truth = np.arange(40) % 4
    proba = np.full((40, 4), 0.1 / 3)
    proba[np.arange(40), truth] = 0.9
    labels = [None if row % 7 == 0 else names[code] for row, code in enumerate(truth)]
    columns = {f"p_{name}": proba[:, at] for at, name in enumerate(names)}
    X, y = {
        "pandas": lambda: (
            pd.DataFrame({**columns, "human": pd.array(labels, dtype="UInt64")}),
            pd.Series(labels, dtype="UInt64"),
        ),
        "polars": lambda: (
            pl.DataFrame({**columns, "human": pl.Series(labels, dtype=pl.UInt64)}),
            pl.Series(labels, dtype=pl.UInt64),
        ),
        "Arrow": lambda: (pa.table({**columns, "human": pa.array(labels, pa.uint64())}), pa.array(labels, pa.uint64())),
        "list": lambda: (pd.DataFrame({**columns, "human": pd.Series(labels, dtype=object)}), labels),
    }[form]()
    team = th.ProbabilityLabelCombiner().fit(X, y)
    known = [label for label in labels if label is not None]
    counts = {label_text(name): known.count(name) for name in names}
    assert dict(zip(map(label_text, team.classes_.tolist()), team.labels_per_class_.tolist(), strict=True)) == counts
    assert [label_text(label) for label in team.predict(X)] == [str(names[code]) for code in truth]


def test_an_arrow_array_of_texts_is_a_column():
    X, y = table(names=["a", "b"])
    team = th.ProbabilityLabelCombiner().fit(
        pa.Table.from_pandas(X), pa.array([None, *y[1:]]), sample_weight=pa.array([1.0] * 60)
    )
    assert team.predict(X).tolist() == y.tolist()


def test_a_class_prior_is_taken_by_name():
    X, y = table()
    shares = {name: 0.5 if name == "2" else 0.5 / 11 for name in TWELVE}
    team = th.ProbabilityLabelCombiner(class_prior=shares).fit(X, y)
    numbers = th.ProbabilityLabelCombiner(class_prior=[shares[name] for name in TWELVE])
    numbers.fit(X.assign(human=y.astype(int)), y.astype(int))
    by_name = team.predict_proba(X)[:, [team.classes_.tolist().index(name) for name in TWELVE]]
    assert by_name == pytest.approx(numbers.predict_proba(X), abs=1e-9)
    series = pd.Series(shares).sample(frac=1, random_state=0)
    assert th.ProbabilityLabelCombiner(class_prior=series).fit(X, y).predict_proba(X) == pytest.approx(
        team.predict_proba(X)
    )


@pytest.mark.parametrize(
    ("class_prior", "message"),
    [
        (np.full(12, 1 / 12), r"class_prior must be given by name where classes are texts of numbers"),
        (dict.fromkeys(TWELVE[1:], 1 / 11), r"class_prior must name each of the 12 classes once; '0' is missing"),
        (dict.fromkeys([*TWELVE, "x"], 1 / 13), r"'x' is not a class \(1 name is off\)"),
        (["a"] * 12, r"class_prior must hold 12 positive numbers"),
        ([[0.1], [0.2, 0.3]], r"class_prior must hold 12 positive numbers"),
    ],
)
def test_a_class_prior_that_is_unclear_is_refused(class_prior, message):
    with pytest.raises(InvalidParameter, match=message):
        th.ProbabilityLabelCombiner(class_prior=class_prior).fit(*table())


def test_teams_of_one_order_of_classes_are_merged_whatever_their_type():
    X, y = table(names=["0", "1", "2"])
    text = th.ProbabilityLabelCombiner().fit(X, y)
    number = th.ProbabilityLabelCombiner().fit(X.assign(human=y.astype(int)), y.astype(int))
    merged, expected = text.merge(number), text.merge(text)
    assert merged.classes_.tolist() == ["0", "1", "2"]
    assert merged.predict_proba(X) == pytest.approx(expected.predict_proba(X))


def test_a_table_on_disk_continues_a_team_of_the_same_classes_in_another_type(tmp_path):
    X, y = table()
    pq.write_table(pa.Table.from_pandas(X.assign(truth=y)), tmp_path / "t.parquet")
    team = th.ProbabilityLabelCombiner().fit(X.assign(human=y.astype(int)), y.astype(int))
    scanned = tables.scan(tmp_path / "t.parquet")
    small, large = (open_items(scanned, classes=team.classes_, max_numbers=limit) for limit in (10**6, 10))
    assert small.schema.classes.tolist() == large.schema.classes.tolist() == list(range(12))
    fits = [th.ProbabilityLabelCombiner().fit_items(items).predict_proba(X) for items in (small, large)]
    assert fits[0] == pytest.approx(fits[1], abs=1e-9)
