"""A separate table of the truth, also of items that are not there yet, as record batches by item."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.kernels.arrays import MISSING
from twoheads.observations.columns import ITEM, TRUTH, first_of
from twoheads.tables.duckdb import pa
from twoheads.tables.export_files import export_at
from twoheads.tables.exports import Opener
from twoheads.tables.formats.opening import AS_IT_IS, Reading
from twoheads.tables.formats.source import Source
from twoheads.tables.join.label_table import LabelTable
from twoheads.tables.schema import plan
from twoheads.tables.schema.coding import Coder


@dataclass(frozen=True)
class KnownTruth:
    """A table of the truth by item, and who stated it, as ids and names, where an export says so."""

    table: LabelTable
    authors: Sequence[tuple[str, str]] = ()


def open_truth(
    path: str | os.PathLike[str], item: str | None = None, column: str | None = None, how: Reading = AS_IT_IS
) -> KnownTruth:
    """A table with columns of ids and of the true class, or the truth in an export."""
    if export_at(path, "truth", how) is None:
        source = Source.open(path, "truth", how)
        return KnownTruth(LabelTable(source, plan.truth_columns(source.columns, source.name, item, column)))
    known = truth_of_export(path, "truth", how)[0]
    if known is None:
        raise InvalidObservations(f"truth must name a file that holds the truth; {os.fspath(path)} holds none.")
    return known


def truth_of_export(
    path: str | os.PathLike[str], argument: str, how: Reading = AS_IT_IS
) -> tuple[KnownTruth | None, bool]:
    """The truth in an export, None if the file is no export or holds none; and whether it holds anything else."""
    if export_at(path, argument, how) is None:
        return None, True
    opened = Opener(how, argument).open(path, argument)
    if opened.truth is None:
        return None, True
    table = LabelTable(opened.truth, plan.truth_columns(opened.truth.columns, opened.truth.name, None, None))
    return KnownTruth(table, opened.authors), bool(opened.rows or opened.answers)


def holds_only_truth(path: str | os.PathLike[str], how: Reading = AS_IT_IS) -> bool:
    """Whether a table has ids and the truth by their usual names, and nothing else."""
    columns = _columns(path, how)
    named = first_of(columns, ITEM), first_of(columns, TRUTH)
    return None not in named and len(columns) == len(set(named)) == 2


def has_truth(path: str | os.PathLike[str], how: Reading = AS_IT_IS) -> bool:
    """Whether a table has columns of ids and of the truth by their usual names."""
    columns = _columns(path, how)
    return None not in (first_of(columns, ITEM), first_of(columns, TRUTH))


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


def rows_of_truth(known_truth: KnownTruth, coder: Coder) -> Iterator[dict[str, Any]]:
    """The known truths, batch by batch; labels that are not classes are refused at the end."""
    table = known_truth.table
    if known_truth.authors:
        items, people = (pa.array(each, pa.string()) for each in zip(*known_truth.authors, strict=True))
        yield {"truth_by": pa.record_batch({"item": items, "annotator": people})}
    classes, codes = coder.names, np.empty(0, dtype=np.intp)
    for batch in table.batches():
        more = [coder.code(label) for label in list(table.labels)[len(codes) :]]
        codes = np.concatenate([codes, np.array(more, dtype=np.intp)])
        here = codes[batch.column("label").to_numpy()]
        known = np.flatnonzero(here > MISSING)
        truth = pa.array(classes).take(pa.array(here[known]))
        yield {"truth": pa.record_batch({"item": batch.column("id").take(pa.array(known)), "truth": truth})}
    table.refuse_unknown(codes.tolist(), classes)
