"""The paper's tables and figures, reproduced from the public data: the proof that the estimators are right.

Kerrigan, Smyth & Steyvers, *Combining Human Predictions with Model Probabilities via Confusion Matrices and
Calibration*, NeurIPS 2021. Each study runs the library's own estimators twice: as the authors' released code computes
(``paper_2021``), and by the mathematics (``correct``).

>>> from twoheads import studies
>>> outcome = studies.run("error-rates", "data", "out")  # doctest: +SKIP
>>> print(outcome.text)  # doctest: +SKIP
"""

from __future__ import annotations

from twoheads.studies.outcome import Outcome
from twoheads.studies.protocol import PROTOCOLS
from twoheads.studies.running import STUDIES, run

__all__ = ["PROTOCOLS", "STUDIES", "Outcome", "run"]
