"""Strange files of every format, and strange teams: a second each here, a minute each among the slow tests.

``TWOHEADS_FUZZ_SECONDS`` sets another time for the slow ones. A finding has a number: the same case again is
``python -m tests.fuzz.campaign TARGET --start NUMBER --cases 1``.
"""

import os
import time

import pytest
from tests.fuzz.campaign import TARGETS, campaign

SECONDS = float(os.environ.get("TWOHEADS_FUZZ_SECONDS", "60"))


def fuzzed(name, **limits):
    found = campaign(name, **limits)
    assert not found.findings, "\n".join(f"{name} {number}: {what}" for number, what in found.findings.items())
    assert sum(found.counts.values()) > 0
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_strange_files(name):
    fuzzed(name, seconds=1, cases=6)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_strange_files_for_a_while(name):
    counts = fuzzed(name, seconds=SECONDS, start=int(time.time()) * 1_000).counts
    print(f"{name}: {dict(counts)}")
