"""Tables that are not read whole: samples of their items, and rows that are remembered only if they come again."""

import json

import numpy as np
import pandas as pd

import twoheads as th
from twoheads import tables
from twoheads.cli import holdout
from twoheads.cli.running import run
from twoheads.observations import as_truth
from twoheads.observations.joining import joined_observations
from twoheads.tables.checking.repeats import Repeats, row_digest
from twoheads.tables.checking.table_rows import TableRows
from twoheads.tables.fingerprints import fingerprint
from twoheads.tables.formats.source import Source
from twoheads.tables.sampling import sample_table


def table_of(path, n=60, *, order=None, n_known=20):
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=n)
    share = np.clip(0.5 + (truth - 0.5) * rng.random(n), 0.01, 0.99)
    frame = pd.DataFrame({"item": [f"i{at}" for at in range(n)], "human_a": rng.integers(2, size=n)})
    frame["human_b"] = np.where(rng.random(n) < 0.5, "unsure", "1")
    frame["p_0"], frame["p_1"] = 1 - share, share
    frame["truth"] = [str(label) if at < n_known else "" for at, label in enumerate(truth)]
    frame.iloc[np.arange(n) if order is None else order].to_csv(path, index=False)
    return path


def test_a_sample_has_so_many_items_with_truth_and_without_whatever_the_order_of_rows(tmp_path):
    there = tables.scan(table_of(tmp_path / "there.csv"))
    back = tables.scan(table_of(tmp_path / "back.csv", order=np.arange(60)[::-1]))
    (one, y), (other, z) = (sample_table(each, 8) for each in (there, back))
    assert len(one) == len(other) == 16
    assert [(as_truth(each, seen) != -1).sum() for seen, each in ((one, y), (other, z))] == [8, 8]
    assert set(one.items) == set(other.items)
    assert fingerprint(one) == fingerprint(other)


def test_a_sample_of_more_than_there_are_is_the_table(tmp_path):
    scanned = tables.scan(table_of(tmp_path / "t.csv"))
    whole, _ = scanned.read()
    sampled, _ = sample_table(scanned, 100)
    assert fingerprint(sampled) == fingerprint(whole)


def test_joined_blocks_are_the_table(tmp_path):
    scanned = tables.scan(table_of(tmp_path / "t.csv"))
    whole, _ = scanned.read()
    joined = joined_observations([block for block, _ in scanned.blocks(7)])
    assert fingerprint(joined) == fingerprint(whole)
    np.testing.assert_array_equal(joined.items, whole.items)
    np.testing.assert_array_equal(joined.unsure.per_item(), whole.unsure.per_item())


def test_evaluate_says_that_it_took_a_sample(tmp_path, monkeypatch, capsys):
    path = table_of(tmp_path / "t.csv", n_known=40)
    th.ProbabilityLabelCombiner().fit(tables.scan(table_of(tmp_path / "fit.csv", 50))).save(tmp_path / "team.json")
    monkeypatch.setattr(holdout, "fits_in_memory", lambda scanned: False)
    monkeypatch.setattr(holdout, "MOST_ITEMS", 15)
    assert run(["evaluate", str(tmp_path / "team.json"), str(path), "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    said = "60 items, too many to be read whole: 30 of them are judged, 15 with truth"
    assert sum(said in note for note in notes) == 1


def test_only_rows_and_ids_that_come_again_are_remembered(tmp_path):
    rows = [("a", "x"), ("b", "x"), ("a", "y"), (" b ", "x"), ("c", "z"), ("c", "z")]
    path = tmp_path / "t.csv"
    path.write_text("item,human\n" + "".join(f'"{item}",{label}\n' for item, label in rows))
    found = Repeats.of(TableRows.of(Source.open(path, "table")), "item")
    assert [found.has_row(row_digest(row)) for row in rows] == [False, False, False, False, True, True]
    assert [found.has_id(item) for item in ("a", "b", "c", "d")] == [True, True, True, False]
    assert not Repeats.of(TableRows.of(Source.open(path, "table")), None).ids
