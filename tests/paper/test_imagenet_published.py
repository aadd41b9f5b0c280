"""ImageNet-16H as published: answers are split in the order of their file; the human's errors agree to the digit."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.studies.error_rates import error_of
from twoheads.studies.imagenet16h import read_imagenet16h
from twoheads.studies.protocol import Protocol

HUMAN = {80: (9.99, 0.48), 95: (14.07, 0.70), 110: (22.99, 0.71), 125: (39.76, 0.75)}


def _settings(data_folder):
    found = [s for s in read_imagenet16h([data_folder / "imagenet16h"])[0] if s.model == "VGG-19"]
    return found or pytest.skip("there are no files of ImageNet-16H; set TWOHEADS_DATA to the folder that holds them")


def _errors(rows, column):
    return [error_of(rows.split(trial), "paper_2021", column) for trial in range(25)]


def test_the_humans_errors_to_the_digit(data_folder):
    column = Protocol().error_columns()[0]
    for setting in _settings(data_folder):
        errors = _errors(Protocol().rows(setting, "paper_2021"), column)
        assert (round(np.mean(errors), 2), round(np.std(errors, ddof=1), 2)) == HUMAN[setting.noise_level]


def test_splitting_answers_flatters_the_combination_of_labels(data_folder):
    setting = _settings(data_folder)[0]
    column = next(column for column in Protocol().error_columns() if column.method == "L+L")
    leaking, sound = _errors(setting.every_answer_split(), column), _errors(setting.every_answer(), column)
    assert np.mean(leaking) == pytest.approx(6.89, abs=0.01)
    assert np.mean(sound) > np.mean(leaking) + 1.5
