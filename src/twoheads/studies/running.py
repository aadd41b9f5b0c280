"""Run a study, or all of them, on a folder of data, and write the results."""

from __future__ import annotations

import os
from pathlib import Path

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.storage.atomic import write_files
from twoheads.studies.catalogue import CATALOGUE
from twoheads.studies.context import Context, Result
from twoheads.studies.data import read_data
from twoheads.studies.outcome import Outcome
from twoheads.studies.page import page
from twoheads.studies.protocol import Protocol
from twoheads.studies.published import agreements, with_published
from twoheads.studies.rows import as_csv
from twoheads.studies.work import Progress, Work
from twoheads.text import did_you_mean

ALL_STUDIES = "all"

#: The names that `run` knows.
STUDIES = (*CATALOGUE, ALL_STUDIES)


def run(
    name: str,
    data: str | Path,
    out: str | Path,
    *,
    protocol: str = "published",
    seeds: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Reproduce a table or figure of the paper.

    Parameters
    ----------
    name : str
        One of `STUDIES`; ``"all"`` runs every one and writes ``index.html`` as well.
    data : path
        Folder of the public files, in their public layouts; any of them may be missing.
    out : path
        Folder for the tables and figures. They are written atomically, study by study: what is finished stays when
        a later one is interrupted.
    protocol : {"published", "stated"}
        The numbers of labels and trials found behind the published tables, or those that the paper's text states.
    seeds : int, optional
        Trials in place of the protocol's own numbers.
    jobs : int, optional
        Processes; by default one per core.
    progress : callable, optional
        Called with the study's name, tasks done and tasks in all.

    Raises
    ------
    InvalidParameter
        For an unknown name or protocol, a wrong number, or a folder that cannot be written to.
    CannotWrite
        For a file that cannot be written.
    InvalidObservations
        For data that are missing or cannot be used; the message names the file.
    """
    if name not in STUDIES:
        meant = did_you_mean(str(name), STUDIES)
        raise InvalidParameter(f"name must be one of {', '.join(STUDIES)}; it is {name!r}.{meant}")
    how, _ = Protocol(protocol, seeds), Work(name, jobs)  # checked before data are read
    found = read_data(data)
    folder = _ready_folder(out)
    wanted = list(CATALOGUE) if name == ALL_STUDIES else [name]
    parts = []
    for study in wanted:
        result = CATALOGUE[study].run(Context(found, how, Work(study, jobs, progress)))
        if not result.rows and name != ALL_STUDIES:
            raise InvalidObservations(
                f"{study} has nothing to run on in {str(data)!r}. Missing: {'; '.join(found.missing)}."
            )
        parts.append(_finish(study, result, folder, found.missing, how))
    if name != ALL_STUDIES:
        return parts[0]
    index = write_files(folder, {"index.html": page(parts, how).encode()})
    return Outcome(
        name,
        tuple(path for part in parts for path in part.files) + index,
        tuple(row for part in parts for row in part.rows),
        tuple(agreement for part in parts for agreement in part.agreements),
        tuple(note for part in parts for note in part.notes),
        found.missing,
        tuple(parts),
    )


def _ready_folder(out: str | Path) -> Path:
    """The folder to write to, made if there is none."""
    folder, refusal = Path(out), f"out must be a folder that can be written; {str(out)!r} is not"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(f"{refusal} ({error.strerror}).") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidParameter(f"{refusal} (permission denied).")
    return folder


def _finish(study: str, result: Result, folder: Path, missing: tuple[str, ...], protocol: Protocol) -> Outcome:
    """Add the published numbers, and write the table and the figures."""
    if not result.rows:
        return Outcome(study, (), (), (), (), missing)
    tables = CATALOGUE[study].published
    rows = with_published(tables, result.rows)
    contents = {f"{result.stem}.csv": as_csv(rows).encode(), **result.figures}
    files = write_files(folder, contents)
    notes = list(result.notes)
    if protocol.seeds is not None or protocol.is_stated:
        notes.append(f"{protocol}: the published cells were computed otherwise, and cannot agree to the digit.")
    return Outcome(study, files, tuple(rows), tuple(agreements(tables, rows)), tuple(notes), missing)
