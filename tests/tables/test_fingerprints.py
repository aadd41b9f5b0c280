"""A fingerprint knows the same rows again, and no others."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twoheads import Observations
from twoheads.tables import fingerprint


def observations(seed=0, n=50, k=3):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(k), n).round(2)
    proba[:, 0] = 1 - proba[:, 1:].sum(axis=1)
    return Observations.from_arrays(rng.integers(-1, k, n), np.abs(proba), classes=list("abcdef"[:k]))


@given(st.integers(0, 1000), st.integers(1, 49))
def test_order_and_blocks_do_not_matter(seed, cut):
    seen = observations(seed)
    shuffled = seen.take(np.random.default_rng(seed).permutation(len(seen)))
    assert fingerprint(seen) == fingerprint(shuffled) == fingerprint([shuffled[:cut], shuffled[cut:]])


@given(st.integers(0, 49), st.integers(0, 2), st.floats(1e-6, 1e-4))
def test_any_other_number_or_answer_matters(row, column, step):
    seen = observations()
    proba = seen.model_proba[0].copy()
    proba[row, column] += step
    assert fingerprint(replace(seen, model_proba=(proba,))) != fingerprint(seen)
    answers = seen.answers.column.copy()
    answers[row] = (answers[row] + 2) % 4 - 1
    assert fingerprint(Observations.from_arrays(answers, seen.model_proba[0], classes=list("abc"))) != fingerprint(seen)


def test_certain_rows_are_told_apart():
    # Short fractions have few bits: each of these rows must still get a hash of its own.
    rows = np.eye(100)
    prints = {fingerprint(Observations.from_arrays([-1], rows[at : at + 1])) for at in range(100)}
    assert len(prints) == 100


def test_ids_truth_precision_and_memory_order_do_not_matter():
    seen = observations()
    assert fingerprint(replace(seen, items=seen.items[::-1])) == fingerprint(seen)
    proba = np.asfortranarray(seen.model_proba[0])
    assert fingerprint(replace(seen, model_proba=(proba,))) == fingerprint(seen)
    single = np.array([[0.5, 0.5], [0.25, 0.75], [-0.0, 1.0]], dtype=np.float32)
    double = np.abs(single.astype(np.float64))
    one, other = (Observations.from_arrays([0, 1, 0], some) for some in (single, double))
    assert fingerprint(one) == fingerprint(other)


def test_classes_people_and_scale_matter():
    seen = observations()
    others = [
        replace(seen, classes=np.array(["a", "b", "x"])),
        replace(seen, annotators=("someone",)),
        replace(seen, model_scale="logit"),
        seen[:-1],
        seen.take(np.array([0, *range(len(seen))])),
    ]
    assert len({fingerprint(some) for some in [seen, *others]}) == 6


def test_several_people():
    frame = {"human_ann": ["a", None, "b"], "human_bob": ["b", None, "b"], "p_a": [0.5] * 3, "p_b": [0.5] * 3}
    import pandas as pd

    seen = Observations.from_frame(pd.DataFrame(frame))
    swapped = pd.DataFrame(frame | {"human_ann": frame["human_bob"], "human_bob": frame["human_ann"]})
    assert fingerprint(seen[::-1]) == fingerprint([seen[:1], seen[1:]]) == fingerprint(seen)
    assert fingerprint(Observations.from_frame(swapped)) != fingerprint(seen)
