"""A table of people's answers and a model's rows, read whole or in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.kernels.arrays import MISSING, Codes, Floats
from twoheads.observations import Observations
from twoheads.observations.builders import Parts, wide_answers
from twoheads.observations.checks import as_confidence
from twoheads.observations.labels import label_text, unsure_words
from twoheads.tables.duckdb import pa
from twoheads.tables.fingerprints import fingerprint
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.source import Source
from twoheads.tables.join.join import Join
from twoheads.tables.messages import located, no_class
from twoheads.tables.rows import (
    Rows,
    gathered,
    joined_answers,
    normalised,
    rows_of,
    stacked,
    with_ids,
    without_model,
)
from twoheads.tables.scanned import ScannedTable
from twoheads.tables.schema.coding import UNKNOWN, UNSURE, Coder, labels_of
from twoheads.tables.schema.ids import IdCheck, as_items
from twoheads.tables.schema.roles import Roles, missing, nearest
from twoheads.text import listed

#: Probabilities in a block where nobody says how many rows it should have: about 8 MB.
BLOCK_NUMBERS = 1 << 20


class Table(ScannedTable):
    """A table on disk, looked at and not yet read. Made by `scan`.

    Attributes
    ----------
    columns : tuple of str
        The columns that are there.
    item_name : str
        The column of ids, ``item`` where there is none; ids are then row numbers from 1.
    model_scale : str
        What the model's columns hold.
    """

    def __init__(
        self,
        source: Source | None,
        roles: Roles,
        join: Join | None,
        *,
        model_scale: str,
        normalise: bool = False,
        classes: NDArray[Any] | None = None,
        unsure: str | Sequence[str] = (),
        remarks: tuple[str, ...] = (),
    ) -> None:
        self._source, self._roles, self._join = source, roles, join
        self._given_classes, self._unsure, self._remarks = classes, unsure, remarks
        self._n_unsure = 0
        self.model_scale, self._normalise = model_scale, normalise
        self.columns: tuple[str, ...] = source.columns if source else ()
        self.item_name = roles.item or (join.answers.item if join and join.answers and not source else "item")

    def __len__(self) -> int:
        return self.n_rows

    @cached_property
    def n_rows(self) -> int:
        """How many items there are: as Parquet says, else by counting; joined where tables are separate."""
        if self._join:
            return self._join.result.n_items
        assert self._source
        return self._source.n_rows

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes, sorted, as scikit-learn sorts labels."""
        if self._given_classes is not None:
            return self._given_classes
        assert self._join  # a model's columns name the classes; without a model, those answered are found by joining
        return self._join.result.classes

    @property
    def annotators(self) -> tuple[str, ...]:
        """The people's names; none where no column holds answers."""
        if self._join and self._join.answers:
            return self._join.result.annotators
        return tuple(self._roles.people)

    @cached_property
    def has_truth(self) -> bool:
        """Whether the true class of any item is known."""
        if not self._has_truth_column:
            return False
        if self._join and self._join.truth:
            return len(self._join.truths().until(self.n_rows)[0]) > 0
        coder = self._truth_coder
        wanted = Wanted(labels=(self._roles.truth,) if self._roles.truth else (), nothing=coder.nothing)
        assert self._source
        return any((coder.codes([batch.column(0)]) != MISSING).any() for batch in self._source.batches(wanted, 1 << 17))

    @property
    def notes(self) -> list[str]:
        """What did not meet where tables are separate, and what was and was not used, in plain sentences."""
        unsure = [f"{self._n_unsure:,} answers are unsure."] if self._n_unsure else []  # once it has been read
        return [*self._remarks, *unsure, *(self._join.result.notes if self._join else ())]

    @cached_property
    def fingerprint(self) -> str:
        """What tells this table again: see `twoheads.tables.fingerprint`. Reads the table once."""
        return fingerprint(seen for seen, _ in self.blocks(items=False, truth=False))

    @property
    def item_type(self) -> Any:
        """The Arrow type of the ids; text where a text file holds them."""
        kind = self._source.type_of(self._roles.item) if self._source and self._roles.item else None
        if self._source and kind is None:
            return pa.int64()
        if kind is None or (self._join and not self._keeps_ids(kind)):
            return pa.string()
        return kind

    def need_people(self) -> None:
        """Refuse a table without anyone's answers: a misspelt column would be overlooked."""
        if not self.annotators and self._source:
            likely = ("human", "human_label", "label", "answer", "annotation", "rater", "reader")
            what = "a column of a person's answers, called human or human_<name>"
            if nearest(self.columns, likely):
                raise missing(self.columns, self._source.name, what, "human", likely)
            raise InvalidObservations(
                f"{self._source.name} must have {what}; its columns are {listed(self.columns)}. "
                "Add one, blank where nobody was asked."
            )

    def check_items(self) -> None:
        """Refuse blank ids and ids that stand twice, as reading them does; reads nothing else."""
        if self._join:
            assert self._join.result
        elif self._source and self._roles.item:
            check, start = IdCheck(self._source, self._roles.item), 0
            for batch in self._source.batches(Wanted(item=self._roles.item), 1 << 17):
                check.look(batch.column(0), start)
                start += len(batch)
            check.finish()

    def read(self, *, items: bool = True, truth: bool = True) -> tuple[Observations, NDArray[Any] | None]:
        """The whole table: the observations, and the truth as labels, or None where no column holds it.

        Where an item's truth is not known it is blank, NaN, -1 or None, as the classes' type allows.
        """
        (whole,) = self.blocks(1 << 62, items=items, truth=truth)
        return whole

    def blocks(
        self,
        rows: int | None = None,
        *,
        items: bool = True,
        truth: bool = True,
        span: tuple[int, int] | None = None,
    ) -> Iterator[tuple[Observations, NDArray[Any] | None]]:
        """The table in blocks of consecutive items, as `read` gives it; memory is bounded by the block.

        Parameters
        ----------
        rows : int, optional
            How many items a block has, the last perhaps fewer; about a million probabilities by default.
        items : bool
            Whether ids are read; row numbers from 1 stand for them where not.
        truth : bool
            Whether the truth is read.
        span : (int, int), optional
            The first row and the end of those to read, one of `spans`; all of them by default.
        """
        if rows is not None and rows < 1:
            raise InvalidParameter(f"rows must be at least 1; it is {rows}.")
        rows = rows or max(1024, BLOCK_NUMBERS // max(1, len(self._roles.numbers)))
        truth_column = self._roles.truth if truth and not (self._join and self._join.truth) else None
        labels = (*self._roles.people.values(), *([truth_column] if truth_column else []))
        numbers = (*self._roles.numbers, *self._roles.sure.values())
        wanted = Wanted(self._roles.item if items else None, labels, numbers, self._coder.nothing)
        whole = not self._join and not span  # ids of a piece tell nothing of those of others
        check = IdCheck(self._source, wanted.item) if whole and self._source and wanted.item else None
        answered = self._join.answered() if self._join and self._join.answers else None
        unsure = self._join.unsure() if self._join and self._join.answers else None
        truths = self._join.truths() if self._join and self._join.truth and truth else None
        start, n_unsure = span[0] if span else 0, 0
        for block in gathered(self._batches(wanted, min(rows, 1 << 17), span), rows):
            end = start + len(block)
            ids = pa.chunked_array(block.ids()) if items and self._has_ids else None
            if check:
                check.look(ids, start)
            codes = None
            if truth_column:
                codes = self._codes(block, truth_column, start, self._truth_coder)
            elif truths:
                place, code = truths.until(end)
                codes = rows_of(place, code, start, end)
            models = self._roles.models
            proba = tuple(stacked(block, columns) for columns in self._roles.columns_of(self.classes))
            if self._normalise:
                proba = tuple(map(normalised, proba))
            named = np.arange(start + 1, end + 1) if ids is None else as_items(ids)
            given = joined_answers(answered, unsure, start, end) if answered else self._wide(block, start)
            people = self.annotators or ("human",)
            parts = Parts(self.classes, proba, annotators=people, items=named, models=tuple(models), **given)
            with located(partial(self._where, start), partial(self._extent, start, end)):
                seen = Observations._checked(parts, self.model_scale)
            n_unsure += 0 if answered or seen.unsure is None else int(seen.unsure.per_item().sum())
            self._n_unsure = n_unsure
            yield seen, None if codes is None else labels_of(codes, self.classes)
            start = end
        if check:
            check.finish()
        if start == 0 and not span:
            raise (self._source or self._join.answers.source).need_rows()  # type: ignore[union-attr]

    def spans(self, rows: int) -> list[tuple[int, int]]:
        """The table cut into pieces that can be read by themselves, of about so many rows, as first row and end.

        They are whole row groups of Parquet files; other tables cannot be cut.
        """
        return self._cuttable.spans(rows)

    def need_pieces(self) -> None:
        """Refuse a table that has no `spans`."""
        assert self._cuttable

    @property
    def _cuttable(self) -> Source:
        if self._source is None or self._join or not self._source.can_be_cut:
            raise InvalidObservations(
                f"{self._source.name if self._source else 'the table'} must be one table of Parquet files to be read "
                "in pieces by several machines; CSV, JSON lines and separate tables are not. Write it as Parquet first."
            )
        return self._source

    @property
    def _has_truth_column(self) -> bool:
        return bool(self._roles.truth or (self._join and self._join.truth))

    @property
    def _has_ids(self) -> bool:
        return bool(self._roles.item) or self._source is None

    @cached_property
    def _coder(self) -> Coder:
        names = [label_text(name) for name in self.classes.tolist()]
        return Coder(names, unsure_words(self._unsure, names))

    @cached_property
    def _truth_coder(self) -> Coder:
        return Coder(self._coder.names)

    def _keeps_ids(self, kind: Any) -> bool:
        assert self._join
        joined = self._join.result
        return bool(joined.n_items == joined.n_model or (pa.types.is_integer(kind) and joined.ids_fit))

    def _batches(self, wanted: Wanted, rows: int, span: tuple[int, int] | None) -> Iterator[Any]:
        kind = self.item_type if wanted.item else None
        for batch in self._source.batches(wanted, rows, span) if self._source else ():
            yield with_ids(batch, kind)
        for batch in self._join.ids_without_model(rows) if self._join else ():
            ids = batch.column(0)
            yield without_model(ids.cast(kind) if kind else ids, wanted.item, wanted.labels, wanted.numbers)

    def _wide(self, block: Rows, start: int) -> dict[str, Any]:
        """What people said in a block, as `Parts` take it."""
        codes = [self._codes(block, name, start, self._coder) for name in self._roles.people.values()]
        unsure: list[NDArray[np.bool_] | None] = []
        for at, some in enumerate(codes):
            said = some == UNSURE
            unsure.append(said if said.any() else None)
            codes[at] = np.where(said, MISSING, some) if said.any() else some
        sure: list[Floats | None] = []
        for name in self._roles.people:
            column = self._roles.sure.get(name)
            with located(partial(self._where, start), partial(self._extent, start, start + len(block))):
                numbers = None if column is None else stacked(block, [column])[:, 0]
                sure.append(None if numbers is None else as_confidence(numbers, f"column {column!r}"))
        return wide_answers(codes, unsure, sure, len(self.classes), len(block))

    def _codes(self, block: Rows, column: str, start: int, coder: Coder) -> Codes:
        codes = coder.codes(block.column(column))
        if (codes == UNKNOWN).any():
            off = int((codes == UNKNOWN).argmax())
            extent = self._extent(start, start + len(codes), int((codes == UNKNOWN).sum()))
            raise no_class(column, self._where(start, off), block.value(column, off), extent, self._coder.names)
        return codes

    def _where(self, start: int, row: int) -> str:
        if self._source and row + start < self._source.n_rows:
            return self._source.where(start + row)
        return f"item {start + row + 1}"

    def _extent(self, start: int, end: int, n_off: int) -> str:
        if start == 0 and end == self.n_rows:
            return f"{n_off:,} of {end:,} rows are off"
        return f"{n_off:,} of rows {start + 1:,} to {end:,} are off"
