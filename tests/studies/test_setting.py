"""Trials: the paper's draws and splits, and images that stay on one side."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from studies.small_files import write_cifar10h, write_imagenet16h
from twoheads.errors import InvalidObservations, InvalidParameter
from twoheads.studies.data import read_data
from twoheads.studies.methods import combiner_of, temperature_of
from twoheads.studies.protocol import Protocol
from twoheads.studies.rows import BEHAVIOURS
from twoheads.studies.setting import Priors


def test_labels_and_splits_are_drawn_as_in_the_released_code(tmp_path):
    path = write_cifar10h(tmp_path) / "densenet-bc-L190-k40.csv"
    table = np.loadtxt(path, delimiter=",")
    rng = np.random.default_rng(9658)
    human = []
    for row in table[:, 1:11].astype(int):
        answers = np.repeat(np.arange(10), row).tolist()
        rng.shuffle(answers)
        human.append(answers[0])
    expected = train_test_split(np.array(human), table[:, 11:], table[:, 0], test_size=0.3, random_state=3 * 9658)
    split = Protocol().rows(read_data(tmp_path).settings[1], "correct").split(3)
    assert split.X[:, 0].tolist() == expected[0].tolist()
    assert split.X_test[:, 1:].tolist() == expected[3].tolist()
    assert split.y.tolist() == expected[4].tolist()
    assert split.y_test.tolist() == expected[5].tolist()


@pytest.mark.parametrize(
    ("protocol", "behaviour", "per_image"),
    [("published", "correct", 6), ("stated", "correct", 1), ("stated", "paper_2021", 1)],
)
def test_an_image_is_never_on_both_sides(tmp_path, protocol, behaviour, per_image):
    setting = read_data(write_imagenet16h(tmp_path)).settings[0]
    split = Protocol(protocol).rows(setting, behaviour).split(2)
    training, judged = ({tuple(row) for row in X[:, 1:].tolist()} for X in (split.X, split.X_test))
    assert len(training) == 28
    assert len(judged) == 12
    assert training.isdisjoint(judged)
    assert (len(split.y), len(split.y_test)) == (28 * per_image, 12 * per_image)


def test_the_published_split_is_of_answers_in_the_order_of_their_file(tmp_path):
    folder = write_imagenet16h(tmp_path)
    path = folder / "human_only_classification_6per_img_export.csv"
    head, *lines = path.read_text().splitlines()
    shuffled = [lines[at] for at in np.random.default_rng(0).permutation(len(lines))]
    path.write_text("\n".join([head, *shuffled]) + "\n")
    answers = [line.split(",") for line in shuffled if line.split(",")[4] == "80"]
    training, judged = train_test_split(np.arange(240), test_size=0.3, random_state=2 * 9658)
    setting = read_data(folder).settings[0]
    split = Protocol().rows(setting, "paper_2021").split(2)
    for X, y, rows in ((split.X, split.y, training), (split.X_test, split.y_test, judged)):
        assert [setting.classes[int(code)] for code in X[:, 0]] == [answers[at][5] for at in rows]
        assert [setting.classes[code] for code in y] == [answers[at][2] for at in rows]
        assert [setting.proba[int(answers[at][1][1:])].tolist() for at in rows] == X[:, 1:].tolist()


def test_answers_to_an_image_do_not_come_in_a_row(tmp_path):
    split = Protocol().rows(read_data(write_imagenet16h(tmp_path)).settings[0], "correct").split(0)
    assert len({tuple(row) for row in split.X[:6, 1:].tolist()}) > 3


def test_stated_priors(tmp_path):
    write_cifar10h(tmp_path / "cifar10h")
    write_imagenet16h(tmp_path / "imagenet16h")
    (tmp_path / "training_accuracy.csv").write_text("model,noise_level,accuracy\nVGG-19,110,0.9\nDenseNet-BC,,0.99\n")
    settings = {(s.model, s.noise_level): s for s in read_data(tmp_path).settings}
    stated = {key: Protocol("stated").rows(setting, "correct").split(0).priors for key, setting in settings.items()}
    assert stated["VGG-19", 110] == Priors(0.75, 0.9)
    assert stated["VGG-19", 80] == Priors(0.75, None)
    assert stated["DenseNet-BC", None] == Priors(None, 0.99)
    assert stated["ResNet-110", None] == Priors()
    published = {Protocol().rows(s, behaviour).priors for s in settings.values() for behaviour in BEHAVIOURS}
    assert published == {Priors()}


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_priors_reach_the_methods_of_the_paper(behaviour):
    priors = Priors(0.75, 0.9)
    for method in ("TS", "L+L", "Uncalibrated", "ETS", "IMax", "Bayes"):
        params = combiner_of(behaviour, method, priors=priors).get_params()
        assert params["confusion__prior_accuracy"] == 0.9
        assert params.get("calibrator__log_temperature_sd", 0.75) == 0.75
    one_coin = combiner_of(behaviour, "SP", priors=priors).get_params()
    assert one_coin["confusion__prior_accuracy"] == combiner_of(behaviour, "SP").confusion.prior_accuracy
    assert one_coin["calibrator__log_temperature_sd"] == 0.75
    assert temperature_of(behaviour, priors).log_temperature_sd == 0.75
    assert temperature_of(behaviour).log_temperature_sd == 0.5
    assert combiner_of("correct", "Recommended", priors=priors).calibrator.log_temperature_sd == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,accuracy\n", "must have the columns model, noise_level, accuracy; it has"),
        ("model,noise_level,accuracy\nVGG-19,80,1\n", "must have accuracies between 0 and 1; line 2 has 1"),
        ("model,noise_level,accuracy\nVGG-19,80,much\n", "must hold numbers; line 2 does not"),
    ],
)
def test_training_accuracies_that_are_wrong(cifar_folder, text, message):
    (cifar_folder / "training_accuracy.csv").write_text(text)
    with pytest.raises(InvalidObservations, match=message):
        read_data(cifar_folder)


def test_columns_of_the_protocols():
    published = {
        column.method: (column.n_labelled, column.n_trials, column.estimate) for column in Protocol().error_columns()
    }
    assert published["TS"] == (5000, 10, "mode")
    assert published["L+L"][1:] == published["IMax"][1:] == (25, "likelihood")
    assert published["ETS"][0] > 7000
    stated = Protocol("stated").error_columns()
    assert {(column.n_labelled, column.n_trials, column.estimate) for column in stated[2:]} == {(5000, 25, "mode")}
    assert {column.n_trials for column in Protocol(seeds=3).error_columns()} == {3}


@pytest.mark.parametrize("seeds", [0, -1, 1.5, True])
def test_seeds_are_a_positive_number(seeds):
    with pytest.raises(InvalidParameter, match=f"seeds must be a whole number of 1 or more; it is {seeds!r}"):
        Protocol(seeds=seeds)


def test_a_protocol_that_is_none():
    with pytest.raises(InvalidParameter, match="protocol must be one of published, stated; it is 'other'"):
        Protocol("other")
