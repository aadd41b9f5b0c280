"""The files that a path, a folder or a pattern names, and the format of each."""

from __future__ import annotations

import glob
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO, cast

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.archives import ZIP, workbook_in
from twoheads.tables.formats.hugging_face import without_descriptions
from twoheads.tables.formats.registry import (
    FORMATS,
    Format,
    by_name,
    compression_of,
    is_table_name,
    read_as,
    suffixes,
    titles,
    usual_suffixes,
)

#: How messages describe the files that can be read.
READABLE = f"{titles()} ({usual_suffixes()})"

_HEAD = 1 << 18
_FOREIGN = {
    b"SQLite format 3": "a database",
    b"%PDF": "a PDF",
}


def find_files(path: str | os.PathLike[str], argument: str) -> list[Path]:
    """The files that a path, a folder or a pattern names, in the order of their names.

    Parameters
    ----------
    path : str or path
        A file; a folder, with the folders in it; or a pattern such as ``data/*.parquet``.
    argument : str
        The name of the table in messages.
    """
    name = os.fspath(path)
    place = Path(name)
    mode = _mode_of(name)
    if stat.S_ISDIR(mode):
        return _of_one_format(sorted(_tables_in(place, name)), name)
    if mode:
        return [place]
    if glob.has_magic(name):
        found = sorted(Path(match) for match in glob.glob(name, recursive=True) if os.path.isfile(match))
        if found:
            return _of_one_format(found, name)
        raise InvalidObservations(
            f"{argument} must name files that exist; the pattern {name!r} matches none{_nearby(place)}."
        )
    raise InvalidObservations(f"{argument} must name a file that exists; {name!r} does not{_nearby(place)}.")


def _mode_of(name: str) -> int:
    """The kind of file that the system has under a name; 0 if there is none."""
    try:
        return os.stat(name).st_mode
    except PermissionError as error:
        raise unreadable(name, error) from None
    except (OSError, ValueError):
        return 0


def _tables_in(folder: Path, name: str) -> Iterator[Path]:
    found = False
    try:
        for place, folders, files in os.walk(folder, onerror=_raise):
            folders[:] = sorted(each for each in folders if not each.startswith((".", "_")))
            for file in without_descriptions(place, files):
                if not file.startswith((".", "_")) and is_table_name(file):
                    found = True
                    yield Path(place, file)
    except PermissionError as error:
        raise unreadable(name, error) from None
    if not found:
        files = sorted(os.listdir(folder))
        there = f"it holds {', '.join(files[:5])}" + (", ..." if len(files) > 5 else "") if files else "it is empty"
        raise InvalidObservations(f"the folder {name!r} must hold tables; {there}. A table is {READABLE}.")


def _of_one_format(files: list[Path], name: str) -> list[Path]:
    first_of: dict[Any, Path] = {}
    for file in files:
        first_of.setdefault((read_as(suffixes(file.name)[0]) or FORMATS[0]).reader, file)
    if len(first_of) > 1:
        one, other = sorted(file.name for file in first_of.values())[:2]
        raise InvalidObservations(
            f"{name!r} must hold tables of one format; it holds {one} and {other}. "
            f"Name the files by a pattern, such as {os.path.join(name if os.path.isdir(name) else '.', '*.parquet')!r}."
        )
    return files


def _nearby(place: Path) -> str:
    """What there is instead of a file that is not: the nearest name in its folder."""
    folder = place.parent
    if not folder.is_dir():
        return f", nor does the folder {str(folder)!r}"
    try:
        names = [name for name in os.listdir(folder) if not name.startswith(".")]
    except PermissionError:
        return ""
    wanted = place.name.replace("*", "")
    near = get_close_matches(wanted, names, n=1, cutoff=0.5) or get_close_matches(wanted, names, n=1, cutoff=0.35)
    return f"; the nearest name there is {str(folder / near[0])!r}" if near else ""


def open_bytes(path: Path) -> BinaryIO:
    """The bytes of a file, without its compression."""
    compression = compression_of(path.name)
    try:
        if compression == "gzip":  # not by Arrow, which does not notice that a gzip file is cut off
            return cast("BinaryIO", gzip.GzipFile(path))
        return cast("BinaryIO", pa.input_stream(str(path), compression=compression))
    except OSError as error:
        raise unreadable(str(path), error) from None


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, with their line ends."""
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


def format_of(path: Path) -> Format:
    """The format of a file: by its first bytes, else by its suffix."""
    head, is_all = head_of(path)
    if compression_of(path.name) == "gzip" and not is_all:
        _check_gzip(path)
    binary = next((each for each in FORMATS if each.magic and head.startswith(each.magic)), None)
    if binary:
        if suffixes(path.name)[1]:
            raise InvalidObservations(f"{path} is {_a_file(binary)} compressed as a whole; unpack it first.")
        return by_name(workbook_in(path) or "") or binary if head.startswith(ZIP) else binary
    by_suffix = read_as(suffixes(path.name)[0])
    if by_suffix and by_suffix.magic:
        what = "it is empty" if not head else "it does not begin like one"
        raise InvalidObservations(f"{path} is not {_a_file(by_suffix)}: {what}. Write or copy it again.")
    _refuse_other_than_text(path, head)
    if by_suffix:
        return by_suffix
    opening = head.lstrip()
    return next((each for each in FORMATS if each.opening and opening.startswith(each.opening)), FORMATS[0])


def _a_file(known: Format) -> str:
    return f"{'an' if known.title[0] in 'AEO' else 'a'} {known.title} file"


def _check_gzip(path: Path) -> None:
    """Refuse a gzip file that is cut off or whose checksum is wrong: DuckDB reads it without a word."""
    try:
        with open_bytes(path) as file:
            while file.read(1 << 20):
                pass
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise unreadable(str(path), error) from None


def _refuse_other_than_text(path: Path, head: bytes) -> None:
    if not head.strip(b"\xef\xbb\xbf \r\n\t"):
        raise InvalidObservations(f"{path} is empty. A table has a row of column names, then one row per item.")
    for mark, kind in _FOREIGN.items():
        if head.startswith(mark):
            raise InvalidObservations(f"{path} is {kind}, not a table of text. Save it as CSV or Parquet.")
    if b"\0" in head:
        raise InvalidObservations(
            f"{path} is binary, not a table of text. A table is {READABLE}. "
            "If it is text in UTF-16 without a byte order mark, name it with encoding (--encoding utf-16-le)."
        )


def unreadable(path: str, error: Exception) -> InvalidObservations:
    """A file that the system cannot read, as a sentence."""
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
