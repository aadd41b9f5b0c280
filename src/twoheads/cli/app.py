"""The application: its commands, each in a module of `twoheads.cli.commands`."""

from __future__ import annotations

from typing import Annotated

import typer

import twoheads as th
from twoheads.cli import console
from twoheads.cli.command import command
from twoheads.cli.commands.ask import ask
from twoheads.cli.commands.check import check
from twoheads.cli.commands.combine import combine
from twoheads.cli.commands.compare import compare
from twoheads.cli.commands.demo import demo
from twoheads.cli.commands.evaluate import evaluate
from twoheads.cli.commands.fit import fit
from twoheads.cli.commands.merge import merge
from twoheads.cli.commands.migrate import migrate
from twoheads.cli.commands.report import report
from twoheads.cli.commands.show import show
from twoheads.cli.commands.study import study
from twoheads.cli.commands.update import update
from twoheads.cli.help import Group

app = typer.Typer(
    name="twoheads",
    cls=Group,
    help="Combine people's answers with a model's predictions, with calibrated confidence.\n\n"
    "Start with:  twoheads demo",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

for each in (demo, check, fit, combine, evaluate, compare, report, ask, update, merge, migrate, show, study):
    app.command()(command(each))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        console.line(f"twoheads {th.__version__}")
        raise typer.Exit
