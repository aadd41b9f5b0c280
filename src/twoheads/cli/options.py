"""The options that commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from twoheads.cli.completion import among
from twoheads.cli.signatures import Command, Result, option, parameters_of, with_signature
from twoheads.cli.table_options import TableOptions
from twoheads.tables.formats.registry import format_names, titles

#: As in `twoheads.observations`, which takes too long to load for a help page.
SCALES = ("probability", "log", "logit")

Team = Annotated[Path, typer.Argument(help="The team: a file that 'twoheads fit' wrote.")]
Engine = Annotated[
    str,
    typer.Option("--engine", help="Where to compute: local or dask.", autocompletion=among(("local", "dask"))),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", help="The address of a running Dask scheduler; without it, one starts here.", metavar="ADDRESS"
    ),
]
ClassShares = Annotated[
    str | None,
    typer.Option(
        "--class-shares",
        help="Class shares of these items: learn (estimated), fit (as at fit), or a file with columns class and share.",
        metavar="learn|fit|FILE",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", help="Seconds to wait for workers if a Dask cluster has none; 60 by default.", metavar="SECONDS"
    ),
]
ForSpreadsheet = Annotated[
    bool,
    typer.Option("--for-spreadsheet", help="CSV: put ' before text that a spreadsheet would treat as a formula."),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics", help="Metrics such as kappa, auc, sensitivity or sensitivity[CLASS].", metavar="NAME,NAME,..."
    ),
]
Time = Annotated[
    str | None,
    typer.Option("--time", help="The column of the items' dates or times, for --window.", metavar="COLUMN"),
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the bootstrap and of the folds.")]


def _column(flag: str, text: str, metavar: str = "COLUMN", known: Iterable[str] | None = None) -> Any:
    complete = None if known is None else among(known)
    return Annotated[str | None, typer.Option(flag, help=text, metavar=metavar, autocompletion=complete)]


#: The files of a table.
FILES: dict[str, Any] = {
    "table": Annotated[Path | None, typer.Argument(help=f"{titles()}; a folder or a pattern works too; - is stdin.")],
    "answers": Annotated[
        Path | None, typer.Option("--answers", help="A separate table of the people's answers.", metavar="FILE")
    ],
    "model": Annotated[
        Path | None, typer.Option("--model", help="A separate table of the model's predictions.", metavar="FILE")
    ],
}
#: The options that name the columns of truth, and those of everything else; names as in `twoheads.tables.scan`.
TRUTH: dict[str, Any] = {
    "truth": _column("--truth", "The column of the truth, or a separate table of it.", "COLUMN|FILE"),
    "truth_column": _column("--truth-column", "The column of the truth in its separate table."),
}
COLUMNS: dict[str, Any] = {
    "item": _column("--item", "The column of ids."),
    "human": _column("--human", "The column(s) of people's answers, e.g. 'reader_*'."),
    "annotator": _column("--annotator", "The column that names the person, in --answers."),
    "model_columns": _column("--model-columns", "The model's columns, with * for the class: 'score_*'.", "PATTERN"),
    "model_scale": _column("--model-scale", "The scale of these columns: probability, log or logit.", "SCALE", SCALES),
    "positive": _column("--positive", "The class that high scores mean; a column score needs it.", "CLASS"),
    "unsure": Annotated[
        list[str] | None,
        typer.Option("--unsure", help="Another word for 'unsure'; may be repeated.", metavar="TEXT"),
    ],
    "loose_labels": Annotated[
        bool | None,
        typer.Option("--loose-labels", help="Accept labels that differ from a class only by case or blanks."),
    ],
    "normalise": Annotated[
        bool | None, typer.Option("--normalise", help="Divide the model's rows by their sums, as after rounding.")
    ],
}


#: How files are read; not saved with a team, as the next table may be of another format.
READING: dict[str, Any] = {
    "format": _column(
        "--format",
        f"The format, if the content does not show it: {', '.join(format_names())}.",
        "NAME",
        format_names(),
    ),
    "sheet": _column("--sheet", "The sheet, if a workbook has several.", "NAME"),
    "encoding": _column("--encoding", "The encoding of text that is not UTF-8, such as cp1252.", "NAME"),
    "question": _column("--question", "The question, if an export has several.", "NAME"),
}


def reads_table(*, truth: bool) -> Callable[[Command], Command]:
    """Give a command the options of a table; it receives them as one `TableOptions`, its parameter ``data``."""
    shared = FILES | (TRUTH if truth else {}) | COLUMNS | READING

    def decorate(command: Command) -> Command:
        def with_table(**values: Any) -> Result:
            files = {name: values.pop(name) for name in FILES}
            reading = {name: value for name in READING if (value := values.pop(name)) is not None}
            named = {name: values.pop(name) for name in shared if name in values}
            columns = {name: value for name, value in named.items() if value not in (None, [], ())}
            return command(**values, data=TableOptions(**files, columns=columns, reading=reading))

        options = [option(name, annotation) for name, annotation in shared.items()]
        parameters = [[each] if each.name != "data" else options for each in parameters_of(command)]
        return with_signature(with_table, command, [each for part in parameters for each in part])

    return decorate
