"""Changes of valid files: of their bytes, and of the structure of JSON.

A `random.Random` decides, so that a case can be made again from its number.
"""

from __future__ import annotations

import copy
import json
import math
from random import Random
from typing import Any

#: What parsers have stumbled over.
TOKENS = (
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b",", b";", b"\t", b'"', b"'", b"\\", b"{", b"}",
    b"[", b"]",
    b"nan", b"NaN", b"inf", b"-inf", b"null", b"true", b"NA", b"unsure", b"1e308", b"1e-320", b"1e999", b"-0",
    b"0x1F", b"1_000",
    b"0,5", b"1.", b".5", b"+1", b"9223372036854775808", b"\\u0000", b"\\ud800", b"\xc3\xa9",
    b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    b"human", b"p_", b"p_a", b"truth", b"item", b"score", b"confidence", b"human_a", b"=1+1", b"#", b"%",
    b"..", b"/", b" ",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 0.5, -7.5, 1e308, 1e-320, 2**63, 2**70, -(2**64), "", " ", "a", "b", "x" * 300,
    "\0", "\ud800",
    "é", "unsure", "nan", "1", [], {}, [[]], [None], {"": None}, {"a": 1}, ["a", "b"], [0.5, 0.5], [1, 2, 3],
)  # fmt: skip


def changed_bytes(content: bytes, rng: Random) -> bytes:
    """One to four changes: a bit, a token, a cut, a piece that is repeated, moved or left out."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, length = rng.randrange(len(changed) + 1), rng.choice((1, 1, 2, 8, 64))
        kind = rng.randrange(8)
        if kind == 0 and changed:
            changed[min(at, len(changed) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[at:at] = rng.choice(TOKENS)
        elif kind == 2:
            changed[at : at + length] = rng.choice(TOKENS)
        elif kind == 3:
            del changed[at : at + length]
        elif kind == 4:
            changed[at:at] = changed[at : at + length] * rng.choice((1, 1, 3, 50))
        elif kind == 5:
            source = rng.randrange(len(changed) + 1)
            changed[at:at] = changed[source : source + length]
        elif kind == 6:
            changed[at : at + length] = rng.randbytes(length)
        elif rng.random() < 0.3:
            del changed[at:]
    return bytes(changed)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the entries of a JSON value are."""
    found: list[tuple[Any, ...]] = []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        found += [(*at, key), *places(entry, (*at, key))]
    return found


def changed_json(value: Any, rng: Random) -> Any:
    """One to three entries that are replaced, left out, renamed, repeated, wrapped, or exchanged with another."""
    changed = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        everywhere = places(changed)
        if not everywhere:
            return rng.choice(VALUES)
        place = rng.choice(everywhere)
        _change(_holder(changed, place), place[-1], _entry(changed, rng.choice(everywhere)), rng)
    return changed


def _change(holder: Any, key: Any, other: Any, rng: Random) -> None:
    kind = rng.randrange(9)
    if kind < 3:
        holder[key] = rng.choice(VALUES)
    elif kind == 3:
        del holder[key]
    elif kind == 4:
        holder[key] = copy.deepcopy(other)
    elif kind == 5:
        holder[key] = rng.choice(([holder[key]], {"a": holder[key]}, str(holder[key])))
    elif kind == 6 and isinstance(holder, dict):
        holder[rng.choice((key + "x", key.upper(), "", "id", "class", "value"))] = holder.pop(key)
    elif kind == 7 and isinstance(holder, list):
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    elif type(holder[key]) in (int, float) and math.isfinite(holder[key]):
        holder[key] = rng.choice(
            (-holder[key], holder[key] * 1e6, holder[key] + 1, int(holder[key] % 7), float(holder[key]))
        )


def _holder(value: Any, place: tuple[Any, ...]) -> Any:
    return _entry(value, place[:-1])


def _entry(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def as_json(value: Any) -> bytes:
    """JSON of anything, also of texts that UTF-8 cannot hold."""
    return json.dumps(value).encode("ascii")
