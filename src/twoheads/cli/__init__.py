"""The command line: ``twoheads demo``, ``fit``, ``combine``, ``evaluate``, ``report``, ``ask``, ``show``, ``study``."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main() -> None:
    """Run the command line; a user's mistake gives one message and exit code 2, never a traceback."""
    from twoheads.cli import signals, streams
    from twoheads.cli.little_memory import guarded

    signals.catch()
    streams.complete()
    try:
        code = guarded(_run, sys.argv[1:])
    except KeyboardInterrupt:  # before the command line was ready
        print("Interrupted; no partial file was left.", file=sys.stderr)
        code = signals.exit_code()
    except BrokenPipeError:
        streams.silence()
        code = 1
    if code > 128:
        signals.ignore()
        # Python remembers that an exec, such as that of an import, was interrupted, and would end itself by SIGINT; an
        # eval that succeeds makes it forget.
        eval("None")
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    try:
        from twoheads.cli.running import run
        from twoheads.engines.memory import keep_freed_memory
    except (ImportError, MemoryError) as error:
        return _not_loaded(error)
    keep_freed_memory()
    return run(list(arguments))


def _not_loaded(error: ImportError | MemoryError) -> int:
    """The exit code for a package of the command line that is missing, or that does not fit into memory."""
    from twoheads.engines.room import lacks_room, no_room

    missing = (getattr(error, "name", None) or "").split(".")[0]
    if lacks_room(error):
        print(f"Error: {no_room('the command line could not start', error)}", file=sys.stderr)
    elif isinstance(error, ModuleNotFoundError) and missing in _PACKAGES:
        print(f"The command line needs {missing}; install it with: pip install 'twoheads[cli]'", file=sys.stderr)
    else:
        raise error
    return 2


_PACKAGES = ("typer", "rich", "click", "duckdb", "pyarrow", "matplotlib", "jinja2")
