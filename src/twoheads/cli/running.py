"""Run a command: its exit code, and one message for whatever goes wrong."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from twoheads.cli import console
from twoheads.cli.app import app
from twoheads.cli.exit_codes import INTERRUPTED, MISTAKE, OUTPUT_CLOSED
from twoheads.cli.outputs import explained
from twoheads.errors import TwoheadsError

#: What typer raises for a command line it cannot read; the class is that of the click it brings along.
_UsageError: Any = typer.BadParameter.__bases__[0]


def run(arguments: list[str]) -> int:
    """Run a command; exit code 0, 2 for a user's mistake with one message, 130 when interrupted."""
    try:
        # None, or the code that a command or an interruption exits with; the demo runs commands by `run`.
        code = app(arguments, standalone_mode=False, obj=run)
    except _UsageError as error:
        error.show()
        return MISTAKE
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except TwoheadsError as error:
        console.message(f"Error: {error}")
        return MISTAKE
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OUTPUT_CLOSED
    except Exception as error:
        sentence = explained(error)
        if sentence is None:
            raise
        console.message(f"Error: {sentence}")
        return MISTAKE
    if code == INTERRUPTED:
        console.message("Interrupted; no partial file was left.")
    return int(code or 0)
