"""The help of every command as a page of the documentation: ``python -m tools.help_texts`` writes it again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from twoheads.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "help.md"
WIDTH = 110


def page() -> str:
    """All help texts; `tests/docs` compares them with the page."""
    root: Any = typer.main.get_command(app)
    parts = ["# Help texts", "What `twoheads COMMAND --help` says. [The command line](command-line.md) explains it."]
    for name, command in root.commands.items():
        parts.append(f"## twoheads {name}\n\n```text\n{help_text(name, command)}\n```")
    return "\n\n".join(parts) + "\n"


def help_text(name: str, command: Any) -> str:
    """The help of one command as plain text, without colours and boxes, whatever the terminal."""
    context = command.context_class(
        command, info_name=f"twoheads {name}", terminal_width=WIDTH, max_content_width=WIDTH
    )
    formatter = context.make_formatter()
    command.format_usage(context, formatter)
    plain = type(command).__mro__[1]
    plain.format_help_text(command, context, formatter)
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    with formatter.section("Arguments and options"):
        formatter.write_dl([record for record in records if record is not None])
    return re.sub(r"[ \t]+$", "", formatter.getvalue().rstrip(), flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
