"""Commands that are killed at random moments: the old result is there or the new one, and the next run cleans up."""

import os

import pytest
from benchmarks.kills import COMMANDS, run

KILLS = int(os.environ.get("TWOHEADS_KILLS", "8"))


@pytest.mark.slow
def test_a_killed_command_leaves_the_old_result():
    found = run(KILLS, [name for name in COMMANDS if "Dask" not in name], n_items=200, seed=1, report=print)
    assert found.kills.total() == KILLS
    assert found.findings == []


@pytest.mark.slow
def test_a_killed_command_on_a_cluster_leaves_the_old_result():
    found = run(2, [name for name in COMMANDS if "Dask" in name], n_items=200, seed=1, report=print)
    assert found.findings == []
