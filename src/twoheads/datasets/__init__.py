"""Example data that installs with the package, as scikit-learn has it.

>>> from twoheads.datasets import load_digit_readings
>>> data = load_digit_readings()
>>> data.observations.annotators, data.observations.models
(('ana', 'ben', 'chloe', 'dev', 'eli'), ('bayes', 'linear'))
"""

from __future__ import annotations

from twoheads.datasets.digit_readings import DigitReadings, load_digit_readings

__all__ = ["DigitReadings", "load_digit_readings"]
