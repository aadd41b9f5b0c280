"""Write what the golden tests expect, from the root of the project.

    python -m tests.golden.write keys       the keys of team.json, where a rename was meant
    python -m tests.golden.write numbers    every number, where another result was meant and is explained

A redesign rewrites keys at the most. Where numbers are rewritten, say why in the changelog.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.golden.cases import fit_cases, other_cases
from tests.golden.commands import COMMANDS, fit_and_combine, keys_of, rows_of

HERE = Path(__file__).parent
NUMBERS, KEYS = HERE / "expected.json", HERE / "expected_keys.json"


def write(what: str) -> None:
    """Write the numbers, or the keys."""
    rows, keys = {}, {}
    for command in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            team, combined = fit_and_combine(*command, Path(folder))
            rows[command_name(*command)], keys[command_name(*command)] = rows_of(combined), keys_of(team)
    if what == "keys":
        KEYS.write_text(json.dumps(merged_keys(keys), indent=1) + "\n")
    else:
        cases = {case.name: case.pinned() for case in (*fit_cases(), *other_cases())}
        NUMBERS.write_text(as_text(cases | rows))


def command_name(method: str, table: str, share: str) -> str:
    """What a command is called among the cases."""
    return f"twoheads combine / {method} / {table} / {share} truth"


def merged_keys(keys: dict[str, dict[str, list[str]]]) -> dict[str, Any]:
    """The keys of each kind of object over all teams, and which kinds each team holds."""
    kinds: dict[str, set[str]] = {}
    for found in keys.values():
        for kind, names in found.items():
            kinds.setdefault(kind, set()).update(names)
    return {
        "kinds": {kind: sorted(names) for kind, names in sorted(kinds.items())},
        "teams": {team: sorted(found) for team, found in keys.items()},
    }


def as_text(cases: dict[str, dict[str, list[Any]]]) -> str:
    """A header of the names of all numbers, and a line per case with theirs, null where it has no such number."""
    names = list(dict.fromkeys(name for found in cases.values() for name in found))
    rows = {"names": names} | {case: [found.get(name) for name in names] for case, found in cases.items()}
    lines = (f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}" for name, row in rows.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def expected() -> dict[str, dict[str, list[Any]]]:
    """The numbers of each case, as they were written."""
    rows = json.loads(NUMBERS.read_text())
    names = rows.pop("names")
    return {
        case: {name: values for name, values in zip(names, row, strict=False) if values is not None}
        for case, row in rows.items()
    }


if __name__ == "__main__":
    if sys.argv[1:] not in (["keys"], ["numbers"]):
        sys.exit(__doc__)
    write(sys.argv[1])
