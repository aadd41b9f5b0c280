"""A table of annotators' answers and models' rows on disk, read whole or in blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.arrays import MISSING
from twoheads.observations import Observations
from twoheads.tables.block_reader import BlockReader
from twoheads.tables.content import Content
from twoheads.tables.duckdb import BATCH_ROWS
from twoheads.tables.fingerprints import fingerprint
from twoheads.tables.formats.data_file import Span, Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.scanned import ScannedTable
from twoheads.tables.schema.coding import loose_notes
from twoheads.tables.schema.ids import IdCheck
from twoheads.tables.schema.roles import need_annotators
from twoheads.text import are

#: Probabilities in a block if the number of rows is not given: about 8 MB.
BLOCK_NUMBERS = 1 << 20


class Table(ScannedTable):
    """A table on disk, scanned and not yet read. Made by `scan`.

    Attributes
    ----------
    columns : tuple of str
        The columns of the files.
    item_name : str
        The column of ids, ``item`` if there is none; ids are then row numbers from 1.
    model_scale : str
        What the model's columns hold.
    """

    def __init__(self, content: Content, remarks: tuple[str, ...] = ()) -> None:
        self._content, self._remarks, self._n_unsure = content, remarks, 0
        self._loose: Counter[str] = Counter()
        source, join = content.source, content.join
        self.model_scale, self.has_scores = content.model_scale, bool(content.roles.members.scores)
        self.columns: tuple[str, ...] = source.columns if source else ()
        joined_ids = join.answers.columns.item if join and join.answers and not source else "item"
        self.item_name = content.roles.item or joined_ids

    def __len__(self) -> int:
        return self.n_rows

    @property
    def n_rows(self) -> int:
        """The number of items: from the metadata of Parquet, else by counting; of separate tables, by joining."""
        return self._content.n_rows

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted, as scikit-learn sorts labels."""
        return self._content.classes

    @property
    def annotators(self) -> tuple[str, ...]:
        """The annotators' names; empty without a column of answers."""
        return self._content.annotators

    @property
    def models(self) -> tuple[str, ...]:
        """The models' names, ``("model",)`` for one without a name; empty without a model."""
        return tuple(self._content.roles.models)

    @property
    def scorers(self) -> tuple[str, ...]:
        """Those who give scores."""
        return tuple(self._content.roles.members.scores)

    @property
    def labellers(self) -> tuple[str, ...] | None:
        """Those who have a column of labels; None where rows name who answers, or nothing does."""
        answers = self._content.join.answers if self._content.join else None
        if answers is None:
            return tuple(self._content.roles.answers)
        if answers.columns.annotator is not None or answers.columns.is_anonymous:
            return None
        return (*answers.columns.labels, *self._content.roles.members.labels)

    def with_notes(self, notes: Sequence[str]) -> Table:
        """The same table with more notes."""
        return Table(self._content, (*self._remarks, *notes))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are read: those of the table, of separate answers and of separate truth."""
        return tuple(file.path for source in self._content.sources for file in source.files)

    @cached_property
    def has_truth(self) -> bool:
        """Whether the true class of any item is known."""
        content = self._content
        if content.join and content.join.truth:
            return content.join.has_truths()
        if not content.source or not content.roles.truth:
            return False
        coder = content.truth_coder
        wanted = Wanted(labels=(content.roles.truth,), nothing=coder.nothing)
        batches = content.source.batches(wanted, BATCH_ROWS)
        return any((coder.codes([batch.column(0)]) != MISSING).any() for batch in batches)

    @property
    def notes(self) -> list[str]:
        """What was and was not used, and what did not match between separate tables, in plain sentences."""
        unsure = [f"{are(self._n_unsure, 'answer')} unsure."] if self._n_unsure else []  # known after reading
        join = self._content.join
        loose = loose_notes(self._loose, self._content.coder.names) if self._loose else []
        return [*self._remarks, *unsure, *loose, *(join.result.notes if join else ())]

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the rows of this table: see `twoheads.tables.fingerprint`. Reads the table once."""
        return fingerprint(observations for observations, _ in self.blocks(items=False, truth=False))

    @property
    def item_type(self) -> Any:
        """The Arrow type of the ids; text if a text file holds them."""
        return self._content.item_type

    def need_people(self) -> None:
        """Refuse a table without anyone's answers: a misspelt column would be overlooked."""
        if self._content.source and not self.has_scores:
            need_annotators(self.annotators, self.columns, self._content.source.name)

    def check_items(self) -> None:
        """Refuse blank and repeated ids, as reading them does; reads nothing else."""
        source, item = self._content.source, self._content.roles.item
        if self._content.join:
            assert self._content.join.result
        elif source and item:
            check, start = IdCheck(source, item), 0
            for batch in source.batches(Wanted(item=item), BATCH_ROWS):
                check.look(batch.column(0), start)
                start += len(batch)
            check.finish()

    def column_by_item(self, column: str) -> Iterator[tuple[Any, Any]]:
        """Another column of the table, or of separate answers, with the ids, as Arrow arrays batch by batch."""
        return self._content.column_by_item(column)

    def other_columns(self, columns: tuple[str, ...], span: Span | None = None) -> Iterator[Any]:
        """Other columns of the table, as record batches in the order of its rows."""
        return self._content.other_columns(columns, span)

    def read(self, *, items: bool = True, truth: bool = True) -> tuple[Observations, NDArray[Any] | None]:
        """The whole table: the observations, and the truth as labels, or None if no column holds it.

        Where an item's truth is not known it is blank, NaN, -1 or None, as the type of the classes allows.
        """
        (whole,) = self.blocks(1 << 62, items=items, truth=truth)
        return whole

    def blocks(
        self,
        rows: int | None = None,
        *,
        items: bool = True,
        truth: bool = True,
        span: Span | None = None,
    ) -> Iterator[tuple[Observations, NDArray[Any] | None]]:
        """The table in blocks of consecutive items, as `read` returns it; memory is bounded by the block.

        Parameters
        ----------
        rows : int, optional
            The number of items of a block, the last perhaps fewer; about a million probabilities by default.
        items : bool
            Whether ids are read; else they are row numbers from 1.
        truth : bool
            Whether the truth is read.
        span : (int, int), optional
            The first row and the end of those to read, one of `spans`; all of them by default.
        """
        if rows is not None and rows < 1:
            raise InvalidParameter(f"rows must be at least 1; it is {rows}.")
        rows = rows or max(1024, BLOCK_NUMBERS // max(1, len(self._content.roles.numbers)))
        reader = BlockReader(self._content, items=items, truth=truth, span=span)
        for block in reader.blocks(rows):
            self._n_unsure, self._loose = reader.n_unsure, reader.loose
            yield block

    def spans(self, rows: int) -> list[Span]:
        """Pieces of about so many rows that can be read by themselves, as first row and end.

        They are whole row groups of Parquet files; other formats are only read whole.
        """
        return self._in_pieces.spans(rows)

    def need_pieces(self) -> None:
        """Refuse a table that has no `spans`."""
        assert self._in_pieces

    @property
    def _in_pieces(self) -> Source:
        source = self._content.source
        if source is None or self._content.join or source.row_groups() is None:
            raise InvalidObservations(
                f"{source.name if source else 'the table'} must be one table of Parquet files to be read in pieces by "
                "several machines; other formats and separate tables cannot be. Write it as Parquet first."
            )
        return source
