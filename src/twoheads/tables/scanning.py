"""Scanning tables: which files, which columns, which roles; no row is read yet."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.observations.checks import check_scale
from twoheads.observations.columns import named_classes
from twoheads.observations.frames import as_column
from twoheads.observations.labels import label_text
from twoheads.observations.members import unknown_positive
from twoheads.tables.content import Content
from twoheads.tables.duckdb import SORTING_LIMIT
from twoheads.tables.exports import Opener
from twoheads.tables.formats.opening import Reading
from twoheads.tables.formats.source import Source
from twoheads.tables.join.join import Join
from twoheads.tables.join.label_table import LabelTable, kinds_of_labels
from twoheads.tables.join.model_rows import RowsByItem, models_in
from twoheads.tables.schema import plan, roles
from twoheads.tables.schema.coding import classes_of
from twoheads.tables.schema.found_classes import named_or_found
from twoheads.tables.schema.plan import Names
from twoheads.tables.schema.roles import Roles
from twoheads.tables.schema.unread import (
    notes_on_unread_answers,
    notes_on_unread_ids,
    notes_on_unread_members,
    notes_on_unread_probabilities,
)
from twoheads.tables.sources import PathLike, Sources
from twoheads.tables.table import Table
from twoheads.text import listed

_log = logging.getLogger(__name__)


def scan(
    table: PathLike | None = None,
    *,
    answers: PathLike | None = None,
    model: PathLike | None = None,
    truth: PathLike | None = None,
    item: str | None = None,
    human: str | Sequence[str] | None = None,
    annotator: str | None = None,
    truth_column: str | None = None,
    model_columns: str | None = None,
    model_scale: str = "probability",
    normalise: bool = False,
    classes: ArrayLike | None = None,
    unsure: str | Sequence[str] = (),
    format: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    question: str | None = None,
    positive: Any = None,
    loose_labels: bool = False,
    memory_limit: str = SORTING_LIMIT,
) -> Table:
    """Scan a table, or separate tables of answers, model rows and truth, without reading them yet.

    Files are CSV (any of the usual separators), Parquet, JSON lines, Arrow or workbooks of spreadsheets, text also
    compressed (.gz, .zst), any of them in a zip archive; a folder or a pattern such as ``data/*.parquet`` is one
    table. Exports of Label Studio, Argilla and MLflow hold answers, predictions and truth in one file. Separate
    tables are joined on the item id, by its text, on disk; items keep the order of the model's table, and those
    without a model row follow.

    Parameters
    ----------
    table : path, optional
        Columns ``item``, ``human`` or ``human_<name>``, ``p_<class>`` and ``truth``; only ``p_<class>`` is required.
        For several models ``<model>.p_<class>``; ``confidence`` or ``confidence_<name>`` holds annotators' confidence.
        ``<model>.label`` and ``<model>.score`` hold a model's labels or scores, ``human_<name>.score`` a person's.
    answers : path, optional
        A separate table of answers: ``item, annotator, answer`` or ``task, worker, label``, perhaps with
        ``confidence``; or ``item`` and ``human_<name>``.
    model : path, optional
        The model's rows beside separate answers: ``item`` and ``p_<class>``, and with a column ``model`` a row per item
        and model. The same as ``table``.
    truth : str or path, optional
        The column of the true class; or a separate file, ``item`` and ``truth``.
    item : str, optional
        The column of ids.
    human : str or sequence of str, optional
        The column of an annotator's answers, or several, or a pattern such as ``reader_*``.
    annotator : str, optional
        The column that names the annotator, in a long table of answers.
    truth_column : str, optional
        The column of the true class in a ``truth`` file.
    model_columns : str, optional
        The columns of the model's numbers as a pattern with ``*`` in place of the class, such as ``score_*``.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.
    normalise : bool
        Whether rows of probabilities are divided by their sums, as after rounding to two decimals; else a row that
        misses 1 by more than 0.001 is refused.
    classes : array, optional
        The classes that are required: those of a fitted team.
    unsure : str or sequence of str
        Answers that mean "unsure", besides that word itself, in any case.
    format : str, optional
        The format of ``table``, without one that of ``answers``, if its content does not show it: csv, tsv, parquet,
        jsonl, arrow, xlsx, ods, label-studio, argilla or mlflow.
    sheet : str, optional
        The sheet of a workbook that has several.
    encoding : str, optional
        The encoding of text that is not UTF-8, such as cp1252; UTF-16 is recognised.
    question : str, optional
        The question of an export that holds several: the name of a control, a question or an assessment.
    positive : label, optional
        The class that high scores mean, of two; 1 or True by default. A plain column ``score`` needs it.
    loose_labels : bool
        Whether labels that differ from a class only by case or blanks are taken as that class; they are counted in a
        note. Else they are refused.
    memory_limit : str
        Memory for joining before it spills to disk.
    """
    _check_options(model_scale, normalise=normalise)
    names = Names(item, human, annotator, truth_column, model_columns, positive)
    main = "table" if table is not None else "model" if answers is None else "answers"
    opener = Opener(Reading(format, sheet, encoding, question), main, classes, unsure, loose_labels)
    sources = Sources.open(table, answers, model, truth, truth_column, opener)
    sources.check_sheet(sheet)
    known = None if classes is None else _named(classes)
    found, remarks = _wide_roles(sources, names, known)
    remarks = [*sources.notes, *remarks]
    answer_table = _answer_table(sources.answers, names)
    remarks += _notes_on_confidence(sources.table, found, answer_table)
    truth_table = _truth_table(sources, names, found)
    _refuse_truth_as_answers(found, answer_table, truth_table)
    remarks += _notes_on_labels(answer_table, truth_table if sources.truth and not truth_column else None)
    rows, found = _rows_by_item(sources, found, memory_limit)
    remarks += notes_on_unread_ids(sources.table, found) if sources.table else []
    separate = [each.columns for each in (answer_table, truth_table) if each]
    remarks += notes_on_unread_members(sources.table, found, separate) if sources.table else []
    remarks += notes_on_unread_answers(answer_table.source, separate) if answer_table else []
    if len(found.models) > 1 and rows:
        remarks.append(f"{rows.name} has {len(found.models)} models: {listed(list(found.models))}.")
    if known is None and (found.models or found.members) and sources.table:
        tables = [table for table in (truth_table, answer_table) if table]
        labels = [(sources.table, found.labels), *((each.source, [*each.columns.labels.values()]) for each in tables)]
        kinds = [*sources.table.kinds_of(found.labels), *kinds_of_labels(truth_table, answer_table)]
        known = classes_of(named_or_found(found, labels, unsure, sources.table.name, loose=loose_labels), kinds)
    if sources.table and classes is None:
        remarks += notes_on_unread_probabilities(sources.table, found, known)
    _check_positive(positive, known, found)
    join = None
    if answer_table or truth_table:
        ids = (rows, found.item) if rows and found.item else None
        join = Join(ids, answer_table, truth_table, known, unsure, memory_limit, loose_labels=loose_labels)
    for remark in remarks:
        _log.info("%s", remark)
    content = Content(rows, found, join, known, unsure, model_scale, normalise, positive, loose_labels)
    return Table(content, tuple(remarks))


def _check_options(model_scale: str, *, normalise: bool) -> None:
    check_scale(model_scale)
    if normalise and model_scale != "probability":
        raise InvalidParameter(
            f"normalise (--normalise) is for rows of probabilities; model_scale is {model_scale!r}. Leave it out."
        )


def _check_positive(positive: Any, known: NDArray[Any] | None, found: Roles) -> None:
    """Refuse a class of high scores that is no class, also where no column holds scores."""
    if positive is None or known is None or found.members.scores:
        return
    names = [label_text(name) for name in known.tolist()]
    if label_text(positive) not in names:
        raise unknown_positive(label_text(positive), names)


def _wide_roles(sources: Sources, names: Names, known: NDArray[Any] | None) -> tuple[Roles, list[str]]:
    """The roles of the table's columns without those that separate tables replace, and notes on them."""
    source = sources.table
    if source is None:
        return Roles(), []
    if sources.answers:
        names = replace(names, human=None)
    joined = bool(sources.answers or sources.truth)
    found = roles.same_in_all_files(
        source,
        lambda columns: plan.wide_roles(
            columns, source.name, names, sources.truth_column, joined=joined, needed=known is None
        ),
    )
    if known is not None and not (found.models or found.members):
        plan.refuse_unread(found, source.columns, source.name, names)
    found, remarks = _without_replaced(found, sources, source)
    if not found.annotators and not found.members and sources.answers is None:
        remarks.append(plan.note_on_annotators(source))
    if known is not None:
        plan.need_classes(found, known, source.name, names.model_columns)
    return found, remarks


def _without_replaced(found: Roles, sources: Sources, source: Source) -> tuple[Roles, list[str]]:
    """The roles without answers and truth if separate tables have them, and notes on it."""
    notes = []
    if sources.answers and found.annotators:
        column = next(iter(found.annotators.values()))
        notes.append(f"column {column!r} of {source.name} is not used: answers are in {sources.answers.name}.")
        found = replace(found, annotators={}, confidence={})
    if sources.truth and found.truth:
        notes.append(f"column {found.truth!r} of {source.name} is not used: the truth is in {sources.truth.name}.")
        found = replace(found, truth=None)
    return found, notes


def _notes_on_confidence(source: Source | None, found: Roles, answers: LabelTable | None) -> list[str]:
    notes = plan.notes_on_confidence(source, found.annotators, found.confidence) if source else []
    if answers:
        notes += plan.notes_on_confidence(answers.source, answers.columns.labels, answers.columns.confidence)
    return notes


def _notes_on_labels(answers: LabelTable | None, truth: LabelTable | None) -> list[str]:
    """The notes on answers that name nobody, and on a truth under another name."""
    notes = []
    if answers and answers.columns.is_anonymous:
        named = "has no column of people's names (annotator): its answers are taken as one person's"
        notes.append(f"{answers.source.name} {named}.")
    if truth and truth.label_column != "truth":
        notes.append(f"column {truth.label_column!r} of {truth.source.name} is read as the truth.")
    return notes


def _answer_table(source: Source | None, names: Names) -> LabelTable | None:
    return LabelTable(source, plan.answer_columns(source.columns, source.name, names)) if source else None


def _truth_table(sources: Sources, names: Names, found: Roles) -> LabelTable | None:
    """The truth from a separate file, from the table of answers, or from a table with several rows per item."""
    if sources.truth:
        source, column = sources.truth, names.truth_column
    elif sources.truth_in_answers and sources.answers:
        source, column = sources.answers, sources.truth_in_answers
    elif found.truth and sources.table and _is_by_model(sources, found):
        source, column = sources.table, found.truth
    else:
        return None
    return LabelTable(source, plan.truth_columns(source.columns, source.name, names.item, column))


def _refuse_truth_as_answers(found: Roles, answers: LabelTable | None, truth: LabelTable | None) -> None:
    """Refuse a column that would be both the truth and answers: everything would be judged by itself."""
    column = found.truth if found.truth in found.annotators.values() else None
    if answers and truth and answers.source.files[0].path.absolute() == truth.source.files[0].path.absolute():
        same = set(answers.columns.labels.values()) & set(truth.columns.labels.values())
        column = next(iter(same), column)
    if column is not None:
        raise InvalidObservations(
            f"a column must hold answers or the truth, not both; {column!r} is named as both. "
            "Name another with human (--human) or truth (--truth)."
        )


def _is_by_model(sources: Sources, found: Roles) -> bool:
    """Whether the table beside separate answers has a row per item and model."""
    return bool(sources.table and sources.answers and found.item and "model" in sources.table.columns)


def _rows_by_item(sources: Sources, found: Roles, memory_limit: str) -> tuple[Source | None, Roles]:
    """The table with a row per item; one with a row per item and model is rearranged."""
    source = sources.table
    if source is None or not _is_by_model(sources, found):
        return source, found
    assert found.item
    if not found.models and "score" in source.columns:
        raise roles.row_per_member(source.name, "model", "score")
    if list(found.models) != ["model"]:
        raise InvalidObservations(
            f"{source.name} must name its models in a column model or in columns <model>.p_<class>; it does both. "
            "Drop one."
        )
    item = found.item
    found = replace(found, truth=None)  # repeated for each model, it is read as a separate table
    models = models_in(source, "model")
    if len(models) < 2:
        return source, replace(found, models=dict.fromkeys(models, found.classes) or found.models)
    by_item = RowsByItem(source, item, "model", found.classes, models, memory_limit)
    return by_item, replace(found, models=by_item.models)


def _named(classes: ArrayLike) -> NDArray[Any]:
    names = as_column(classes)
    return named_classes(names, len(names))[0] if names.ndim == 1 else names
