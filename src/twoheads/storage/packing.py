"""Long arrays of numbers as short text: the bytes of all numbers by their significance, deflated, as base64.

Matrices of many classes are mostly zeros, priors or symmetric: a thousandth of their bytes remains, or half of them.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.storage.damage import Damaged, need

#: Bytes of the largest array that is read: a small file may claim to hold any number of zeros.
MOST_BYTES = 1 << 31


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """The entries in C order; of a symmetric matrix those on and above the diagonal."""
    half = _is_symmetric(array)
    entries = array[np.triu_indices(len(array))] if half else array
    data = np.ascontiguousarray(entries).reshape(-1).view(np.uint8).reshape(-1, array.itemsize)
    text = base64.b64encode(zlib.compress(np.ascontiguousarray(data.T).tobytes(), 6)).decode("ascii")
    return {"packed": text} | ({"symmetric": True} if half else {})


def unpack(content: dict[str, Any], dtype: str, shape: list[int]) -> NDArray[Any]:
    """The array; no more than its own bytes are made of the text."""
    packed, kind, size = content["packed"], np.dtype(dtype), int(np.prod(shape, dtype=object))
    need(kind.kind in "biuf" and isinstance(packed, str), "the packed entries of an array are not numbers as text")
    need(size * kind.itemsize <= MOST_BYTES, f"an array of shape {shape} is larger than {MOST_BYTES >> 30} GB")
    if content.get("symmetric") is not True:
        return _entries(packed, kind, size).reshape(shape)
    need(len(shape) == 2 and shape[0] == shape[1], f"an array of shape {shape} is not symmetric")
    upper = np.triu_indices(shape[0])
    entries = _entries(packed, kind, len(upper[0]))
    array = np.empty(shape, dtype=kind)
    array[upper] = entries
    array.T[upper] = entries
    return array


def _entries(packed: str, kind: np.dtype[Any], size: int) -> NDArray[Any]:
    wanted = size * kind.itemsize
    try:
        reader = zlib.decompressobj()
        data = reader.decompress(base64.b64decode(packed, validate=True), wanted + 1)
    except (ValueError, zlib.error) as error:
        raise Damaged(f"the entries of an array cannot be unpacked ({error})") from None
    whole = len(data) == wanted and reader.eof and not reader.unused_data
    need(whole, f"the packed entries of an array are not {size} numbers")
    by_byte = np.frombuffer(data, dtype=np.uint8).reshape(kind.itemsize, size)
    return np.ascontiguousarray(by_byte.T).reshape(-1).view(kind)


def _is_symmetric(array: NDArray[Any]) -> bool:
    """Whether a matrix is symmetric to the bit; one with NaN or a zero of either sign is packed whole."""
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind != "f":
        return False
    return bool((array == array.T).all()) and not bool(np.signbit(array[array == 0.0]).any())
