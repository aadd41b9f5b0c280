"""An extension of Griffe: formulas of docstrings in the form that the site's pages use."""

from __future__ import annotations

import re
from typing import Any

import griffe


class DocstringMath(griffe.Extension):
    """Writes ``:math:`x``` as ``$x$`` and a ``.. math::`` block as ``$$``."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring:
            obj.docstring.value = in_markdown(obj.docstring.value)


def in_markdown(text: str) -> str:
    """A docstring with formulas in Markdown.

    >>> in_markdown(":math:`a_1`, and``b``")
    '$a_1$, and`b`'
    """
    text = re.sub(r":math:`([^`]+)`", r"$\1$", text)
    text = re.sub(r"^\.\. math::\s*(.+(?:\n +\S.*)*)", _block, text, flags=re.MULTILINE)
    return text.replace("``", "`")


def _block(found: re.Match[str]) -> str:
    return "$$\n" + " ".join(line.strip() for line in found[1].splitlines()) + "\n$$"
