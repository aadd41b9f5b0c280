"""The studies give the cells that Kerrigan, Smyth & Steyvers (2021) publish, on the CIFAR-10H files that are there.

By default a part of the files is looked at; ``-m slow`` looks at all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from twoheads import studies
from twoheads.studies.cifar10h import ANNOTATORS, FILES

#: How far mean and standard deviation may be off, by method or metric. Cells are printed to two digits; the optimisers
#: of ETS and I-Max are not the authors'.
ERROR_TOLERANCE = {
    "Human": 0.0051,
    "Model": 0.0051,
    "L+L": 0.03,
    "Uncalibrated": 0.03,
    "TS": 0.03,
    "ETS": 0.1,
    "IMax": 0.1,
}
CALIBRATION_TOLERANCE = {"ECE": 0.03, "cwECE": 0.02, "NLL": 0.01}


def _folder(data_folder: Path, tmp_path: Path, models: tuple[str, ...]) -> Path:
    """A folder with the files of some models."""
    for model in models:
        path = data_folder / "cifar10h" / FILES[model][0]
        if not path.exists():
            pytest.skip(f"{path} is not there; set TWOHEADS_DATA to the folder that holds cifar10h")
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def _compared(outcome, title):
    agreement = next(agreement for agreement in outcome.agreements if agreement.title == title)
    return agreement.compared


def _each_model(*fast):
    return [pytest.param(model, marks=() if model in fast else pytest.mark.slow) for model in FILES]


@pytest.mark.parametrize("model", _each_model("DenseNet-BC"))
def test_error_rates(data_folder, tmp_path, model):
    outcome = studies.run("error-rates", _folder(data_folder, tmp_path, (model,)), tmp_path / "out", jobs=1)
    compared = _compared(outcome, "Error rates on CIFAR-10H")
    assert len(compared) == 7
    for comparison in compared:
        tolerance = ERROR_TOLERANCE[comparison.cell.key.method]
        assert max(map(abs, comparison.differences)) <= tolerance, str(comparison)


@pytest.mark.parametrize("model", _each_model("ResNet-110"))
def test_calibration(data_folder, tmp_path, model):
    outcome = studies.run("calibration", _folder(data_folder, tmp_path, (model,)), tmp_path / "out", jobs=1)
    compared = _compared(outcome, "Calibration on CIFAR-10H, appendix")
    assert len(compared) == 3 * 7
    for comparison in compared:
        tolerance = CALIBRATION_TOLERANCE[comparison.cell.key.metric]
        assert max(map(abs, comparison.differences)) <= tolerance, str(comparison)


@pytest.mark.parametrize("model", _each_model("ResNet-110", "DenseNet-BC"))
def test_independence(data_folder, tmp_path, model):
    pytest.importorskip("matplotlib")
    outcome = studies.run("independence", _folder(data_folder, tmp_path, (model,)), tmp_path / "out", jobs=1)
    compared = _compared(outcome, "Conditional and unconditional mutual information")
    assert len(compared) == 2
    for comparison in compared:
        assert abs(comparison.differences[0]) <= 0.0005, str(comparison)


@pytest.mark.slow
@pytest.mark.parametrize("model", list(FILES))
def test_individuals(data_folder, tmp_path, model):
    folder = _folder(data_folder, tmp_path, (model,))
    (folder / ANNOTATORS).symlink_to(data_folder / "cifar10h" / ANNOTATORS)
    outcome = studies.run("individuals", folder, tmp_path / "out")
    compared = _compared(outcome, "Individuals on CIFAR-10H")
    assert len(compared) == 3
    for comparison in compared:  # which 25 answers they took is not known
        assert abs(comparison.differences[0]) <= 0.2, str(comparison)
        assert abs(comparison.differences[1]) <= 0.3, str(comparison)


@pytest.mark.slow
def test_the_stated_protocol_gives_other_numbers(data_folder, tmp_path):
    folder = _folder(data_folder, tmp_path, ("ResNet-110",))
    outcome = studies.run("error-rates", folder, tmp_path / "out", protocol="stated")
    found = {row.method: row.mean for row in outcome.rows if row.behaviour == "paper_2021"}
    assert {method: round(found[method], 2) for method in ("L+L", "Uncalibrated", "TS")} == {
        "L+L": 4.70,
        "Uncalibrated": 4.26,
        "TS": 3.82,
    }
