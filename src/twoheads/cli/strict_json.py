"""Results as strict JSON: numbers that are not finite are null."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from twoheads.cli.stdin import shown


def as_json(content: Any) -> str:
    """Content as JSON that any parser reads, in ASCII where stdout is not UTF-8."""
    is_utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
    return json.dumps(strict(content), indent=1, ensure_ascii=not is_utf8, allow_nan=False)


def strict(content: Any) -> Any:
    """Content of plain Python objects: NaN and infinity as None, numbers of NumPy as numbers, paths as text.

    Examples
    --------
    >>> strict({1: (0.5, float("nan"))})
    {'1': [0.5, None]}
    """
    if content is None or isinstance(content, bool | int):
        return content
    if isinstance(content, float):
        return float(content) if math.isfinite(content) else None
    if isinstance(content, str):
        # The names of files may hold halves of pairs, which UTF-8 cannot.
        return shown(content).encode("utf-8", "replace").decode("utf-8")
    if isinstance(content, Mapping):
        return {str(name): strict(value) for name, value in content.items()}
    if hasattr(content, "tolist"):
        return strict(content.tolist())
    return [strict(value) for value in content] if isinstance(content, Iterable) else str(content)
