"""What can go wrong, as one tree.

::

    TwoheadsError
    ├── InvalidObservations (ValueError)   input that cannot be used, with what to do about it
    ├── InvalidParameter    (ValueError)   an option outside its range
    ├── InvalidArtifact     (ValueError)   a saved team that cannot be read
    │   └── MissingArtifact (FileNotFoundError)  one that is not there
    ├── CannotWrite         (OSError)      a file that cannot be written
    ├── NoRoom              (OSError)      not enough memory or disk to go on
    ├── MissingExtra        (ImportError)  an optional package that is not installed
    └── ClusterTrouble      (RuntimeError) a cluster that cannot be reached, or that gave up
"""

from __future__ import annotations


class TwoheadsError(Exception):
    """Anything this package raises on purpose."""


class InvalidObservations(TwoheadsError, ValueError):
    """Input that cannot be used: names the argument, the row, the value, how many, and the remedy."""


class InvalidParameter(TwoheadsError, ValueError):
    """An option outside its range."""


class InvalidArtifact(TwoheadsError, ValueError):
    """A saved team that cannot be read: damaged, of an unknown version, or of an unknown kind."""


class MissingArtifact(InvalidArtifact, FileNotFoundError):
    """A saved team that is not there."""


class CannotWrite(TwoheadsError, OSError):
    """A file that cannot be written: no such folder, no permission, a full disk."""


class NoRoom(TwoheadsError, OSError):
    """Not enough memory, or disk for temporary files, to go on."""


class MissingExtra(TwoheadsError, ImportError):
    """A package of an extra that is not installed."""

    def __init__(self, package: str, extra: str, what_for: str) -> None:
        super().__init__(f"{what_for} needs {package}; install it with: pip install 'twoheads[{extra}]'")


class ClusterTrouble(TwoheadsError, RuntimeError):
    """A cluster that cannot be reached, or whose workers died again and again."""
