"""The options that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

#: The options that say which columns of a table are read, and how, as `twoheads.tables.scan` calls them.
READING = (
    "truth",
    "truth_column",
    "item",
    "human",
    "annotator",
    "model_columns",
    "model_scale",
    "normalise",
    "unsure",
)

Table = Annotated[Path | None, typer.Argument(help="CSV, TSV, Parquet or JSON lines; a folder or a pattern works too.")]
Team = Annotated[Path, typer.Argument(help="The team: a file that 'twoheads fit' wrote.")]
Answers = Annotated[
    Path | None, typer.Option("--answers", help="A table of its own with the people's answers.", metavar="FILE")
]
Model = Annotated[
    Path | None, typer.Option("--model", help="A table of its own with the model's rows.", metavar="FILE")
]
Truth = Annotated[
    str | None,
    typer.Option("--truth", help="The column of the truth, or a table of its own.", metavar="COLUMN|FILE"),
]
Item = Annotated[str | None, typer.Option("--item", help="The column of ids.", metavar="COLUMN")]
Human = Annotated[
    str | None, typer.Option("--human", help="The column(s) of people's answers, e.g. 'reader_*'.", metavar="COLUMN")
]
Annotator = Annotated[
    str | None, typer.Option("--annotator", help="The column that names the person, in --answers.", metavar="COLUMN")
]
TruthColumn = Annotated[
    str | None, typer.Option("--truth-column", help="The column of the truth, in a table of its own.", metavar="COLUMN")
]
Columns = Annotated[
    str | None,
    typer.Option("--model-columns", help="The model's columns, * for the class: 'score_*'.", metavar="PATTERN"),
]
Scale = Annotated[
    str | None, typer.Option("--model-scale", help="What they hold: probability, log or logit.", metavar="SCALE")
]
Unsure = Annotated[
    list[str] | None,
    typer.Option("--unsure", help="An answer that means 'unsure', beside that word; may be repeated.", metavar="TEXT"),
]
Normalise = Annotated[
    bool | None, typer.Option("--normalise", help="Divide the model's rows by their sums, as after rounding.")
]
Engine = Annotated[str, typer.Option("--engine", help="Where it is computed: local or dask.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", help="The address of a running Dask scheduler; without it, one starts here.", metavar="ADDRESS"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of what is drawn at random: bootstrap and folds.")]
