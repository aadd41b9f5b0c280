"""What all commands have: the options --json, --quiet and --log-level, and tables from stdin."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from twoheads.cli import console, stdin
from twoheads.cli.completion import among
from twoheads.cli.logs import LEVELS, logged, warnings_as_messages
from twoheads.cli.signatures import Command, option, parameters_of, with_signature

#: The options of every command, with their defaults.
SHARED: dict[str, tuple[Any, Any]] = {
    "json": (
        Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else, to stdout.")],
        False,
    ),
    "quiet": (
        Annotated[bool, typer.Option("--quiet", "-q", help="Print no messages and no progress; errors only.")],
        False,
    ),
    "log_level": (
        Annotated[
            str | None,
            typer.Option(
                "--log-level",
                help=f"Log to stderr from this level on: {', '.join(LEVELS)}.",
                metavar="LEVEL",
                autocompletion=among(LEVELS),
            ),
        ],
        None,
    ),
}


def command(function: Command) -> Command:
    """Give a command the shared options. What it returns is printed as JSON, if that is asked for."""

    def run(**values: Any) -> None:
        json, quiet, log_level = (values.pop(name) for name in SHARED)
        printed = console.mode(json=json, quiet=quiet)
        with printed, logged(log_level), warnings_as_messages(), stdin.spooled(values) as given:
            console.result(function(**given))

    shared = [option(name, annotation, default) for name, (annotation, default) in SHARED.items()]
    return with_signature(run, function, [*parameters_of(function), *shared])
