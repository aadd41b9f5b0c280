"""Running a command: its exit code, and one message for whatever goes wrong."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from twoheads.cli import say
from twoheads.cli.app import app
from twoheads.cli.outputs import system_error
from twoheads.errors import TwoheadsError

INTERRUPTED = 130
#: What typer raises for a command line it cannot read; the class is that of the click it brings along.
_UsageError: Any = typer.BadParameter.__bases__[0]


def run(arguments: list[str]) -> int:
    """Run a command; exit code 0, 2 for a user's mistake with one message, 130 when interrupted."""
    try:
        code = app(arguments, standalone_mode=False)  # None, or the code that a command or an interruption exits with
    except _UsageError as error:
        error.show()
        return 2
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except TwoheadsError as error:
        say.words(f"Error: {error}")
        return 2
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        say.words(f"Error: {system_error(error)}")
        return 2
    if code == INTERRUPTED:
        say.words("Interrupted; nothing was left half-written.")
    return int(code or 0)
