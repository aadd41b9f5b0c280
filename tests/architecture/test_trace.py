"""How often a fit crosses from one module to another: who follows it through the code changes files as often."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

import twoheads as th
from twoheads.engines import threads

ROOT = str(Path(th.__file__).parent)

#: Calls of a recommended fit that land in another module than the call before. It may only rise
#: where a fit has something more to find (7 for what a probability of 0 means, 7 for ties, 6 for the
#: weight with which each item is left out, 7 for who may be the better half, 8 for how many answers items have): lower
#: it when it falls.
SWITCHES = 295


def problem():
    """60 items of three classes, with the answers of a person and the probabilities of a model."""
    rng, n, classes = np.random.default_rng(0), 60, np.array(["a", "b", "c"])
    truth = rng.integers(0, 3, n)
    proba = np.exp(rng.normal(size=(n, 3)) + 2 * np.eye(3)[truth])
    X = pd.DataFrame(proba / proba.sum(axis=1, keepdims=True), columns=["p_a", "p_b", "p_c"])
    X["human"] = classes[np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n))]
    return X, classes[truth]


def trace(function):
    """The module of each call, in order, without lambdas and comprehensions."""
    called = []

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and not code.co_name.startswith("<"):
            called.append(code.co_filename.removeprefix(ROOT + "/"))

    before = sys.getprofile()
    with threads.single_threaded():
        sys.setprofile(note)
        try:
            function()
        finally:
            sys.setprofile(before)
    return called


def test_a_fit_changes_modules_no_more_often_than_it_did():
    X, y = problem()
    th.recommended().fit(X, y)  # so that nothing is imported or cached while it is traced
    called = trace(lambda: th.recommended().fit(X, y))
    crossings = Counter(pair for pair in pairwise(called) if pair[0] != pair[1])
    found, most = crossings.total(), "\n".join(f"{n} {a} -> {b}" for (a, b), n in crossings.most_common(20))
    assert found <= SWITCHES, f"{found} changes of module, {SWITCHES} before; the most common:\n{most}"
    assert found == SWITCHES, f"Well done: {found} changes of module. Lower SWITCHES from {SWITCHES}."
