"""The targets: for each format, how a strange file is made of a valid one, and what must hold of it.

A file is refused with one sentence, or read; then the same table in another format is read as the same table or
refused, and a fit of it gives probabilities or one sentence. Anything else is a finding.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.mutations import as_json, changed_bytes, changed_json
from tests.fuzz.reading import content_of, read, twin
from tests.fuzz.tables import WRITERS, arrow_table, in_every_format, sheet, strange_table, workbook

import twoheads as th
from twoheads.errors import TwoheadsError
from twoheads.tables.exports import _parts
from twoheads.tables.formats.registry import export_by_name

FORMATS = Path(__file__).parents[1] / "formats"
#: One case in so many is also fitted.
FITTED = 16

#: Makes a case in a folder, and checks it: "refused" or "accepted"; raises for a finding.
Target = Callable[[Random, Path], str]


class Finding(AssertionError):
    """Something that must not happen."""


def sentence(error: TwoheadsError) -> str:
    """A refusal: one line, not too long."""
    text = str(error)
    if not text or "\n" in text or len(text) > 1_500:
        raise Finding(f"not one short sentence: {text[:2_000]!r}") from error
    return "refused"


def checked(path: Path, rng: Random, **options: Any) -> str:
    """Read a file, then its twin, and fit now and then."""
    try:
        X, y = read(path, **options)
        found = content_of(X, y)
    except TwoheadsError as error:
        return sentence(error)
    other = None if options else twin(path, path.parent)
    if other is not None:
        _need_same(found, path, other)
    if rng.randrange(FITTED) == 0:
        fitted(X, y)
    return "accepted"


def _need_same(found: Any, path: Path, other: Path) -> None:
    try:
        twins = content_of(*read(other))
    except TwoheadsError as error:
        sentence(error)
        return
    if difference := found.difference(twins):
        raise Finding(f"{path.name} and {other.name} are one table, and read with other {difference}"[:2_000])


def fitted(X: Any, y: Any) -> None:
    """A fit gives probabilities, or is refused with one sentence."""
    try:
        team = th.ProbabilityLabelCombiner(tol=1e-2, max_iter=20).fit(X, y)
        proba = team.predict_proba(X)
    except TwoheadsError as error:
        sentence(error)
        return
    if not (np.isfinite(proba).all() and np.allclose(proba.sum(axis=1), 1)):
        raise Finding(f"no probabilities: {proba}")


# ------------------------------------------------------------------------------------------------- tables


def text_target(name: str) -> Target:
    """A table whose bytes are changed."""

    def target(rng: Random, folder: Path) -> str:
        path = folder / name
        path.write_bytes(changed_bytes(WRITERS[name](strange_table(rng)), rng))
        return checked(path, rng)

    return target


def packed(rng: Random, folder: Path) -> str:
    """A table in an archive, or compressed, whose bytes are changed before or after."""
    content = WRITERS["t.csv"](strange_table(rng))
    content = changed_bytes(content, rng) if rng.random() < 0.5 else content
    if rng.random() < 0.5:
        path, content = folder / "t.csv.gz", pa.compress(content, "gzip", asbytes=True)
    else:
        path, sink = folder / "t.zip", io.BytesIO()
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(rng.choice(("t.csv", "a/t.csv", "../t.csv", "t.txt", "/t.csv")), content)
        content = sink.getvalue()
    path.write_bytes(changed_bytes(content, rng) if rng.random() < 0.7 else content)
    return checked(path, rng)


def json_rows(rng: Random, folder: Path) -> str:
    """JSON lines, or a list, of a table whose structure is changed."""
    rows = [json.loads(line) for line in WRITERS["t.jsonl"](strange_table(rng)).splitlines()]
    rows = changed_json(rows, rng)
    if rng.random() < 0.5 or not isinstance(rows, list):
        path = folder / "t.json"
        path.write_bytes(as_json(rows))
    else:
        path = folder / "t.jsonl"
        path.write_bytes(b"".join(as_json(row) + b"\n" for row in rows))
    return checked(path, rng)


_KINDS = (
    pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(20, 4), pa.bool_(),
    pa.null(), pa.binary(),
    pa.large_string(), pa.string_view(), pa.date32(), pa.timestamp("us", tz="UTC"), pa.time64("us"), pa.duration("s"),
    pa.list_(pa.string()), pa.struct([("a", pa.string())]), pa.map_(pa.string(), pa.int8()),
    pa.dictionary(pa.int8(), pa.string()),
)  # fmt: skip


def typed(rng: Random, folder: Path) -> str:
    """Parquet or Arrow with a column of another type, a column twice, none at all, or no rows."""
    table = arrow_table(strange_table(rng))
    at = rng.randrange(table.num_columns)
    kind = rng.choice(_KINDS)
    table = table.set_column(at, table.column_names[at], _of_kind(table.num_rows, kind, rng))
    if rng.random() < 0.1:
        table = table.append_column(rng.choice(table.column_names), table.column(at))
    if rng.random() < 0.1:
        table = table.slice(0, rng.choice((0, 1)))
    path = folder / rng.choice(("t.parquet", "t.arrow"))
    try:
        if path.suffix == ".parquet":
            pq.write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
    except pa.ArrowException:
        return "not written"
    return checked(path, rng)


def _of_kind(n_rows: int, kind: Any, rng: Random) -> Any:
    texts = ["1", "0", "0.5", "a", "\udcff"][: rng.choice((2, 3, 4))]
    try:
        return pa.array([rng.choice(texts) for _ in range(n_rows)], pa.string()).cast(kind)
    except (pa.ArrowException, UnicodeError):
        return pa.nulls(n_rows, kind)


def spreadsheet(rng: Random, folder: Path) -> str:
    """A workbook whose sheet's XML is changed, or whose bytes are."""
    path = folder / rng.choice(("t.xlsx", "t.ods"))
    if path.suffix == ".ods" or rng.random() < 0.2:
        path.write_bytes(changed_bytes((FORMATS / f"reads{path.suffix}").read_bytes(), rng))
        return checked(path, rng, sheet="Sheet1") if rng.random() < 0.5 else checked(path, rng)
    data = sheet(strange_table(rng)).encode()
    content = workbook(changed_bytes(data, rng).decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode())
    path.write_bytes(changed_bytes(content, rng) if rng.random() < 0.2 else content)
    return checked(path, rng)


