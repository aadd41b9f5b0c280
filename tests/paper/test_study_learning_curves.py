"""The study of learning curves gives the errors of the released code and of the equations, ResNet-110, 10 trials."""

from __future__ import annotations

import pytest

from twoheads import studies

SIZES = (2, 10, 100, 1000, 5000)
EXPECTED = {
    ("paper_2021", "LR on m"): (79.9, 37.8, 5.14, 4.61, 4.35),
    ("paper_2021", "SP"): (5.87, 4.21, 3.75, 3.70, 3.73),
    ("paper_2021", "L+L"): (7.76, 7.43, 7.00, 5.56, 4.67),
    ("paper_2021", "P+L"): (4.45, 4.29, 4.05, 3.91, 3.83),
    ("paper_2021", "P+L-EM"): (8.34, 7.86, 6.04, 4.27, 3.82),
    ("paper_2021", "Bayes"): (7.08, 6.64, 4.87, 3.73, 3.65),
    ("correct", "P+L"): (4.04, 4.01, 3.82, 3.73, 3.68),
    ("correct", "P+L-EM"): (4.04, 4.17, 4.32, 3.69, 3.76),
}


@pytest.mark.slow
def test_learning_curves(data_folder, tmp_path):
    pytest.importorskip("matplotlib")
    path = data_folder / "cifar10h" / "human_model_truth_cifar10h.csv"
    if not path.exists():
        pytest.skip(f"{path} is not there; set TWOHEADS_DATA to the folder that holds cifar10h")
    (tmp_path / path.name).symlink_to(path)
    rows = studies.run("learning-curves", tmp_path, tmp_path / "out").rows
    found = {(row.behaviour, row.method, row.n_labelled): row for row in rows}
    for (behaviour, method), errors in EXPECTED.items():
        for n, error in zip(SIZES, errors, strict=True):
            row = found[behaviour, method, n]
            assert row.mean == pytest.approx(error, abs=0.15), row
            assert row.n_seeds == (9 if (method, n) == ("LR on m", 2) else 10)
    # What the figure shows: P+L below human and model with ten labels, L+L and LR far above.
    best_alone = min(found["correct", "Human", 0].mean, found["correct", "Model", 0].mean)
    for behaviour in ("paper_2021", "correct"):
        assert found[behaviour, "P+L", 10].mean < best_alone
        assert found[behaviour, "L+L", 10].mean > best_alone
        assert found[behaviour, "LR on m", 10].mean > best_alone
    assert found["correct", "Recommended", 5000].mean <= found["correct", "P+L", 5000].mean + 0.1
