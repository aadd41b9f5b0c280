"""What teams learn and predict stays what it was, to 1e-10, in memory, on disk and on a cluster.

`tests.golden.numbers` says what is pinned and under which name it is found now; `tests.golden.write` rewrites it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden import write
from tests.golden.cases import TEAMS, Case, fit_cases, other_cases, pinned
from tests.golden.commands import COMMANDS, fit_and_combine, keys_of, rows_of
from tests.golden.simulation import problem

from twoheads import tables
from twoheads.combination.items import chunking, open_items
from twoheads.engines import blocks as blocks_module

CASES = (*fit_cases(), *other_cases())

#: Limits under which hardly anything is kept in memory, and a table of 100 rows has several chunks of several blocks.
SMALL = (
    (chunking, "CHUNK_BLOCKS", 3),
    (chunking, "MIN_ITEMS", 10),
    (chunking, "BLOCK_NUMBERS", 30),
    (blocks_module, "BLOCK_NUMBERS", 30),
)

ON_DISK = (
    ("recommended", "one person", "all"),
    ("recommended", "one person", "some"),
    ("recommended", "one person", "no"),
    ("recommended", "crowd", "all"),
    pytest.param("recommended", "crowd", "some", marks=pytest.mark.slow),
    ("recommended", "two models", "some"),
    ("recommended", "confidence", "no"),
    ("P+L", "crowd", "all"),
    ("P+L", "two models", "no"),
    pytest.param("P+L", "confidence", "some", marks=pytest.mark.slow),
    ("Bayes", "one person", "all"),
    ("vector, dependence", "one person", "some"),
)

ON_CLUSTER = (
    ("recommended", "one person", "no"),
    pytest.param("recommended", "one person", "all", marks=pytest.mark.slow),
    pytest.param("recommended", "crowd", "some", marks=pytest.mark.slow),
    pytest.param("P+L", "confidence", "all", marks=pytest.mark.slow),
)

#: What a search along a line finds, which is as exact as its own tolerance; all else is the same to 1e-10.
SEARCHED = {"answer log temperature": 1e-7, "expected gain": 1e-7}


@cache
def expected() -> dict[str, dict[str, list[Any]]]:
    return write.expected()


def assert_expected(found: dict[str, list[Any]], name: str, *, chunked: bool = False) -> None:
    """All that was pinned is there and is the same: texts exactly, numbers to 1e-10.

    chunked  whether items came in chunks: the keys of items that look alike, and so their order, then differ
    """
    then = expected()[name]
    assert found.keys() == then.keys(), "other things are found than were pinned"
    for key, values in found.items():
        if chunked and key.startswith("statistics: ") and key.endswith((": keys", ": items")):
            continue
        assert len(values) == len(then[key]), f"{key}: {len(values)} numbers, {len(then[key])} before"
        if any(isinstance(value, str) for value in then[key]):
            assert values == then[key], key
        else:
            within = SEARCHED.get(key, 1e-10)
            np.testing.assert_allclose(values, then[key], rtol=within, atol=within, err_msg=key)


def test_every_case_is_pinned_once():
    names = [case.name for case in CASES] + [write.command_name(*command) for command in COMMANDS]
    assert sorted(names) == sorted(expected())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fit_in_memory(case: Case):
    assert_expected(case.pinned(), case.name)


def scanned(table: str, share: str, folder: Path) -> tables.Table:
    """The table of a problem in small pieces of a Parquet file."""
    data = problem(table)
    path = folder / "table.parquet"
    data.table.assign(truth=data.known(share)).to_parquet(path, index=False, row_group_size=16)
    return tables.scan(path, truth_column="truth")


@pytest.mark.parametrize(("team", "table", "share"), ON_DISK)
def test_a_fit_from_disk(team, table, share, tmp_path, monkeypatch):
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)
    fitted = TEAMS[team]().fit_items(open_items(scanned(table, share, tmp_path), max_numbers=100))
    alike = table == "two models"  # items without a model row
    assert_expected(pinned(fitted, table), f"{team} / {table} / {share} truth", chunked=alike)


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("distributed")
    from twoheads.engines.dask import DaskCluster

    with DaskCluster(workers=1) as one:
        yield one


@pytest.mark.parametrize(("team", "table", "share"), ON_CLUSTER)
def test_a_fit_on_a_cluster(team, table, share, tmp_path, cluster):
    fitted = TEAMS[team]().fit(cluster.hold(scanned(table, share, tmp_path)))
    assert_expected(pinned(fitted, table), f"{team} / {table} / {share} truth")


def test_the_command_line(tmp_path):
    keys = {}
    for at, command in enumerate(COMMANDS):
        (folder := tmp_path / str(at)).mkdir()
        team, combined = fit_and_combine(*command, folder)
        name = write.command_name(*command)
        keys[name] = keys_of(team)
        assert_expected(rows_of(combined), name)
    assert write.merged_keys(keys) == json.loads(write.KEYS.read_text())
