"""Check a table: what it holds, what is wrong with it, a clean copy, and the command to go on with."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from twoheads.errors import InvalidObservations
from twoheads.tables.checking.cells import number_in
from twoheads.tables.checking.cleaning import NOT_A_NUMBER, Cell, Cleaner, Findings
from twoheads.tables.checking.command import (
    clean_name,
    fit_options,
    new_names,
    positive_option,
    reading_options,
    table_arguments,
)
from twoheads.tables.checking.guess import Guess, guess_roles, in_order
from twoheads.tables.checking.profile import MOST_ROWS, Profile, profiles, rows_as_text
from twoheads.tables.checking.repeats import Repeats
from twoheads.tables.duckdb import pa
from twoheads.tables.export_files import export_at
from twoheads.tables.formats.opening import AS_IT_IS, Reading
from twoheads.tables.formats.source import Source
from twoheads.tables.writing import write
from twoheads.text import did_you_mean, listed, spelling


@dataclass(frozen=True)
class Check:
    """What was found in a table.

    Attributes
    ----------
    path : str
    files : tuple of Path
        The files that were read.
    n_rows : int
        Rows that were looked at.
    roles : Guess
        The columns by their role.
    findings : Findings
        What a clean copy changes, and what its owner must mend.
    how : Reading
        How the file is read.
    notes : tuple of str
        What was left out in reading it.
    """

    path: str
    files: tuple[Path, ...]
    n_rows: int
    columns: tuple[str, ...]
    roles: Guess
    findings: Findings
    profiles: dict[str, Profile]
    how: Reading = AS_IT_IS
    notes: tuple[str, ...] = ()

    @property
    def unused(self) -> list[str]:
        """The columns without a role."""
        return [name for name in self.columns if name not in self.roles.used and name not in self.roles.groups]

    @property
    def needs_copy(self) -> bool:
        """Whether the table can only be fitted from a clean copy."""
        return bool(self.findings.changes) or fit_options(self.roles, self.columns) is None

    def sentences(self) -> list[str]:
        """What each column would be read as, a line each."""
        roles, lines = self.roles, []
        lines.append(("items", roles.item or "rows have no id"))
        lines.append(("people", listed(list(roles.people.values())) or "none found"))
        if roles.annotator:
            lines.append(("named by", roles.annotator))
        for name, columns in roles.models.items():
            lines.append((f"model {name}", f"probabilities: {listed(list(columns.values()))}"))
        for name, column in roles.scores.items():
            high = f"high means {roles.positive!r}" if roles.positive else "which class high means is not clear"
            lines.append((f"model {name}", f"a score: {column}; {high}"))
        for name, column in roles.labellers.items():
            lines.append((f"model {name}", f"labels: {column}"))
        lines += [("confidence", column) for column in roles.confidence.values()]
        lines.append(("truth", self._truth() or "none found"))
        if roles.groups:
            lines.append(("groups", f"{listed(list(roles.groups))} (not used in a fit)"))
        if self.unused:
            lines.append(("not used", listed([self._unused_text(name) for name in self.unused])))
        lines.append(("classes", listed(in_order(roles.classes)) or "none found"))
        return [f"{what:<12} {text}" for what, text in lines]

    def _unused_text(self, name: str) -> str:
        why = f" (a score needs two classes; there are {len(self.roles.classes)})"
        return name + (why if name in self.roles.lost_scores else "")

    def _truth(self) -> str:
        truth = self.roles.truth
        return f"{truth} (known for {self.profiles[truth].n_known:,} of {self.n_rows:,})" if truth else ""

    def missing(self) -> list[str]:
        """What the table lacks to be fitted, a sentence each."""
        roles, found = self.roles, []
        if not roles.people:
            found.append("No column of people's answers was found; name it human, or human_<name> for each person.")
        if len(roles.classes) < 2:
            found.append("Fewer than two classes were found in the columns of answers, truth and probabilities.")
        if roles.is_people_alone and roles.item is None:
            found.append("No column of ids was found; people's answers without a model need one, named item.")
        if roles.scores and roles.positive is None:
            found.append("Which class a high score means is not clear; name it with --positive CLASS.")
        return found

    def commands(self, clean: str | os.PathLike[str] | None = None) -> list[str]:
        """The commands to go on with; ``clean`` is the clean copy, where there is one already."""
        if self.missing():
            return []
        if clean is None and not self.needs_copy:
            options = fit_options(self.roles, self.columns)
            assert options is not None
            fit = ["twoheads", "fit", *table_arguments(self.roles, self.path), *options, *reading_options(self.how)]
            return [shlex.join([*fit, "-o", "team.json"])]
        copy = os.fspath(clean) if clean is not None else clean_name(self.path)
        fit = ["twoheads", "fit", *table_arguments(self.roles, copy), *positive_option(self.roles), "-o", "team.json"]
        again = ["twoheads", "check", self.path, *reading_options(self.how), "--fix", copy]
        return [*([] if clean is not None else [shlex.join(again)]), shlex.join(fit)]

    def fix(self, output: str | os.PathLike[str]) -> Findings:
        """Write a clean copy, with the columns that twoheads knows; returns every change and what is left to mend."""
        source = Source.open(self.path, "table", self.how)
        repeats = Repeats.of(source, self.roles.item if self.roles.annotator is None else None)
        cleaner = Cleaner(source.columns, self.roles, self.profiles, repeats)
        names = new_names(self.roles, self.columns)
        texts = {column for column, kind in self.findings.problems if kind == NOT_A_NUMBER}
        numbers = {*self.roles.share_columns, *self.roles.scores.values(), *self.roles.confidence.values()}
        schema = pa.schema(
            [(names[name], pa.float64() if name in numbers - texts else pa.string()) for name in source.columns]
        )
        write(output, _batches(source, cleaner, schema))
        return cleaner.findings

    def renamed(self) -> dict[str, str]:
        """The columns that have another name in a clean copy."""
        names = new_names(self.roles, self.columns)
        return {name: new for name, new in names.items() if name != new}

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects that JSON can hold."""
        roles = self.roles
        return {
            "table": self.path,
            "n_rows": self.n_rows,
            "notes": list(self.notes),
            "item": roles.item,
            "people": roles.people,
            "annotator": roles.annotator,
            "models": roles.models,
            "scores": roles.scores,
            "labels_of_models": roles.labellers,
            "positive": roles.positive,
            "confidence": roles.confidence,
            "truth": roles.truth,
            "groups": list(roles.groups),
            "not_used": self.unused,
            "classes": in_order(roles.classes),
            "changes": self.findings.change_sentences(),
            "to_mend": [*self.missing(), *self.findings.problem_sentences()],
            "commands": self.commands(),
        }


