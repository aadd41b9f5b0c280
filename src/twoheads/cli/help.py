"""The help of the command line: descriptions are wrapped, never cut, and the exit codes are listed."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from twoheads.cli.exit_codes import MEANINGS


class Group(TyperGroup):
    """The commands, each with the whole first sentence of its description."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands."""
        rows = [(name, _first_sentence(self.commands[name].help or "")) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """List the exit codes, aligned."""
        with formatter.section("Exit codes"):
            formatter.write_dl(list(MEANINGS.items()))


def _first_sentence(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())
