"""Zip archives: workbooks of spreadsheets are archives of known files."""

from __future__ import annotations

import zipfile
from pathlib import Path

#: How a zip archive begins.
ZIP = b"PK\x03\x04"


def workbook_in(path: Path) -> str | None:
    """The name of the format of a workbook; None if a zip archive is something else."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):  # damaged, or of an unknown version
        return None
    if any(name.startswith("xl/workbook.") for name in names):
        return "xlsx"
    return "ods" if {"mimetype", "content.xml"} <= names else None
