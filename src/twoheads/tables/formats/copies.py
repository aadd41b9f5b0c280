"""Files that are read from a copy: texts in another encoding than UTF-8, and the table in a zip archive."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from twoheads.engines.temporary import remove_folder, temporary_folder
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.tables.formats.data_file import DataFile, Span, Wanted
from twoheads.tables.formats.detect import first_line, head_of, open_bytes, unreadable
from twoheads.tables.formats.registry import suffixes
from twoheads.text import cut

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
#: Bytes of the longest name that a copy is given.
_LONGEST = 200


class CopiedFile(DataFile):
    """A file that is read from a copy in a temporary folder, which is removed with the last reference to it.

    Parameters
    ----------
    path : Path
        The file, which messages name.
    copy : Path
        Its copy, alone in a folder.
    open_copy : callable
        From the path of the copy to a `DataFile`.
    """

    def __init__(self, path: Path, copy: Path, open_copy: Callable[[Path], DataFile]) -> None:
        self.path, self._copy = path, copy
        self._remove = weakref.finalize(self, remove_folder, str(copy.parent))
        with self._named():
            self._file = open_copy(copy)
        self.columns, self.typed, self.notes = self._file.columns, self._file.typed, self._file.notes
        self.has_sheets, self.decimal = self._file.has_sheets, self._file.decimal

    def _read_columns(self) -> tuple[str, ...]:
        return self._file.columns

    def type_of(self, column: str) -> Any:
        """That of the copy."""
        return self._file.type_of(column)

    def count(self) -> int:
        """The number of rows."""
        with self._named():
            return self._file.count()

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """The batches of the copy."""
        with self._named():
            yield from self._file.batches(wanted, rows, span)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the file, not its copy, in messages."""
        try:
            yield
        except InvalidObservations as error:
            if str(self._copy) not in str(error):
                raise
            raise InvalidObservations(str(error).replace(str(self._copy), str(self.path))) from None


def is_utf16(path: Path) -> bool:
    """Whether a text begins with the byte order mark of UTF-16."""
    return head_of(path)[0].startswith(_UTF_16)


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that Python does not know."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InvalidParameter(
            f"encoding (--encoding) must be that of a text, such as cp1252, latin-1 or utf-16; it is {encoding!r}."
        ) from None


def in_utf8(path: Path, encoding: str) -> Path:
    """A copy of a text in UTF-8, without its compression."""
    check_encoding(encoding)
    copy = _place(path.name.removesuffix(suffixes(path.name)[1]) if suffixes(path.name)[1] else path.name)
    try:
        with open_bytes(path) as file, open(copy, "w", encoding="utf-8", newline="") as out:
            shutil.copyfileobj(io.TextIOWrapper(file, encoding, newline=""), out, 1 << 20)
    except UnicodeError as error:
        remove_folder(str(copy.parent))
        raise InvalidObservations(
            f"{path} must be text in {encoding}, as its first bytes or encoding (--encoding) say; it is not "
            f"({getattr(error, 'reason', None) or first_line(error)}). Save it as UTF-8."
        ) from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        remove_folder(str(copy.parent))
        raise unreadable(str(path), error) from None
    return copy


def unzipped(path: Path) -> Path:
    """A copy of the only file in a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            name = _only_name(archive, path)
            copy = _place(os.path.basename(name))
            try:
                with archive.open(name) as file, open(copy, "wb") as out:
                    shutil.copyfileobj(file, out, 1 << 20)
            except BaseException:
                remove_folder(str(copy.parent))
                raise
            return copy
    except NotImplementedError:  # before RuntimeError, of which it is a kind
        raise InvalidObservations(f"{path} is compressed in a way that is not known here. Unpack it first.") from None
    except RuntimeError:
        raise InvalidObservations(f"{path} is protected by a password. Unpack it first.") from None
    except (zipfile.BadZipFile, UnicodeError, OSError, EOFError, zlib.error) as error:
        raise InvalidObservations(
            f"{path} is damaged or cut off: it cannot be unpacked ({first_line(error)}). Copy it again."
        ) from None


def _only_name(archive: zipfile.ZipFile, path: Path) -> str:
    names = [each for each in archive.namelist() if not each.endswith("/") and not each.startswith("__MACOSX/")]
    if len(names) != 1:
        there = (
            f"{len(names)}: {', '.join(map(cut, names[:5]))}{', ...' if len(names) > 5 else ''}" if names else "none"
        )
        raise InvalidObservations(
            f"the archive {path} must hold one table; it holds {there}. Unpack it and name the table."
        )
    return names[0]


def _place(name: str) -> Path:
    """A file in a new folder. In an archive it may have any name: one that is no file's would be the folder itself."""
    plain = name not in ("", os.curdir, os.pardir) and len(os.fsencode(name)) <= _LONGEST
    return Path(temporary_folder(), name if plain else "table")
