"""The files of a table and of separate answers and truth, as the options of `scan` name them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.tables.exports import Opened, Opener, without_authors
from twoheads.tables.formats.source import Source
from twoheads.tables.schema import roles

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Sources:
    """The files of each table that the options of `scan` name.

    table             a row per item, or per item and model
    answers, truth    separate tables
    truth_column      the column of the true class in ``table``; None for the one by convention
    truth_in_answers  the column of the true class in ``answers``
    notes             what was left out in reading
    """

    table: Source | None
    answers: Source | None
    truth: Source | None = None
    truth_column: str | None = None
    truth_in_answers: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        table: PathLike | None,
        answers: PathLike | None,
        model: PathLike | None,
        truth: PathLike | None,
        truth_column: str | None,
        opener: Opener,
    ) -> Sources:
        """The tables that the options of `scan` name."""
        if table is not None and model is not None:
            raise InvalidObservations("Give table or model (--model), not both: they are the same thing.")
        path = table if table is not None else model
        if path is None and answers is None:
            raise InvalidObservations("Give a table, or answers (--answers), or both answers and model (--model).")
        rows = Opened() if path is None else opener.open(path, "table" if model is None else "model")
        people = Opened() if answers is None else opener.open(answers, "answers")
        own, notes = rows.beside(people)
        if own.truth and not (own.rows or own.answers):
            raise InvalidObservations(
                f"{own.truth.name} must hold answers or predictions; it holds only the truth. Give it with "
                "truth (--truth) together with them, or to twoheads update."
            )
        found = cls(own.rows, own.answers, own.truth, notes=notes)
        return found._with_truth(truth, truth_column, opener)

    def check_sheet(self, sheet: str | None) -> None:
        """Refuse the name of a sheet if no file is a workbook."""
        files = [file for source in (self.table, self.answers, self.truth) if source for file in source.files]
        if sheet is not None and not any(file.has_sheets for file in files):
            raise InvalidParameter(
                f"sheet (--sheet) names a sheet of a workbook; {files[0].path} is none. Leave it out."
            )

    def _with_truth(self, truth: PathLike | None, truth_column: str | None, opener: Opener) -> Sources:
        """``truth`` is a column of the table, one of the answers, or a file."""
        in_table = self.table.columns if self.table else ()
        in_answers = self.answers.columns if self.answers else ()
        if truth is None:
            own = "truth" if "truth" in in_answers and "truth" not in in_table else None
            return replace(self, truth_column=truth_column, truth_in_answers=own)
        name = os.fspath(truth)
        if name in in_table:
            return replace(self, truth_column=name)
        if name in in_answers:
            return replace(self, truth_in_answers=name)
        if not self.table or _looks_like_a_file(name):
            opened = opener.open(truth, "truth")
            if opened.truth is None:
                raise InvalidObservations(f"truth must name a file that holds the truth; {name} holds none.")
            answers, notes = without_authors(self.answers, opened.authors)
            return replace(self, truth=opened.truth, answers=answers, notes=(*self.notes, *opened.notes, *notes))
        what = f"the column {name!r} that truth (--truth) names, if it is not a file"
        raise roles.missing(in_table, self.table.name, what, "truth", (name, "truth"))


def _looks_like_a_file(name: str) -> bool:
    return os.path.exists(name) or os.sep in name or bool(Path(name).suffix) or "*" in name
