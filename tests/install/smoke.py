"""Try an installation, without pytest: what is there works, and what is missing is named. From the project's root:

    python -m tests.install.smoke              the package alone
    python -m tests.install.smoke cli dask     with these extras

`make test-extras` runs it for every extra, `make test-lowest` for the lowest versions that pyproject.toml declares.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import twoheads as th
from twoheads.evaluation import compare

FORMATS = Path(__file__).parents[1] / "formats"
CLASSES = ("cat", "dog", "fox")
HEADER = "item,human,p_cat,p_dog,p_fox,truth\n"
CLI, FRAMES, DASK = "cli", "frames", "dask"


def arrays(n_items: int = 90) -> tuple[Any, Any, Any]:
    """People's answers, the model's rows and the truth of a simulation."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, n_items)
    human = np.where(rng.random(n_items) < 0.8, truth, rng.integers(0, 3, n_items))
    proba = rng.dirichlet(np.ones(3), n_items) * 0.5 + 0.5 * np.eye(3)[truth]
    return human, proba.round(6) / proba.round(6).sum(axis=1, keepdims=True), truth


def write_csv(path: Path) -> Path:
    """The simulation as a table."""
    human, proba, truth = arrays()
    rows = [
        f"i{at},{CLASSES[human[at]]},{','.join(map(repr, proba[at].tolist()))},{CLASSES[truth[at]]}\n"
        for at in range(len(truth))
    ]
    path.write_text(HEADER + "".join(rows))
    return path


