"""``twoheads migrate``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from twoheads.cli import console
from twoheads.cli.history import entry
from twoheads.cli.methods import make_team, read_team
from twoheads.cli.options import Team
from twoheads.cli.outputs import check_output
from twoheads.cli.signatures import Result
from twoheads.errors import InvalidArtifact


def migrate(
    team: Team,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to save the new team; by default it replaces the old one."),
    ] = None,
) -> Result:
    """Update a team of an older version: it is fitted again on the items that it keeps.

    For a team that keeps none, the command that fits it again is printed.

    Example:  twoheads migrate team.json
    """
    from twoheads.storage import artifact

    target = output or team
    check_output(target, [])
    document = artifact.read_document(team)
    if not artifact.is_older(document):
        read_team(team)
        unwritten = "" if target == team else f" {target} is not written."
        version = f"the version of this twoheads, {artifact.VERSION}"
        console.message(f"{team} is of {version}; nothing is to be done.{unwritten}")
        return {"output": team, "version": artifact.VERSION, "migrated": False}
    found = _Older(document)
    if found.fingerprint is None or found.method is None or found.classes is None:
        raise InvalidArtifact(
            f"{team} is of version {document['version']}, and keeps no items that it could be fitted on again. "
            f"Fit it on its tables: {found.fit_command(team)}"
        )
    _fit_again(found, team, target)
    console.message(f"The team is saved in {target}, fitted again by twoheads of version {artifact.VERSION}.")
    return {"output": target, "version": artifact.VERSION, "migrated": True}


class _Older:
    """What the document of an older version says of how its team was fitted; None where it does not."""

    def __init__(self, document: dict[str, Any]) -> None:
        from twoheads.storage import artifact

        content = document.get("object")
        content = content if isinstance(content, dict) else {}
        parameters, fitted = (content.get(name) for name in ("parameters", "fitted"))
        parameters, fitted = (each if isinstance(each, dict) else {} for each in (parameters, fitted))
        made = artifact.decoded(fitted.get("provenance_"))
        self.provenance: dict[str, Any] = made if isinstance(made, dict) else {}
        self.classes = artifact.decoded(fitted.get("classes_"))
        self.model_scale = artifact.decoded(parameters.get("model_scale")) or "probability"
        self.method, self.fingerprint = self.provenance.get("method"), self.provenance.get("kept")
        history = document.get("history")
        self.history = history if isinstance(history, list) else []

    def fit_command(self, team: Path) -> str:
        """The command that fits such a team."""
        source, words = self.provenance.get("source", {}), ["twoheads", "fit", "--keep-items"]
        words += [source["table"]] if "table" in source else [] if source else ["TABLE"]
        options = {name: path for name, path in source.items() if name != "table"} | self.provenance.get("columns", {})
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            for each in value if isinstance(value, list) and name != "classes" else [value]:
                text = ",".join(map(str, each)) if isinstance(each, list) else str(each)
                words += [flag] if each is True else [flag, text]
        words += ["--method", self.method] if self.method else []
        return " ".join(map(shlex.quote, [*words, "-o", str(team)]))


def _fit_again(found: _Older, team: Path, target: Path) -> None:
    from twoheads.cli.keeping import fit_on_kept
    from twoheads.tables.kept.kept_items import KeptItems, locked
    from twoheads.tables.kept.merging import Merge

    with locked(target):
        merge = Merge(KeptItems.of(team, found.fingerprint).files())
        done = entry("migrate", [str(team)], merge.changes().counts)
        fit_on_kept(
            make_team(str(found.method), str(found.model_scale)),
            found.classes,
            merge,
            target,
            provenance=found.provenance,
            history=[*found.history, done],
            keep_sample=True,
        )
