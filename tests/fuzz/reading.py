"""What was read of a table, in a form that does not depend on its format, and the same table in another one."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.tables import WRITERS, Columns

from twoheads import tables
from twoheads.kernels.arrays import MISSING
from twoheads.observations import as_truth
from twoheads.observations.labels import label_text


@dataclass(frozen=True)
class Content:
    """Ids, answers by person and item, rows of the models by class, and the truth, all by name."""

    items: list[str]
    answers: list[tuple[int, str, str]]
    rows: dict[tuple[str, str], Any]
    truth: list[str | None]

    def difference(self, other: Content) -> str | None:
        """In what two readings differ; None if in nothing."""
        if self.items != other.items:
            return f"items {self.items} and {other.items}"
        if self.answers != other.answers:
            return f"answers {self.answers} and {other.answers}"
        if self.truth != other.truth:
            return f"truth {self.truth} and {other.truth}"
        if self.rows.keys() != other.rows.keys():
            return f"columns {sorted(self.rows)} and {sorted(other.rows)}"
        for name, row in self.rows.items():
            if not np.allclose(row, other.rows[name], rtol=1e-6, atol=1e-12, equal_nan=True):
                return f"column {name}: {row} and {other.rows[name]}"
        return None


def content_of(X: Any, y: Any) -> Content:
    """The content of observations and their truth."""
    names = [label_text(name) for name in X.classes.tolist()]
    truth = as_truth(y, X)
    rows = {
        (model, name): np.asarray(proba, dtype=float)[:, at]
        for model, proba in zip(X.models, X.model_proba, strict=True)
        for at, name in enumerate(names)
    }
    items = [label_text(item) for item in X.items.tolist()] if X.has_ids else [str(at) for at in range(len(X))]
    labels = [None if code == MISSING else names[code] for code in truth.tolist()]
    return Content(items, _answers(X, names), rows, labels)


def _answers(X: Any, names: list[str]) -> list[tuple[int, str, str]]:
    found = []
    for at in range(len(X)):
        for column in X.answers.take(np.array([at])).column.tolist():
            if column != MISSING:
                who, answer = divmod(column, len(names))
                found.append((at, X.annotators[who], names[answer]))
    return sorted(found)


def read(path: Path, **options: Any) -> tuple[Any, Any]:
    """Observations and truth of a file."""
    return tables.scan(path, **options).read()


# ------------------------------------------------------------------------------------------------- twins


def twin(path: Path, folder: Path) -> Path | None:
    """The same table in another format, by a parser that is not ours; None where it is not that plain."""
    try:
        columns, name = _PARSERS[path.suffix](path)
    except (ValueError, KeyError, TypeError, csv.Error, pa.ArrowException, OSError, RecursionError):
        return None
    if not columns or not next(iter(columns.values())):
        return None
    other = folder / name
    try:
        other.write_bytes(WRITERS[name](columns))
    except (ValueError, TypeError, OverflowError, pa.ArrowException):
        return None
    return other


def _of_csv(path: Path) -> tuple[Columns, str]:
    text = path.read_bytes().decode("utf-8")
    _need(not any(mark in text for mark in "\0\r\ufeff\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029;|\t'"))
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    _need(all(len(row) == len(header) for row in rows) and len(set(map(str.casefold, header))) == len(header))
    _need(all(name == name.strip() and name for name in header))
    cells = {name: [row[at].strip() for row in rows] for at, name in enumerate(header)}
    return {name: _numbers(name, values) for name, values in cells.items()}, "t.parquet"


def _numbers(name: str, values: list[str]) -> list[Any]:
    if name.startswith("p_"):
        _need(not any("_" in value for value in values))
        return [float(value) if value else None for value in values]
    return [value or None for value in values]


def _of_json_lines(path: Path) -> tuple[Columns, str]:
    text = path.read_bytes().decode("utf-8")
    rows = [json.loads(line, object_pairs_hook=_object) for line in text.split("\n") if line.strip()]
    return _of_objects(rows), "t.json"


def _of_json(path: Path) -> tuple[Columns, str]:
    return _of_objects(json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=_object)), "t.jsonl"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _need(len({key.casefold() for key, _ in pairs}) == len(pairs))
    return dict(pairs)


def _of_objects(rows: Any) -> Columns:
    _need(isinstance(rows, list) and all(isinstance(row, dict) for row in rows))
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return {key: [row.get(key) for row in rows] for key in keys}


def _of_parquet(path: Path) -> tuple[Columns, str]:
    return _of_arrow_table(pq.read_table(path)), "t.csv"


def _of_arrow(path: Path) -> tuple[Columns, str]:
    with pa.memory_map(str(path)) as source:
        return _of_arrow_table(pa.ipc.open_file(source).read_all()), "t.csv"


def _of_arrow_table(table: Any) -> Columns:
    table.validate(full=True)
    columns = {name: table[at].to_pylist() for at, name in enumerate(table.column_names)}
    _need(len({name.casefold() for name in columns}) == len(table.column_names))
    for values in columns.values():
        _need(all(value is None or isinstance(value, int | float | str) for value in values))
        _need(not any(isinstance(value, bool) or value in ("",) or value != value for value in values))
        _need(all(value == value.strip() and value.isprintable() for value in values if isinstance(value, str)))
    return columns


def _need(condition: bool) -> None:
    if not condition:
        raise ValueError


_PARSERS = {
    ".csv": _of_csv,
    ".jsonl": _of_json_lines,
    ".json": _of_json,
    ".parquet": _of_parquet,
    ".arrow": _of_arrow,
}
