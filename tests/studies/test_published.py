"""The transcription of the paper's tables, and what counts as agreement."""

from __future__ import annotations

from collections import Counter

import pytest

from twoheads.studies.catalogue import CATALOGUE
from twoheads.studies.published import Cell, Comparison, Key, agreements, published_cells, with_published
from twoheads.studies.rows import Row


def test_every_table_has_all_its_cells():
    assert Counter(cell.table for cell in published_cells()) == {
        "table:cifar10_error_rates": 4 * 7,
        "table:imagenet_error_rates_vgg19": 4 * 7,
        "table:imagenet_error_rates_googlenet": 4 * 7,
        "table:cifar_calibration_mainpaper": 3 * 4 * 6,
        "table:cifar_calibration_appendix": 3 * 4 * 7,
        "table:imagenet_vgg19_calibration_appendix": 3 * 4 * 7,
        "table:imagenet_googlenet_calibration_appendix": 3 * 4 * 7,
        "tab:cmi": 12 * 2,
        "table:cifar_individual_confusion": 4 * 3,
        "table:imagenet_individual_confusion_vgg19": 4 * 3,
        "table:imagenet_individual_confusion_googlenet": 4 * 3,
        "fig:example": 2 * 3 + 3,
    }


def test_no_cell_stands_twice_and_every_table_is_used():
    assert max(Counter((cell.table, cell.key) for cell in published_cells()).values()) == 1
    assert {cell.table for cell in published_cells()} == {
        table for study in CATALOGUE.values() for table in study.published
    }


def test_the_table_of_the_main_paper_is_part_of_that_of_the_appendix():
    appendix = {c.key: (c.mean, c.sd) for c in published_cells() if c.table == "table:cifar_calibration_appendix"}
    for cell in published_cells():
        if cell.table == "table:cifar_calibration_mainpaper":
            assert appendix[cell.key] == (cell.mean, cell.sd)


def test_what_should_hold_in_the_tables_does():
    errors = {c.key: float(c.mean) for c in published_cells() if c.key.metric == "error" and "error_rates" in c.table}
    for key, error in errors.items():
        if key.method == "TS":  # the combination errs less than either
            assert error < errors[key._replace(method="Human")]
            assert error < errors[key._replace(method="Model")]
    for cell in published_cells():
        assert 0 < float(cell.mean) < 50
        assert not cell.sd or 0 < float(cell.sd) < 15


@pytest.mark.parametrize(
    ("dataset", "model", "noise", "method", "n", "metric", "expected"),
    [
        ("CIFAR-10H", "PreResNet-164", None, "IMax", None, "error", ("2.43", "0.26")),
        ("ImageNet-16H", "VGG-19", 125, "Uncalibrated", None, "error", ("19.45", "0.62")),
        ("ImageNet-16H", "GoogLeNet", 95, "TS", None, "error", ("9.67", "0.40")),
        ("CIFAR-10H", "PreResNet-164", None, "Recal. Comb.", 5000, "NLL", ("0.08", "0.01")),
        ("ImageNet-16H", "GoogLeNet", 125, "Comb.", 10, "ECE", ("11.33", "0.36")),
        ("ImageNet-16H", "VGG-19", 110, "Model", 5000, "cwECE", ("1.36", "0.07")),
        ("ImageNet-16H", "GoogLeNet", 95, "Model and human", None, "CMI", ("0.161", "")),
        ("CIFAR-10H", "ResNet-164", None, "Model", 25, "error", ("6.09", "1.75")),
        ("ImageNet-16H", "VGG-19", 80, "Calibrated model", None, "probability of the truth", ("0.78", "")),
    ],
)
def test_cells_read_off_the_paper(dataset, model, noise, method, n, metric, expected):
    key = Key(dataset, model, noise, method, n, metric)
    assert {(c.mean, c.sd) for c in published_cells() if c.key == key} == {expected}


def _row(mean, sd=0.33, behaviour="paper_2021"):
    return Row("CIFAR-10H", "ResNet-110", None, "Human", 0, 25, "error", mean, sd, "", "", behaviour)


@pytest.mark.parametrize(
    ("mean", "sd", "agrees"),
    [(4.62, 0.33, True), (4.6249, 0.3251, True), (4.626, 0.33, False), (4.62, 0.336, False), (4.615, 0.33, True)],
)
def test_agreement_is_within_rounding(mean, sd, agrees):
    cell = next(cell for cell in published_cells() if cell.key.method == "Human")
    assert Comparison(cell, _row(mean, sd)).agrees is agrees


def test_agreement_is_to_the_digits_that_were_printed():
    cell = Cell("table", Key("CIFAR-10H", "ResNet-110", None, "Human", 25, "error"), "5.11", "5.7")
    assert Comparison(cell, _row(5.113, 5.74)).agrees
    assert not Comparison(cell, _row(5.113, 5.76)).agrees


def test_the_text_says_how_many_agree_and_by_how_much_the_others_are_off():
    found = agreements(CATALOGUE["error-rates"].published, [_row(4.7, 0.30), _row(0.0, behaviour="correct")])[0]
    assert found.lines() == [
        "Error rates on CIFAR-10H: 0 of 1 cells agree within rounding (27 more have no data here).",
        "  ResNet-110 Human error: 4.70 ± 0.30, published 4.62 ± 0.33 (off by +0.08, -0.03)",
    ]


def test_published_numbers_stand_beside_ours():
    rows = with_published(CATALOGUE["error-rates"].published, [_row(4.7), _row(4.7, behaviour="correct")])
    assert [(row.published_mean, row.published_sd) for row in rows] == [("4.62", "0.33")] * 2
    assert with_published(CATALOGUE["learning-curves"].published, [_row(4.7)])[0].published_mean == ""
