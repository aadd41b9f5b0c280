"""Asking on CIFAR-10H: how many answers it takes, and whether gains come as promised."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.asking import one_person, real_people, summary
from benchmarks.real_sets import find_sets


@pytest.fixture(scope="module")
def real_sets(data_folder):
    folder = data_folder / "cifar10h"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there; set TWOHEADS_DATA to the folder that holds cifar10h")
    return {real.name: real for real in find_sets(folder)[0]}


def errors_at(found, policy, share):
    return 100 * (1 - np.mean([curves[policy].at(share * 3000) for curves, _ in found]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), [("human_model_truth_cifar10h", 0.5), ("densenet-bc-L190-k40", 0.07)])
def test_few_answers_do_what_all_do_for_the_plain_product(real_sets, name, share):
    found = one_person(real_sets[name])
    _, promised, realised, met = summary(found, 3000)
    assert met is not None
    assert met <= share
    assert promised == pytest.approx(realised, rel=0.2)
    for cost in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        ours = errors_at(found, "expected_gain", cost)
        assert ours <= errors_at(found, "least_sure", cost) + 0.1
        assert ours <= errors_at(found, "threshold", cost) + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["human_model_truth_cifar10h", "densenet-bc-L190-k40"])
def test_choosing_among_real_people_is_ahead(real_sets, data_folder, name):
    answers = data_folder / "cifar10h" / "annotators.parquet"
    if not answers.exists():
        pytest.skip(f"{answers} is not there")
    found = real_people(real_sets[name], pd.read_parquet(answers), splits=3)
    _, promised, realised, _ = summary(found, 3000)
    assert promised == pytest.approx(realised, rel=0.2)
    for cost in (0.05, 0.1, 0.3, 1.0):
        ours = errors_at(found, "expected_gain", cost)
        assert ours < errors_at(found, "least_sure", cost)
        assert ours < errors_at(found, "threshold", cost)
        assert ours < errors_at(found, "random", cost)
