"""JSON lines, read by DuckDB: an object per row, keys as columns; a key that is missing is a gap.

DuckDB infers keys and types from a sample, and without regard to case. Here all rows are looked at, once for the keys
and once for the types that are asked for, so that a table means the same as in any other format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import connected, lacks_room, pa, quoted, reading_errors
from twoheads.tables.formats.csv import literal
from twoheads.tables.formats.data_file import DataFile, Span, TableWriter, Wanted
from twoheads.tables.formats.detect import first_line
from twoheads.tables.formats.json_errors import explain_json
from twoheads.tables.formats.registry import compression_of

#: Rows looked at to guess which columns hold fractions, whose types nobody asks for.
_SAMPLE = 100
#: Digits of a whole number that is exact as a float.
_EXACT_DIGITS = 15


class JsonFile(DataFile):
    """Objects, one per line (or a list of them), each a row."""

    def _read_columns(self) -> Iterator[str]:
        self._types: dict[str, Any] = {}
        found: set[str] = set()
        for kind, keys in self._fetched(f"SELECT DISTINCT json_type(json), json_keys(json) FROM {self._objects()}"):
            if kind != "OBJECT" or len(set(keys)) < len(keys):
                raise explain_json(self.path, Wanted()) or self._unexplained("a row is not an object")
            found.update(keys)
        if not found:
            raise InvalidObservations(f"{self.path} has no keys. Write one object per item: item, human, p_<class>.")
        if any("\0" in key for key in found):
            raise InvalidObservations(f"{self.path} has a key with a NUL character (\\u0000). Rename that key.")
        first = self._fetched(f"SELECT json_keys(json) FROM {self._objects()} LIMIT 1")[0][0]
        return iter([*first, *sorted(found.difference(first))])

    def type_of(self, column: str) -> Any:
        """Whole numbers, numbers, booleans or text, whichever holds all values of the column exactly."""
        if column not in self._types:
            sampled = self._types_of(self.columns, f"LIMIT {_SAMPLE}")
            asked = [name for name, kind in sampled.items() if kind != pa.float64() or name == column]
            self._types |= self._types_of(asked)
        return self._types[column]

    def count(self) -> int:
        """The number of rows, by reading them."""
        return int(self._fetched(f"SELECT count(*) FROM {self._objects()}")[0][0])

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Batches in the order of the file."""
        query = self._query(wanted)
        with connected() as connection:
            try:
                for batch in connection.sql(query).to_arrow_reader(rows):
                    yield batch.rename_columns(wanted.columns)
            except reading_errors() as error:
                raise self._explained(error, wanted) from None

    def _query(self, wanted: Wanted) -> str:
        names = wanted.columns
        labels = {name: "BOOLEAN" if self.type_of(name) == pa.bool_() else "VARCHAR" for name in wanted.labels}
        types = labels | dict.fromkeys(wanted.numbers, "DOUBLE")  # booleans are the labels False and True, as elsewhere
        types = {name: types.get(name) or _SQL.get(str(self.type_of(name)), "VARCHAR") for name in names}
        if len({name.casefold() for name in names}) == len(names):
            columns = ", ".join(f"{quoted(name)}: '{kind}'" for name, kind in types.items())
            chosen = ", ".join(_identifier(name) for name in names)
            return f"SELECT {chosen} FROM {self._source('read_json', f'columns = {{{columns}}}')}"
        # DuckDB has no columns whose names differ only in case: take the values out of the objects, which is slower.
        values = ", ".join(f"CAST(v[{at}] AS {kind})" for at, kind in enumerate(types.values(), 1))
        return f"SELECT {values} FROM (SELECT json_extract_string(json, {_paths(names)}) AS v FROM {self._objects()})"

    def _types_of(self, names: Sequence[str], limit: str = "") -> dict[str, Any]:
        """The Arrow type of each column, from all its values or from those of the first rows."""
        facts = ", ".join(_FACTS.format(value=f"v[{at}]") for at in range(1, len(names) + 1))
        values = f"SELECT CAST(json_extract(json, {_paths(names)}) AS VARCHAR[]) AS v"
        (found,) = self._fetched(f"SELECT {facts} FROM ({values} FROM (SELECT json FROM {self._objects()} {limit}))")
        return {name: _type(*found[5 * at : 5 * at + 5]) for at, name in enumerate(names)}

    def _fetched(self, query: str) -> list[Any]:
        with connected() as connection:
            try:
                return list(connection.sql(query).fetchall())
            except reading_errors() as error:
                raise self._explained(error, Wanted()) from None

    def _objects(self) -> str:
        return self._source("read_json_objects", "format = 'auto'")

    def _source(self, function: str, options: str) -> str:
        compression = compression_of(self.path.name) or "uncompressed"
        return f"{function}({quoted(literal(self.path))}, compression = {quoted(compression)}, {options})"

    def _explained(self, error: Exception, wanted: Wanted) -> Exception:
        if lacks_room(error):
            return error
        return explain_json(self.path, wanted) or self._unexplained(first_line(error))

    def _unexplained(self, reason: str) -> InvalidObservations:
        return InvalidObservations(f"{self.path} cannot be read as JSON lines ({reason}).")


#: Of the values of a column as JSON: whether any is text or nested, a boolean, a fraction, a whole number beyond 63
#: bits; and the most digits of a whole number.
_FACTS = r"""
    bool_or({value}[1] IN ('"', '[', '{{')), bool_or({value} IN ('true', 'false')),
    bool_or({value}[1] NOT IN ('"', '[', '{{', 't', 'f', 'n') AND NOT regexp_full_match({value}, '-?\d+')),
    bool_or(regexp_full_match({value}, '-?\d+') AND TRY_CAST({value} AS BIGINT) IS NULL),
    max(CASE WHEN regexp_full_match({value}, '-?\d+') THEN length({value}) END)
"""
_SQL = {"int64": "BIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}


def _type(is_text: bool, has_booleans: bool, has_fractions: bool, is_beyond: bool, digits: int | None) -> Any:
    """The type that holds all values exactly."""
    has_numbers = has_fractions or digits is not None
    if is_text or is_beyond or (has_booleans and has_numbers):
        return pa.string()
    if has_booleans:
        return pa.bool_()
    if has_fractions:
        return pa.float64() if (digits or 0) <= _EXACT_DIGITS else pa.string()
    return pa.null() if digits is None else pa.int64()


def _paths(names: Sequence[str]) -> str:
    """JSON paths of keys, as an SQL list."""
    return "[" + ", ".join(quoted("/" + name.replace("~", "~0").replace("/", "~1")) for name in names) + "]"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class JsonWriter(TableWriter):
    """Writes one object per line; numbers that JSON does not have are null."""

    def __init__(self, file: Any, schema: Any) -> None:
        self._file = file

    def write(self, batch: Any) -> None:
        """Write one line per row."""
        rows = ({name: _finite(value) for name, value in row.items()} for row in batch.to_pylist())
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False, default=str) for row in rows]
        self._file.write("".join(f"{line}\n" for line in lines).encode())


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
