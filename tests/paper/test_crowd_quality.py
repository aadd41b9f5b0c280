"""Teams of many people on real crowds, as `benchmarks.crowd` draws and judges them: few splits, with room for noise."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks import crowd as bench
from benchmarks.real_crowds import cifar10h, cifar10s, imagenet16h
from benchmarks.real_sets import UnreadableSet
from benchmarks.simulation import simulate_crowd

ECE, ERROR, NLL = bench.ECE, bench.ERROR, bench.NLL


def read(reader, *arguments):
    try:
        return reader(*arguments)
    except UnreadableSet as error:
        pytest.skip(f"{error} Set TWOHEADS_DATA to the folder that holds it.")


@pytest.fixture(scope="module")
def people_of_cifar10h(data_folder):
    return read(cifar10h, data_folder)


@pytest.mark.parametrize(("model", "log_loss"), [("ResNet-110", 0.065), ("DenseNet-BC", 0.055)])
def test_three_answers_per_image(people_of_cifar10h, model, log_loss):
    found = bench.of_cifar10h(people_of_cifar10h[model], 3, splits=2, methods=("recommended", "plain"))
    for size, ratio, ece in (("all", 0.65, 0.6), (100, 0.7, 0.85)):
        ours, plain = found["recommended", size], found["plain", size]
        assert ours[NLL] < ratio * plain[NLL]
        assert ours[ECE] < min(ece, plain[ECE])
        assert ours[ERROR] < plain[ERROR] + 0.2
    assert found["recommended", 0][NLL] < log_loss
    assert found["recommended", 0][ECE] < 0.95


def test_more_answers_are_never_worse(people_of_cifar10h):
    crowd = people_of_cifar10h["ResNet-110"]
    ten, fifty = (bench.of_cifar10h(crowd, n, splits=1, sizes=(0,), methods=("recommended",)) for n in (10, 50))
    assert fifty["recommended", 0][NLL] < ten["recommended", 0][NLL]


def test_a_matrix_per_person_from_25_answers(people_of_cifar10h):
    trials = [bench.matrix_per_person(people_of_cifar10h["ResNet-110"], seed) for seed in range(5)]
    for other in ("pooled", "separate"):
        assert np.mean([each[other] - each["hierarchical"] for each in trials]) > 0


def test_145_people(data_folder):
    pytest.importorskip("cleanlab")
    found = bench.of_imagenet16h(read(imagenet16h, data_folder, 110)["vgg19"], folds=2)
    for size in ("all", 100):
        assert found["recommended", size][NLL] < 0.5 * found["plain", size][NLL]
    assert found["recommended", 0][NLL] < 0.6 * found["CROWDLAB", 0][NLL]
    assert found["recommended", 0][ERROR] < found["CROWDLAB", 0][ERROR] + 1.0


@pytest.mark.parametrize("model", ["ResNet-110", "DenseNet-BC"])
def test_confidence_is_used_for_what_it_is_worth(data_folder, model):
    crowd = read(cifar10s, data_folder)[model]
    gain, cost = np.mean([bench.confidence_gain(crowd, 100, seed) for seed in range(4)], axis=0)
    assert gain > 0.005
    assert cost < 0.004


@pytest.mark.slow
@pytest.mark.parametrize("section", ["imagenet16h", "confidence", "person", "cifar10h"])
def test_every_bar(data_folder, section):
    pytest.importorskip("cleanlab")
    try:
        lines = list(bench.SECTIONS[section](data_folder, 5))
    except UnreadableSet as error:
        pytest.skip(str(error))
    assert [str(line) for line in lines if not line.holds] == []


def test_crowdlab_is_that_of_cleanlab():
    multiannotator = pytest.importorskip("cleanlab.multiannotator")
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=200)
    proba = 0.6 * rng.dirichlet(np.ones(3), 200) + 0.4 * np.eye(3)[truth]
    labels = np.where(rng.random((200, 5)) < 0.7, truth[:, None], rng.integers(3, size=(200, 5))).astype(float)
    labels[rng.random((200, 5)) < 0.5] = np.nan
    labels[np.isnan(labels).all(axis=1), 0] = 1
    quality = multiannotator.get_label_quality_multiannotator(labels, proba, verbose=False)["label_quality"]
    posterior = bench.crowdlab(labels, proba)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    consensus = quality["consensus_label"].to_numpy()
    np.testing.assert_allclose(posterior[np.arange(200), consensus], quality["consensus_quality_score"], atol=1e-9)


def test_the_command_prints_lines_and_keeps_them(tmp_path, capsys):
    out = tmp_path / "results" / "crowd.json"
    bench.main(["--only", "recovery", "--only", "person", "--data", str(tmp_path), "--out", str(out)])
    printed = capsys.readouterr().out
    assert "correlation of believed and true accuracies" in printed
    assert "person is left out" in printed
    kept = json.loads(out.read_text())
    assert [row["holds"] for row in kept["recovery"]["rows"]] == [True, True]
    assert kept["person"]["rows"] == []


def test_lines():
    assert bench.Line("a", 1.0, 1.0).holds
    assert not bench.Line("a", 1.01, 1.0).holds
    assert bench.Line("a", 1.01, 1.0, least=True).holds
    assert str(bench.Line("a", 2.0, 1.0)).endswith("at most 1.0000   <-- missed")


def test_simulated_crowds_never_ask_a_person_twice_about_an_item():
    seen, truth = simulate_crowd(300, np.full(7, 0.8), per_item=3, n_classes=4, rng=np.random.default_rng(0))
    assert seen.answers.per_item().tolist() == [3] * 300
    person, label = np.divmod(seen.answers.column.reshape(300, 3), 4)
    assert (np.diff(np.sort(person, axis=1), axis=1) > 0).all()
    assert np.mean(label == truth[:, None]) == pytest.approx(0.8, abs=0.05)
