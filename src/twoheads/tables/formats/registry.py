"""The file formats: one entry each, which reading, writing, help texts and messages iterate over.

Nothing is imported before a file of a format is opened, so that help texts need neither Arrow nor DuckDB.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pathlib import Path

    from twoheads.tables.formats.data_file import DataFile, TableWriter

#: The compression of a text by the suffix after that of its format.
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True)
class Format:
    """A file format.

    name       what ``tables.write(format=...)`` calls it
    title      its name in sentences
    suffixes   of its files, the usual one first
    reader     where its `DataFile` is, as module and class
    writer     where its `TableWriter` is
    also_read  suffixes of files that may be this format, but are not written
    magic      the first bytes of a binary format; a text is compressed as a whole, a binary format is not
    opening    the first character of a text without a known suffix
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    reader: tuple[str, str]
    writer: tuple[str, str]
    also_read: tuple[str, ...] = ()
    magic: bytes = b""
    opening: bytes = b""

    def open(self, path: Path) -> DataFile:
        """A file of this format, ready to be read."""
        return cast("Callable[[Path], DataFile]", _imported(self.reader))(path)

    def write_to(self, file: Any, schema: Any) -> TableWriter:
        """A writer of this format to an open binary file."""
        return cast("Callable[[Any, Any], TableWriter]", _imported(self.writer))(file, schema)


#: All formats; a text whose format nothing else shows is of the first.
FORMATS = (
    Format(
        "csv",
        "CSV",
        (".csv",),
        ("twoheads.tables.formats.csv", "CsvFile"),
        ("twoheads.tables.formats.csv", "CsvWriter"),
        also_read=(".txt",),
    ),
    Format(
        "tsv",
        "TSV",
        (".tsv",),
        ("twoheads.tables.formats.csv", "CsvFile"),
        ("twoheads.tables.formats.csv", "TsvWriter"),
        also_read=(".tab",),
    ),
    Format(
        "parquet",
        "Parquet",
        (".parquet", ".pq"),
        ("twoheads.tables.formats.parquet", "ParquetFile"),
        ("twoheads.tables.formats.parquet", "ParquetTableWriter"),
        magic=b"PAR1",
    ),
    Format(
        "jsonl",
        "JSON lines",
        (".jsonl", ".ndjson", ".json"),
        ("twoheads.tables.formats.json", "JsonFile"),
        ("twoheads.tables.formats.json", "JsonWriter"),
        opening=b"{",
    ),
)


def read_as(suffix: str) -> Format | None:
    """The format of files with this suffix."""
    return next((each for each in FORMATS if suffix in (*each.suffixes, *each.also_read)), None)


def written_as(suffix: str) -> Format | None:
    """The format in which a file with this suffix is written."""
    return next((each for each in FORMATS if suffix in each.suffixes), None)


def by_name(name: str) -> Format | None:
    """The format that ``tables.write(format=...)`` calls by this name."""
    return next((each for each in FORMATS if each.name == name), None)


def is_table_name(name: str) -> bool:
    """Whether a file's name ends as that of a table does, compressed or not."""
    return read_as(suffixes(name)[0]) is not None


def looks_like_table(name: str) -> bool:
    """Whether a file has the usual suffix of a table, or that of a compression; a .json file may be something else."""
    usual = (*(each.suffixes[0] for each in FORMATS), *COMPRESSIONS)
    return os.path.splitext(name.lower())[1] in usual


def suffixes(name: str) -> tuple[str, str]:
    """The suffix of a file's format and that of its compression, each perhaps blank."""
    stem, last = os.path.splitext(name.lower())
    if last in COMPRESSIONS:
        return os.path.splitext(stem)[1], last
    return last, ""


def compression_of(name: str) -> str | None:
    """The compression of a file, by its name."""
    return COMPRESSIONS.get(suffixes(name)[1])


def titles() -> str:
    """The formats in a sentence: "CSV, TSV, Parquet or JSON lines"."""
    return any_of([each.title for each in FORMATS])


def usual_suffixes() -> str:
    """The usual suffixes in a sentence: ".csv, .tsv, .parquet or .jsonl, text also .gz or .zst"."""
    return f"{any_of([each.suffixes[0] for each in FORMATS])}, text also {any_of(list(COMPRESSIONS))}"


def any_of(names: Sequence[str]) -> str:
    """Names in a sentence: "a, b or c"."""
    return " or ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])


def _imported(home: tuple[str, str]) -> Any:
    module, name = home
    return getattr(import_module(module), name)
