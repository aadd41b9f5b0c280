"""The items that are kept beside a team: Parquet files in a folder that is named by their content.

Beside ``team.json`` is the folder ``team.items``; in it, one folder named by the fingerprint that the team's file
holds. New items are written to a new folder first, then the team's file is replaced, then the old folder is removed: a
team and its items always belong together, whenever it is interrupted.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from twoheads.engines.temporary import part_of, remove_leftovers
from twoheads.errors import InvalidArtifact, InvalidObservations, InvalidParameter
from twoheads.observations.labels import label_text
from twoheads.storage.atomic import is_special
from twoheads.tables.kept import FINGERPRINT, KEPT_SUFFIX
from twoheads.tables.kept.day_rows import KEYS, unsure_word
from twoheads.tables.kept.merging import model_columns
from twoheads.tables.scanning import scan
from twoheads.tables.table import Table


def kept_beside(team: Path) -> Path:
    """The folder of a team's items, by the name of its file: ``team.items`` of ``team.json``."""
    return team.with_name(team.name.removesuffix(".json") + KEPT_SUFFIX)


@dataclass(frozen=True)
class KeptItems:
    """Kept items in a folder that is named by their fingerprint."""

    folder: Path

    @classmethod
    def of(cls, team: Path, fingerprint: str | None) -> KeptItems:
        """The items of a team whose file holds their fingerprint, if they are there and the same."""
        folder = kept_beside(team)
        if fingerprint is None:
            raise InvalidArtifact(
                f"{team} was fitted without keeping its items, so that one which comes again could not be recognised. "
                f"Fit it once on the tables so far: twoheads fit TABLE --keep-items -o {team}"
            )
        kept = cls(folder / fingerprint)
        if not kept.folder.is_dir():
            there = "holds the items of another team" if folder.is_dir() and any(folder.iterdir()) else "does not exist"
            raise InvalidArtifact(
                f"{folder} {there}; it must hold the items {fingerprint[:8]}... that {team} was fitted on. "
                f"Copy it along with {team.name}, or fit again: twoheads fit TABLE --keep-items -o {team}"
            )
        if fingerprint_of(kept.folder) != fingerprint:
            raise InvalidArtifact(
                f"{kept.folder} was changed or is damaged. Restore it, or fit again: "
                f"twoheads fit TABLE --keep-items -o {team}"
            )
        return kept

    @property
    def fingerprint(self) -> str:
        """Identifies the kept rows."""
        return self.folder.name

    def files(self) -> dict[str, Path]:
        """The file of each kind of rows that there is."""
        paths = {kind: self.folder / f"{kind}.parquet" for kind in KEYS}
        return {kind: path for kind, path in paths.items() if path.exists()}

    def scan(self, classes: NDArray[Any], model_scale: str, positive: Any = None) -> Table:
        """The kept items as a table to fit on, in the order of their ids; ``positive`` is what high scores mean."""
        files = self.files()
        if "items" not in files:
            raise InvalidObservations("no item would be left to fit on. Forget fewer, or keep a longer window.")
        has_model = bool(model_columns(files["items"]))
        return scan(
            files["items"] if has_model else None,
            answers=files.get("answers"),
            truth=files.get("truth"),
            item="item",
            model_scale=model_scale,
            classes=classes,
            positive=positive,
            unsure=unsure_word([label_text(name) for name in classes.tolist()]),
        )


@contextlib.contextmanager
def locked(team: Path) -> Iterator[None]:
    """Refuse to work on a team's items while another process does."""
    if is_special(team):
        raise InvalidParameter(f"items cannot be kept next to {team}: it is not a file. Name one with -o.")
    folder = kept_beside(team)
    existed = folder.is_dir()
    folder.mkdir(exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, team)
        yield
    finally:
        os.close(handle)
        if not existed:
            with contextlib.suppress(OSError):  # it is not empty if all went well
                folder.rmdir()


def _lock(handle: int, team: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InvalidParameter(f"another process is updating {team}. Try again when it has finished.") from None


@contextlib.contextmanager
def written(write: Callable[[Path], object], team: Path) -> Iterator[KeptItems]:
    """Items beside a team, whose files ``write`` makes in a folder; they stay if the team's file is replaced inside.

    Those of the file before are then removed; on any error the new ones are. Whoever may not read the file of the team
    that is replaced may not read its items.
    """
    folder = kept_beside(team)
    before = {path for path in folder.iterdir() if FINGERPRINT.fullmatch(path.name)}
    kept = _write(write, folder, team)
    try:
        yield kept
    except BaseException:
        if kept.folder not in before:
            shutil.rmtree(kept.folder, ignore_errors=True)
        raise
    for path in before - {kept.folder}:
        shutil.rmtree(path, ignore_errors=True)


def _write(write: Callable[[Path], object], folder: Path, team: Path) -> KeptItems:
    remove_leftovers(folder)
    part = part_of(folder / "items")
    part.mkdir(0o700 if team.exists() else 0o777)
    try:
        write(part)
        if team.exists():
            _protect(part, team.stat())
        kept = KeptItems(folder / fingerprint_of(part))
        if not kept.folder.exists():
            part.rename(kept.folder)
        return kept
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _protect(folder: Path, team: os.stat_result) -> None:
    """Give a folder and its files the permissions, and if possible the owner, of a team's file."""
    mode = team.st_mode & 0o777
    for path in (*folder.iterdir(), folder):
        with contextlib.suppress(PermissionError):
            os.chown(path, team.st_uid, team.st_gid)
        path.chmod(mode | (mode & 0o444) >> 2 if path is folder else mode)  # to enter it, whoever may read


def fingerprint_of(folder: Path) -> str:
    """A text that identifies the files of a folder: of their names and bytes."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.parquet")):
        with path.open("rb") as file:
            digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:32]
