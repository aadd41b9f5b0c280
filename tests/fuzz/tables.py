"""Tables of strange values, and the same table in several formats by writers that are not ours."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.parquet as pq

Columns = dict[str, list[Any]]

NAMES = (
    "a", "b", "A", "cat", "Cat", "1", "2", "10", "01", "1.0", "-1", "1e3", "true", "nan", "null", "NA", "é", "e\u0301",
    "😀", "٣",
    "a b", "a,b", 'a"b', "a;b", "a'b", "=a", "p_a", "human", "x.y", "9223372036854775808", "_", "-", "?", "0.5",
    "unsure", "a|b",
)  # fmt: skip
STRANGE_IDS = (
    "",
    " ",
    "i 1",
    "=1",
    "é",
    "1",
    "01",
    "1.0",
    "1e5",
    "110000.2",
    "18446744073709551617",
    "nan",
    "i,1",
    "x" * 200,
)
STRANGE_NUMBERS = (0.0, 1.0, -0.0, 1e-320, 1e-9, 0.1 + 0.2, 1.0000001, 1.4, -0.1, float("nan"), float("inf"), None)


def strange_table(rng: Random) -> Columns:
    """A table that is valid but for its names, and for a strange cell here and there."""
    names = rng.sample(NAMES, rng.choice((2, 2, 3, 4)))
    n_items = rng.choice((2, 5, 12))
    people = rng.choice((["human"], ["human_a"], ["human_a", "human_b"], []))
    columns: Columns = {"item": [f"i{at}" for at in range(n_items)]} if rng.random() < 0.8 else {}
    for who in people:
        columns[who] = [rng.choice(names) if rng.random() < 0.8 else None for _ in range(n_items)]
    rows = [_probabilities(len(names), rng) for _ in range(n_items)]
    columns |= {f"p_{name}": [row[at] for row in rows] for at, name in enumerate(names)}
    if rng.random() < 0.7:
        columns["truth"] = [rng.choice(names) if rng.random() < 0.7 else None for _ in range(n_items)]
    for _ in range(rng.choice((0, 0, 1, 2))):
        _strange_cell(columns, rng)
    order = list(columns)
    rng.shuffle(order)
    return {name: columns[name] for name in order}


def _probabilities(n_classes: int, rng: Random) -> list[float]:
    raw = [rng.random() + 1e-3 for _ in range(n_classes)]
    return [value / sum(raw) for value in raw]


def _strange_cell(columns: Columns, rng: Random) -> None:
    name = rng.choice(list(columns))
    row = rng.randrange(len(columns[name]))
    strange: tuple[Any, ...] = (
        STRANGE_NUMBERS if name.startswith("p_") else STRANGE_IDS if name == "item" else (*NAMES, "x" * 100)
    )
    columns[name][row] = rng.choice(strange)


def _rows(columns: Columns) -> list[tuple[Any, ...]]:
    return list(zip(*columns.values(), strict=True))


def _csv(columns: Columns, separator: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(columns)
    writer.writerows(["" if value is None else value for value in row] for row in _rows(columns))
    return text.getvalue().encode("utf-8")


def _json_rows(columns: Columns) -> list[str]:
    return [
        json.dumps(dict(zip(columns, map(_json_value, row), strict=True)), ensure_ascii=False) for row in _rows(columns)
    ]


def _json_value(value: Any) -> Any:
    """JSON has no NaN: it is null."""
    return None if isinstance(value, float) and value != value else value


def arrow_table(columns: Columns) -> pa.Table:
    """Numbers as doubles, everything else as text."""
    kinds = {name: pa.float64() if name.startswith("p_") else pa.string() for name in columns}
    return pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})


def _arrow(columns: Columns) -> bytes:
    table, sink = arrow_table(columns), io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _parquet(columns: Columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(arrow_table(columns), sink)
    return sink.getvalue()


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ROLE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def sheet(columns: Columns) -> str:
    """A sheet of a workbook as XML."""
    lines = [list(columns), *map(list, _rows(columns))]
    return "".join(f"<row>{''.join(map(_cell, line))}</row>" for line in lines)


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "<c/>"
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f"<c><v>{value!r}</v></c>"


def workbook(data: str) -> bytes:
    """A workbook with one sheet."""
    sink = io.BytesIO()
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{ROLE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{ROLE}"><sheets><sheet name="One" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" '
        f'Type="{ROLE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(sink, "w") as book:
        for name, text in parts.items():
            book.writestr(name, text.encode("utf-8", "surrogatepass"))
    return sink.getvalue()


WRITERS: dict[str, Any] = {
    "t.csv": _csv,
    "t.tsv": lambda columns: _csv(columns, "\t"),
    "t.jsonl": lambda columns: "".join(f"{row}\n" for row in _json_rows(columns)).encode("utf-8"),
    "t.json": lambda columns: f"[{','.join(_json_rows(columns))}]".encode(),
    "t.parquet": _parquet,
    "t.arrow": _arrow,
    "t.xlsx": lambda columns: workbook(sheet(columns)),
}


def in_every_format(columns: Columns, folder: Path) -> list[Path]:
    """Files of the same table, as far as a format can hold it."""
    written = []
    for name, write in WRITERS.items():
        path = folder / name
        path.write_bytes(write(columns))
        written.append(path)
    return written
