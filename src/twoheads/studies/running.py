"""Run a study, or all of them, on a folder of data, and write what came of it."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.storage.atomic import write_files
from twoheads.studies.calibration import calibration
from twoheads.studies.confidence_ratios import confidence_ratios
from twoheads.studies.context import Context, Result
from twoheads.studies.data import read_data
from twoheads.studies.error_rates import error_rates
from twoheads.studies.files import ready_folder
from twoheads.studies.independence import independence
from twoheads.studies.individuals import individuals
from twoheads.studies.learning_curves import learning_curves
from twoheads.studies.outcome import Outcome
from twoheads.studies.overview import overview
from twoheads.studies.page import page
from twoheads.studies.protocol import Protocol
from twoheads.studies.published import agreements, with_published
from twoheads.studies.rows import as_csv
from twoheads.studies.work import Progress, Work

ALL_STUDIES = "all"

_STUDIES: dict[str, Callable[[Context], Result]] = {
    "overview": overview,
    "error-rates": error_rates,
    "calibration": calibration,
    "learning-curves": learning_curves,
    "confidence-ratios": confidence_ratios,
    "independence": independence,
    "individuals": individuals,
}
#: The names that `run` knows.
STUDIES = (*_STUDIES, ALL_STUDIES)


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
    """Make a table or figure of the paper again.

    Parameters
    ----------
    name : str
        One of `STUDIES`; ``"all"`` runs every one and writes ``index.html`` as well.
    data : path
        Folder of the public files, in their public layouts; any of them may be missing.
    out : path
        Folder for the tables and figures. They are written whole, study by study: what is finished stays when a later
        one is interrupted.
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
        For data that are not there or cannot be used; says which file, and how.
    """
    if name not in STUDIES:
        near = get_close_matches(str(name), STUDIES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InvalidParameter(f"name must be one of {', '.join(STUDIES)}; it is {name!r}.{hint}")
    how, _ = Protocol(protocol, seeds), Work(name, jobs)  # checked before data are read
    found = read_data(data)
    folder = ready_folder(out)
    wanted = list(_STUDIES) if name == ALL_STUDIES else [name]
    parts = []
    for study in wanted:
        result = _STUDIES[study](Context(found, how, Work(study, jobs, progress)))
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


def _finish(study: str, result: Result, folder: Path, missing: tuple[str, ...], protocol: Protocol) -> Outcome:
    """Put the published numbers beside ours, and write the table and the figures."""
    if not result.rows:
        return Outcome(study, (), (), (), (), missing)
    rows = with_published(study, result.rows)
    contents = {f"{result.stem}.csv": as_csv(rows).encode(), **result.figures}
    files = write_files(folder, contents)
    notes = list(result.notes)
    if protocol.seeds is not None or protocol.is_stated:
        notes.append(f"{protocol}: the published cells were made otherwise, and cannot agree to the digit.")
    return Outcome(study, files, tuple(rows), tuple(agreements(study, rows)), tuple(notes), missing)
