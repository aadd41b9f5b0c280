"""Plain Python objects that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn arrays, NumPy numbers and dataclasses into lists, numbers and dicts; what is not finite becomes None."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if isinstance(value, np.ndarray):
        return [plain(entry) for entry in value.tolist()]
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return plain_dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return repr(value)


def plain_dict(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a dict."""
    return {str(key): plain(entry) for key, entry in content.items()}
