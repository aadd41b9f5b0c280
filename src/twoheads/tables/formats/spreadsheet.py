"""Workbooks of spreadsheets, .xlsx, .xls and .ods, read by calamine: one sheet is a table, every cell a text."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations, MissingExtra
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.data_file import DataFile, Span, Wanted, is_number, not_a_number
from twoheads.tables.formats.detect import first_line
from twoheads.tables.formats.sheet_cells import cell_name, notes_on_cells
from twoheads.text import count

#: Rows that become Arrow arrays at once.
_ROWS = 8_192


class SpreadsheetFile(DataFile):
    """A sheet with a row of column names and one row per item; empty rows are skipped, with a note.

    Parameters
    ----------
    path : Path
        The workbook.
    sheet : str, optional
        The name of the sheet; required if several hold anything.
    """

    typed = False
    has_sheets = True

    def __init__(self, path: Path, sheet: str | None = None) -> None:
        self._table, self.notes = _read(path, sheet)
        super().__init__(path)

    def _read_columns(self) -> list[str]:
        return list(self._table.column_names)

    def type_of(self, column: str) -> Any:
        """Text."""
        return pa.string()

    def count(self) -> int:
        """The number of rows that are not empty."""
        return len(self._table)

    def batches(self, wanted: Wanted, rows: int, span: Span | None = None) -> Iterator[Any]:
        """Batches in the order of the sheet."""
        table = self._table.select(wanted.columns)
        row = 0
        for batch in table.to_batches(rows):
            yield pa.RecordBatch.from_arrays(
                [
                    self._numbers(batch.column(name), name, row, wanted) if name in wanted.numbers else batch[name]
                    for name in wanted.columns
                ],
                names=wanted.columns,
            )
            row += len(batch)

    def _numbers(self, column: Any, name: str, row: int, wanted: Wanted) -> Any:
        values = [None if value in wanted.nothing else value for value in column.to_pylist()]
        off = [at for at, value in enumerate(values) if value is not None and not is_number(value)]
        if off:
            raise not_a_number(name, row + off[0] + 1, self.path, values[off[0]], len(off), len(values))
        return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _read(path: Path, sheet: str | None) -> tuple[Any, tuple[str, ...]]:
    """A sheet as a table of texts, and notes on it."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtra.instead_of(error, "python-calamine", "cli", "Reading spreadsheets") from None
    try:
        with calamine.load_workbook(str(path)) as book:
            found = _chosen(book, path, sheet)
            _refuse_merged(found, path)
            table, n_empty = _table(found.iter_rows(), path, found.name)
    except calamine.PasswordError:
        raise InvalidObservations(f"{path} is protected by a password. Save a copy without it.") from None
    except (calamine.CalamineError, OSError) as error:
        raise InvalidObservations(
            f"{path} cannot be read as a workbook ({first_line(error)}). Save it again as .xlsx, .ods or CSV."
        ) from None
    empty = f"{count(n_empty, 'empty row')} of {path} {'is' if n_empty == 1 else 'are'} skipped, and not counted."
    return table, (*([empty] if n_empty else []), *notes_on_cells(path, found.name))


def _chosen(book: Any, path: Path, sheet: str | None) -> Any:
    """The sheet that is named, or the only one that holds anything."""
    if sheet is not None:
        if sheet not in book.sheet_names:
            raise InvalidObservations(
                f"{path} must have the sheet {sheet!r} that sheet (--sheet) names; it has "
                f"{', '.join(map(repr, book.sheet_names))}."
            )
        return book.get_sheet_by_name(sheet)
    filled = [each for each in map(book.get_sheet_by_name, book.sheet_names) if any(map(_is_row, each.iter_rows()))]
    if not filled:
        raise InvalidObservations(f"{path} is empty. A table has a row of column names, then one row per item.")
    if len(filled) > 1:
        raise InvalidObservations(
            f"{path} has {len(filled)} sheets that hold something, {', '.join(repr(each.name) for each in filled)}. "
            f"Name one with sheet (--sheet {filled[0].name!r})."
        )
    return filled[0]


def _refuse_merged(sheet: Any, path: Path) -> None:
    """Refuse merged cells, except in titles: rows of one value above the first row of several."""
    merged = sheet.merged_cell_ranges or []
    if merged:
        titles = takewhile(lambda row: sum(value != "" for value in row) <= 1, sheet.iter_rows())
        first = sum(1 for _ in titles) + (sheet.start or (0, 0))[0]
        merged = [(start, end) for start, end in merged if end[0] >= first]
    if merged:
        start, end = merged[0]
        more = f" ({len(merged)} ranges are merged)" if len(merged) > 1 else ""
        raise InvalidObservations(
            f"sheet {sheet.name!r} of {path} must not have merged cells; {cell_name(*start)}:{cell_name(*end)} are "
            f"merged{more}, and only the first of them has a value. Unmerge them and fill each cell."
        )


def _table(rows: Iterator[list[Any]], path: Path, name: str) -> tuple[Any, int]:
    """The rows below the first that is not empty, as a table of texts, and how many empty ones are skipped."""
    rows = iter(rows)
    header = next((row for row in rows if _is_row(row)), None)
    if header is None:
        raise InvalidObservations(f"sheet {name!r} of {path} is empty. A table has column names, then a row per item.")
    chunks: list[list[Any]] = []
    held: list[list[str | None]] = []
    n_blank = n_empty = 0
    for row in rows:
        if not _is_row(row):
            n_blank += 1
            continue
        n_empty, n_blank = n_empty + n_blank, 0  # those below the last row are not between rows
        held.append([_text(value) for value in row])
        if len(held) == _ROWS:
            chunks.append(_arrays(held))
            held = []
    chunks.append(_arrays(held, len(header)))
    columns = [pa.chunked_array(parts, pa.string()) for parts in zip(*chunks, strict=True)]
    return _named_columns([_text(value) for value in header], columns, path), n_empty


def _is_row(row: list[Any]) -> bool:
    return any(value != "" for value in row)


def _arrays(rows: list[list[str | None]], n_columns: int = 0) -> list[Any]:
    columns = list(zip(*rows, strict=True)) or [()] * n_columns
    return [pa.array(column, pa.string()) for column in columns]


def _named_columns(names: list[str | None], columns: list[Any], path: Path) -> Any:
    """The columns by name; one without a name and without values is left out."""
    kept = [at for at, name in enumerate(names) if name or columns[at].null_count < len(columns[at])]
    shown = [(names[at] or "").strip() or f"column {at + 1}" for at in kept]
    if len(shown) > 1 and all(is_number(name) for name in shown):
        raise InvalidObservations(
            f"{path} must begin with a row of column names; its first row holds only numbers "
            f"({shown[0]}, {shown[1]}, ...). Put names above it: item, human, p_<class>, truth."
        )
    return pa.Table.from_arrays([columns[at] for at in kept], names=shown)


def _text(value: Any) -> str | None:
    """A cell as text: a whole number without its decimal point, dates as year-month-day; None if it is empty."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)