def every_format(rng: Random, folder: Path) -> str:
    """One strange table in every format: those that take it read the same."""
    columns = strange_table(rng)
    found = {}
    for path in in_every_format(columns, folder):
        try:
            found[path.name] = content_of(*read(path))
        except TwoheadsError as error:
            sentence(error)
    first = next(iter(found), None)
    for name, content in found.items():
        if difference := found[first].difference(content) if first else None:
            raise Finding(f"{first} and {name} of {columns} differ: {difference}"[:3_000])
    return "accepted" if found else "refused"


def separate(rng: Random, folder: Path) -> str:
    """Answers of people and truth in tables of their own, one of which is changed."""
    answers, truth = folder / "answers.csv", folder / "truth.csv"
    contents = [(FORMATS / f"crowd_kit_{name}.csv").read_bytes() for name in ("labels", "gt")]
    at = rng.randrange(2)
    contents[at] = changed_bytes(contents[at], rng)
    answers.write_bytes(contents[0])
    truth.write_bytes(contents[1])
    try:
        X, y = read(None, answers=answers, truth=str(truth))  # type: ignore[arg-type]
        content_of(X, y)
    except TwoheadsError as error:
        return sentence(error)
    if rng.randrange(FITTED) == 0:
        fitted(X, y)
    return "accepted"


# ------------------------------------------------------------------------------------------------- exports


def export_target(*names: str) -> Target:
    """Records of a labelling tool whose structure, or whose bytes, are changed."""

    def target(rng: Random, folder: Path) -> str:
        source = FORMATS / rng.choice(names)
        path = folder / source.name
        content = source.read_bytes()
        if source.suffix == ".parquet" or rng.random() < 0.2:
            path.write_bytes(changed_bytes(content, rng))
            return checked(path, rng)
        lines = source.suffix == ".jsonl"
        records = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
        records = changed_json(records, rng)
        lines = lines and isinstance(records, list)
        path.write_bytes(b"".join(as_json(one) + b"\n" for one in records) if lines else as_json(records))
        return checked(path, rng)

    return target


def export_records(rng: Random, folder: Path) -> str:
    """Records whose structure is changed, as they are read from JSON: many more cases than by files."""
    name, tool = rng.choice(_RECORDS)
    content = (FORMATS / name).read_bytes()
    lines = name.endswith(".jsonl")
    records = [json.loads(line) for line in content.splitlines()] if lines else json.loads(content)
    known = export_by_name(tool)
    assert known
    try:
        _parts(known.read(changed_json(records, rng), None), name, known, None, ())
    except TwoheadsError as error:
        return sentence(error)
    return "accepted"


_RECORDS = (
    ("label_studio.json", "label-studio"),
    ("label_studio_min.json", "label-studio"),
    ("argilla_records.json", "argilla"),
    ("argilla_codes.jsonl", "argilla"),
    ("mlflow_traces.jsonl", "mlflow"),
    ("mlflow_search_traces.json", "mlflow"),
)


def dataset(rng: Random, folder: Path) -> str:
    """A folder that the library datasets has saved, one of whose files is changed."""
    source = FORMATS / rng.choice(("hugging_face", "argilla_dataset"))
    place = folder / source.name
    shutil.copytree(source, place)
    victim = rng.choice(sorted(path for path in place.rglob("*") if path.is_file()))
    if victim.suffix == ".json" and rng.random() < 0.8:
        victim.write_bytes(as_json(changed_json(json.loads(victim.read_bytes()), rng)))
    elif rng.random() < 0.1:
        victim.unlink()
    else:
        victim.write_bytes(changed_bytes(victim.read_bytes(), rng))
    return checked(place if rng.random() < 0.5 else victim.parent, rng)


TARGETS: dict[str, Target] = {
    "csv": text_target("t.csv"),
    "tsv": text_target("t.tsv"),
    "json-lines": text_target("t.jsonl"),
    "json": text_target("t.json"),
    "json-structure": json_rows,
    "parquet": text_target("t.parquet"),
    "arrow": text_target("t.arrow"),
    "arrow-types": typed,
    "spreadsheets": spreadsheet,
    "packed": packed,
    "separate-tables": separate,
    "label-studio": export_target("label_studio.json", "label_studio_min.json"),
    "argilla": export_target("argilla_records.json", "argilla_codes.jsonl", "argilla.parquet"),
    "mlflow": export_target("mlflow_traces.jsonl", "mlflow_search_traces.json"),
    "export-records": export_records,
    "hugging-face": dataset,
    "every-format": every_format,
}
