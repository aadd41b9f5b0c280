"""Everything this package raises on purpose, as one tree.

::

    TwoheadsError
    ├── InvalidObservations (ValueError)   input that cannot be used, with a remedy
    ├── InvalidParameter    (ValueError)   an option outside its range
    ├── InvalidArtifact     (ValueError)   a saved team that cannot be read
    │   └── MissingArtifact (FileNotFoundError)  a saved team that does not exist
    ├── CannotWrite         (OSError)      a file that cannot be written
    ├── NoRoom              (OSError)      not enough memory or disk to go on
    ├── MissingExtra        (ImportError)  an optional package that is not installed
    └── ClusterTrouble      (RuntimeError) a cluster that cannot be reached, or that gave up
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec


class RowNames:
    """How messages name rows: by their position in an array. Tables name files and line numbers instead."""

    def where(self, row: int) -> str:
        """The row at this position, from 0."""
        return f"row {row}"

    def extent(self, n_off: int, n_rows: int) -> str:
        """How many of the rows break the rule."""
        return f"{n_off} of {n_rows} rows are off"


@dataclass(frozen=True)
class Problem:
    """Rows that break a rule, as data; `render` is the only place that makes a message of it.

    argument  what the rule is about: ``model_proba``, or ``column 'p_cat'``
    rule      what must hold: ``must sum to 1 in every row``
    row       the first row that breaks it, from 0
    found     what that row has: ``sums to 1.4``
    n_off     how many rows break it
    n_rows    of how many
    remedy    what to do, as whole sentences
    """

    argument: str
    rule: str
    row: int
    found: str
    n_off: int
    n_rows: int
    remedy: str

    def render(self, rows: RowNames) -> str:
        """The message: argument, rule, row, value, extent, remedy."""
        extent = rows.extent(self.n_off, self.n_rows)
        return f"{self.argument} {self.rule}; {rows.where(self.row)} {self.found} ({extent}). {self.remedy}"


#: Characters of a value that a message shows.
MOST_SHOWN = 80
_VALUES = [re.compile(rf"(?<!\w){mark}([^{mark}\\]*(?:\\.[^{mark}\\]*)*){mark}(?!\w)", re.DOTALL) for mark in "'\""]


class TwoheadsError(Exception):
    """Anything this package raises on purpose; its message shows no more than the beginning of a long value."""

    def __str__(self) -> str:
        message = super().__str__()
        for values in _VALUES if len(message) > MOST_SHOWN else ():
            message = values.sub(_cut, message)
        return message


def _cut(value: re.Match[str]) -> str:
    mark = value[0][0]
    return value[0] if len(value[1]) <= MOST_SHOWN else f"{mark}{value[1][:MOST_SHOWN]}...{mark}"


class InvalidObservations(TwoheadsError, ValueError):
    """Input that cannot be used: names the argument, the row, the value, how many rows, and the remedy.

    Parameters
    ----------
    problem : Problem or str
        What is wrong; a text where no row is to blame.
    rows : RowNames, optional
        How the message names rows.

    Examples
    --------
    >>> problem = Problem("y", "must hold classes", 1, "has 'x'", 1, 3, "Leave it blank.")
    >>> print(InvalidObservations(problem))
    y must hold classes; row 1 has 'x' (1 of 3 rows are off). Leave it blank.
    """

    def __init__(self, problem: Problem | str, rows: RowNames | None = None) -> None:
        self.problem = problem if isinstance(problem, Problem) else None
        super().__init__(problem.render(rows or RowNames()) if isinstance(problem, Problem) else problem)


class InvalidParameter(TwoheadsError, ValueError):
    """An option outside its range."""


class InvalidArtifact(TwoheadsError, ValueError):
    """A saved team that cannot be read: damaged, of an unknown version, or of an unknown kind."""


class MissingArtifact(InvalidArtifact, FileNotFoundError):
    """A saved team that does not exist."""


class CannotWrite(TwoheadsError, OSError):
    """A file that cannot be written: no such folder, no permission, a full disk."""


class NoRoom(TwoheadsError, OSError):
    """Not enough memory, or disk for temporary files, to go on."""


class MissingExtra(TwoheadsError, ImportError):
    """A package of an extra that is not installed."""

    def __init__(self, package: str, extra: str, what_for: str) -> None:
        super().__init__(f"{what_for} needs {package}; install it with: pip install 'twoheads[{extra}]'")

    @classmethod
    def instead_of(cls, error: ImportError, package: str, extra: str, what_for: str) -> ImportError:
        """The error for a package that is not there, or one that it needs; one that cannot be loaded keeps its own."""
        absent = (error.name or "").partition(".")[0]
        if not isinstance(error, ModuleNotFoundError) or (absent and find_spec(absent) is not None):
            return error
        return cls(package if absent in package.replace("-", "_") else absent, extra, what_for)


class ClusterTrouble(TwoheadsError, RuntimeError):
    """A cluster that cannot be reached, or whose workers died again and again."""
