"""The file formats: one entry each, which reading, writing, help texts and messages iterate over.

Nothing is imported before a file of a format is opened, so that help texts need neither Arrow nor DuckDB.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from twoheads.errors import InvalidObservations, TwoheadsError
from twoheads.tables.formats.archives import ZIP

if TYPE_CHECKING:
    from pathlib import Path

    from twoheads.tables.formats.data_file import DataFile, TableWriter
    from twoheads.tables.interop.export import Export

#: The compression of a text by the suffix after that of its format.
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True)
class Format:
    """A file format.

    name       what ``tables.write(format=...)`` calls it
    title      its name in sentences
    suffixes   of its files, the usual one first
    reader     where its `DataFile` is, as module and class
    writer     where its `TableWriter` is; None if it is only read
    also_read  suffixes of files that may be this format, but are not written
    magic      how files of a binary format begin; a text is compressed as a whole, a binary format is not
    opening    the first character of a text without a known suffix
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    reader: tuple[str, str]
    writer: tuple[str, str] | None
    also_read: tuple[str, ...] = ()
    magic: tuple[bytes, ...] = ()
    opening: bytes = b""

    def open(self, path: Path, **options: Any) -> DataFile:
        """A file of this format, ready to be read."""
        return cast("Callable[..., DataFile]", _imported(self.reader))(path, **options)

    def write_to(self, file: Any, schema: Any) -> TableWriter:
        """A writer of this format to an open binary file."""
        assert self.writer
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
        magic=(b"PAR1",),
    ),
    Format(
        "jsonl",
        "JSON lines",
        (".jsonl", ".ndjson", ".json"),
        ("twoheads.tables.formats.json", "JsonFile"),
        ("twoheads.tables.formats.json", "JsonWriter"),
        opening=b"{",
    ),
    Format(
        "arrow",
        "Arrow",
        (".arrow",),
        ("twoheads.tables.formats.arrow", "ArrowFile"),
        ("twoheads.tables.formats.arrow", "ArrowTableWriter"),
        also_read=(".feather",),
        magic=(b"ARROW1", b"\xff\xff\xff\xff"),
    ),
    Format(
        "xlsx",
        "Excel",
        (".xlsx",),
        ("twoheads.tables.formats.spreadsheet", "SpreadsheetFile"),
        None,
        also_read=(".xlsm", ".xlsb", ".xls"),
        magic=(ZIP, b"\xd0\xcf\x11\xe0"),
    ),
    Format(
        "ods",
        "OpenDocument",
        (".ods",),
        ("twoheads.tables.formats.spreadsheet", "SpreadsheetFile"),
        None,
        magic=(ZIP,),
    ),
)
#: The formats whose files have sheets.
SPREADSHEETS = ("xlsx", "ods")


@dataclass(frozen=True)
class ExportFormat:
    """What a labelling tool exports: not a table, but records that hold answers, predictions and truth.

    name     what ``tables.scan(format=...)`` calls it
    title    its name in sentences
    reader   where its reader is, a function from records and a question to an `Export`, as module and name
    writer   where the function is that puts verdicts into records; None if the tool takes none from a file
    keys     sets of keys of a record, ``a.b`` of a record inside it; any of them shows that it is this
    endings  how a key ends that shows it
    """

    name: str
    title: str
    reader: tuple[str, str]
    writer: tuple[str, str] | None
    keys: tuple[frozenset[str], ...]
    endings: tuple[str, ...] = ()

    def read(self, records: Any, question: str | None) -> Export:
        """What records state; those that are not built as the tool builds them are refused."""
        try:
            return cast("Callable[..., Export]", _imported(self.reader))(records, question)
        except TwoheadsError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InvalidObservations(
                f"a record is not built as {self.title} builds it ({reason:.120}). Export it again."
            ) from None

    def with_verdicts(self, records: Any, verdicts: Sequence[Any], question: str | None) -> list[Any]:
        """Records with verdicts, as (label, confidence) or None."""
        assert self.writer
        return cast("Callable[..., list[Any]]", _imported(self.writer))(records, verdicts, question)

    def made(self, keys: Iterable[str]) -> bool:
        """Whether a record with these keys is of this export."""
        names = set(keys)
        by_ending = any(name.endswith(self.endings) and name not in self.endings for name in names)
        return by_ending or any(wanted <= names for wanted in self.keys)


#: All exports.
EXPORTS = (
    ExportFormat(
        "label-studio",
        "Label Studio",
        ("twoheads.tables.interop.label_studio", "read_label_studio"),
        ("twoheads.tables.interop.label_studio", "with_predictions"),
        (
            frozenset({"annotations", "data"}),
            frozenset({"predictions", "data"}),
            frozenset({"annotation_id", "lead_time"}),
        ),
    ),
    ExportFormat(
        "argilla",
        "Argilla",
        ("twoheads.tables.interop.argilla", "read_argilla"),
        ("twoheads.tables.interop.argilla", "with_suggestions"),
        (frozenset({"fields", "responses", "suggestions"}),),
        endings=(".responses.users", ".suggestion.agent"),
    ),
    ExportFormat(
        "mlflow",
        "MLflow",
        ("twoheads.tables.interop.mlflow", "read_mlflow"),
        None,
        (
            frozenset({"info.trace_id"}),
            frozenset({"trace_id", "assessments"}),
            frozenset({"assessment_name", "source"}),
        ),
    ),
)


def read_as(suffix: str) -> Format | None:
    """The format of files with this suffix."""
    return next((each for each in FORMATS if suffix in (*each.suffixes, *each.also_read)), None)


def written_as(suffix: str) -> Format | None:
    """The format in which a file with this suffix is written."""
    return next((each for each in FORMATS if each.writer and suffix in each.suffixes), None)


def by_name(name: str) -> Format | None:
    """The format that ``tables.write(format=...)`` calls by this name."""
    return next((each for each in FORMATS if each.name == name), None)


def export_by_name(name: str) -> ExportFormat | None:
    """The export that ``tables.scan(format=...)`` calls by this name."""
    return next((each for each in EXPORTS if each.name == name), None)


def export_with(keys: Iterable[str]) -> ExportFormat | None:
    """The export that has records with these keys."""
    names = list(keys)
    return next((each for each in EXPORTS if each.made(names)), None)


def format_names() -> list[str]:
    """The names of all formats and exports."""
    return [each.name for each in (*FORMATS, *EXPORTS)]


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


def titles(*, written: bool = False) -> str:
    """The formats, or those that are written, in a sentence: "CSV, TSV, Parquet, JSON lines or Arrow"."""
    return any_of([each.title for each in FORMATS if each.writer or not written])


def usual_suffixes(*, written: bool = False) -> str:
    """The usual suffixes in a sentence: ".csv, .tsv, .parquet, .jsonl or .arrow, text also .gz or .zst"."""
    known = [each.suffixes[0] for each in FORMATS if each.writer or not written]
    return f"{any_of(known)}, text also {any_of(list(COMPRESSIONS))}"


def any_of(names: Sequence[str]) -> str:
    """Names in a sentence: "a, b or c"."""
    return " or ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]])


def _imported(home: tuple[str, str]) -> Any:
    module, name = home
    return getattr(import_module(module), name)
