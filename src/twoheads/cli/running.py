"""Run a command: its exit code, and one message for whatever goes wrong."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import typer

from twoheads.cli import console, signals, streams
from twoheads.cli.app import app
from twoheads.cli.exit_codes import INTERRUPTED_ABOVE, MISTAKE, NOT_WRITTEN
from twoheads.cli.outputs import explained
from twoheads.engines.temporary import remove_leftovers
from twoheads.errors import TwoheadsError

#: What typer raises for a command line it cannot read; the class is that of the click it brings along.
_UsageError: Any = typer.BadParameter.__bases__[0]


def run(arguments: list[str]) -> int:
    """Run a command; exit code 0, 2 for a user's mistake with one message, 128 and its number for a signal."""
    try:
        # None, or the code that a command or an interruption exits with; the demo runs commands by `run`.
        remove_leftovers(Path(tempfile.gettempdir()))
        code = app(arguments, standalone_mode=False, obj=run)
        sys.stdout.flush()
    except _UsageError as error:
        error.show()
        return MISTAKE
    except (KeyboardInterrupt, typer.Abort):
        code = signals.exit_code()
    except TwoheadsError as error:
        if not signals.has_come():
            console.error(f"Error: {error}")
            return MISTAKE
        code = signals.exit_code()
    except BrokenPipeError:  # the reader of our output has closed it
        streams.silence()
        return NOT_WRITTEN
    except Exception as error:
        sentence = None if signals.has_come() else explained(error)
        if sentence is not None:
            console.error(f"Error: {sentence}")
            return MISTAKE
        if not signals.has_come():
            raise
        code = signals.exit_code()
    if code and code > INTERRUPTED_ABOVE:
        code = signals.exit_code()  # typer exits with 130 whatever the signal
        console.error("Interrupted; no partial file was left.")
    return int(code or 0)
