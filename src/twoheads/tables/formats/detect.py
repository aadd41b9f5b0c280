"""Which files a path, a folder or a pattern means, and what each of them holds."""

from __future__ import annotations

import glob
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa

#: The format of a file by its suffix, after that of its compression.
FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
KINDS = "CSV, TSV, Parquet or JSON lines (.csv, .tsv, .parquet, .jsonl; text also as .gz or .zst)"

_HEAD = 1 << 18
_FOREIGN = {
    b"PK\x03\x04": "a workbook or an archive",
    b"\xd0\xcf\x11\xe0": "a workbook",
    b"SQLite format 3": "a database",
    b"%PDF": "a PDF",
    b"ARROW1": "an Arrow file",
}


def find_files(path: str | os.PathLike[str], argument: str) -> list[Path]:
    """The files that a path, a folder or a pattern names, in the order of their names.

    Parameters
    ----------
    path : str or path
        A file; a folder, with the folders in it; or a pattern such as ``data/*.parquet``.
    argument : str
        What the table is called in messages.
    """
    given = os.fspath(path)
    place = Path(given)
    try:
        mode = os.stat(place).st_mode
    except PermissionError as error:
        raise unreadable(given, error) from None
    except (OSError, ValueError):
        mode = 0
    if stat.S_ISDIR(mode):
        return _of_one_kind(sorted(_tables_in(place, given)), given)
    if mode:
        return [place]
    if glob.has_magic(given):
        found = sorted(Path(name) for name in glob.glob(given, recursive=True) if os.path.isfile(name))
        if found:
            return _of_one_kind(found, given)
        raise InvalidObservations(
            f"{argument} must name files that are there; the pattern {given!r} matches none{_whats_there(place)}."
        )
    raise InvalidObservations(f"{argument} must name a file that is there; {given!r} is not{_whats_there(place)}.")


def _tables_in(folder: Path, given: str) -> Iterator[Path]:
    found = False
    try:
        for place, folders, names in os.walk(folder, onerror=_raise):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
            for name in names:
                if not name.startswith((".", "_")) and suffixes(name)[0] in FORMATS:
                    found = True
                    yield Path(place, name)
    except PermissionError as error:
        raise unreadable(given, error) from None
    if not found:
        names = sorted(os.listdir(folder))
        there = f"it holds {', '.join(names[:5])}" + (", ..." if len(names) > 5 else "") if names else "it is empty"
        raise InvalidObservations(f"the folder {given!r} must hold tables; {there}. A table is {KINDS}.")


def _of_one_kind(files: list[Path], given: str) -> list[Path]:
    kinds: dict[str, Path] = {}
    for file in files:
        kinds.setdefault(FORMATS.get(suffixes(file.name)[0], "csv"), file)
    if len(kinds) > 1:
        one, other = sorted(file.name for file in kinds.values())[:2]
        raise InvalidObservations(
            f"{given!r} must hold tables of one format; it holds {one} and {other}. "
            f"Say which with a pattern, as in {os.path.join(given if os.path.isdir(given) else '.', '*.parquet')!r}."
        )
    return files


def _whats_there(place: Path) -> str:
    folder = place.parent
    if not folder.is_dir():
        return f", and neither is the folder {str(folder)!r}"
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
    except PermissionError:
        return ""
    wanted = place.name.replace("*", "")
    near = get_close_matches(wanted, names, n=1, cutoff=0.5) or get_close_matches(wanted, names, n=1, cutoff=0.35)
    return f"; the nearest name there is {str(folder / near[0])!r}" if near else ""


def suffixes(name: str) -> tuple[str, str]:
    """The suffix of a file's format and that of its compression, each perhaps blank."""
    stem, last = os.path.splitext(name.lower())
    if last in COMPRESSIONS:
        return os.path.splitext(stem)[1], last
    return last, ""


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, without its compression."""
    compression = COMPRESSIONS.get(suffixes(path.name)[1])
    try:
        # Arrow takes the end of a gzip file that is cut off for its end.
        file: Any = (
            gzip.GzipFile(path) if compression == "gzip" else pa.input_stream(str(path), compression=compression)
        )
    except OSError as error:
        raise unreadable(str(path), error) from None
    return file  # type: ignore[no-any-return]


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, with their ends."""
    rest = b""
    while chunk := file.read(1 << 20):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line + b"\n"
    if rest:
        yield rest


def head_of(path: Path) -> tuple[bytes, bool]:
    """The first bytes of a file, without its compression, and whether they are all of it."""
    try:
        with open_bytes(path) as file:
            head = file.read(_HEAD)
            return head, not file.read(1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise unreadable(str(path), error) from None


def format_of(path: Path) -> str:
    """The format of a file: what its first bytes show, else what its name says."""
    head, _ = head_of(path)
    suffix, compression = suffixes(path.name)
    if head[:4] == b"PAR1":
        if compression:
            raise InvalidObservations(f"{path} is a Parquet file compressed as a whole; unpack it first.")
        return "parquet"
    named = FORMATS.get(suffix)
    if named == "parquet":
        what = "it is empty" if not head else "it does not begin as one"
        raise InvalidObservations(f"{path} is no Parquet file: {what}. Write or copy it again.")
    if not head.strip(b"\xef\xbb\xbf \r\n\t"):
        raise InvalidObservations(f"{path} is empty. A table has a row of column names, then one row per item.")
    for mark, kind in _FOREIGN.items():
        if head.startswith(mark):
            raise InvalidObservations(f"{path} is {kind}, no table of text. Save it as CSV or Parquet.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidObservations(f"{path} is text in UTF-16. Save it as UTF-8.")
    if b"\0" in head:
        raise InvalidObservations(f"{path} is binary, no table of text. A table is {KINDS}.")
    if named is None:
        return "json" if head.lstrip().startswith(b"{") else "csv"
    return named


def unreadable(path: str, error: Exception) -> InvalidObservations:
    """A file that the system will not let us read, in words."""
    if isinstance(error, InvalidObservations):
        return error
    if isinstance(error, PermissionError):
        return InvalidObservations(f"{path} may not be read by this user (permission denied). Change its permissions.")
    if suffixes(path)[1]:
        return InvalidObservations(f"{path} is damaged or cut off: it cannot be decompressed. Copy it again.")
    return InvalidObservations(f"{path} cannot be read ({first_line(error)}).")


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without a full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(". ")


def _raise(error: OSError) -> None:
    raise error
