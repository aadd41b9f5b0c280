"""Fitted objects as versioned JSON, by registered class name; never pickle."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from twoheads.errors import InvalidArtifact, MissingArtifact
from twoheads.observations.labels import in_order
from twoheads.storage.atomic import atomic_write
from twoheads.storage.damage import Damaged, need
from twoheads.storage.packing import pack, unpack
from twoheads.storage.restorable import Restorable

FORMAT = "twoheads"
#: The attribute that is written beside the object, so that its checksum does not depend on when it was made.
HISTORY = "history_"
VERSION = 13

_registry: dict[str, type] = {}
Check = Callable[[Any], None]
_checks: list[tuple[type, Check]] = []
Class = TypeVar("Class", bound=type)

_DTYPE = re.compile(r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>|]U\d{1,6}|object")
_MANY = 10_000  # numbers: a longer array is packed
_NO_HISTORY = "its history is not a list of entries"
_REMEDY = "Give a file that save() or 'twoheads fit' wrote."
_PLAIN = (bool, int, float, str)


def register(cls: Class) -> Class:
    """Class decorator: its objects can be saved, with their parameters and the fitted attributes that end in ``_``."""
    _registry[cls.__name__] = cls
    return cls


def save(fitted: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted object as JSON, atomically.

    The file has the permissions of any new file and holds a checksum of its content.

    Raises
    ------
    CannotWrite
        If the file cannot be written.
    """
    content = _encode(fitted)
    document = {"format": FORMAT, "version": VERSION, "sha256": _checksum(content), "object": content}
    if history := getattr(fitted, HISTORY, None):
        document |= {"history": history, "object": document.pop("object")}  # last: it is long
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file of `save`, with every number to the bit. Nothing in the file is executed."""
    document = read_document(path)
    _need_version(document, path)
    try:
        need("object" in document, "it has no object")
        content = document["object"]
        need(document.get("sha256") == _checksum(content), "its content does not match its checksum")
        need(isinstance(content, dict) and "class" in content, "its object is not an estimator")
        made, history = _checked(_decode(content)), document.get("history", [])
        need(isinstance(history, list) and all(isinstance(entry, dict) for entry in history), _NO_HISTORY)
        vars(made).update({HISTORY: history} if history else {})
        return made
    except (Damaged, RecursionError) as error:
        raise InvalidArtifact(f"{path} is damaged: {' '.join(str(error).split())}. Save the team again.") from None
    except InvalidArtifact as error:
        raise InvalidArtifact(f"{path}: {error}") from None


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The document in a file of `save`, of any version; nothing in it is checked yet."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise _missing(Path(path)) from None
    except OSError as error:
        raise InvalidArtifact(f"{path} cannot be read ({error.strerror}). {_REMEDY}") from None
    except (ValueError, RecursionError, Damaged) as error:
        raise InvalidArtifact(f"{path} is damaged: not valid JSON ({error}). Save the team again.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidArtifact(f"{path} is not a saved team of twoheads. {_REMEDY}")
    return document


def is_older(document: dict[str, Any]) -> bool:
    """Whether a document is of an older version."""
    version = document.get("version")
    return type(version) is int and version < VERSION


def _need_version(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    version = document.get("version")
    if version == VERSION and not isinstance(version, bool):
        return
    older, newer = f"Bring it up to date: twoheads migrate {path}", "Install the twoheads that wrote it."
    remedy = older if is_older(document) else newer
    raise InvalidArtifact(f"{path} is of version {version!r}; this twoheads reads version {VERSION}. {remedy}")


def decoded(content: Any) -> Any:
    """A value inside a document, as `save` has encoded it; None if it is not there or damaged."""
    try:
        return _decode(content)
    except (Damaged, InvalidArtifact, RecursionError):
        return None


def check_on_load(cls: type) -> Callable[[Check], Check]:
    """Function decorator: what it checks, by `need`, must hold for every object of a class that is read."""

    def keep(check: Check) -> Check:
        _checks.append((cls, check))
        return check

    return keep


def _checked(made: Any) -> Any:
    """An object that was read, if its fields are as its class needs them."""
    for cls, check in _checks:
        if isinstance(made, cls):
            _run(check, made)
    return made


def _run(check: Check, made: Any) -> None:
    """Run what fails if fields of an object are not as its class needs them."""
    try:
        check(made)
    except (Damaged, MemoryError):
        raise
    except Exception as error:  # whatever a field of another type or shape leads to
        raise Damaged(f"its fields do not fit together ({type(error).__name__}: {error})") from None


def _missing(path: Path) -> MissingArtifact:
    teams = sorted(found.name for found in path.parent.glob("*.json"))
    there = f"its folder has {', '.join(teams[:5])}" if teams else "its folder has no .json file"
    folder = there if path.parent.is_dir() else f"nor does the folder {str(path.parent)!r}"
    refused = MissingArtifact(f"{path} does not exist; {folder}. {_REMEDY}")
    refused.errno = errno.ENOENT
    return refused


def _checksum(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if np.isfinite(number) else {"float": repr(number)}
    if isinstance(value, np.ndarray):
        return {"array": _encode_array(value)}
    if type(value) in (list, tuple):
        return {type(value).__name__: [_encode(entry) for entry in value]}
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return {"dict": {key: _encode(entry) for key, entry in value.items()}}
    return _encode_object(value)


def _encode_object(value: Any) -> Any:
    cls: type = type(value)
    name = cls.__name__
    if _registry.get(name) is not cls:
        raise InvalidArtifact(f"a {name} cannot be saved: its class is not registered with twoheads.")
    state = value.saved_state() if isinstance(value, Restorable) else vars(value)
    return {
        "class": name,
        "parameters": {key: _encode(entry) for key, entry in value.get_params(deep=False).items()},
        "fitted": {key: _encode(entry) for key, entry in state.items() if _is_state(key) and key != HISTORY},
    }


def _is_state(name: str) -> bool:
    return name.isidentifier() and name.endswith("_") and not name.startswith("_")


def _encode_array(array: NDArray[Any]) -> dict[str, Any]:
    """Dtype, shape and entries in C order; also the memory order, which can change the last bit of a sum."""
    dtype, is_text = "object" if array.dtype.kind == "O" else array.dtype.str, array.dtype.kind in "OU"
    texts = dtype != "object" or all(isinstance(entry, str) for entry in array.ravel().tolist())
    if not _DTYPE.fullmatch(dtype) or not texts:
        raise InvalidArtifact(f"an array of dtype {array.dtype} cannot be saved.")
    content: dict[str, Any] = {"dtype": dtype, "shape": list(array.shape)}
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        content["order"] = "F"
    if is_text or array.size <= _MANY:
        return content | {"values": [_encode(entry) for entry in array.ravel().tolist()]}
    return content | pack(array)


def _decode(value: Any) -> Any:
    if value is None or isinstance(value, _PLAIN):
        return value
    need(isinstance(value, dict), f"unexpected {type(value).__name__}")
    if "class" in value:
        return _decode_object(value)
    need(len(value) == 1, f"an entry has {len(value)} kinds")
    ((kind, content),) = value.items()
    if kind == "float":
        need(content in ("inf", "-inf", "nan"), f"{content!r:.80} is not a float")
        return float(content)
    if kind == "dict":
        need(isinstance(content, dict), "a dict has no entries")
        return {key: _decode(entry) for key, entry in content.items()}
    if kind in ("list", "tuple"):
        need(isinstance(content, list), f"a {kind} has no entries")
        return {"list": list, "tuple": tuple}[kind](_decode(entry) for entry in content)
    need(kind == "array", f"unknown kind of entry {kind!r}")
    return _decode_array(content)


def _decode_object(value: dict[str, Any]) -> Any:
    need(set(value) == {"class", "parameters", "fitted"}, "an estimator needs a class, parameters and fitted state")
    name, parameters, fitted = value["class"], value["parameters"], value["fitted"]
    need(isinstance(name, str), "a class name is not text")
    need(isinstance(parameters, dict) and isinstance(fitted, dict), f"{name} has no parameters or no fitted state")
    if name not in _registry:
        raise InvalidArtifact(
            f"it holds a {name!r}, which is not registered here. Import the module that defines it, or install the "
            "twoheads that wrote the file."
        )
    cls: Any = _registry[name]
    strange = sorted(set(parameters) - set(cls._get_param_names()))
    if strange:
        raise InvalidArtifact(
            f"it gives {name} a parameter {strange[0]!r}, which this twoheads does not know. "
            "Install the twoheads that wrote it."
        )
    given = {key: _decode(entry) for key, entry in parameters.items()}
    try:
        made = cls(**given)
    except TypeError as error:
        raise Damaged(f"the parameters of {name} are not complete ({error})") from None
    for key, entry in fitted.items():
        need(_is_state(key) and not hasattr(cls, key), f"{key!r} is not a fitted attribute of {name}")
        setattr(made, key, _decode(entry))
    if isinstance(made, Restorable):
        _run(type(made).restore, made)
    classes = getattr(made, "classes_", None)
    sound = classes is None or (isinstance(classes, np.ndarray) and in_order(classes))
    need(sound, f"the classes of {name} are not sorted")
    return made


def _decode_array(content: Any) -> NDArray[Any]:
    need(isinstance(content, dict), "an array has no entries")
    dtype, shape, order = content.get("dtype"), content.get("shape"), content.get("order", "C")
    need(isinstance(dtype, str) and _DTYPE.fullmatch(dtype) is not None, f"unknown array type {dtype!r:.80}")
    need(isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape), f"{shape!r:.80} is not a shape")
    need(order in ("C", "F"), f"unknown memory order {order!r:.80}")
    if "packed" in content:
        return np.array(unpack(content, dtype, shape), order=order)
    array = _entries(content.get("values"), dtype)
    need(array.size == int(np.prod(shape, dtype=object)), f"an array of shape {shape} has {array.size} entries")
    return np.array(array.reshape(shape), order=order)


def _entries(values: Any, dtype: str) -> NDArray[Any]:
    need(isinstance(values, list), "an array has no entries")
    entries = [_decode(entry) for entry in values]
    kinds = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}
    kind = kinds[np.dtype(dtype).kind]
    strange = next((entry for entry in entries if type(entry) is not kind), None)
    need(all(type(entry) is kind for entry in entries), f"{strange!r:.80} in an array of {dtype}")
    try:
        return np.array(entries, dtype=dtype)
    except (OverflowError, ValueError) as error:
        raise Damaged(f"{error} in an array of {dtype}") from None


def _refuse_constant(name: str) -> Any:
    raise Damaged(f"{name} is not a JSON number")
