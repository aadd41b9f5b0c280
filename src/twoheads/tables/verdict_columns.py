"""What a table of verdicts may hold besides: fewer digits, the most probable classes only, marks, other columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidParameter
from twoheads.kernels.arrays import Floats
from twoheads.tables.duckdb import pa
from twoheads.tables.table import Table
from twoheads.tables.verdict_batches import refuse_taken


@dataclass(frozen=True)
class VerdictOptions:
    """How verdicts are written.

    digits        decimals of confidences and probabilities
    top           how many of the most probable classes are written, in place of a column per class; None for all
    review_below  verdicts of less confidence are marked; None for no mark
    keep_truth    whether known truth is the verdict, with probability 1 and a mark
    columns       other columns of the table to write too
    """

    digits: int = 6
    top: int | None = None
    review_below: float | None = None
    keep_truth: bool = False
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        below = self.review_below
        if below is not None and not 0 < below <= 1:
            raise InvalidParameter(f"--review-below must be a confidence above 0 and at most 1; it is {below}.")

    def finished(self, batch: Any, known: NDArray[np.bool_] | None, others: dict[str, Any]) -> Any:
        """A batch of `tables.verdicts` with these options.

        known   which items have the known truth as verdict; None where it is not asked for
        others  the other columns by name
        """
        item, label, confidence, *classes = batch.schema.names
        marks: dict[str, Any] = {} if known is None else {"truth_known": pa.array(known)}
        sure = batch.column(confidence).to_numpy()
        if self.review_below is not None:
            marks["review"] = pa.array(sure < self.review_below)
        verdict = {label: batch.column(label), confidence: self._rounded(sure)}
        numbers = self._numbers(batch, classes)
        refuse_taken(item, [*marks, *numbers])
        taken = [name for name in others if name in {item, *verdict, *marks, *numbers}]
        if taken:
            raise InvalidParameter(
                f"--columns must not name a column of the result; it names {taken[0]!r}. Leave it out, or rename it."
            )
        return pa.record_batch({item: batch.column(item)} | others | verdict | marks | numbers)

    def _rounded(self, numbers: Floats) -> Any:
        # Beyond 15 decimals rounding itself is off.
        return pa.array(np.round(numbers, self.digits) if self.digits <= 15 else np.ascontiguousarray(numbers))

    def _numbers(self, batch: Any, classes: list[str]) -> dict[str, Any]:
        """The column of each class, or those of the most probable ones: of equal ones the first."""
        if self.top is None:
            return {name: self._rounded(batch.column(name).to_numpy()) for name in classes}
        proba = np.stack([batch.column(name).to_numpy() for name in classes])
        order = np.argsort(-proba, axis=0, kind="stable")[: self.top]
        names = pa.array([name.removeprefix("p_") for name in classes])
        found: dict[str, Any] = {}
        for at, place in enumerate(order):
            found[f"top_{at + 1}"] = names.take(pa.array(place))
            found[f"p_top_{at + 1}"] = self._rounded(proba[place, np.arange(proba.shape[1])])
        return found


class OtherColumns:
    """Other columns of a table, taken in pieces of as many rows as are asked for."""

    def __init__(self, table: Table, columns: tuple[str, ...], span: tuple[int, int] | None = None) -> None:
        self._batches: Iterator[Any] = table.other_columns(columns, span) if columns else iter(())
        self._held: Any = None
        self._columns = columns

    def take(self, n_rows: int) -> dict[str, Any]:
        """The columns of the next rows; gaps for items that are in no row."""
        if not self._columns:
            return {}
        while self._held is None or self._held.num_rows < n_rows:
            batch = next(self._batches, None)
            if batch is None:
                break
            more = pa.Table.from_batches([batch])
            self._held = more if self._held is None else pa.concat_tables([self._held, more])
        rows = self._held.slice(0, n_rows)
        self._held = self._held.slice(n_rows)
        if rows.num_rows < n_rows:
            gaps = {field.name: pa.nulls(n_rows - rows.num_rows, field.type) for field in rows.schema}
            rows = pa.concat_tables([rows, pa.table(gaps)])
        return {name: rows.column(name).combine_chunks() for name in self._columns}
