"""A table too large for memory: the same team as in memory, in little memory, and nothing left behind."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items
from twoheads.engines.progress import ProgressCallback, progress_to

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEAMS = {
    "P+L": lambda: th.ProbabilityLabelCombiner(tol=1e-6),
    "recommended": th.recommended,
    "Bayes": lambda: th.ProbabilityLabelCombiner(
        th.DirichletConfusion(estimate="mean"), th.TemperatureScaling(estimate="mean"), max_iter=5, tol=1.0
    ),
    "vector": lambda: th.ProbabilityLabelCombiner(
        calibrator=th.VectorScaling(), dependence=th.Dependence(), max_iter=3, tol=1.0
    ),
}


def problem(n_items, n_classes, share, n_people=1, seed=0):
    """A table of people who are right four times of five, and a share of whose rows has truth."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(n_classes, 0.5), n_items)
    truth = (proba.cumsum(axis=1) > rng.random((n_items, 1))).argmax(axis=1)
    known = np.where(rng.random(n_items) < share, truth, -1)
    people = {}
    for person in range(n_people):
        right = rng.random(n_items) < 0.8
        answer = np.where(right, truth, rng.integers(0, n_classes, n_items))
        asked = rng.random(n_items) < (0.9 if n_people == 1 else 0.6)
        if person == 0 and n_people > 1:
            asked[:] = True
        people["human" if n_people == 1 else f"human_{person}"] = np.where(asked, answer, -1)
    numbers = {f"p_{k}": proba[:, k] for k in range(n_classes)}
    return pa.table({"item": np.arange(n_items), **people, **numbers, "truth": known})


def parameters(thing):
    """Every number that a fitted object holds, by its name."""
    found = {}
    for name, value in vars(thing).items():
        if not name.endswith("_") or value is None or name == "provenance_":
            continue
        if hasattr(value, "get_params"):
            found |= {f"{name}.{inner}": number for inner, number in parameters(value).items()}
            if type(value).__name__ == "HoldoutRecord":
                numbers = vars(value) | {"rivals": [(each.errors, each.won) for each in value.rivals.members]}
                found |= {f"{name}.{field}": np.array(number) for field, number in numbers.items()}
        elif np.asarray(value).dtype.kind in "fiu":
            found[name] = np.asarray(value, dtype=np.float64)
    return found


def assert_same(one, other):
    mine, theirs = parameters(one), parameters(other)
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        np.testing.assert_allclose(theirs[name], value, rtol=1e-10, atol=1e-10, err_msg=name)


def on_disk(table, team=None):
    """The items of a table as ``team`` reads them, by default as recommended() does, with hardly any memory."""
    return open_items(table, max_numbers=1000, zeros=None if team and team.dependence is None else ())


@pytest.mark.parametrize("share", [0.0, 0.02, 0.6, 1.0])
@pytest.mark.parametrize("team", ["P+L", "recommended"])
def test_out_of_core_is_in_memory(team, share, tmp_path):
    pq.write_table(problem(70_000, 4, share), tmp_path / "t.parquet", row_group_size=9_000)
    table = tables.scan(tmp_path / "t.parquet")
    here = TEAMS[team]().fit(*table.read())
    assert_same(here, TEAMS[team]().fit_items(on_disk(table, here)))


@pytest.mark.parametrize("team", ["P+L", "recommended", "Bayes", "vector"])
def test_so_it_is_with_several_people_and_other_parts(team, tmp_path):
    pq.write_table(problem(60_000, 3, 0.7, n_people=3), tmp_path / "t.parquet")
    table = tables.scan(tmp_path / "t.parquet")
    here = TEAMS[team]().fit(*table.read())
    assert_same(here, TEAMS[team]().fit_items(on_disk(table, here)))


