"""``python -m benchmarks.large``: tables larger than memory, from disk and on a Dask cluster.

A simulated team of 20,000,000 items and 10 classes is fitted from Parquet in a process of its own, whose time and peak
memory are compared with reading the table and fitting it in memory; 10,000,000 items are fitted by one and by two
workers. The commands of every night, which keep and join items by their ids, are measured at three sizes: their memory
must not grow. Takes about an hour and 20 GB of disk; ``--rows`` makes it smaller.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import twoheads as th
from benchmarks.cost import keep, reporter
from benchmarks.files import CHUNK, write_table
from benchmarks.simulation import simulate
from twoheads import tables

#: Over how many days items are spread.
DAYS = 100

MEASURE = """
import json, re, sys, time, warnings
from pathlib import Path
import twoheads as th
from twoheads import tables
from twoheads.engines.progress import ProgressCallback, progress_to
warnings.simplefilter("ignore")
job, path = sys.argv[1:3]

class Count(ProgressCallback):
    n = 0
    def begin(self, n_items):
        self.n += 1

def peak():
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]) / 1024

def team(**options):
    return th.recommended() if "recommended" in job else th.ProbabilityLabelCombiner(**options)

table, count = tables.scan(path), Count()
start = time.perf_counter()
if "memory" in job:
    X, y = table.read(items=False)
    read = time.perf_counter() - start
    fitted = team(max_iter=5).fit(X, y)
else:
    read = 0.0
    with progress_to(count):
        fitted = team().fit(table)
print(json.dumps({"seconds": time.perf_counter() - start, "read": read, "megabytes": peak(), "passes": count.n,
                  "iterations": len(fitted.objective_)}))
"""

COMBINE = """
import json, re, sys, time
from pathlib import Path
import twoheads as th
from twoheads import tables
from twoheads.cli.running import run
job, path, team, output = sys.argv[1:5]

def peak():
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]) / 1024

start = time.perf_counter()
if job == "memory":
    X, _ = tables.scan(path).read(truth=False)
    tables.write(output, [tables.verdicts(X, (loaded := th.load(team)).predict_proba(X), loaded.classes_)])
elif run(["combine", team, path, "-o", output]):
    raise SystemExit("combine failed")
print(json.dumps({"seconds": time.perf_counter() - start, "megabytes": peak()}))
"""

CLUSTER = """
import json, sys, time
import numpy as np
import twoheads as th
from twoheads import tables
from twoheads.combination.items import open_items
from twoheads.engines.dask import DaskCluster
from twoheads.engines.blocks import sum_blocks

def nothing(block):
    return (1.0,)

def loaded():
    import twoheads.combination, twoheads.tables

if __name__ == "__main__":
    table = tables.scan(sys.argv[1])
    found = {}
    with DaskCluster(workers=int(sys.argv[2])) as cluster:
        cluster._client.run(loaded)  # as on a cluster that has run before
        start = time.perf_counter()
        th.ProbabilityLabelCombiner().fit(cluster.hold(table))
        found["seconds"] = time.perf_counter() - start
        blocks = open_items(cluster.hold(table)).blocks()
        sum_blocks(nothing, blocks)
        start = time.perf_counter()
        for _ in range(5):
            sum_blocks(nothing, blocks)
        found["overhead"] = (time.perf_counter() - start) / 5
    print(json.dumps(found))
"""


def measured(program, *arguments):
    """What a program prints as JSON, run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def from_disk(path, without_truth, report):
    """Fitting from disk, in time and memory, beside the same in memory."""
    for job, source in (("P+L", path), ("recommended", path), ("P+L-EM", without_truth)):
        disk = measured(MEASURE, job, source)
        memory = measured(MEASURE, f"memory {job}", source)
        report(f"{job} from disk: peak memory", disk["megabytes"], "MB", at_most=1024)
        report(f"{job} in memory: peak memory", memory["megabytes"], "MB")
        report(f"{job} from disk", disk["seconds"], "s")
        report(f"{job} in memory, reading included", memory["seconds"], "s")
        speed = memory["seconds"] / disk["seconds"]
        if disk["iterations"]:
            report(f"{job}: iterations until it settled", disk["iterations"], "")
            share = memory["iterations"] / disk["iterations"]
            speed = (memory["read"] + (memory["seconds"] - memory["read"]) / share) / disk["seconds"]
        report(f"{job}: rows per second from disk / in memory", speed, "times", at_least=0.5)


NIGHTLY = """
import json, re, sys, time
from pathlib import Path
from twoheads.cli.running import run

def peak():
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]) / 1024

start = time.perf_counter()
if run(sys.argv[1:]):
    raise SystemExit("the command failed")
print(json.dumps({"seconds": time.perf_counter() - start, "megabytes": peak()}))
"""


def write_items(path, rows, *, first=0, blank=0.0, separate=False):
    """Three classes, two people, dates, and ids of 37 characters in no order; perhaps answers and truth apart.

    first  number of the first item: tables that overlap have items in common, with other rows
    blank  the share of items without a truth
    """
    writers = {}
    for start in range(first, first + rows, CHUNK):
        X, truth = simulate(min(CHUNK, first + rows - start), 3, seed=start)
        rng = np.random.default_rng(start)
        number = np.arange(start, start + len(X)) * 7919 % 10**11  # no multiple of 7919: each id once
        ids = np.char.add("study-2026-hospital-north/", np.char.zfill(number.astype(str), 11))
        other = np.where(rng.random(len(X)) < 0.8, truth, (truth + 1) % 3)
        date = (np.datetime64("2026-01-01") + rng.integers(DAYS, size=len(X))).astype(str)
        known = {"truth": pa.array(truth, mask=rng.random(len(X)) < blank)}
        answers = {"human_a": X[:, 0].astype(int), "human_b": other}
        columns = {"item": ids} | {f"p_{k}": X[:, 1 + k] for k in range(3)}
        parts = {"": columns | answers | known | {"date": date}}
        if separate:
            parts = {"": columns, "answers_": {"item": ids} | answers, "truth_": {"item": ids} | known}
        for name, each in parts.items():
            batch = pa.table(each)
            place = path.with_name(name + path.name)
            writers[name] = writers.get(name) or pq.ParquetWriter(place, batch.schema)
            writers[name].write_table(batch)
    for writer in writers.values():
        writer.close()


