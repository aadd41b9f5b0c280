"""A Dask cluster: the same team as here, also when workers die; and clear words when it cannot be had."""

import os
import re
import signal
import socket
import time

import numpy as np
import pytest

import twoheads as th
from combination.test_chunked import TEAMS, assert_same, problem
from twoheads import tables
from twoheads.cli.running import run
from twoheads.engines.progress import ProgressCallback, progress_to

distributed = pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from twoheads.engines.dask import DaskCluster  # noqa: E402

N_ITEMS = 40_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tables")
    for share in (0.0, 0.02, 0.6, 1.0):
        pq.write_table(problem(N_ITEMS, 4, share), place / f"{share}.parquet", row_group_size=7_000)
    (place / "two").mkdir()
    both = problem(N_ITEMS, 4, 0.6)
    pq.write_table(both[:11_000], place / "two" / "a.parquet", row_group_size=4_000)
    pq.write_table(both[11_000:], place / "two" / "b.parquet", row_group_size=9_000)
    return place


@pytest.fixture(scope="module")
def scheduler():
    """Two worker processes of one thread, with so little memory that a greedy task has them restarted."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="700MB", dashboard_address=":0", silence_logs=50
    ) as local:
        yield local.scheduler_address


@pytest.fixture
def cluster(scheduler):
    with DaskCluster(scheduler) as one:
        one._client.wait_for_workers(2, timeout=30)
        yield one


@pytest.mark.parametrize("share", [0.0, 0.02, 0.6, 1.0])
@pytest.mark.parametrize("team", ["P+L", "recommended"])
def test_the_cluster_finds_what_is_found_here(team, share, cluster, folder):
    table = tables.scan(folder / f"{share}.parquet")
    assert_same(TEAMS[team]().fit(*table.read()), TEAMS[team]().fit(cluster.hold(table)))


def test_several_files_and_several_people(cluster, folder, tmp_path):
    table = tables.scan(folder / "two")
    assert_same(th.recommended().fit(*table.read()), th.recommended().fit(cluster.hold(table)))
    pq.write_table(problem(40_000, 3, 0.7, n_people=3), tmp_path / "crowd.parquet", row_group_size=3_333)
    crowd = tables.scan(tmp_path / "crowd.parquet")
    assert_same(th.recommended().fit(*crowd.read()), th.recommended().fit(cluster.hold(crowd)))


def test_judges_without_a_model_whatever_the_order_of_their_rows(cluster, tmp_path):
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=6_000)
    known = np.where(rng.random(6_000) < 0.1, truth.astype(str), "")
    columns = {f"judge{at}.label": np.where(rng.random(6_000) < 0.7, truth, 1 - truth) for at in range(4)}
    whole, order = pa.table({"item": np.arange(6_000), **columns, "truth": known}), rng.permutation(6_000)
    for name, rows in (("there", whole), ("mixed", whole.take(order))):
        pq.write_table(rows, tmp_path / f"{name}.parquet", row_group_size=700)
    here = th.recommended().fit(*tables.scan(tmp_path / "there.parquet", classes=["0", "1"]).read())
    for name in ("there", "mixed"):
        table = tables.scan(tmp_path / f"{name}.parquet", classes=["0", "1"])
        assert_same(here, th.recommended().fit(cluster.hold(table)))


class Trouble(ProgressCallback):
    """Makes trouble at the third pass."""

    def __init__(self, make):
        self.passes, self.make = 0, make

    def begin(self, n_items):
        self.passes += 1
        if self.passes == 3:
            self.make()


def test_a_worker_that_dies_is_survived(cluster, folder):
    table = tables.scan(folder / "0.0.parquet")
    here = TEAMS["P+L"]().fit(*table.read())
    workers = cluster._client.run(os.getpid)
    victim = next(iter(workers.values()))
    trouble = Trouble(lambda: os.kill(victim, signal.SIGKILL))
    with progress_to(trouble):
        there = TEAMS["P+L"]().fit(cluster.hold(table))
    assert_same(here, there)
    assert trouble.passes > 5
    assert victim not in cluster._client.run(os.getpid).values()


def greedy(flag):
    """Takes more memory than a worker may have, the first time."""
    if not os.path.exists(flag):
        with open(flag, "w") as file:
            file.write(str(os.getpid()))
        hoard = bytearray(os.urandom(1 << 20)) * 900
        time.sleep(20)
        return len(hoard)
    return 0


def test_a_worker_restarted_for_want_of_memory_is_survived(cluster, folder, tmp_path):
    table = tables.scan(folder / "0.0.parquet")
    here = TEAMS["P+L"]().fit(*table.read())
    flag = tmp_path / "flag"
    futures = []
    with progress_to(Trouble(lambda: futures.append(cluster._client.submit(greedy, str(flag))))):
        there = TEAMS["P+L"]().fit(cluster.hold(table))
    assert_same(here, there)
    assert futures[0].result(timeout=30) == 0  # done by another worker: the one that hoarded was restarted
    assert int(flag.read_text()) not in cluster._client.run(os.getpid).values()


def test_what_is_wrong_with_a_row_is_said_as_here(cluster, tmp_path):
    bad = problem(9_000, 3, 1.0)
    off = bad["p_0"].to_pylist()
    off[8_500] = 7.0
    pq.write_table(bad.set_column(2, "p_0", [off]), tmp_path / "bad.parquet", row_group_size=1_000)
    with pytest.raises(th.InvalidObservations, match=r"row 8,?501 of .*bad\.parquet"):
        th.recommended().fit(cluster.hold(tables.scan(tmp_path / "bad.parquet")))


def test_class_names_that_are_texts_of_numbers_keep_their_items(cluster, tmp_path):
    rng, names = np.random.default_rng(3), [str(number) for number in range(12)]
    true = rng.integers(0, 12, 3_000)
    proba = np.full((3_000, 12), 0.1 / 11)
    proba[np.arange(3_000), true] = 0.9
    labels = [names[code] for code in true]
    columns = {"human": labels, **{f"p_{name}": proba[:, at] for at, name in enumerate(names)}, "truth": labels}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=1_000)
    table = tables.scan(tmp_path / "t.parquet")
    there, here = th.recommended().fit(cluster.hold(table)), th.recommended().fit(*table.read())
    assert there.classes_.tolist() == here.classes_.tolist() == sorted(names)
    X, _ = table.read()
    assert there.predict(X).tolist() == labels
    assert there.predict_proba(X) == pytest.approx(here.predict_proba(X), abs=1e-9)


def test_only_parquet_can_be_cut(cluster, tmp_path):
    (tmp_path / "t.csv").write_text("human,p_a,p_b,truth\na,0.9,0.1,a\nb,0.2,0.8,b\n")
    with pytest.raises(th.InvalidObservations, match=r"t\.csv must be one table of Parquet files"):
        th.recommended().fit(cluster.hold(tables.scan(tmp_path / "t.csv")))


def test_the_commands_do_the_same_here_and_there(scheduler, folder, tmp_path, capsys):
    source = str(folder / "0.6.parquet")
    there = ["--engine", "dask", "--scheduler", scheduler]
    assert run(["fit", source, "-o", str(tmp_path / "here.json")]) == 0
    assert run(["fit", source, "-o", str(tmp_path / "there.json"), *there]) == 0
    assert re.search(r"dashboard of the cluster: http://\S+/status", capsys.readouterr().err)
    here, other = th.load(tmp_path / "here.json"), th.load(tmp_path / "there.json")
    assert_same(here, other)
    assert here.learnt_.n_items == other.learnt_.n_items
    X = tables.scan(source).read()[0].take(np.arange(200))
    np.testing.assert_array_equal(here.learnt_.recognise(X).learnt, other.learnt_.recognise(X).learnt)
    assert run(["combine", str(tmp_path / "here.json"), source, "-o", str(tmp_path / "one.parquet")]) == 0
    parts = tmp_path / "parts"
    assert run(["combine", str(tmp_path / "here.json"), source, "-o", str(parts), *there]) == 0
    assert "40,000 items combined" in capsys.readouterr().err
    assert len(list(parts.glob("*.parquet"))) > 1
    assert pq.read_table(parts).equals(pq.read_table(tmp_path / "one.parquet"))
    shares = ["--class-shares", "learn"]
    assert run(["combine", str(tmp_path / "here.json"), source, "-o", str(tmp_path / "two.parquet"), *shares]) == 0
    said = capsys.readouterr().err.splitlines()[0]
    assert run(["combine", str(tmp_path / "here.json"), source, "-o", str(tmp_path / "more"), *shares, *there]) == 0
    assert "class shares" in said
    assert said in capsys.readouterr().err
    for here, other in zip(*(pq.read_table(tmp_path / name).columns for name in ("two.parquet", "more")), strict=True):
        assert here.to_numpy() == pytest.approx(other.to_numpy(), abs=1e-6) if here.type == "double" else here == other
    assert run(["combine", str(tmp_path / "here.json"), source, "-o", str(parts), *there]) == 2
    assert "exists already" in capsys.readouterr().err
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_scheduler_that_cannot_be_reached_is_said_soon(folder, tmp_path, capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    start = time.monotonic()
    arguments = ["--engine", "dask", "--scheduler", address]
    assert run(["fit", str(folder / "1.0.parquet"), "-o", str(tmp_path / "team.json"), *arguments]) == 2
    assert time.monotonic() - start < 20
    said = capsys.readouterr().err
    assert said.startswith("Error: scheduler (--scheduler) must be the address of a running Dask scheduler")
    assert address in said.replace("\n", "")
    assert "Traceback" not in said


def test_a_cluster_without_workers_is_given_up(folder):
    table = tables.scan(folder / "1.0.parquet")
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None, silence_logs=50) as empty:
        start = time.monotonic()
        with (
            DaskCluster(empty.scheduler_address, timeout=2) as cluster,
            pytest.raises(th.ClusterTrouble, match="has had no workers for 2 seconds"),
        ):
            th.recommended().fit(cluster.hold(table))
        assert time.monotonic() - start < 20


def test_a_local_cluster_listens_on_this_machine_only():
    psutil = pytest.importorskip("psutil")

    def listening():
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
        found = [one for process in processes for one in process.net_connections("tcp") if one.status == "LISTEN"]
        return {(one.laddr.ip, one.laddr.port) for one in found}

    before = listening()
    with DaskCluster(workers=1):
        opened = listening() - before
    assert opened
    assert {ip for ip, _ in opened} <= {"127.0.0.1", "::1"}


def test_a_cluster_that_answers_late(scheduler, folder, tmp_path, monkeypatch, capsys):
    def too_late(_):
        raise TimeoutError

    monkeypatch.setattr(DaskCluster, "dashboard", property(too_late))
    line = ["fit", str(folder / "1.0.parquet"), "-o", str(tmp_path / "t.json"), "--engine", "dask"]
    assert run([*line, "--scheduler", scheduler]) == 2
    assert "Error: the cluster did not answer in time" in capsys.readouterr().err


def test_what_a_killed_worker_leaves_is_not_part_of_the_result(scheduler, folder, tmp_path, monkeypatch):
    source, team = str(folder / "1.0.parquet"), str(tmp_path / "team.json")
    assert run(["fit", source, "-o", team]) == 0

    def leave(cluster, futures, results=DaskCluster.results):
        yield from results(cluster, futures)
        next(tmp_path.glob(".parts.*")).joinpath(".00000.parquet.part").write_text("half")

    monkeypatch.setattr(DaskCluster, "results", leave)
    parts = tmp_path / "parts"
    assert run(["combine", team, source, "-o", str(parts), "--engine", "dask", "--scheduler", scheduler]) == 0
    assert all(path.suffix == ".parquet" for path in parts.iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--engine", "spark"], "--engine must be local or dask; it is 'spark'."),
        (["--scheduler", "tcp://somewhere:1"], "use --engine dask too"),
        (["--engine", "dask", "--method", "LR"], "--engine dask fits teams of P+L"),
    ],
)
def test_what_cannot_be_is_said(arguments, words, folder, tmp_path, capsys):
    assert run(["fit", str(folder / "1.0.parquet"), "-o", str(tmp_path / "team.json"), *arguments]) == 2
    assert words in capsys.readouterr().err
