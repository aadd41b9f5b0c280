"""A scanned table as estimators see it; needs neither Arrow nor DuckDB."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from twoheads.errors import InvalidParameter
from twoheads.observations import Observations, matched_rows


class ScannedTable(ABC):
    """A table that was scanned and is not read yet, as `twoheads.tables.scan` returns it."""

    model_scale: str

    #: Whether a column holds scores.
    has_scores: bool = False

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of items."""

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """The class labels."""

    @property
    @abstractmethod
    def annotators(self) -> tuple[str, ...]:
        """The annotators' names; empty without a column of answers."""

    @property
    @abstractmethod
    def models(self) -> tuple[str, ...]:
        """The models' names; empty without a model."""

    @abstractmethod
    def read(self, *, items: bool = True, truth: bool = True) -> tuple[Observations, NDArray[Any] | None]:
        """The whole table: the observations and the truth, None without a column of it."""

    @abstractmethod
    def blocks(
        self,
        rows: int | None = None,
        *,
        items: bool = True,
        truth: bool = True,
        span: tuple[int, int] | None = None,
    ) -> Iterator[tuple[Observations, NDArray[Any] | None]]:
        """The table in blocks of consecutive items, as `read` returns it."""


def read_labelled(X: Any, y: Any = None, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """``X, y, sample_weight`` of a fit: of a scanned table as read from it, of a data frame matched to its rows."""
    X, y = read_if_scanned(X, y)
    return X, *matched_rows(X, y, sample_weight)


def read_if_scanned(X: Any, y: Any = None, *, truth: bool = True) -> tuple[Any, Any]:
    """``X, y`` as they are, or as read from a scanned table, which holds the truth itself."""
    if not isinstance(X, ScannedTable):
        return X, y
    if y is not None:
        raise InvalidParameter(
            "y must be None where X is a table: its column of the truth holds it. "
            "Read it to give your own: X, y = table.read()."
        )
    return X.read(truth=truth)
