"""Processes of a cluster that are killed in the middle of a fit, or a terminal that is closed: one sentence, soon."""

import json
import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from combination.test_chunked import problem

pytest.importorskip("distributed")

#: Fits on a cluster, and ends a process when the third pass begins.
CLIENT = """
import os, signal, sys
from twoheads.cli.running import run
from twoheads.engines import progress

class Trouble(progress.ProgressCallback):
    passes = 0
    def begin(self, n_items):
        self.passes += 1
        if self.passes == 3:
            os.kill(int(sys.argv[1]), signal.SIGKILL)

with progress.progress_to(Trouble()):
    sys.exit(run(sys.argv[2:]))
"""


def started(*arguments):
    return subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler, its process, and that of its only worker."""
    file = tmp_path / "scheduler.json"
    scheduler = started(
        "distributed.cli.dask_scheduler", "--port", "0", "--scheduler-file", str(file), "--no-dashboard"
    )
    while not file.exists():
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]
    options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path))
    worker = started("distributed.cli.dask_worker", address, *options)
    yield address, scheduler, worker
    for process in (worker, scheduler):
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "sentence"),
    [
        ("scheduler", "Error: the connection to the scheduler was lost"),
        ("worker", "Error: the cluster has had no workers for 3 seconds."),
    ],
)
def test_a_process_of_the_cluster_that_is_killed(victim, sentence, cluster, tmp_path):
    address, scheduler, worker = cluster
    pq.write_table(problem(20_000, 4, 0.0), tmp_path / "t.parquet", row_group_size=5_000)
    (tmp_path / "team.json").write_text("old")
    pid = {"scheduler": scheduler, "worker": worker}[victim].pid
    options = ["--engine", "dask", "--scheduler", address, "--timeout", "3"]
    line = ["fit", str(tmp_path / "t.parquet"), "-o", str(tmp_path / "team.json"), *options]
    client = subprocess.run(
        [sys.executable, "-c", CLIENT, str(pid), *line], capture_output=True, text=True, timeout=300, check=False
    )
    said = [text for text in client.stderr.splitlines() if "dashboard" not in text]
    assert client.returncode == 2, client.stderr
    assert len(said) == 1, client.stderr
    assert said[0].startswith(sentence)
    assert (tmp_path / "team.json").read_text() == "old"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_terminal_that_ends_all_processes_of_a_cluster_leaves_nothing(number, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    pq.write_table(problem(20_000, 4, 0.0), tmp_path / "t.parquet", row_group_size=5_000)
    client = subprocess.Popen(
        [sys.executable, "-m", "twoheads", "fit", "t.parquet", "--engine", "dask"],
        cwd=tmp_path, env=os.environ | {"TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert "dashboard" in client.stderr.readline()
    assert [path.name.split("-")[0] for path in temporary.iterdir()] == ["twoheads"]
    os.killpg(client.pid, number)
    _, said = client.communicate(timeout=120)
    assert client.returncode == 128 + number
    assert said == "Interrupted; no partial file was left.\n"
    assert list(temporary.iterdir()) == []
