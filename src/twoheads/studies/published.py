"""The paper's published numbers, and how many of ours agree with them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from twoheads.studies.imagenet16h import DATASET as IMAGENET
from twoheads.studies.rows import PAPER, Row


class Key(NamedTuple):
    """What a number measures."""

    dataset: str
    model: str
    noise_level: int | None
    method: str
    n_labelled: int | None
    metric: str


@dataclass(frozen=True)
class Cell:
    """A published number: mean and standard deviation as printed, each perhaps blank."""

    table: str
    key: Key
    mean: str
    sd: str


@dataclass(frozen=True)
class Comparison:
    """A published cell and our row for it."""

    cell: Cell
    row: Row

    @property
    def differences(self) -> tuple[float, float]:
        """Ours minus published, of the mean and of the standard deviation (0 if there is none to compare)."""
        return self.row.mean - float(self.cell.mean), self.row.sd - float(self.cell.sd) if self.has_sd else 0.0

    @property
    def has_sd(self) -> bool:
        """Whether a standard deviation was published, and ours has more than one trial."""
        return bool(self.cell.sd) and not math.isnan(self.row.sd)

    @property
    def agrees(self) -> bool:
        """Whether both numbers agree within the rounding of the printed ones."""
        printed = (self.cell.mean, self.cell.sd)
        return all(
            abs(difference) <= 0.5 * 10.0 ** -len(text.partition(".")[2]) + 1e-9
            for difference, text in zip(self.differences, printed, strict=True)
            if text
        )

    def __str__(self) -> str:
        key, digits = self.cell.key, max(len(self.cell.mean.partition(".")[2]), 2)
        noise = "" if key.noise_level is None else f" {key.noise_level}"
        labels = "" if key.n_labelled is None else f" n={key.n_labelled}"
        sds = (f" ± {self.row.sd:.{digits}f}", f" ± {self.cell.sd}") if self.has_sd else ("", "")
        mean, sd = self.differences
        by = f"{mean:+.{digits}f}" + (f", {sd:+.{digits}f}" if self.has_sd else "")
        return (
            f"{key.model}{noise} {key.method}{labels} {key.metric}: {self.row.mean:.{digits}f}{sds[0]}, "
            f"published {self.cell.mean}{sds[1]} (off by {by})"
        )


@dataclass(frozen=True)
class Agreement:
    """How a published table compares with ours.

    Attributes
    ----------
    table, title : str
        Its label in the paper's source, and what it shows.
    compared : tuple of Comparison
        The cells for which there are data.
    n_absent : int
        Cells without data here.
    """

    table: str
    title: str
    compared: tuple[Comparison, ...]
    n_absent: int

    @property
    def n_agreeing(self) -> int:
        """How many cells agree within rounding."""
        return sum(comparison.agrees for comparison in self.compared)

    def lines(self) -> list[str]:
        """How many cells agree, and the differences of those that do not, the largest first."""
        if not self.compared:
            return [f"{self.title}: none of its {self.n_absent} cells has data here."]
        absent = f" ({self.n_absent} more have no data here)" if self.n_absent else ""
        found = [f"{self.title}: {self.n_agreeing} of {len(self.compared)} cells agree within rounding{absent}."]
        off = sorted(
            (comparison for comparison in self.compared if not comparison.agrees),
            key=lambda comparison: -max(map(abs, comparison.differences)),
        )
        in_shape = [comparison for comparison in off if comparison.cell.key.dataset == IMAGENET]
        to_the_digit = [comparison for comparison in off if comparison.cell.key.dataset != IMAGENET]
        found += _listed(to_the_digit, 12)
        if in_shape:
            found.append(
                "  The public ImageNet-16H predictions are not of the paper's checkpoints: compare the shape, not the "
                "digits, but for the human's."
            )
        found += _listed(in_shape, 3)
        return found


def agreements(tables: Mapping[str, str], rows: Iterable[Row]) -> list[Agreement]:
    """Compare rows of the paper's behaviour with published tables: their titles by label."""
    ours = {}
    for row in rows:
        if row.behaviour == PAPER:
            ours[_key(row, with_labels=True)] = ours[_key(row, with_labels=False)] = row
    found = []
    for table, title in tables.items():
        cells = [cell for cell in published_cells() if cell.table == table]
        compared = [Comparison(cell, ours[cell.key]) for cell in cells if cell.key in ours]
        found.append(Agreement(table, title, tuple(compared), len(cells) - len(compared)))
    return found


def with_published(tables: Iterable[str], rows: Iterable[Row]) -> list[Row]:
    """Rows with the published numbers beside them, if there are any in these tables."""
    wanted = set(tables)
    cells = {cell.key: cell for cell in published_cells() if cell.table in wanted}
    beside = []
    for row in rows:
        cell = cells.get(_key(row, with_labels=True)) or cells.get(_key(row, with_labels=False))
        beside.append(row if cell is None else replace(row, published_mean=cell.mean, published_sd=cell.sd))
    return beside


@cache
def published_cells() -> tuple[Cell, ...]:
    """All published numbers, from ``published.csv``."""
    text = files("twoheads.studies").joinpath("published.csv").read_text(encoding="utf-8")
    cells = []
    for line in csv.DictReader(text.splitlines()):
        key = Key(
            line["dataset"],
            line["model"],
            int(line["noise_level"]) if line["noise_level"] else None,
            line["method"],
            int(line["n_labelled"]) if line["n_labelled"] else None,
            line["metric"],
        )
        cells.append(Cell(line["table"], key, line["mean"], line["sd"]))
    return tuple(cells)


def _listed(off: list[Comparison], most: int) -> list[str]:
    more = [f"  and {len(off) - most} more, each off by less."] if len(off) > most else []
    return [f"  {comparison}" for comparison in off[:most]] + more


def _key(row: Row, *, with_labels: bool) -> Key:
    labels = row.n_labelled if with_labels else None  # most tables do not have the number of labels
    return Key(*row.setting, row.method, labels, row.metric)
