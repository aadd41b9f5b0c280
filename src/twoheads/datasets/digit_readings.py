"""Handwritten digits, read by two classifiers and by five simulated readers."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twoheads.kernels.arrays import MISSING, Codes
from twoheads.observations import Observations

DESCRIPTION = """\
Handwritten digits, read by two classifiers and by five simulated readers

1,300 images of scikit-learn's digits (8 x 8 pixels, 10 classes), each with the noise of one of two scanners: a third of
them comes from the old one, which adds more. The images and the truth are real.

The models are real: `bayes` (Gaussian naive Bayes, over-confident) and `linear` (a strongly regularised logistic
regression, under-confident), trained on the other 497 images, with the same noise.

The readers are simulated. Each has a skill, sees a part of the images, and errs more often on images whose nearest
neighbours show another digit; the wrong answer is mostly that digit. So readers err on the same images as each other
and as the models. Confidence is 1 to 5, "unsure" is an answer, and both depend on how hard the image is:

  reader  images  unsure  correct  character
  ana        711      18     94 %  an expert
  ben        582       7     91 %  good
  chloe      602      88     90 %  good and cautious: often unsure, low confidence
  dev        657       8     83 %  mediocre and bold: high confidence
  eli        473      22     71 %  a beginner

The truth of 300 images, drawn at random, is in the table; that of all is in `truth`, to evaluate. The scanner is the
group. Use it to learn the library, not to compare methods: what the readers do was decided by us.

`twoheads.datasets.recipe` makes the file.
"""


@dataclass(frozen=True, eq=False)
class DigitReadings:
    """What `load_digit_readings` returns.

    Attributes
    ----------
    table : dict of arrays, or a pandas data frame
        The columns `item`, `scanner`, `human_<reader>`, `confidence_<reader>`, `<model>.p_<digit>` and `truth`, as a
        user would have them: what is not known is a gap (None in a dict; missing in a frame).
    observations : Observations
        The same answers, confidences and probabilities, checked; its classes are the numbers 0 to 9.
    truth : array of shape (n_items,)
        The digit on every image.
    y : array of shape (n_items,)
        The digit where the table has it, -1 elsewhere: what a fit may see.
    group : array of shape (n_items,)
        The scanner: "new" or "old".
    description : str
        How the data were made.
    """

    table: Any
    observations: Observations
    truth: Codes
    y: Codes
    group: NDArray[Any]
    description: str = DESCRIPTION


def load_digit_readings(*, as_frame: bool = False) -> DigitReadings:
    """Handwritten digits, read by two classifiers and by five simulated readers.

    Parameters
    ----------
    as_frame : bool
        Whether `table` is a pandas data frame; it needs pandas.

    Returns
    -------
    DigitReadings
        The table, the observations, the truth and the description, which says what is simulated.

    Examples
    --------
    >>> import twoheads as th
    >>> data = load_digit_readings()
    >>> team = th.recommended().fit(data.observations, data.y)
    >>> held_out = data.y == -1
    >>> error = (team.predict(data.observations) != data.truth)[held_out].mean()
    >>> bool(error < 0.08)
    True
    """
    columns = _read()
    truth = np.array(columns.pop("all_truth"), dtype=np.intp)
    known = np.array([text is not None for text in columns["truth"]])
    table = {name: _typed(name, values) for name, values in columns.items()}
    return DigitReadings(
        table=_as_frame(table) if as_frame else table,
        observations=Observations.from_frame(_Columns(table), y=truth),
        truth=truth,
        y=np.where(known, truth, MISSING),
        group=np.array(columns["scanner"]),
    )


def _read() -> dict[str, list[str | None]]:
    """The columns of the file as text; None where they are blank."""
    packed = files("twoheads.datasets").joinpath("digit_readings.csv.gz").read_bytes()
    header, *rows = csv.reader(io.StringIO(gzip.decompress(packed).decode()))
    return {name: [row[at] or None for row in rows] for at, name in enumerate(header)}


def _typed(name: str, values: list[str | None]) -> NDArray[Any]:
    """Probabilities as floats, confidences and truth as whole numbers with gaps, all else as text."""
    if ".p_" in name:
        return np.array(values, dtype=float)
    if name == "truth" or name.startswith("confidence_"):
        return np.array([None if text is None else int(text) for text in values], dtype=object)
    return np.array(values, dtype=object)


class _Columns:
    """Columns as the table that `Observations.from_frame` reads, without any library of data frames."""

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        self.columns = list(columns)
        self._values = columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._values[name]

    def __len__(self) -> int:
        return len(self._values["item"])


def _as_frame(table: dict[str, NDArray[Any]]) -> Any:
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ImportError("as_frame=True needs pandas; install it with: pip install pandas") from error
    whole = {name: "Int64" for name in table if name == "truth" or name.startswith("confidence_")}
    return pd.DataFrame(table).astype(whole)
