"""The records in files of labelling tools, and which tool has made them."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twoheads.engines.temporary import remove_folder
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.tables.duckdb import pa, pq
from twoheads.tables.formats.copies import in_utf8, is_utf16, unzipped
from twoheads.tables.formats.detect import find_files, first_line, head_of, open_bytes, unreadable
from twoheads.tables.formats.hugging_face import class_names, named
from twoheads.tables.formats.opening import Reading, is_archive, is_binary
from twoheads.tables.formats.registry import ExportFormat, any_of, export_by_name, export_with, format_names
from twoheads.tables.interop.export import Export
from twoheads.text import did_you_mean

_PARQUET, _ARROW_FILE, _ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_TYPED = (_PARQUET, _ARROW_FILE, _ARROW_STREAM)


def export_at(path: str | os.PathLike[str], argument: str, how: Reading) -> ExportFormat | None:
    """The export that is named, or that the first file shows; None for a table."""
    if how.format is not None:
        if how.format not in format_names():
            raise InvalidParameter(
                f"format (--format) must be {any_of(format_names())}; it is {how.format!r}."
                f"{did_you_mean(how.format, format_names())}"
            )
        return export_by_name(how.format)
    with _plain(find_files(path, argument)[0], how) as file:
        return export_with(_first_keys(file))


def read_export(known: ExportFormat, path: str | os.PathLike[str], argument: str, how: Reading) -> Export:
    """What the records of an export state; messages begin with its path."""
    try:
        return known.read(records_at(path, argument, how), how.question)
    except InvalidObservations as error:
        raise InvalidObservations(f"{os.fspath(path)}: {error}") from None


def records_at(path: str | os.PathLike[str], argument: str, how: Reading) -> list[Any]:
    """The records of all files that a path, a folder or a pattern names."""
    records: list[Any] = []
    for file in find_files(path, argument):
        with _plain(file, how) as plain:
            records += _records(plain, file)
    return records


@contextmanager
def _plain(path: Path, how: Reading) -> Iterator[Path]:
    """The file, or a copy that is unpacked and in UTF-8, for a while."""
    if is_archive(path):
        copy = unzipped(path)
    elif (how.encoding is not None and not is_binary(path)) or is_utf16(path):
        copy = in_utf8(path, how.encoding or "utf-16")
    else:
        yield path
        return
    try:
        yield copy
    finally:
        remove_folder(str(copy.parent))


def _first_keys(path: Path) -> list[str]:
    """The keys of the first record, ``a`` and ``a.b`` of a record inside it; none of a text other than JSON."""
    head, is_all = head_of(path)
    if head.startswith(_TYPED):
        return _column_names(path, head)
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    start = text.find("{")
    if not text.startswith(("{", "[")) or start < 0 or text[1:start].strip():
        return []
    try:
        record, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        if is_all:  # opening it as a table finds the reason
            return []
        record = _records(path, path)[0]  # larger than the head
    inner = [f"{key}.{name}" for key, value in record.items() if isinstance(value, dict) for name in value]
    return [*record, *inner]


def _column_names(path: Path, head: bytes) -> list[str]:
    try:
        if head.startswith(_PARQUET):
            return list(pq.read_schema(path).names)
        with pa.memory_map(str(path)) as file:
            return list(_reader(file, head).schema.names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # opening it as a table finds the reason
        return []


def _reader(file: Any, head: bytes) -> Any:
    return pa.ipc.open_file(file) if head.startswith(_ARROW_FILE) else pa.ipc.open_stream(file)


def _typed(path: Path, head: bytes) -> Any:
    """A Parquet or Arrow file as a table."""
    if head.startswith(_PARQUET):
        return pq.read_table(path)
    with pa.memory_map(str(path)) as file:
        table = _reader(file, head).read_all()
        table.validate(full=True)  # the file is mapped as it is: a wrong offset in it would crash the process
        return table


def _records(path: Path, shown: Path) -> list[Any]:
    """The records of a file: a list or lines of JSON objects, or the rows of a typed table."""
    head, _ = head_of(path)
    try:
        if head.startswith(_TYPED):
            return _rows(_typed(path, head), shown)
        with open_bytes(path) as file:
            text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidObservations(
            f"{shown} must be text in UTF-8. Name its encoding with encoding (--encoding)."
        ) from None
    except pa.ArrowException as error:
        raise InvalidObservations(f"{shown} is damaged or cut off ({first_line(error)}). Write it again.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(str(shown), error) from None
    return _objects(text, shown)


def _rows(table: Any, shown: Path) -> list[Any]:
    """The rows of a table as objects, with the names of classes in place of their codes."""
    for column, names in class_names(table.schema).items():
        at = table.schema.names.index(column)
        codes = table.column(at).combine_chunks()
        table = table.set_column(at, column, named(codes, names, column, shown).cast(pa.string()))
    return list(table.to_pylist())


def _objects(text: str, shown: Path) -> list[Any]:
    try:
        found = json.loads(text)
        return found if isinstance(found, list) else [found]
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if not text.lstrip().startswith("{") or len(lines) < 2:
            raise InvalidObservations(f"{shown} must be JSON; it is not ({error}). Export it again.") from None
    try:
        return [json.loads(line) for line in lines]
    except ValueError as error:
        raise InvalidObservations(f"every line of {shown} must be a JSON object; one is not ({error}).") from None
