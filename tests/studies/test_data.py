"""Files of the public data: what is read, and what is said of a file that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from studies.small_files import write_cifar10h, write_imagenet16h
from twoheads.errors import InvalidObservations
from twoheads.studies.data import read_data


def _spoil(path, row, column, value):
    table = np.loadtxt(path, delimiter=",")
    table[row, column] = value
    np.savetxt(path, table, delimiter=",")


def test_both_layouts_hold_the_same_things(tmp_path):
    names = ("human_model_truth_cifar10h.csv", "resnet-110.csv", "preresnet-110.csv", "densenet-bc-L190-k40.csv")
    found = read_data(write_cifar10h(tmp_path, names))
    assert [setting.model for setting in found.settings] == ["ResNet-110", "ResNet-164", "PreResNet-164", "DenseNet-BC"]
    for setting in found.settings:
        assert setting.proba.shape == (120, 10)
        assert setting.proba.sum(axis=1) == pytest.approx(np.ones(120))
        assert set(setting.truth) <= set(range(10))
        assert (setting.proba.argmax(axis=1) == setting.truth).mean() > 0.5  # columns are where they should be
        assert np.bincount(setting.image).tolist() == [4] * 120


def test_says_what_is_missing(cifar_folder):
    assert read_data(cifar_folder).missing == (
        "ResNet-164 on CIFAR-10H: no file resnet-110.csv",
        "PreResNet-164 on CIFAR-10H: no file preresnet-110.csv",
        "the people of CIFAR-10H: no file annotators.parquet",
        "ImageNet-16H: no file human_only_classification_*.csv",
    )


def test_imagenet_is_normalised_and_named_as_in_the_paper(tmp_path):
    found = read_data(write_imagenet16h(tmp_path, models=("vgg19", "alexnet", "other")))
    assert [(s.model, s.noise_level) for s in found.settings] == [
        ("VGG-19", 80), ("VGG-19", 110), ("AlexNet", 80), ("AlexNet", 110), ("other", 80), ("other", 110)
    ]  # fmt: skip
    for setting in found.settings:
        assert setting.proba.sum(axis=1) == pytest.approx(np.ones(40))
        assert np.bincount(setting.image).tolist() == [6] * 40
    assert "VGG-19 on ImageNet-16H at noise 95: no such rows" in found.missing[4]


def test_a_blank_answer_is_left_out(tmp_path):
    path = write_imagenet16h(tmp_path, levels=(80,)) / "human_only_classification_6per_img_export.csv"
    lines = path.read_text().splitlines()
    fields = lines[1].split(",")
    fields[5] = ""
    path.write_text("\n".join([lines[0], ",".join(fields), *lines[2:]]))
    assert len(read_data(tmp_path).settings[0].answer) == 239


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InvalidObservations, match=r"data must be an existing folder; '.*nowhere' is not\."):
        read_data(tmp_path / "nowhere")


def test_a_folder_without_public_files(tmp_path):
    with pytest.raises(InvalidObservations, match=r"hold none\. Any of these will do: human_model_truth_cifar10h\.csv"):
        read_data(tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (
            20,
            0,
            r"cifar10h\.csv has invalid truth: row 4 has 0\.? \(1 of 120 rows are off\).*the truth \(1 to 10\)",
        ),
        (2, -1, r"has invalid votes: row 4 has \[.*-1"),
        (2, 0.5, r"has invalid votes: row 4"),
        (12, 2.0, r"has invalid probabilities: row 4"),
        (12, np.nan, r"has invalid probabilities: row 4"),
    ],
)
def test_a_number_that_cannot_be(cifar_folder, column, value, message):
    _spoil(cifar_folder / "human_model_truth_cifar10h.csv", 3, column, value)
    with pytest.raises(InvalidObservations, match=message):
        read_data(cifar_folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3\n", r"has 3 columns, not 21\. A row of this file has 21 numbers and no header: the truth \(0 to 9\)"),
        ("truth,votes\n", r"densenet-bc-L190-k40\.csv cannot be read: could not convert string 'truth'"),
        ("1,2\n1,2,3\n", "cannot be read"),
    ],
)
def test_a_file_of_another_kind(cifar_folder, text, message):
    (cifar_folder / "densenet-bc-L190-k40.csv").write_text(text)
    with pytest.raises(InvalidObservations, match=message):
        read_data(cifar_folder)


@pytest.mark.filterwarnings("ignore:loadtxt")
def test_an_empty_file(cifar_folder):
    (cifar_folder / "densenet-bc-L190-k40.csv").write_text("")
    with pytest.raises(InvalidObservations, match=r"is empty\."):
        read_data(cifar_folder)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("item_id", [0, 500], r"must have item_id from 0 to 119"),
        ("human_label", [0, 10], r"must have human_label from 0 to 9"),
        ("other", [0, 1], r"annotators\.parquet"),
    ],
)
def test_annotators_that_do_not_fit(cifar_folder, column, values, message):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {"item_id": [0, 1], "annotator_id": [0, 0], "human_label": [1, 2]}
    if column in columns:
        columns[column] = values
    else:
        del columns["human_label"]
    pq.write_table(pa.table(columns), cifar_folder / "annotators.parquet")
    with pytest.raises(InvalidObservations, match=message):
        read_data(cifar_folder)


def test_annotators_that_are_no_parquet(cifar_folder):
    pytest.importorskip("pyarrow")
    (cifar_folder / "annotators.parquet").write_text("nothing of the kind")
    with pytest.raises(InvalidObservations, match=r"annotators\.parquet cannot be read"):
        read_data(cifar_folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("human", "participant_classification", "said", r"has no column participant_classification; its columns are"),
        ("hai", "model_name", "name", r"has no column model_name"),
        ("hai", "bear,boat,cat,dog", "a,b,c,d", r"must have a column of probabilities for each category"),
        ("hai", "n0003,phase,80", "n0004,phase,80", r"has an image twice for vgg19 at noise 80"),
        ("human", "n0003,", "n0003,extra,", r"has 8 columns, but line \d+ has 9"),
        ("human", ",80,", ",much,", r"must have whole numbers as noise_level"),
    ],
)
def test_imagenet_files_that_are_wrong(tmp_path, file, old, new, message):
    write_imagenet16h(tmp_path, levels=(80,))
    path = next(tmp_path.glob(f"{file}*.csv"))
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InvalidObservations, match=message):
        read_data(tmp_path)


@pytest.mark.parametrize("text", ["", "image_name,noise_level,model_name,category\n"])
def test_imagenet_files_without_rows(tmp_path, text):
    write_imagenet16h(tmp_path, levels=(80,))
    (tmp_path / "hai_epoch10_model_preds_max_normalized.csv").write_text(text)
    with pytest.raises(InvalidObservations, match=r"has no (column|rows)"):
        read_data(tmp_path)


def test_imagenet_with_one_of_its_files(tmp_path):
    write_cifar10h(tmp_path)
    write_imagenet16h(tmp_path)
    (tmp_path / "hai_epoch10_model_preds_max_normalized.csv").unlink()
    assert read_data(tmp_path).missing[-1] == "ImageNet-16H: no file hai_epoch10_model_preds_max_normalized.csv"
