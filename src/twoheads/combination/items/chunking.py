"""A scanned table as items in chunks: each chunk is read and checked once, where it will stay."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from twoheads.combination.items.chunked import MIN_ITEMS, ChunkedItems, ChunkSummary, summarise
from twoheads.combination.items.protocol import Schema
from twoheads.combination.items.reading import Reading
from twoheads.combination.learnt import LearntItems
from twoheads.combination.statistics.folds import with_folds
from twoheads.engines.blocks import BLOCK_NUMBERS, block_slices
from twoheads.engines.chunks import DiskStore
from twoheads.engines.cluster import ClusterTable
from twoheads.engines.progress import current_callback
from twoheads.kernels.arrays import MISSING, Codes
from twoheads.kernels.blocks import Block
from twoheads.observations import Observations, as_truth
from twoheads.observations.model_rows import LOOK
from twoheads.tables.scanned import ScannedTable

#: Blocks of a chunk on disk: fewer take longer to read, more take more memory.
CHUNK_BLOCKS = 8


def spill_to_disk(table: ScannedTable, reading: Reading) -> ChunkedItems:
    """A scanned table in chunks on disk, read and checked once."""
    store, summaries, start = DiskStore(), [], 0
    schema: Schema | None = None
    known: LearntItems | None = None
    reading = _reading(table, reading)
    current_callback().begin(table.n_rows)
    try:
        for observations, y in table.blocks(_chunk_rows(len(table.classes))):
            here = LearntItems.of(observations, as_truth(y, observations))
            known = here if known is None else LearntItems.joined([known, here])
            observations = reading.read(observations)
            schema = schema or Schema.of(observations, reading.levels)
            for chunk in chunks_of(observations, y, start):
                store.add(chunk)
                summaries.append(summarise(chunk))
            start += len(observations)
            current_callback().advance(len(observations))
    except BaseException:
        store.close()
        raise
    assert schema is not None
    return ChunkedItems(schema, store, summaries, known=known)


def on_cluster(table: ClusterTable, reading: Reading) -> ChunkedItems:
    """A scanned table in chunks on the cluster that holds it."""
    reading = _reading(table, reading)
    first, _ = next(table.blocks(1))
    schema = Schema.of(reading.read(first), reading.levels)
    store = table.hold(partial(_read, reading))
    known = _known(table) if table.has_scores else None  # blocks hold levels in place of scores
    return ChunkedItems(schema, store, list(store.results(_summarise, dict.fromkeys(range(len(store))))), known=known)


def _reading(table: ScannedTable | ClusterTable, reading: Reading) -> Reading:
    """How the table is read: what its first items show of models' probabilities, and the levels of its scores."""
    first, _ = next(iter(table.blocks(LOOK, items=False)))
    return reading.with_zeros_of(first).with_levels(table, _chunk_rows(len(table.classes)))


def _known(table: ClusterTable) -> LearntItems:
    blocks = table.blocks(_chunk_rows(len(table.classes)))
    return LearntItems.joined([LearntItems.of(observations, as_truth(y, observations)) for observations, y in blocks])


def _chunk_rows(n_classes: int) -> int:
    return CHUNK_BLOCKS * max(MIN_ITEMS, BLOCK_NUMBERS // n_classes)


def _read(reading: Reading, table: ScannedTable, span: tuple[int, int]) -> list[Block]:
    """A span of a table's rows, as the blocks of a chunk."""
    read, start = [], span[0]
    for observations, y in table.blocks(_chunk_rows(len(table.classes)), items=False, span=span):
        observations = reading.read(observations)
        read += [block for chunk in chunks_of(observations, y, start) for block in chunk]
        start += len(observations)
    return read


def chunks_of(observations: Observations, y: Any, start: int) -> list[list[Block]]:
    """Blocks of labelled items, and of unlabelled ones, numbered from ``start`` on; one list if all are alike."""
    truth, number = as_truth(y, observations), np.arange(start, start + len(observations))
    known = truth != MISSING
    if known.all() or not known.any():
        return [_blocks(observations, truth, number)]
    groups = (np.flatnonzero(known), np.flatnonzero(~known))
    return [_blocks(observations.take(rows), truth[rows], number[rows]) for rows in groups]


def _blocks(observations: Observations, truth: Codes, number: Codes) -> list[Block]:
    slices = block_slices(len(observations), observations.n_classes, MIN_ITEMS)
    blocks = [replace(observations.block(rows, true_label=truth), number=number[rows]) for rows in slices]
    return [with_folds(block, has_model=bool(observations.model_proba)) for block in blocks]


def _summarise(chunk: list[Block], _: None) -> ChunkSummary:
    return summarise(chunk)
