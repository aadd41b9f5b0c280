"""The tidy table that every study writes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from twoheads.studies.setting import Setting

#: The behaviours: as in the authors' released code, and by the mathematics.
PAPER, CORRECT = "paper_2021", "correct"
BEHAVIOURS = (PAPER, CORRECT)


@dataclass(frozen=True)
class Row:
    """One number: mean and standard deviation over trials, beside the published ones (as printed; blank if none).

    Errors, ECE and cwECE are in per cent, NLL is in nats, CMI and MI are in bits.
    """

    dataset: str
    model: str
    noise_level: int | None
    method: str
    n_labelled: int
    n_seeds: int
    metric: str
    mean: float
    sd: float
    published_mean: str
    published_sd: str
    behaviour: str

    @property
    def setting(self) -> tuple[str, str, int | None]:
        """The key of its `Setting`."""
        return self.dataset, self.model, self.noise_level


COLUMNS = tuple(field.name for field in fields(Row))


def rows_of(
    setting: Setting,
    behaviour: str,
    method: str,
    n_labelled: int,
    values: Mapping[str, Sequence[float]],
) -> list[Row]:
    """Rows of one method: for each metric, the mean over its trials and their standard deviation (ddof 1).

    A trial that could not be run is NaN, and not counted; without any there is no row.
    """
    rows = []
    for metric, trials in values.items():
        made = np.array([value for value in trials if not np.isnan(value)])
        if len(made):
            sd = float(made.std(ddof=1)) if len(made) > 1 else float("nan")
            rows.append(
                Row(*setting.key, method, n_labelled, len(made), metric, float(made.mean()), sd, "", "", behaviour)
            )
    return rows


def as_csv(rows: Iterable[Row]) -> str:
    """Rows as CSV; what is not known is blank, numbers have six significant digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_text(getattr(row, name)) for name in COLUMNS])
    return text.getvalue()


def _text(value: str | int | float | None) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
