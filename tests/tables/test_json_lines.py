"""JSON lines: every key of every row by its exact case, ids and labels without loss, one answer in every format."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import twoheads as th
from twoheads import tables
from twoheads.errors import InvalidObservations
from twoheads.tables.formats.registry import FORMATS
from twoheads.tables.scanning import scan


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(at, **more):
    return {"item": at, "human": "ab"[at % 2], "p_a": 0.75, "p_b": 0.25} | more


def test_a_key_that_first_appears_late_is_seen(tmp_path):
    rows = [row(at) for at in range(110_000)] + [row(110_000, truth="b", human_bob="b")]
    table = scan(lines(tmp_path / "t.jsonl", rows))
    assert table.annotators == ("human", "bob")
    X, y = table.read()
    assert (y != "").sum() == 1
    assert len(X) == 110_001


def test_keys_that_differ_in_case_are_different_columns(tmp_path):
    rows = [row(at) for at in range(60)]
    for at in range(55):
        rows[at]["Human"] = rows[at].pop("human")
    X, _ = scan(lines(tmp_path / "t.jsonl", rows), human="human").read()
    assert (X.answers.column != -1).sum() == 5
    X, _ = scan(tmp_path / "t.jsonl", human="Human").read()
    assert (X.answers.column != -1).sum() == 55


@pytest.mark.parametrize(("name", "other"), [("human", "Human"), ("truth", "Truth"), ("item", "ITEM")])
def test_answers_under_a_name_in_another_case_are_not_lost(name, other, tmp_path):
    rows = [row(at) | {"truth": "a"} for at in range(9)]
    rows[3][other] = rows[3].pop(name)
    with pytest.raises(InvalidObservations, match=f"has the columns '{name}' and '{other}', which differ in case only"):
        scan(lines(tmp_path / "t.jsonl", rows))


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        ([1, 2, 110000.2], ["1.0", "2.0", "110000.2"]),
        ([1, 2**53 + 1, 0.5], ["1", str(2**53 + 1), "0.5"]),
        ([1, 2**63 + 1, 2**70 + 1], ["1", str(2**63 + 1), str(2**70 + 1)]),
        ([1, "x", 2**53 + 1], ["1", "x", str(2**53 + 1)]),
        ([1, 2**53 + 1, -5], ["1", str(2**53 + 1), "-5"]),
    ],
)
def test_ids_lose_nothing(ids, texts, tmp_path):
    rows = [row(at) | {"item": one} for at, one in enumerate(ids)]
    X, _ = scan(lines(tmp_path / "t.jsonl", rows)).read()
    assert [str(one) for one in X.items.tolist()] == texts


@pytest.mark.parametrize("line", ["3", "null", '"x"', "[1]", '{"item": 1, "item": 2}'])
def test_a_line_that_is_not_an_object_with_each_key_once(line, tmp_path):
    path = lines(tmp_path / "t.jsonl", [row(1)])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InvalidObservations, match="row 2 is not"):
        scan(path)


def test_a_nul_in_a_key(tmp_path):
    with pytest.raises(InvalidObservations, match="NUL character"):
        scan(lines(tmp_path / "t.jsonl", [row(1) | {"p_\0": 0.5}]))


#: Names of classes that have been read wrongly, or might be.
STRANGE = {
    "numbers out of order": ["2", "10", "9"],
    "numbers in order": ["1", "2", "10"],
    "case": ["cat", "Cat", "CAT"],
    "quotation marks": ['"', "'", '""'],
    "paths": ["/a", "~1", "$.x", "a[0]", "*"],
    "commas": ["a,b", "a;b", "a\tb", "a|b"],
    "words": ["NA", "null", "true"],
    "scripts": ["狐", "É", "é", "ß"],
    "large numbers": [str(2**53 + 1), str(2**53 + 2), "1"],
    "beyond 64 bits": [str(2**64 + 1), str(2**70), "1"],
    "fractions": ["0.5", "1.5", "10"],
}


@pytest.mark.parametrize("names", STRANGE.values(), ids=STRANGE)
def test_one_table_gives_one_result_in_every_format(names, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, len(names), 40)
    proba = rng.dirichlet(np.ones(len(names)), 40) * 0.5 + 0.5 * np.eye(len(names))[truth]
    human = np.where(rng.random(40) < 0.8, truth, rng.integers(0, len(names), 40))
    table = pa.table(
        {"item": [f"i{at}" for at in range(40)], "human": [names[code] for code in human]}
        | {f"p_{name}": proba[:, at] for at, name in enumerate(names)}
        | {"truth": [names[code] if at % 2 else None for at, code in enumerate(truth)]}
    )
    found = []
    for known in [each for each in FORMATS if each.writer]:
        path = tmp_path / f"t{known.suffixes[0]}"
        tables.write(path, table.to_batches())
        X, y = scan(path).read()
        team = th.ProbabilityLabelCombiner().fit(X, y)
        texts = [th.observations.labels.label_text(name) for name in team.classes_.tolist()]
        found.append(team.predict_proba(X)[:, [texts.index(name) for name in names]])
    for other in found[1:]:
        assert other == pytest.approx(found[0], abs=1e-9)


def test_numbers_as_labels_in_json_are_those_of_parquet(tmp_path):
    labels = {"whole": [1, 2, 10, 1], "gaps": [1, None, 10, 2], "fractions": [0.5, 1, 10, 0.5]}
    for name, values in labels.items():
        names = [th.observations.labels.label_text(float(value)) for value in sorted({*values} - {None})]
        share = dict.fromkeys((f"p_{each}" for each in names), 1 / len(names))
        rows = [{"item": at, "human": value, "truth": value} | share for at, value in enumerate(values)]
        lines(tmp_path / f"{name}.jsonl", rows)
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
        one, other = (scan(tmp_path / f"{name}.{end}").classes for end in ("jsonl", "parquet"))
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
