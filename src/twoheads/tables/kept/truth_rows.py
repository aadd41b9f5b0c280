"""A separate table of the truth, also of items that are not there yet, as record batches by item."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import MISSING
from twoheads.observations.columns import ITEM, TRUTH, first_of
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.opening import AS_IT_IS, Reading
from twoheads.tables.formats.source import Source
from twoheads.tables.join.label_table import LabelTable
from twoheads.tables.schema import plan
from twoheads.tables.schema.coding import Coder


def open_truth(
    path: str | os.PathLike[str], item: str | None = None, column: str | None = None, how: Reading = AS_IT_IS
) -> LabelTable:
    """A table with columns of ids and of the true class."""
    source = Source.open(path, "truth", how)
    return LabelTable(source, plan.truth_columns(source, item, column))


def holds_only_truth(path: str | os.PathLike[str], how: Reading = AS_IT_IS) -> bool:
    """Whether a table has ids and the truth by their usual names, and nothing else."""
    columns = _columns(path, how)
    named = first_of(columns, ITEM), first_of(columns, TRUTH)
    return None not in named and len(columns) == len(set(named)) == 2


def is_file_of_truth(name: str, files: Iterable[str], how: Reading = AS_IT_IS) -> bool:
    """Whether a name is that of a file, or a pattern, and not of a column of a command's tables."""
    if any(name in _columns(path, how) for path in files):
        return False
    return os.path.exists(name) or "*" in name


def _columns(path: str | os.PathLike[str], how: Reading) -> tuple[str, ...]:
    """The columns of a table; none of what is not a table, such as an export, which is refused or read elsewhere."""
    try:
        return Source.open(path, "table", how).columns
    except InvalidObservations:
        return ()


def rows_of_truth(table: LabelTable, coder: Coder) -> Iterator[dict[str, Any]]:
    """The known truths, batch by batch; labels that are not classes are refused at the end."""
    classes, codes = coder.names, np.empty(0, dtype=np.intp)
    for batch in table.batches():
        more = [coder.code(label) for label in list(table.labels)[len(codes) :]]
        codes = np.concatenate([codes, np.array(more, dtype=np.intp)])
        here = codes[batch.column("label").to_numpy()]
        known = np.flatnonzero(here > MISSING)
        truth = pa.array(classes).take(pa.array(here[known]))
        yield {"truth": pa.record_batch({"item": batch.column("id").take(pa.array(known)), "truth": truth})}
    table.refuse_unknown(codes.tolist(), classes)
