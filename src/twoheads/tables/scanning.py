"""Looking at tables: which files, which columns, which roles; nothing is read yet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.observations.checks import check_scale
from twoheads.observations.columns import given_classes
from twoheads.observations.frames import as_column
from twoheads.tables.duckdb import MEMORY_LIMIT
from twoheads.tables.formats.source import Source
from twoheads.tables.join.join import Join
from twoheads.tables.join.label_table import kinds_of_labels
from twoheads.tables.join.model_rows import ModelRows, models_in
from twoheads.tables.schema import roles
from twoheads.tables.schema.coding import classes_of
from twoheads.tables.schema.plan import answer_table, need_classes, no_people, truth_table, wide_roles
from twoheads.tables.schema.roles import Roles
from twoheads.tables.table import Table
from twoheads.text import listed

PathLike = str | os.PathLike[str]


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
    memory_limit: str = MEMORY_LIMIT,
) -> Table:
    """Look at a table, or at separate tables of answers, model rows and truth, without reading them yet.

    Files are CSV (any of the usual separators), Parquet or JSON lines, text also compressed (.gz, .zst); a folder or a
    pattern such as ``data/*.parquet`` is one table. Separate tables are joined on the item id, by its text, on disk;
    items keep the order of the model's table, and those without a model row follow.

    Parameters
    ----------
    table : path, optional
        Columns ``item``, ``human`` or ``human_<name>``, ``p_<class>`` and ``truth``; only ``p_<class>`` must be there.
        Of several models ``<model>.p_<class>``; ``confidence`` or ``confidence_<name>`` holds how sure a person was.
    answers : path, optional
        Answers of their own: ``item, annotator, answer`` or ``task, worker, label``, perhaps with ``confidence``; or
        ``item`` and ``human_<name>``.
    model : path, optional
        Where answers are separate, the model's rows: ``item`` and ``p_<class>``, and with a column ``model`` a row per
        item and model. The same as ``table``.
    truth : str or path, optional
        The column of the true class; or a file of its own, ``item`` and ``truth``.
    item : str, optional
        The column of ids.
    human : str or sequence of str, optional
        The column of a person's answers, or several, or a pattern such as ``reader_*``.
    annotator : str, optional
        The column that names the person, in a long table of answers.
    truth_column : str, optional
        The column of the true class in a ``truth`` file.
    model_columns : str, optional
        The columns of the model's numbers as a pattern: ``*`` stands for the class, as in ``score_*``.
    model_scale : {"probability", "log", "logit"}
        What the model's columns hold.
    normalise : bool
        Whether rows of probabilities are divided by their sums, as after rounding to two decimals; else a row that
        misses 1 by more than 0.001 is refused.
    classes : array, optional
        The classes that must be there, as a fitted team knows them.
    unsure : str or sequence of str
        Answers that mean "unsure", beside that word itself, in capitals or not.
    memory_limit : str
        What joining may hold in memory before it goes to disk.
    """
    check_scale(model_scale)
    if normalise and model_scale != "probability":
        raise InvalidParameter(
            f"normalise (--normalise) is for rows of probabilities; model_scale is {model_scale!r}. Leave it out."
        )
    if table is not None and model is not None:
        raise InvalidObservations("Give table or model (--model), not both: they are the same thing.")
    rows = table if table is not None else model
    if rows is None and answers is None:
        raise InvalidObservations("Give a table, or answers (--answers), or both answers and model (--model).")
    source = None if rows is None else Source(rows, "table" if model is None else "model")
    answer_source = None if answers is None else Source(answers, "answers")
    known = None if classes is None else _classes(classes)
    in_table, in_answers, truth_source = _truth(truth, truth_column, source, answer_source)

    remarks: list[str] = []
    found = Roles()
    if source:
        found = roles.same_in_all_files(
            source,
            lambda columns: wide_roles(
                columns,
                source.name,
                item,
                human if answer_source is None else None,
                in_table,
                model_columns,
                joined=bool(answer_source or truth_source),
            ),
        )
        found, more = _without_rivals(found, answer_source, truth_source, source, in_table)
        remarks += more
        if not found.people and answer_source is None:
            remarks.append(no_people(source))
        if known is not None:
            need_classes(found, known, source.name, model_columns)
    given = None if answer_source is None else answer_table(answer_source, item, human, annotator)
    remarks += _notes_on_confidence(source, found.people, found.sure)
    if given:
        remarks += _notes_on_confidence(given.source, given.people_columns, given.sure)
    truths, by_item = None, source
    if source and found.item and answer_source and "model" in source.columns:
        if found.truth:  # it stands there once for each model
            truths, found = truth_table(source, item, found.truth), replace(found, truth=None)
        by_item, found = _by_model(source, found, memory_limit)
    if len(found.models) > 1 and source:
        remarks.append(f"{source.name} has {len(found.models)} models: {listed(list(found.models))}.")
    if truth_source:
        truths = truth_table(truth_source, item, truth_column)
    elif in_answers and answer_source:
        truths = truth_table(answer_source, item, in_answers)
    if known is None and found.classes and source:
        labels = [*([found.truth] if found.truth else []), *found.people.values()]
        known = classes_of(found.classes, [*source.kinds_of(labels), *kinds_of_labels(truths, given)])
    join = None
    if given or truths:
        beside = (by_item, found.item) if by_item and found.item else None
        join = Join(beside, given, truths, known, unsure, memory_limit)
    read: dict[str, Any] = {"model_scale": model_scale, "normalise": normalise, "unsure": unsure}
    return Table(by_item, found, join, classes=known, remarks=tuple(remarks), **read)


def _by_model(source: Source, found: Roles, memory_limit: str) -> tuple[Source, Roles]:
    """A table with a row per item and model, its models named in a column ``model``, as one with a row per item."""
    assert found.item
    if list(found.models) != ["model"]:
        raise InvalidObservations(
            f"{source.name} must name its models in a column model or in columns <model>.p_<class>; it does both. "
            "Drop one."
        )
    names = models_in(source, "model")
    if len(names) < 2:
        return source, replace(found, models=dict.fromkeys(names, found.classes) or found.models)
    by_item = ModelRows(source, found.item, "model", found.classes, names, memory_limit)
    return by_item, replace(found, models=by_item.models)


def _truth(
    truth: PathLike | None, truth_column: str | None, source: Source | None, answers: Source | None
) -> tuple[str | None, str | None, Source | None]:
    """What ``truth`` means: a column of the table, one of the answers, or a file."""
    if truth is None:
        in_answers = "truth" if answers and "truth" in answers.columns else None
        return truth_column, None if source and "truth" in source.columns else in_answers, None
    name = os.fspath(truth)
    if source and name in source.columns:
        return name, None, None
    if answers and name in answers.columns:
        return None, name, None
    looks_like_a_file = os.path.exists(name) or os.sep in name or bool(Path(name).suffix) or "*" in name
    if looks_like_a_file or not source:
        return None, None, Source(truth, "truth")
    what = f"the column {name!r} that truth (--truth) names, if it is no file"
    raise roles.missing(source.columns, source.name, what, "truth", (name, "truth"))


def _without_rivals(
    found: Roles, answers: Source | None, truth: Source | None, source: Source, in_table: str | None
) -> tuple[Roles, list[str]]:
    """The table's own answers and truth are left out where separate tables give them; a note says so."""
    people, sure, known, notes = found.people, found.sure, found.truth, []
    if answers and people:
        notes.append(
            f"column {next(iter(people.values()))!r} of {source.name} is not used: answers are in {answers.name}."
        )
        people, sure = {}, {}
    if truth and known:
        notes.append(f"column {known!r} of {source.name} is not used: the truth is in {truth.name}.")
        known = None
    return Roles(found.item, people, found.models, known, sure), notes


def _notes_on_confidence(source: Source | None, people: Iterable[str], sure: dict[str, str]) -> list[str]:
    """Whether columns of confidence are used."""
    if source is None or not people:
        return []
    first = next(iter(sure.values()), None)
    if len(sure) > 1:
        return [f"columns {first!r} and {len(sure) - 1} more of {source.name} are read as how sure people were."]
    if first is not None:
        return [f"column {first!r} of {source.name} is read as how sure people were."]
    if "confidence" in source.columns:
        return [f"column 'confidence' of {source.name} is not used: whose it is, is not clear."]
    return []


def _classes(classes: ArrayLike) -> NDArray[Any]:
    given = as_column(classes)
    return given_classes(given, len(given))[0] if given.ndim == 1 else np.asarray(given)
