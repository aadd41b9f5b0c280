"""Opening one file: unpacked, in UTF-8, in the format that is named or that its content shows."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from twoheads.tables.formats.archives import ZIP, workbook_in
from twoheads.tables.formats.copies import CopiedFile, in_utf8, is_utf16, unzipped
from twoheads.tables.formats.data_file import DataFile
from twoheads.tables.formats.detect import format_of, head_of
from twoheads.tables.formats.registry import FORMATS, SPREADSHEETS, by_name

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reading:
    """How files are read, as the options of `scan` say; what their content shows where None.

    format    the name of a format
    sheet     the sheet of a workbook; nothing to other formats
    encoding  the encoding of a text; nothing to binary formats
    question  the question of an export that holds several
    """

    format: str | None = None
    sheet: str | None = None
    encoding: str | None = None
    question: str | None = None


AS_IT_IS = Reading()


def open_file(path: Path, how: Reading = AS_IT_IS) -> DataFile:
    """A file, ready to be read; an archive or a text in another encoding is read from a copy."""
    if is_archive(path):
        return CopiedFile(path, unzipped(path), lambda copy: open_file(copy, how))
    if (how.encoding is not None and not is_binary(path)) or is_utf16(path):
        plain = Reading(how.format, how.sheet)
        return CopiedFile(path, in_utf8(path, how.encoding or "utf-16"), lambda copy: open_file(copy, plain))
    chosen = (by_name(how.format) if how.format else None) or format_of(path)
    _log.info("reading %s as %s", path, chosen.name)
    has_sheets = how.sheet is not None and chosen.name in SPREADSHEETS
    return chosen.open(path, sheet=how.sheet) if has_sheets else chosen.open(path)


def is_binary(path: Path) -> bool:
    """Whether a file begins as a format that has no encoding does."""
    head, _ = head_of(path)
    return any(each.magic and head.startswith(each.magic) for each in FORMATS)


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive that is not a workbook."""
    return head_of(path)[0].startswith(ZIP) and workbook_in(path) is None
