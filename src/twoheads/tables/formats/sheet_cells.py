"""Cells of an .xlsx whose values calamine cannot give: errors, and formulas that were never computed."""

from __future__ import annotations

import posixpath
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from twoheads.text import count

_CELL = re.compile(rb'<c [^>]*?r="([A-Z]+\d+)"[^>]*?t="e"[^>]*>.*?<v>([^<]*)</v>', re.DOTALL)
_FORMULA = re.compile(
    rb'<c [^>]*?r="([A-Z]+\d+)"[^>]*>\s*<f(?:>[^<]*</f>| [^>]*?/>| [^>]*?>[^<]*</f>|/>)\s*(?:<v\s*/>|<v></v>)?\s*</c>'
)
_ROLE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def cell_name(row: int, column: int) -> str:
    """A cell as spreadsheets name it, from its row and column counted from 0.

    >>> cell_name(0, 0), cell_name(9, 27)
    ('A1', 'AB10')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def notes_on_cells(path: Path, sheet: str) -> list[str]:
    """Notes on the cells of a sheet that are read as blank and are not; #N/A means that there is no value."""
    xml = _xml_of(path, sheet)
    wrong = (
        [(at.decode(), what.decode()) for at, what in _CELL.findall(xml) if what != b"#N/A"] if b't="e"' in xml else []
    )
    empty = [at.decode() for at in _FORMULA.findall(xml)] if b"<f" in xml else []
    notes = []
    if wrong:
        at, what = wrong[0]
        notes.append(f"{count(len(wrong), 'cell')} of {path} with an error (first: {at}, {what}) read as blank.")
    if empty:
        notes.append(
            f"{count(len(empty), 'cell')} of {path} with a formula and without a value (first: {empty[0]}) read as "
            "blank; open the workbook in a spreadsheet and save it, so that formulas are computed."
        )
    return notes


def _xml_of(path: Path, sheet: str) -> bytes:
    """The XML of a sheet of an .xlsx; blank for other workbooks."""
    try:
        with zipfile.ZipFile(path) as book:
            role = next(
                each.get(_ROLE)
                for each in ElementTree.fromstring(book.read("xl/workbook.xml")).iter()
                if each.tag.endswith("}sheet") and each.get("name") == sheet
            )
            target = next(
                each.get("Target", "")
                for each in ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
                if each.get("Id") == role
            )
            return book.read(posixpath.normpath(posixpath.join("/xl", target)).lstrip("/"))
    except (zipfile.BadZipFile, KeyError, StopIteration, ElementTree.ParseError):
        return b""
