"""Exports of labelling tools: their answers, predictions and truth as tables in memory, and verdicts back."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.observations.labels import label_text, unsure_words
from twoheads.storage.atomic import atomic_write
from twoheads.tables.duckdb import pa
from twoheads.tables.export_files import export_at, read_export, records_at
from twoheads.tables.formats.memory import MemoryFile
from twoheads.tables.formats.opening import Reading
from twoheads.tables.formats.registry import ExportFormat, export_by_name
from twoheads.tables.formats.source import Source
from twoheads.tables.interop.export import Answer, Export, left_out
from twoheads.tables.schema.coding import Coder, loose_notes
from twoheads.tables.writing import write
from twoheads.text import count

#: Why an answer does not count.
BY_AUTHOR = "by whoever stated the truth of the same item"


@dataclass(frozen=True)
class Opened:
    """The sources that one file gives: a table gives one of them, an export up to three.

    rows     a row per item, with the models' columns
    answers  a row per answer: item, annotator, answer
    truth    a row per item of known truth
    authors  ids of items as text, and who stated their truth: their answers do not count
    notes    what was left out
    """

    rows: Source | None = None
    answers: Source | None = None
    truth: Source | None = None
    authors: Sequence[tuple[str, str]] = ()
    notes: tuple[str, ...] = ()

    def beside(self, people: Opened) -> tuple[Opened, tuple[str, ...]]:
        """The sources of a table and of separate answers, and notes on what is not used because both have it."""
        notes = [*self.notes, *people.notes]
        if self.rows and people.rows:
            notes.append(f"predictions in {people.rows.name} are not used: the model's rows are in {self.rows.name}.")
        if self.answers and people.answers:
            notes.append(f"answers in {self.answers.name} are not used: they are in {people.answers.name}.")
        if self.truth and people.truth:
            notes.append(f"the truth in {self.truth.name} is not used: it is in {people.truth.name}.")
        truth, authors = (people.truth, people.authors) if people.truth else (self.truth, self.authors)
        return Opened(self.rows or people.rows, people.answers or self.answers, truth, authors), tuple(notes)


@dataclass(frozen=True)
class Opener:
    """Opens the files that the options of `scan` name.

    how      how files are read; the format is that of one of them
    main     the argument whose file has that format
    classes  the classes that are required, or None
    unsure   answers that mean "unsure", besides that word
    loose    whether labels are matched to classes apart from case and blanks
    """

    how: Reading
    main: str = "table"
    classes: Any = None
    unsure: Any = ()
    loose: bool = False

    def open(self, path: str | os.PathLike[str], argument: str) -> Opened:
        """The sources in a table or an export; ``argument`` is what messages call it."""
        how = self.how if argument == self.main else replace(self.how, format=None)
        if (known := export_at(path, argument, how)) is None:
            source = Source.open(path, argument, how)
            named: dict[str, Any] = {argument if argument in ("answers", "truth") else "rows": source}
            return Opened(**named, notes=tuple(source.notes))
        export = read_export(known, path, argument, how)
        if self.loose:
            export = _respelt(export, self.classes, self.unsure)
        return _parts(export, os.fspath(path), known, self.classes, self.unsure)


def _respelt(export: Export, classes: Any, unsure: Any) -> Export:
    """The export with every label spelt as its class is."""
    names = export.class_names(None, unsure) if classes is None else list(map(label_text, np.asarray(classes).tolist()))
    coder = Coder(names, unsure_words(unsure, names), loose=True)
    loose = Counter(each.label for each in export.statements if coder.matches_loosely(each.label))
    spelt = {label: names[coder.code(label)] for label in loose}
    statements = [replace(each, label=spelt.get(each.label, each.label)) for each in export.statements]
    return replace(export, statements=statements, notes=(*export.notes, *loose_notes(loose, names)))


def _parts(export: Export, name: str, known: ExportFormat, classes: Any, unsure: Any) -> Opened:
    """The tables of an export."""
    try:
        return _tables(export, name, known, classes, unsure)
    except UnicodeError:
        raise InvalidObservations(
            f"{name} has a name or label that is not text: half of a character, such as \\ud800. Correct it there."
        ) from None


def _tables(export: Export, name: str, known: ExportFormat, classes: Any, unsure: Any) -> Opened:
    if not export.statements:
        raise InvalidObservations(f"{name} must hold answers, predictions or truth; it holds none of them.")
    names = export.class_names(classes, unsure)
    notes = [f"{name} is read as an export of {known.title}.", *(f"{name}: {note}" for note in export.notes)]
    known_of = {each.item for each in export.answers} | {each.item for each in export.predictions}
    notes += [f"{name}: {note}" for note in _notes_on_silence(export, known_of)]
    rows = _model_rows(export, sorted(known_of), names, name)

    def source(table: Any) -> Source | None:
        return None if table is None else Source(name, [MemoryFile(Path(name), table)])

    return Opened(source(rows), source(_answers(export)), source(_truths(export)), export.authors, tuple(notes))


def without_authors(
    answers: Source | None, authors: Sequence[tuple[str, str]]
) -> tuple[Source | None, tuple[str, ...]]:
    """The answers of an export without those of people who stated the truth of the same item in another, and a note."""
    if answers is None or not authors or not all(isinstance(file, MemoryFile) for file in answers.files):
        return answers, ()
    own, n_own, files = set(authors), 0, []
    for file in answers.files:
        assert isinstance(file, MemoryFile)
        ids, people = (file.table.column(name).to_pylist() for name in ("item", "annotator"))
        other = [(label_text(item), name) not in own for item, name in zip(ids, people, strict=True)]
        n_own += len(other) - sum(other)
        files.append(MemoryFile(file.path, file.table.filter(pa.array(other))))
    notes = tuple(f"{answers.name}: {note}" for note in left_out(n_own, "answer", BY_AUTHOR))
    return Source(answers.name, files) if any(len(file.table) for file in files) else None, notes


def _notes_on_silence(export: Export, known_of: set[int]) -> Iterator[str]:
    """The notes on answers that do not count, and on items without an answer or a prediction."""
    n_own = sum(isinstance(each, Answer) for each in export.statements) - len(export.answers)
    yield from left_out(n_own, "answer", BY_AUTHOR)
    alone = {each.item for each in export.truths} - known_of
    yield from left_out(len(export.ids) - len(known_of | alone), export.what, "without an answer or a prediction")
    if alone:
        yield f"{count(len(alone), export.what)} with a truth, but no answer or prediction."


def _model_rows(export: Export, items: list[int], names: Sequence[str], where: str) -> Any:
    """A row per item with the columns ``<model>.p_<class>`` and ``<model>.label``; None without models."""
    columns: dict[str, Any] = {"item": pa.array(export.ids_array[items])}
    for model, proba in export.scored(names).items():
        _refuse_name(model, where)
        numbers = proba[items]
        columns |= {f"{model}.p_{name}": pa.array(numbers[:, at], from_pandas=True) for at, name in enumerate(names)}
    for model, labels in export.hard().items():
        _refuse_name(model, where)
        columns[f"{model}.label"] = pa.array([labels.get(at) for at in items], pa.string())
    return pa.table(columns) if len(columns) > 1 else None


def _refuse_name(model: str, where: str) -> None:
    if model.startswith(("p_", "human_")) or ".p_" in model:
        raise InvalidObservations(
            f"the name of a model must not begin with p_ or human_ nor hold .p_, as columns do; {where} has {model!r}. "
            "Rename it."
        )


def _answers(export: Export) -> Any:
    made = export.answers
    if not made:
        return None
    people, labels = [each.annotator for each in made], [each.label for each in made]
    return _long(export, [each.item for each in made], annotator=people, answer=labels)


def _truths(export: Export) -> Any:
    known = {each.item: each.label for each in export.truths}
    return _long(export, list(known), truth=list(known.values())) if known else None


def _long(export: Export, items: list[int], **columns: list[str]) -> Any:
    return pa.table(
        {"item": pa.array(export.ids_array[items])}
        | {name: pa.array(values, pa.string()) for name, values in columns.items()}
    )


def write_export(
    path: str | os.PathLike[str], table: str | os.PathLike[str], how: Reading, verdicts: Iterable[Any]
) -> int:
    """Write the records of an export with a team's verdicts, for the tool to import; returns how many have one.

    Parameters
    ----------
    path : path
        Where to: ``.json``, or for columns ``.jsonl``, ``.parquet`` or ``.arrow``.
    table : path
        The export.
    how : Reading
        How it is read; its format names the export.
    verdicts : iterable of Arrow record batches
        As `twoheads.tables.verdicts` makes them.
    """
    known = export_by_name(how.format or "")
    assert known
    records = records_at(table, "table", how)
    ids = [label_text(each) for each in known.read(records, how.question).ids]
    found = dict(_verdicts(verdicts))
    made = known.with_verdicts(records, [found.get(each) for each in ids], how.question)
    if Path(path).suffix.lower() == ".json":
        with atomic_write(path) as file:
            file.write(json.dumps(made, ensure_ascii=False, indent=1, default=str).encode())
    else:
        write(path, pa.Table.from_pylist(made).to_batches())
    return len(found)


def _verdicts(batches: Iterable[Any]) -> Iterator[tuple[str, tuple[str, float]]]:
    """The label and the confidence of each item, by the text of its id."""
    for batch in batches:
        ids, labels, sure = (batch.column(at).to_pylist() for at in (0, 1, 2))
        for item, label, confidence in zip(ids, labels, sure, strict=True):
            yield label_text(item), (label_text(label), float(confidence))
