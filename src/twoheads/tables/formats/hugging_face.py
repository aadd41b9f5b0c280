"""Hugging Face datasets: the names behind codes of classes, and the folders that ``save_to_disk`` writes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twoheads.errors import InvalidObservations
from twoheads.tables.duckdb import pa, pc

#: Files beside the tables of a saved dataset; they describe it.
_DESCRIPTIONS = {"dataset_info.json", "state.json"}


def class_names(schema: Any) -> dict[str, list[str | None]]:
    """The names of the classes of each column of codes, as a schema's metadata has them."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, TypeError, ValueError):
        return {}
    found = {name: kind.get("names") for name, kind in features.items() if isinstance(kind, dict)}
    return {name: names for name, names in found.items() if names and name in schema.names}


def named(codes: Any, names: Sequence[str | None], column: str, path: Path) -> Any:
    """Codes as the names of their classes, with a dictionary; -1 is a gap."""
    code = pc.if_else(pc.equal(codes, -1), pa.scalar(None, codes.type), codes)
    if len(code) and (highest := pc.max(code).as_py()) is not None and not 0 <= highest < len(names):
        raise InvalidObservations(
            f"column {column!r} of {path} must hold codes of its {len(names)} classes; one is {highest}. "
            "Write it again."
        )
    known = list(dict.fromkeys(name for name in names if name is not None))
    place = pa.array([None if name is None else known.index(name) for name in names], pa.int32())
    return pa.DictionaryArray.from_arrays(place.take(code.cast(pa.int64())), pa.array(known, pa.string()))


def without_descriptions(folder: str, files: Sequence[str]) -> list[str]:
    """The files of a folder without those that describe a saved dataset; one of several splits is refused."""
    if "dataset_dict.json" in files:
        splits = sorted(
            (each for each in os.listdir(folder) if os.path.isdir(os.path.join(folder, each))),
            key=lambda each: (each != "train", each),
        )
        raise InvalidObservations(
            f"the folder {folder!r} holds the splits {', '.join(splits)} of a dataset; name one of them, as in "
            f"{os.path.join(folder, splits[0] if splits else 'train')!r}."
        )
    return [each for each in files if each not in _DESCRIPTIONS] if set(files) >= _DESCRIPTIONS else list(files)
