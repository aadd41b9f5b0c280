"""The command line: ``twoheads demo``, ``fit``, ``combine``, ``evaluate``, ``report``, ``ask``, ``show``, ``study``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; a user's mistake gives one message and exit code 2, never a traceback."""
    try:
        from twoheads.cli.running import run
        from twoheads.engines.memory import keep_freed_memory

        keep_freed_memory()
        code = run(sys.argv[1:])
    except ImportError as error:
        missing = (error.name or "").split(".")[0]
        if missing not in ("typer", "rich", "click", "duckdb", "pyarrow", "matplotlib", "jinja2"):
            raise
        print(f"The command line needs {missing}; install it with: pip install 'twoheads[cli]'", file=sys.stderr)
        sys.exit(2)
    sys.exit(code)
