"""A panel of real judges beside its best member, on halves of the texts as `benchmarks.floor` splits them."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.floor import fitted, read_judges


@pytest.mark.parametrize(("kind", "most"), [("label", 0.0), ("score", -3.5)])
def test_500_labels_are_as_good_as_knowing_the_best_judge_beforehand(data_folder, kind, most):
    """Points of error above the best judge of each half, chosen on that half: -0.7 and -4.8 in twenty splits."""
    if not (data_folder / "judges" / "judges.parquet").exists():
        pytest.skip("the judges are not among the real data; set TWOHEADS_DATA to the folder that holds them")
    label, score, truth = read_judges(data_folder)
    frame = {"label": label, "score": score}[kind].add_suffix(f".{kind}").reset_index(drop=True)
    above = []
    for split in range(4):
        item = np.random.default_rng([1, split]).permutation(len(truth))
        for half in (0, 1):
            learn, judge = np.array_split(item, 2)[:: 1 - 2 * half]
            team = fitted(frame.iloc[learn].reset_index(drop=True), truth[learn], 500)
            error = np.mean(team.predict(frame.iloc[judge].reset_index(drop=True)) != truth[judge])
            best = (label.to_numpy()[judge] != truth[judge, None]).mean(axis=0).min()
            above.append(100 * (error - best))
    assert np.mean(above) < most