def test_csv_and_joined_tables_too(tmp_path):
    whole = problem(3_000, 3, 0.5)
    from pyarrow.csv import write_csv

    write_csv(whole.drop_columns(["human", "truth"]), tmp_path / "model.csv")
    write_csv(whole.select(["item", "human"]).rename_columns(["item", "answer"]), tmp_path / "answers.csv")
    write_csv(whole.select(["item", "truth"]), tmp_path / "truth.csv")
    table = tables.scan(
        answers=tmp_path / "answers.csv", model=tmp_path / "model.csv", truth=str(tmp_path / "truth.csv")
    )
    here = th.ProbabilityLabelCombiner().fit(*table.read())
    assert_same(here, th.ProbabilityLabelCombiner().fit_items(on_disk(table, here)))


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    pq.write_table(problem(1_000, 3, 0.5), tmp_path / "t.parquet")
    th.recommended().fit_items(on_disk(tables.scan(tmp_path / "t.parquet")))
    assert not os.listdir(tmp_path / "temporary")
    bad = problem(1_000, 3, 0.5)
    bad = bad.set_column(2, "p_0", pa.array([*bad["p_0"].to_pylist()[:-1], 7.0]))
    pq.write_table(bad, tmp_path / "bad.parquet")
    with pytest.raises(th.InvalidObservations, match=r"row 1,?000 of .*bad\.parquet"):
        on_disk(tables.scan(tmp_path / "bad.parquet"))
    assert not os.listdir(tmp_path / "temporary")


def test_a_small_table_is_read_whole(tmp_path):
    pq.write_table(problem(500, 3, 0.5), tmp_path / "t.parquet")
    table = tables.scan(tmp_path / "t.parquet")
    assert_same(th.recommended().fit(*table.read()), th.recommended().fit(table))


def test_a_table_brings_its_own_truth(tmp_path):
    pq.write_table(problem(50, 3, 1.0), tmp_path / "t.parquet")
    with pytest.raises(th.InvalidParameter, match=r"y and sample_weight must be None where X is a table"):
        th.recommended().fit(tables.scan(tmp_path / "t.parquet"), [0] * 50)


def test_whoever_listens_hears_of_passes_and_of_the_objective(tmp_path):
    heard = []

    class Ear(ProgressCallback):
        def begin(self, n_items):
            heard.append([n_items, 0])

        def advance(self, n_items):
            heard[-1][1] += n_items

        def objective(self, value):
            heard.append(value)

    pq.write_table(problem(70_000, 3, 0.0), tmp_path / "t.parquet")
    with progress_to(Ear()):
        team = th.ProbabilityLabelCombiner().fit_items(on_disk(tables.scan(tmp_path / "t.parquet")))
    passes = [entry for entry in heard if isinstance(entry, list)]
    assert all(told == done == 70_000 for told, done in passes)
    assert [value for value in heard if isinstance(value, float)] == team.objective_.tolist()
    assert len(passes) >= len(team.objective_)


MEASURE = """
import re, sys
from pathlib import Path
import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items

def peak():
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]) / 1024

table = tables.scan(sys.argv[1])
next(table.blocks(1000))
loaded = peak()
th.recommended().fit_items(open_items(table, max_numbers=1000))
print(peak() - loaded)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the most memory a process held is read from /proc")
def test_memory_is_bounded_by_the_block_and_not_by_the_table(tmp_path):
    """A table of 122 MB of probabilities takes hardly more memory than a quarter of it."""
    held = []
    for pieces in (2, 8):
        path = tmp_path / f"{pieces}.parquet"
        for seed in range(pieces):
            piece = problem(100_000, 20, 1.0, seed=seed)
            piece = piece.set_column(0, "item", pa.array(np.arange(100_000) + seed * 100_000))
            if seed == 0:
                writer = pq.ParquetWriter(path, piece.schema, use_dictionary=False)
            writer.write_table(piece)
        writer.close()
        done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
        held.append(float(done.stdout))
    assert held[1] < held[0] + 60  # 600,000 rows more would take 96 MB; a busy machine varies by 40
