"""Tables in and out: CSV, Parquet, JSON lines, Arrow and spreadsheets, and the formats of other projects.

>>> from twoheads import tables
>>> table = tables.scan("scores.csv")  # doctest: +SKIP
>>> X, y = table.read()  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twoheads.tables.checking.check import Check, check
    from twoheads.tables.fingerprints import fingerprint
    from twoheads.tables.interop.argilla import from_argilla, to_argilla
    from twoheads.tables.interop.cleanlab import from_cleanlab, to_cleanlab
    from twoheads.tables.interop.crowd_kit import from_crowd_kit, to_crowd_kit
    from twoheads.tables.interop.label_studio import from_label_studio, to_label_studio
    from twoheads.tables.interop.mlflow import from_mlflow
    from twoheads.tables.scanning import scan
    from twoheads.tables.table import Table
    from twoheads.tables.verdict_batches import verdicts
    from twoheads.tables.writing import write

# Where each public name is. It is imported on first use: other projects' formats need neither DuckDB nor Arrow.
_HOME_OF = {
    "Check": "checking.check",
    "Table": "table",
    "check": "checking.check",
    "fingerprint": "fingerprints",
    "from_argilla": "interop.argilla",
    "from_cleanlab": "interop.cleanlab",
    "from_crowd_kit": "interop.crowd_kit",
    "from_label_studio": "interop.label_studio",
    "from_mlflow": "interop.mlflow",
    "scan": "scanning",
    "to_argilla": "interop.argilla",
    "to_cleanlab": "interop.cleanlab",
    "to_crowd_kit": "interop.crowd_kit",
    "to_label_studio": "interop.label_studio",
    "verdicts": "verdict_batches",
    "write": "writing",
}

__all__ = [
    "Check",
    "Table",
    "check",
    "fingerprint",
    "from_argilla",
    "from_cleanlab",
    "from_crowd_kit",
    "from_label_studio",
    "from_mlflow",
    "scan",
    "to_argilla",
    "to_cleanlab",
    "to_crowd_kit",
    "to_label_studio",
    "verdicts",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'twoheads.tables' has no attribute {name!r}")
    value = getattr(import_module(f"twoheads.tables.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