def command(folder: Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    """What a command writes to its outputs, if it ends with the expected exit code."""
    from twoheads.cli.running import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        ended = run(list(arguments))
    assert ended == code, f"{arguments} ended with {ended}:\n{out.getvalue()}{err.getvalue()}"
    return out.getvalue(), err.getvalue()


def program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    line = [sys.executable, "-m", "twoheads", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def refused(action: Callable[[], Any], words: str) -> None:
    """An action that needs a missing extra is refused with a sentence that names it."""
    said = "nothing was missed"
    try:
        action()
    except th.MissingExtra as error:
        said = str(error)
    assert words in said, said


# ------------------------------------------------------------------------------------------------- the package alone


def try_package(folder: Path) -> None:
    """Fit, predict, explain, save, load, evaluate and ask on arrays."""
    human, proba, truth = arrays()
    X = th.Observations.from_arrays(human, proba, classes=CLASSES)
    y = np.array(CLASSES)[truth]
    team = th.recommended().fit(X, y)
    team.save(folder / "arrays.json")
    assert th.load(folder / "arrays.json").predict_proba(X).tobytes() == team.predict_proba(X).tobytes()
    assert np.mean(team.predict(X) == y) > 0.8
    assert team.describe()
    assert len(team.explain(X).label) == len(y)
    assert compare(team, X, y, held_out=True).combination.error.value < 0.2
    for other in (th.ProbabilityLabelCombiner(), th.LabelLabelCombiner(), th.LogisticCombiner()):
        other.fit(X, y).save(folder / "other.json")
        assert th.load(folder / "other.json").predict_proba(X).tobytes() == other.predict_proba(X).tobytes()


def try_without_cli(folder: Path) -> None:
    """The command line, tables and reports name their extra."""
    write_csv(folder / "t.csv")
    done = program(folder, "fit", "t.csv")
    assert done.returncode == 2, done
    assert "pip install 'twoheads[cli]'" in done.stderr, done
    assert done.stderr.count("\n") == 1, done
    human, proba, truth = arrays()
    X = th.Observations.from_arrays(human, proba, classes=CLASSES)
    y = np.array(CLASSES)[truth]
    team = th.recommended().fit(X, y)

    def report() -> None:
        from twoheads.report import write_report

        write_report(folder / "report.html", team, X, y)

    refused(report, "pip install 'twoheads[cli]'")

    def scan() -> None:
        from twoheads import tables

        tables.scan(folder / "t.csv").read()

    refused(scan, "pip install 'twoheads[cli]'")


def try_without_frames() -> None:
    """A table by the Arrow C stream names its extra."""

    class Table:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            raise AssertionError("read without pyarrow")

    refused(lambda: th.recommended().fit(Table()), "pip install 'twoheads[frames]'")


def try_without_dask(folder: Path, extras: set[str]) -> None:
    """A cluster names its extra."""

    def connect() -> None:
        from twoheads.engines.dask import DaskCluster

        DaskCluster()

    refused(connect, "pip install 'twoheads[dask]'")
    if CLI in extras:
        import pyarrow.csv
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.csv.read_csv(write_csv(folder / "d.csv")), folder / "d.parquet")
        said = command(folder, "fit", "d.parquet", "--engine", "dask", code=2)[1]
        assert "pip install 'twoheads[dask]'" in said, said


# ------------------------------------------------------------------------------------------------- extras


def try_frames() -> None:
    """An Arrow table is read."""
    import pyarrow as pa

    human, proba, truth = arrays()
    columns = {"human": [CLASSES[code] for code in human]}
    columns |= {f"p_{name}": proba[:, at] for at, name in enumerate(CLASSES)}
    team = th.recommended().fit(pa.table(columns), [CLASSES[code] for code in truth])
    assert list(team.classes_) == list(CLASSES)


def try_cli(folder: Path) -> None:
    """Every command, on tables of every format."""
    write_csv(folder / "t.csv")
    assert "Usage:" in program(folder, "--help").stdout
    assert "--keep-items" in program(folder, "fit", "--help").stdout
    assert command(folder, "--version")[0] == f"twoheads {th.__version__}\n"
    command(folder, "check", "t.csv")
    command(folder, "fit", "t.csv", "-o", "team.json", "--keep-items")
    for form in ("csv", "tsv", "parquet", "jsonl", "arrow"):
        command(folder, "combine", "team.json", "t.csv", "-o", f"v.{form}")
        copy_table(folder, form)
        command(folder, "fit", f"t2.{form}", "-o", f"{form}.json")
        same_team(folder / "team.json", folder / f"{form}.json")
    shown = json.loads(command(folder, "evaluate", "team.json", "t.csv", "--json")[0])
    assert shown
    command(folder, "evaluate", "team.json", "t.csv")
    command(folder, "report", "team.json", "t.csv", "-o", "report.html")
    assert "<svg" in (folder / "report.html").read_text()
    command(folder, "ask", "team.json", "t.csv", "--budget", "5", "-o", "q.csv")
    command(folder, "update", "team.json", "t.csv")
    command(folder, "merge", "team.json", "csv.json", "-o", "both.json", code=2)  # the same items
    assert "cat" in command(folder, "show", "team.json")[0]
    said = command(folder, "fit", "absent.csv", code=2)[1]
    assert said.startswith("Error: "), said
    command(folder, "fit", "--nonsense", code=2)
    try_exports(folder)
    command(folder, "demo", "demo")
    assert (folder / "demo" / "report.html").exists()


def try_exports(folder: Path) -> None:
    """Spreadsheets and the exports of labelling tools are read."""
    for name in ("reads.xlsx", "reads.ods"):
        command(folder, "check", str(FORMATS / name), "--sheet", sheet_of(folder, name))
    for name in ("label_studio.json", "argilla.parquet", "mlflow_traces.jsonl"):
        command(folder, "fit", str(FORMATS / name), "-o", "export.json")
    command(folder, "check", str(FORMATS / "hugging_face.parquet"))


def sheet_of(folder: Path, name: str) -> str:
    """The first sheet that a message about several names."""
    from python_calamine import CalamineWorkbook

    return str(CalamineWorkbook.from_path(str(FORMATS / name)).sheet_names[0])


def copy_table(folder: Path, form: str) -> None:
    """The table in another format."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    table = pyarrow.csv.read_csv(folder / "t.csv")
    path = str(folder / f"t2.{form}")
    if form in ("csv", "tsv"):
        Path(path).write_text((folder / "t.csv").read_text().replace(",", "\t" if form == "tsv" else ","))
    elif form == "jsonl":
        Path(path).write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif form == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)


def same_team(one: Path, other: Path) -> None:
    """Two teams predict the same."""
    human, proba, _ = arrays()
    X = th.Observations.from_arrays(human, proba, classes=CLASSES)
    difference = np.abs(th.load(one).predict_proba(X) - th.load(other).predict_proba(X)).max()
    assert difference < 1e-9, f"{other} differs by {difference}"


def try_dask(folder: Path, extras: set[str]) -> None:
    """A cluster on this machine; with tables, the commands on it."""
    from twoheads.engines.dask import DaskCluster

    with DaskCluster(workers=1) as cluster:
        assert list(cluster.results(cluster.submit(len, [(1, 2), (3,)]))) == [2, 1]
    if CLI in extras:
        write_csv(folder / "t.csv")
        copy_table(folder, "parquet")
        command(folder, "fit", "t2.parquet", "-o", "here.json")
        command(folder, "fit", "t2.parquet", "-o", "there.json", "--engine", "dask")
        same_team(folder / "here.json", folder / "there.json")
        command(folder, "combine", "here.json", "t2.parquet", "-o", "parts", "--engine", "dask")
        assert len(os.listdir(folder / "parts")) >= 1


def smoke(extras: set[str]) -> None:
    """Try the package with these extras, and that the others are named where they are missed."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try_package(folder)
        if FRAMES in extras or CLI in extras:
            try_frames()
        else:
            try_without_frames()
        if CLI in extras:
            try_cli(folder)
        else:
            try_without_cli(folder)
        if DASK in extras:
            try_dask(folder, extras)
        else:
            try_without_dask(folder, extras)


if __name__ == "__main__":
    warnings.filterwarnings("error", module="twoheads")  # those of other packages among themselves are not ours
    smoke(set(sys.argv[1:]))
    print(f"the package with {', '.join(sys.argv[1:]) or 'no extras'}: sound")
