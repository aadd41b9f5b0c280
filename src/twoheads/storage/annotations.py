"""Whether a value that was read is of the type that a dataclass declares for it."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from twoheads.storage.damage import need


def need_declared_types(value: Any) -> None:
    """Refuse an object of a dataclass, or one inside it, with a field of another type than the declared one."""
    if not is_dataclass(value) or isinstance(value, type):
        return
    hints = _hints(type(value))
    for field in fields(value):
        entry = getattr(value, field.name)
        fine = is_of(entry, hints[field.name])
        need(fine, f"the {field.name} of its {type(value).__name__} is not of the type that it needs")
        for inner in entry if isinstance(entry, tuple) else (entry,):
            need_declared_types(inner)


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type.

    Examples
    --------
    >>> is_of((1.0, 2.0), tuple[float, ...]), is_of((1.0, "x"), tuple[float, ...]), is_of(None, float | None)
    (True, False, True)
    """
    if hint is Any:
        return True
    origin, parts = get_origin(hint), get_args(hint)
    if hasattr(origin, "__value__"):  # an alias made by ``type``, as NumPy's NDArray is where Python has these
        return is_of(value, origin.__value__[parts])
    if origin in (Union, types.UnionType):
        return any(is_of(value, part) for part in parts)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype.kind == np.dtype(get_args(parts[1])[0]).kind
    if origin is tuple:
        wanted = parts[:1] * len(value) if parts[1:] == (...,) and isinstance(value, tuple) else parts
        return isinstance(value, tuple) and len(value) == len(wanted) and all(map(is_of, value, wanted))
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if hint in (int, float, bool, str):
        return type(value) is hint
    return isinstance(value, type(None) if hint is None else origin or hint)