def nightly(folder, sizes, report):
    """The commands of every night, at several sizes: memory must not grow with the rows."""
    table, parts, day, gone = (folder / f"{name}.parquet" for name in ("items", "parts", "day", "gone"))
    team, other, output = folder / "kept.json", folder / "other.json", folder / "all.parquet"
    options = ["--keep-truth", "--columns", "human_a", "--review-below", "0.8", "--top", "3", "--class-shares", "learn"]
    apart = ["--model", parts, "--answers", folder / "answers_parts.parquet"]
    truth = ["--truth", folder / "truth_parts.parquet"]
    time = ["--time", "date"]
    commands = {
        "fit --keep-items": ["fit", table, "--keep-items", *time, "-o", team],
        "update": ["update", team, day, *time],
        "update --window --forget": ["update", team, day, *time, "--window", f"{DAYS // 2}d", "--forget", gone],
        "fit --keep-items of a day": ["fit", day, "--keep-items", *time, "-o", other],
        "merge": ["merge", team, other, "-o", folder / "both.json"],
        "fit of separate tables": ["fit", *apart, *truth, "-o", folder / "joined.json"],
        "combine of separate tables": ["combine", folder / "joined.json", *apart, "-o", output],
        "combine with all options": ["combine", team, table, "-o", output, *options],
        "evaluate": ["evaluate", team, table],
        "report": ["report", team, table, "-o", folder / "report.html"],
        "check": ["check", table],
        "check --fix": ["check", table, "--fix", folder / "clean.csv"],
    }
    for size in sizes:
        n_day = max(size // 100, 1000)
        write_items(table, size, blank=0.1)
        write_items(parts, size, blank=0.1, separate=True)
        write_items(day, n_day, first=size - n_day // 2)  # answers that come again, truths that arrive, and new items
        pq.write_table(pq.read_table(table, columns=["item"]).slice(0, n_day), gone)
        for name, arguments in commands.items():
            found = measured(NIGHTLY, *arguments)
            report(f"{name}, {size:,} rows: peak memory", found["megabytes"], "MB", at_most=1280)
            report(f"{name}, {size:,} rows", found["seconds"], "s")
            if name == "update":
                report("  its greatest difference to one fit", _difference(folder, team, table, day), "", at_most=1e-10)


def _difference(folder, team, table, day):
    """How far a team that was updated is from a fit of all rows, in any probability it gives to a day's items."""
    newer, whole, once = pq.read_table(day), folder / "whole.parquet", folder / "once.json"
    with pq.ParquetFile(table) as old, pq.ParquetWriter(whole, newer.schema) as file:
        for batch in old.iter_batches(CHUNK):
            rows = pa.table(batch)
            file.write_table(rows.filter(pc.invert(pc.is_in(rows["item"], value_set=newer["item"]))))
        file.write_table(newer)
    measured(NIGHTLY, "fit", whole, "--keep-items", "-o", once)
    seen, _ = tables.scan(day).read(truth=False)
    return abs(th.load(team).predict_proba(seen) - th.load(once).predict_proba(seen)).max()


def combining(path, report):
    """Combining from disk to disk, in time and memory, beside the same in memory."""
    team, output = path.with_name("team.json"), path.with_name("verdicts.parquet")
    th.recommended().fit(*simulate(100_000, 10)).save(team)
    disk, memory = (measured(COMBINE, job, path, team, output) for job in ("disk", "memory"))
    report("combine: peak memory", disk["megabytes"], "MB", at_most=1024)
    report("combine", disk["seconds"], "s")
    report("reading, predicting and writing in memory", memory["seconds"], "s")
    report("combine: rows per second / in memory", memory["seconds"] / disk["seconds"], "times", at_least=0.5)


def on_a_cluster(path, report):
    """One worker of one thread, and two."""
    one, two = (measured(CLUSTER, path, workers) for workers in (1, 2))
    report("P+L on 1 worker that has loaded the library, reading included", one["seconds"], "s")
    report("P+L on 2 workers, the same", two["seconds"], "s")
    report("2 workers / 1 worker", one["seconds"] / two["seconds"], "times as fast", at_least=1.4)
    report("what a pass costs beyond its sums", 1000 * two["overhead"], "ms", at_most=100)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000, help="rows of the table; half of them for the cluster")
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="rows of the nightly tables, in place of three up to --rows"
    )
    parser.add_argument("--only", choices=("disk", "cluster", "nightly"), help="one part of it")
    options = parser.parse_args()
    found = []
    report = reporter(found)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if options.only in (None, "nightly"):
            nightly(place, options.sizes or (options.rows // 10, options.rows * 3 // 10, options.rows), report)
        if options.only in (None, "disk"):
            write_table(place / "table.parquet", options.rows)
            write_table(place / "without.parquet", options.rows, truth=False)
            combining(place / "table.parquet", report)
            from_disk(place / "table.parquet", place / "without.parquet", report)
        if options.only in (None, "cluster"):
            write_table(place / "half.parquet", options.rows // 2)
            on_a_cluster(place / "half.parquet", report)
    keep("large", found, n_rows=options.rows)


if __name__ == "__main__":
    main()
