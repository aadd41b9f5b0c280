"""Texts that a spreadsheet would run as formulas, escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from twoheads.tables.duckdb import pa, pc
from twoheads.tables.formats.typed_columns import is_text

#: How a text begins that a spreadsheet takes for a formula, perhaps after a blank that it drops.
_FORMULA = r"^[=+\-@\t\r]"


def without_formulas(batches: Iterable[Any]) -> Iterator[Any]:
    """Record batches whose texts, and the names of columns, have an apostrophe before what begins a formula.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"item": ["=1+1", "-5", "a"], "p": [-1.0, 0.5, 2.0]})
    >>> next(without_formulas([batch])).to_pydict()
    {'item': ["'=1+1", "'-5", 'a'], 'p': [-1.0, 0.5, 2.0]}
    """
    for batch in batches:
        names = _escaped(pa.array(batch.schema.names)).to_pylist()
        yield pa.RecordBatch.from_arrays([_escaped(column) for column in batch.columns], names=names)


def _escaped(column: Any) -> Any:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not is_text(kind):
        return column
    text = column.cast(kind)
    return pc.if_else(
        pc.match_substring_regex(text, _FORMULA),
        pc.binary_join_element_wise(pa.scalar("'", kind), text, pa.scalar("", kind)),
        text,
    )
