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


def need_declared_parameters(part: Any) -> None:
    """Refuse an estimator with a parameter of another type than the declared one; a whole number is a float too."""
    cls: Any = type(part)
    for name, hint in _parameters(cls).items():
        value = getattr(part, name)
        fine = is_of(value, hint) or is_of(_as_floats(value), hint)
        need(fine, f"the {name} of its {type(part).__name__} is not of the type that it needs")
        positive = not name.endswith("_sd") or isinstance(value, tuple) or value > 0
        need(positive, f"the {name} of its {type(part).__name__} is not positive")


def _as_floats(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_as_floats, value))
    return float(value) if type(value) is int and abs(value) < 1 << 53 else value


@cache
def _parameters(cls: Any) -> dict[str, Any]:
    """The types of parameters that are plain: numbers, texts and tuples of them; others are checked where they are."""
    hints = get_type_hints(cls.__init__)
    return {name: hint for name, hint in hints.items() if name != "return" and _is_plain(hint)}


def _is_plain(hint: Any) -> bool:
    parts = get_args(hint)
    plain = hint in (int, float, bool, str, type(None), ...)
    return plain or (bool(parts) and get_origin(hint) in (Union, types.UnionType, tuple) and all(map(_is_plain, parts)))


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
