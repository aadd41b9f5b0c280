"""Check a table: what it holds, what is wrong with it, a clean copy, and the command to continue with."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from twoheads.tables.checking.cells import label_key
from twoheads.tables.checking.classes import in_order
from twoheads.tables.checking.cleaning import ABOVE, NOT_A_NUMBER, Cleaner, Findings
from twoheads.tables.checking.command import (
    clean_name,
    fit_options,
    new_names,
    reading_options,
    table_arguments,
    value_options,
)
from twoheads.tables.checking.copying import clean_batches
from twoheads.tables.checking.doubts import doubts
from twoheads.tables.checking.guess import Guess, guess_roles
from twoheads.tables.checking.meanings import Meanings
from twoheads.tables.checking.named import Named
from twoheads.tables.checking.positive import positive_class
from twoheads.tables.checking.profile import MOST_ROWS, Profile, profiles
from twoheads.tables.checking.refusals import refuse_answers_of_label_studio, refuse_export
from twoheads.tables.checking.repeats import Repeats
from twoheads.tables.checking.table_rows import TableRows, sum_to_1
from twoheads.tables.duckdb import pa
from twoheads.tables.formats.opening import AS_IT_IS, Reading
from twoheads.tables.formats.source import Source
from twoheads.tables.schema.roles import annotator_columns, named
from twoheads.tables.writing import write
from twoheads.text import listed


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
    given : tuple of str
        The options that name columns of people and of the truth, and texts that mean "no answer" or "unsure".
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
    given: tuple[str, ...] = ()

    @property
    def unused(self) -> list[str]:
        """The columns without a role."""
        return [name for name in self.columns if name not in self.roles.used and name not in self.roles.groups]

    @property
    def needs_copy(self) -> bool:
        """Whether the table can only be fitted from a clean copy."""
        return self.findings.needs_copy or fit_options(self.roles, self.columns) is None

    def sentences(self) -> list[str]:
        """What each column would be read as, a line each."""
        roles, people = self.roles, listed(list(self.roles.people.values())) or "none found"
        lines = [("items", roles.item or "rows have no id"), ("people", people)]
        if roles.grades:
            of_grades = ("people", f"grades or scores: {listed(list(roles.grades.values()))}; {self._high()}")
            lines = [*(lines if roles.people else lines[:-1]), of_grades]
        lines += [("named by", roles.annotator)] if roles.annotator else []
        for name, columns in roles.models.items():
            what = {"log": "log-probabilities", "logit": "logits"}.get(roles.shares.scale, "probabilities")
            percent = " (in per cent)" if roles.shares.percent else ""
            lines.append((f"model {name}", f"{what}{percent}: {listed(list(columns.values()))}"))
        for name, column in roles.scores.items():
            lines.append((f"model {name}", f"a score: {column}; {self._high()}"))
        lines += [(f"model {name}", f"labels: {column}") for name, column in roles.labellers.items()]
        lines += [("confidence", column) for column in roles.confidence.values()]
        lines.append(("truth", self._truth() or "none found"))
        lines += [("groups", f"{listed(list(roles.groups))} (not used in a fit)")] if roles.groups else []
        lines += [("not used", listed([self._unused_text(name) for name in self.unused]))] if self.unused else []
        lines.append(("classes", listed(in_order(roles.classes)) or "none found"))
        lines += [("unsure", listed([repr(text) for text in roles.meanings.unsure]))] if roles.meanings.unsure else []
        width = max(12, *(len(what) + 1 for what, _ in lines))
        return [f"{what:<{width}} {text}" for what, text in lines]

    def _unused_text(self, name: str) -> str:
        why = (self.roles.reasons | self.roles.undecided).get(name)
        return f"{name} ({why})" if why else name

    def _high(self) -> str:
        positive = self.roles.positive
        return f"high means {positive!r}" if positive else "which class high means is not clear"

    def _truth(self) -> str:
        truth = self.roles.truth
        if truth is None:
            return ""
        of, minus = self.profiles[truth], {"-1"} - set(self.roles.classes)
        off = {text: n for text, n in of.spellings.items() if self.roles.is_nothing(truth, text) or text in minus}
        on = {text: n for text, n in of.nothings.items() if not self.roles.is_nothing(truth, text)}
        n_known = of.n_known - sum(off.values()) + sum(on.values())
        return f"{truth} (known for {n_known:,} of {self.n_rows:,})"

    def missing(self) -> list[str]:
        """What the table lacks to be fitted, a sentence each."""
        roles, found = self.roles, []
        if not (roles.people or roles.grades or roles.labellers or roles.scores):
            remedy = "name it human, or human_<name> for each person, and add a blank one if nobody was asked."
            found.append(f"No column of people's answers was found; {remedy}")
        if len(roles.classes) < 2:
            found.append("Fewer than two classes were found in the columns of answers, truth and probabilities.")
        if (roles.is_people_alone or roles.annotator) and roles.item is None:
            found.append("No column of ids was found; people's answers without a model need one, named item.")
        if roles.score_columns and roles.positive is None:
            found.append("Which class a high score means is not clear; name it with --positive CLASS.")
        return found

    def doubts(self) -> list[str]:
        """What names do not show, and a wrong guess would spoil, a sentence each."""
        return doubts(self.roles, self.profiles, self.findings.unclear, self.n_rows, self.path, self._again())

    def _again(self) -> list[str]:
        return ["twoheads", "check", self.path, *self.given, *reading_options(self.how)]

    def commands(self, clean: str | os.PathLike[str] | None = None) -> list[str]:
        """The commands to continue with; ``clean`` is the clean copy, where there is one already."""
        if self.missing():
            return []
        if clean is None and not self.needs_copy:
            options = fit_options(self.roles, self.columns)
            assert options is not None
            fit = ["twoheads", "fit", *table_arguments(self.roles, self.path), *options, *reading_options(self.how)]
            return [shlex.join([*fit, "-o", "team.json"])]
        copy = os.fspath(clean) if clean is not None else clean_name(self.path)
        fit = ["twoheads", "fit", *table_arguments(self.roles, copy), *value_options(self.roles), "-o", "team.json"]
        again = [*self._again(), "--fix", copy]
        return [*([] if clean is not None else [shlex.join(again)]), shlex.join(fit)]

    def fix(self, output: str | os.PathLike[str]) -> Findings:
        """Write a clean copy, with the columns that twoheads knows; returns every change and what is left to mend."""
        table = TableRows.of(Source.open(self.path, "table", self.how))
        repeats = Repeats.of(table, self.roles.item if self.roles.annotator is None else None)
        cleaner = _cleaner(table, self.roles, self.profiles, repeats)
        names = new_names(self.roles, self.columns)
        texts = {column for column, kind in self.findings.problems if kind == NOT_A_NUMBER}
        numbers = {*self.roles.share_columns, *self.roles.score_columns, *self.roles.confidence.values()}
        schema = pa.schema(
            [(names[name], pa.float64() if name in numbers - texts else pa.string()) for name in table.columns]
        )
        write(output, clean_batches(table, cleaner, schema))
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
            "grades": roles.grades,
            "labels_of_models": roles.labellers,
            "positive": roles.positive,
            "confidence": roles.confidence,
            "truth": roles.truth,
            "groups": list(roles.groups),
            "not_used": self.unused,
            "classes": in_order(roles.classes),
            "changes": self.findings.change_sentences(),
            "to_mend": [*self.missing(), *self.findings.problem_sentences()],
            "doubts": self.doubts(),
            "commands": self.commands(),
        }


def check(
    table: str | os.PathLike[str],
    *,
    positive: str | None = None,
    truth: str | None = None,
    human: str | Sequence[str] | None = None,
    blank: str | Sequence[str] = (),
    unsure: str | Sequence[str] = (),
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
    truth : str, optional
        The column of the truth, where its name does not show it.
    human : str or sequence of str, optional
        The columns of people's answers, or a pattern such as ``"Dr *"``, where their names do not show them.
    blank : str or sequence of str
        Texts that mean "no answer" in columns of labels, where a fit would read them as classes.
    unsure : str or sequence of str
        Answers that mean "unsure", besides that word itself, in any case; the command that fits has them too.
    format, sheet, encoding : str, optional
        How the file is read, as in `scan`.
    """
    how = Reading(format, sheet, encoding)
    refuse_export(table, how)
    source, where = Source.open(table, "table", how), os.fspath(table)
    if human is None:
        refuse_answers_of_label_studio(source, where)
    rows = TableRows.of(source)
    people = [] if human is None else list(annotator_columns(rows.columns, where, human).values())
    true = None if truth is None else named(rows.columns, where, truth, "truth")
    content = profiles(rows)
    if not content or not content[0].n_rows:
        raise source.need_rows()
    by_name = {each.name: each for each in content}
    meanings = Meanings.of(blank, unsure)
    known = true, people, Named.of(content, true, human), meanings
    roles = guess_roles(content, *known)
    off = {name for name in roles.share_columns if label_key(name) in roles.classes}
    if off and not sum_to_1(rows, off):  # columns that are only called as the classes are
        roles = guess_roles([each for each in content if each.name not in off], *known)
    of_models = [label for columns in roles.models.values() for label in columns]
    meanings.check_in(roles.truth, [by_name[name] for name in roles.label_columns], of_models)
    if roles.score_columns:
        roles = replace(roles, positive=positive_class(rows, roles, positive))
    cleaner = _cleaner(rows, roles, by_name)
    for batch in rows:
        for _ in cleaner.clean(batch):
            pass
        if cleaner.findings.n_rows >= MOST_ROWS:
            break
    findings, notes, files = cleaner.findings, tuple(source.notes), tuple(file.path for file in source.files)
    texts = [human] if isinstance(human, str) else human or []
    given = [text for each in texts for text in ("--human", each)] + ([] if truth is None else ["--truth", truth])
    given += meanings.options()
    return Check(where, files, findings.n_rows, rows.columns, roles, findings, by_name, how, notes, tuple(given))


def _cleaner(table: TableRows, roles: Guess, by_name: dict[str, Profile], repeats: Repeats | None = None) -> Cleaner:
    """What cleans the rows of a table; rows above the column names are counted as dropped."""
    cleaner = Cleaner(table.columns, roles, by_name, table.source.decimal, repeats)
    for row in range(1, table.n_above + 1):
        cleaner.findings.changed("", ABOVE, "", row=row)
    return cleaner
