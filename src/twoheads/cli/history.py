"""The history of a team: what was done, when, with which files, and how many items, answers and truths changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import twoheads as th
from twoheads.cli import console
from twoheads.cli.provenance import now
from twoheads.text import listed


def entry(what: str, files: Sequence[str], counts: dict[str, dict[str, int]]) -> dict[str, Any]:
    """An entry: ``what`` is the command; ``counts`` are of items and so on, by new, replaced and removed."""
    return {
        "what": what,
        "when": now(),
        "files": list(dict.fromkeys(files)),
        "counts": counts,
        "twoheads": th.__version__,
    }


def print_history(entries: Sequence[dict[str, Any]]) -> None:
    """Print a line per entry, the first first."""
    if not entries:
        console.line("The file has no history.")
        return
    rows = [
        [
            str(each.get("when", "")),
            str(each.get("what", "")),
            listed(each.get("files", []), 3),
            counts_in_words(each.get("counts", {})) or "nothing changed",
        ]
        for each in entries
    ]
    console.table(["when", "what", "files", "changes"], rows)


def counts_in_words(counts: dict[str, dict[str, int]]) -> str:
    """Counts as "3 items new; 5 answers new, 1 replaced"; without those that are 0; times only if no others change."""
    parts = {}
    for name, each in counts.items():
        changed = [f"{number:,} {how}" for how, number in each.items() if number]
        if changed:
            parts[name] = f"{name} {', '.join(changed)}"
    times = parts.pop("times", "")
    return "; ".join(parts.values()) or times
