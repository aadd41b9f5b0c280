"""Results as they are shown in a terminal and in a notebook: short, whatever they hold."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

import numpy as np

#: Characters of a repr at most, and of one value in it.
LONGEST, _LONGEST_VALUE = 780, 120


class Shown:
    """A result with a short ``repr`` and a table for notebooks, made of `summary`.

    A dataclass keeps its own ``repr`` unless it is made with ``repr=False``.
    """

    def summary(self) -> dict[str, Any]:
        """What is shown, by name; the fields of a dataclass by default."""
        if is_dataclass(self):
            return {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={in_short(value)}" for name, value in self.summary().items())
        text = f"{type(self).__name__}({parts})"
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]}...)"

    def _repr_html_(self) -> str:
        return html_table(
            ["", type(self).__name__], [[name, in_short(value)] for name, value in self.summary().items()]
        )


def html_table(header: list[str], rows: list[list[str]]) -> str:
    """A table of texts."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def in_short(value: Any) -> str:
    """A value in a few characters: arrays and long lists by their size, numbers with four digits."""
    if isinstance(value, np.ndarray):
        return str(value.tolist()) if value.size <= 6 and value.ndim == 1 and value.dtype.kind != "f" else _array(value)
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, list | tuple | dict) and len(value) > 6:
        return f"{len(value):,} entries"
    text = _parts(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _array(value: Any) -> str:
    if value.ndim == 1 and value.size <= 6:
        return "[" + ", ".join(f"{each:.4g}" for each in value.tolist()) + "]"
    return f"array of shape {value.shape}"


def _parts(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {in_short(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(in_short(each) for each in value) + "]"
    if all(hasattr(value, end) for end in ("value", "low", "high")):
        return _score(value)
    return str(value) if isinstance(value, str) else repr(value)


def _score(score: Any) -> str:
    if score.low is None or score.high is None:
        return f"{score.value:.4g}"
    return f"{score.value:.4g} [{score.low:.4g}, {score.high:.4g}]"
