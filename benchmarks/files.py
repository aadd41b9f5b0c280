"""``python -m benchmarks.files``: combining and fitting from files, against what DuckDB needs for the same bytes.

The table has 10 classes; 30,000,000 rows are about 5 GB of CSV. Combining is compared with copying the same table by
DuckDB, fitting with DuckDB's scan of the same columns plus the fit in memory. Memory is the most that the command held
resident, beyond an interpreter that has only loaded it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import twoheads as th
from benchmarks.cost import keep, reporter, seconds
from benchmarks.simulation import simulate

CHUNK = 500_000
MEASURE = """
import re, sys, time
from pathlib import Path
from twoheads.cli.running import run

def peak():  # of this program, not of what it was forked from
    return int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]) / 1024

loaded, start = peak(), time.perf_counter()
code = run(sys.argv[1:])
print(code, time.perf_counter() - start, peak() - loaded)
"""


def write_table(path, rows, *, truth=True):
    """A simulated team as Parquet, chunk by chunk, with or without its truth."""
    writer = None
    for start in range(0, rows, CHUNK):
        X, true_label = simulate(min(CHUNK, rows - start), 10, seed=start)
        columns = {"item": pa.array(range(start, start + len(X))), "human": pa.array(X[:, 0].astype(int))}
        columns |= {f"p_{k}": pa.array(X[:, 1 + k]) for k in range(10)}
        batch = pa.table(columns | ({"truth": pa.array(true_label)} if truth else {}))
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    writer.close()


def command(*arguments):
    """Seconds and megabytes beyond the loaded interpreter that a command takes, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    code, seconds, megabytes = done.stdout.split()[-3:]
    if code != "0":
        raise SystemExit(done.stderr)
    return float(seconds), float(megabytes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows", type=int, default=3_000_000, help="rows of the table to combine; 30,000,000 are 5 GB of CSV"
    )
    rows = parser.parse_args().rows
    found = []
    report = reporter(found)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        million, table = place / "million.parquet", place / "table.parquet"
        write_table(million, 1_000_000)
        sums = ", ".join(f"sum({name})" for name in ("human", "truth", *(f"p_{k}" for k in range(10))))
        scan = seconds(lambda: duckdb.sql(f"select {sums} from '{million}'").fetchall(), 1)
        X, truth = simulate(1_000_000, 10)
        memory = seconds(lambda: th.recommended().fit(X, truth), 1)
        took, _ = command("fit", million, "-o", place / "team.json")
        report(
            "fit, 1,000,000 rows of Parquet / (DuckDB's scan + fit in memory)",
            took / (scan + memory),
            "times",
            at_most=2,
        )
        write_table(table, rows)
        for suffix in ("csv", "parquet"):
            source = place / f"source.{suffix}"
            duckdb.sql(f"copy (select * exclude truth from '{table}') to '{source}'")
            statement = f"copy (select * from '{source}') to '{place / f'copy.{suffix}'}'"
            copy = seconds(partial(duckdb.sql, statement), 1)
            took, megabytes = command("combine", place / "team.json", source, "-o", place / f"verdicts.{suffix}")
            size = os.path.getsize(source) / 2**30
            report(f"combine, {size:.1f} GB of {suffix} / DuckDB's copy", took / copy, "times", at_most=3)
            report(f"memory of combine, {size:.1f} GB of {suffix}", megabytes, "MB", at_most=500)
            for name in (f"source.{suffix}", f"copy.{suffix}", f"verdicts.{suffix}"):
                (place / name).unlink()
    keep("files", found)


if __name__ == "__main__":
    main()
