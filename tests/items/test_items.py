"""The contract of items, on all their implementations; and which stages a fit has."""

from __future__ import annotations

import numpy as np
import pytest

import twoheads as th
from crowds import crowd
from strategies import simulate
from twoheads.combination.items import ChunkedItems, InMemoryItems, SampledItems, Schema, open_items
from twoheads.combination.items import chunked as chunked_module
from twoheads.combination.items.chunking import chunks_of
from twoheads.combination.items.protocol import content_places
from twoheads.engines.chunks import DiskStore
from twoheads.testing.items import CHECKS, COUNTABLE_CHECKS

SHARES = (0.0, 0.4, 1.0)


def observed(kind: str):
    if kind == "crowd":
        return crowd(n_items=150, seed=3)[0]
    problem = simulate(150, 3, 4, unasked=0.2)
    return th.Observations.from_arrays(problem.human, problem.model, classes=["a", "b", "c"])


def truth_for(share: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    truth = np.array(["a", "b", "c"], dtype=object)[rng.integers(3, size=150)]
    truth[rng.random(150) >= share] = None
    return truth


def in_memory(kind, share):
    return open_items(observed(kind), truth_for(share))


def weighted(kind, share):
    weight = np.random.default_rng(1).integers(1, 4, 150).astype(float)
    return open_items(observed(kind), truth_for(share), weight)


def lazy(kind, share):
    return open_items(observed(kind), truth_for(share), max_numbers=10)


def chunked(kind, share):
    observations, truth = observed(kind), truth_for(share)
    store, summaries = DiskStore(), []
    for start in range(0, 150, 40):
        rows = slice(start, start + 40)
        for chunk in chunks_of(observations[rows], truth[rows], start):
            store.add(chunk)
            summaries.append(chunked_module.summarise(chunk))
    return ChunkedItems(Schema.of(observations), store, summaries)


def sampled(kind, share):
    team = th.ProbabilityLabelCombiner(max_iter=2, tol=1e9).fit_items(in_memory(kind, share))
    return SampledItems(team.result().schema, team.statistics_)


COUNTABLE = {"in memory": in_memory, "weighted": weighted, "lazy": lazy, "chunked": chunked}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kind", ["one person", "crowd"])
@pytest.mark.parametrize("make", [*COUNTABLE.values(), sampled], ids=[*COUNTABLE, "sampled"])
def test_items(make, kind, share, check):
    check(make(kind, share))


@pytest.mark.parametrize("check", COUNTABLE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kind", ["one person", "crowd"])
@pytest.mark.parametrize("make", COUNTABLE.values(), ids=COUNTABLE)
def test_countable_items(make, kind, share, check):
    check(make(kind, share))


def test_what_is_opened_in_memory_stays_there():
    assert isinstance(in_memory("crowd", 0.4), InMemoryItems)


def test_answered_unlabelled_items_keep_their_weights():
    weight = np.arange(150) % 3 * 1.5
    items = open_items(observed("crowd"), None, weight)
    found = items.answered_unlabelled(1000)
    asked = observed("crowd").answers.per_item() > 0
    assert sorted(found.weight) == sorted(weight[asked & (weight > 0)])
    assert items.answered_unlabelled(20).n_items == 20
    assert open_items(observed("crowd"), None, np.where(asked, 0.0, 1.0)).answered_unlabelled() is None


def test_many_unlabelled_items_of_hardly_any_weight_are_one():
    items = open_items(observed("crowd"), None, np.full(150, 1e-3))
    found = items.answered_unlabelled(20)
    assert (found.n_items, found.total_weight()) == (1, 1.0)


def test_a_sample_of_chunked_items_is_drawn_once(monkeypatch):
    items, calls = chunked("crowd", 0.4), []
    monkeypatch.setattr(chunked_module, "content_places", lambda *given: calls.append(0) or content_places(*given))
    first = items.answered_unlabelled(20)
    again = items.transform(lambda block: block).answered_unlabelled(20)
    assert len(calls) == 1
    assert first.number.tolist() == again.number.tolist()
    assert items.answered_unlabelled(10).n_items == 10
    assert items.labelled().answered_unlabelled(20) is None
