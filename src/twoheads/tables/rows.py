"""Arrow batches as blocks of NumPy arrays, without a loop over rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.answers import (
    Answers,
    item_of_answers,
    pack_answers,
    pack_values,
    sorted_answers,
    sorted_values,
)
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations.builders import AnswerFields
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.join.sorted_rows import SortedRows
from twoheads.tables.schema.ids import as_text


@dataclass(frozen=True)
class Rows:
    """Consecutive rows as record batches with the same columns, whose types may differ from file to file."""

    batches: list[Any]

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    def column(self, name: str) -> list[Any]:
        """A column as Arrow arrays, one after the other."""
        return [batch.column(name) for batch in self.batches]

    def ids(self) -> list[Any]:
        """The first column."""
        return [batch.column(0) for batch in self.batches]

    def value(self, name: str, row: int) -> Any:
        """One value."""
        for chunk in self.column(name):
            if row < len(chunk):
                return chunk[row].as_py()
            row -= len(chunk)
        raise IndexError(row)


def gathered(batches: Iterable[Any], rows: int) -> Iterator[Rows]:
    """Record batches of any size as blocks of ``rows`` rows, the last perhaps fewer; nothing is copied."""
    held: list[Any] = []
    n_held = 0
    for batch in batches:
        while n_held + len(batch) >= rows:
            cut = rows - n_held
            yield Rows([*held, batch.slice(0, cut)])
            batch = batch.slice(cut)
            held, n_held = [], 0
        if len(batch):
            held.append(batch)
            n_held += len(batch)
    if held:
        yield Rows(held)


def stacked(block: Rows, names: Sequence[str]) -> NDArray[Any]:
    """Columns of numbers side by side, (n_rows, n_names), column after column in memory; gaps are NaN.

    In single precision if all columns are.
    """
    columns = [block.column(name) for name in names]
    single = all(chunk.type == pa.float32() for column in columns for chunk in column)
    out = np.empty((len(block), len(names)), dtype=np.float32 if single else np.float64, order="F")
    for at, column in enumerate(columns):
        start = 0
        for chunk in column:
            out[start : start + len(chunk), at] = chunk.to_numpy(zero_copy_only=False)
            start += len(chunk)
    return out


def joined_answers(answered: SortedRows, unsure: SortedRows | None, start: int, end: int) -> AnswerFields:
    """The answers on the items from ``start`` to ``end``, as fields of Observations."""
    item, column, *confidence = answered.until(end)
    unsure_item, annotator = unsure.until(end) if unsure else (item[:0], column[:0])
    return {
        "answers": sorted_answers(item - start, column, end - start),
        "unsure": sorted_answers(unsure_item - start, annotator, end - start) if unsure else None,
        "confidence": sorted_values(item - start, confidence[0], end - start) if confidence else None,
    }


def with_machines(joined: AnswerFields, wide: AnswerFields, n_joined: int, n_classes: int) -> AnswerFields:
    """Answers from a separate table with the labels of machines, whose numbers follow those of the people there."""
    answers, n_items = [joined["answers"], wide["answers"]], len(wide["answers"])
    there = [each.column != MISSING for each in answers]
    item = np.concatenate([item_of_answers(each)[known] for each, known in zip(answers, there, strict=True)])
    column = np.concatenate([answers[0].column[there[0]], answers[1].column[there[1]] + n_joined * n_classes])
    sure = joined.get("confidence")
    if sure is not None:
        sure = pack_values(item, column, np.append(sure[there[0]], np.full(there[1].sum(), np.nan)), n_items)
    unsure = [each for each in (joined.get("unsure"), wide.get("unsure")) if each is not None]
    if wide.get("unsure") is not None:
        unsure[-1] = Answers(np.where(unsure[-1].column < 0, MISSING, unsure[-1].column + n_joined), unsure[-1].start)
    return {
        "answers": pack_answers(item, column, n_items),
        "unsure": _united(unsure, n_items) if unsure else None,
        "confidence": sure,
    }


def _united(parts: list[Answers], n_items: int) -> Answers:
    there = [each.column != MISSING for each in parts]
    item = [item_of_answers(each)[known] for each, known in zip(parts, there, strict=True)]
    column = [each.column[known] for each, known in zip(parts, there, strict=True)]
    return pack_answers(np.concatenate(item), np.concatenate(column), n_items)


def normalised(proba: NDArray[Any]) -> NDArray[Any]:
    """Rows divided by their sums, in place; a row without a positive sum is unchanged, and refused later."""
    total = proba.sum(axis=1, keepdims=True)
    np.divide(proba, total, out=proba, where=(total > 0) & np.isfinite(total))
    return proba


def rows_of(item: Codes, value: Codes, start: int, end: int) -> Codes:
    """One value per item from ``start`` to ``end``, MISSING where there is none."""
    out = np.full(end - start, MISSING)
    out[item - start] = value
    return out


def without_model(ids: Any, wanted: Wanted) -> Any:
    """Items that have only ids, as a record batch whose labels and numbers are gaps."""
    columns = {wanted.item or "id": ids} | dict.fromkeys(wanted.labels, pa.nulls(len(ids), pa.string()))
    return pa.record_batch(columns | dict.fromkeys(wanted.numbers, pa.nulls(len(ids), pa.float32())))


def with_ids(batch: Any, kind: Any) -> Any:
    """A record batch whose first column, the ids, has type ``kind``."""
    if kind is None or batch.schema.field(0).type == kind:
        return batch
    return pa.RecordBatch.from_arrays([as_text(batch.column(0)), *batch.columns[1:]], names=batch.schema.names)
