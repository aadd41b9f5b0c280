"""``twoheads check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twoheads import tables
from twoheads.cli import console
from twoheads.cli.completion import among
from twoheads.cli.outputs import check_output
from twoheads.cli.signatures import Result
from twoheads.cli.stdin import shown
from twoheads.tables.formats.registry import format_names, titles
from twoheads.text import count


def check(
    table: Annotated[Path, typer.Argument(help=f"{titles()}; a folder or a pattern works too.")],
    fix: Annotated[
        Path | None, typer.Option("--fix", help="Write a clean copy here, and list every change.", metavar="OUT")
    ] = None,
    positive: Annotated[
        str | None, typer.Option("--positive", help="The class that high scores mean.", metavar="CLASS")
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option("--truth", help="The column of the truth, if its name does not show it.", metavar="COLUMN"),
    ] = None,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human",
            help="A column of people's answers, or a pattern such as 'Dr *', if names do not show it; may be repeated.",
            metavar="COLUMN",
        ),
    ] = None,
    blank: Annotated[
        list[str] | None,
        typer.Option(
            "--blank",
            help="A text that means 'no answer' in columns of labels and would be read as a class; may be repeated.",
            metavar="TEXT",
        ),
    ] = None,
    unsure: Annotated[
        list[str] | None, typer.Option("--unsure", help="Another word for 'unsure'; may be repeated.", metavar="TEXT")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="The format, if the content does not show it.",
            metavar="NAME",
            autocompletion=among(format_names()),
        ),
    ] = None,
    sheet: Annotated[
        str | None, typer.Option("--sheet", help="The sheet, if a workbook has several.", metavar="NAME")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="The encoding of text that is not UTF-8.", metavar="NAME")
    ] = None,
) -> Result:
    """Look at a table: what each column holds, what is wrong with it, and the command to continue with.

    Nothing is changed, and fit guesses nothing: it takes these findings as options, or reads a clean copy.

    Example:  twoheads check readings.xlsx --fix clean.csv
    """
    found = tables.check(
        table,
        positive=positive,
        truth=truth,
        human=human or None,
        blank=blank or (),
        unsure=unsure or (),
        format=format,
        sheet=sheet,
        encoding=encoding,
    )
    if fix is not None:
        check_output(fix, found.files, option="--fix")
    counted = "row 1 is the first below the column names"
    console.line(f"{table}: {count(found.n_rows, 'row')} looked at ({counted}), {count(len(found.columns), 'column')}.")
    for line in found.sentences():
        console.line(f"  {line}")
    _print_list("Left out in reading:", list(found.notes))
    _print_list("Not clear:", found.doubts())
    _print_list("To correct by hand:", [*found.missing(), *found.findings.problem_sentences()])
    written = {} if fix is None else {"written": _write(found, fix)}
    if fix is None:
        _print_list("A clean copy (--fix) changes:", found.findings.change_sentences())
    else:
        _print_list(f"Changed in {fix}:", written["written"])
    commands = [shown(each, "-") for each in found.commands(fix)]
    if commands:
        console.line()
        console.line("When that is corrected, continue with:" if found.findings.blocks_fit else "Continue with:")
        for command in commands:
            console.line(command)
    return found.as_dict() | written | {"commands": commands}


def _write(found: tables.Check, output: Path) -> list[str]:
    """Write the clean copy; every change in a sentence."""
    findings = found.fix(output)
    renamed = [f"column {name!r} is called {new!r}." for name, new in found.renamed().items()]
    return [*renamed, *findings.change_sentences()]


def _print_list(title: str, sentences: list[str]) -> None:
    if sentences:
        console.line()
        console.line(title)
        for sentence in sentences:
            console.line(f"  - {sentence}")
