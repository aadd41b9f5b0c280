"""Write the output of the examples of pages again, where results were meant to change.

``python -m tools.fill_examples docs/tutorial.md ...`` runs each page in an empty folder. Read the diff before
you commit it.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.docs import shell


def fill(page: Path) -> None:
    """Run a page and write what its examples print into it."""
    names: dict[str, Any] = {"__name__": "page"}
    shell.FILES.get(page.name, lambda: None)()

    def block(found: re.Match[str]) -> str:
        if found[1] == "python" and ">>> " in found[2]:
            return f"```python\n{_with_output(found[2], names)}```"
        if found[1] == "sh":
            _run_commands(found[2])
        return found[0]

    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"^```(\w+)\n(.*?)^```$", block, text, flags=re.MULTILINE | re.DOTALL), encoding="utf-8")


def _with_output(code: str, names: dict[str, Any]) -> str:
    parts = []
    for part in doctest.DocTestParser().parse(code):
        if isinstance(part, str):
            parts.append(part)
            continue
        first, *more = part.source.rstrip("\n").split("\n")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(part.source, "page", "single"), names)
        output = re.sub(r"^\s*$", "<BLANKLINE>", printed.getvalue().rstrip("\n"), flags=re.MULTILINE)
        lines = [f">>> {first}", *(f"... {line}".rstrip() for line in more), *([output] if printed.getvalue() else [])]
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def _run_commands(code: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        shell.run_block(code, long=False)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        chosen = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            fill(chosen)
        print(os.path.relpath(chosen))