def check(
    table: str | os.PathLike[str],
    *,
    positive: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
) -> Check:
    """Look at a table: what each column holds, what is wrong, and how to go on.

    Nothing is changed. Columns are recognised by their names and by their content; a fit never guesses: it takes what
    is found here as options, or a clean copy (`Check.fix`).

    Parameters
    ----------
    table : path
        A file, a folder or a pattern, as for `scan`.
    positive : str, optional
        The class that high scores mean, where a model gives one score.
    format, sheet, encoding : str, optional
        How the file is read, as in `scan`.
    """
    how = Reading(format, sheet, encoding)
    _refuse_export(table, how)
    source = Source.open(table, "table", how)
    content = profiles(source)
    by_name = {each.name: each for each in content}
    roles = guess_roles(content)
    if not content or not content[0].n_rows:
        raise source.need_rows()
    if roles.scores:
        roles = replace(roles, positive=_positive_class(source, roles, positive))
    cleaner = Cleaner(source.columns, roles, by_name)
    for rows in rows_as_text(source):
        for _ in cleaner.clean(rows):
            pass
        if cleaner.findings.n_rows >= MOST_ROWS:
            break
    findings, notes = cleaner.findings, tuple(source.notes)
    files = tuple(file.path for file in source.files)
    return Check(os.fspath(table), files, findings.n_rows, source.columns, roles, findings, by_name, how, notes)


def _refuse_export(table: str | os.PathLike[str], how: Reading) -> None:
    """Refuse an export, which has no columns to recognise, with the command that reads it."""
    known = export_at(table, "table", how)
    if known is not None:
        command = shlex.join(["twoheads", "fit", os.fspath(table), "-o", "team.json"])
        raise InvalidObservations(
            f"{os.fspath(table)} is an export of {known.title}, whose answers, predictions and truth are read as they "
            f"are: there are no columns to check. Go on with: {command}"
        )


def _positive_class(source: Source, roles: Guess, given: str | None) -> str | None:
    """The class that high scores mean: the one given, named as such, or with the higher mean score among the labels."""
    if given is not None:
        if spelling(given) not in roles.classes:
            raise InvalidObservations(
                f"positive (--positive) must be one of the classes {listed(in_order(roles.classes))}; it is {given!r}."
                f"{did_you_mean(given, roles.classes.values())}"
            )
        return roles.classes[spelling(given)]
    place = {name: at for at, name in enumerate(source.columns)}
    score, labels = place[next(iter(roles.scores.values()))], [place[name] for name in roles.label_columns]
    sums = {name: np.zeros(2) for name in roles.classes.values()}
    for rows in rows_as_text(source):
        for row in rows:
            number = number_in(row[score] or "")
            label = next((found for at in labels if (found := roles.classes.get(spelling(row[at] or "")))), None)
            if number is not None and label is not None:
                sums[label] += (number.value, 1.0)
        break  # the first batch is enough
    means = {name: total / n for name, (total, n) in sums.items() if n >= 5}
    if len(means) < 2 or len(set(means.values())) < 2:
        return roles.positive
    return max(means, key=means.__getitem__)


def _batches(source: Source, cleaner: Cleaner, schema: Any) -> Iterator[Any]:
    """The clean rows as record batches, at least one."""
    wrote = False
    for rows in rows_as_text(source):
        cleaned = list(cleaner.clean(rows))
        if cleaned or not wrote:
            wrote = True
            columns = zip(*cleaned, strict=True) if cleaned else ([] for _ in schema)
            arrays = [_array(cells, field) for cells, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(cells: Iterable[Cell], field: Any) -> Any:
    if field.type == pa.string():
        return pa.array([None if cell is None else str(cell) for cell in cells], field.type)
    found = list(cells)
    text = next((cell for cell in found if isinstance(cell, str)), None)
    if text is not None:  # further down than the rows that were looked at
        raise InvalidObservations(
            f"column {field.name!r} must hold numbers; a row after the first {MOST_ROWS:,} has {text[:80]!r}. Mend it."
        )
    return pa.array(found, field.type)
