"""Every example of the gallery runs, draws a figure, and ends with what to change for one's own data."""

import runpy
import time
from pathlib import Path

import pytest

from twoheads.report import displays

plt = pytest.importorskip("matplotlib.pyplot")
GALLERY = sorted((Path(__file__).parents[2] / "examples" / "gallery").glob("plot_*.py"))
#: Run in every test; `make test-all` runs the others.
QUICK = ("plot_04_temperature", "plot_07_shared_errors", "plot_13_label_shift", "plot_18_theorem_1")


CASES = [pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in GALLERY]


@pytest.mark.parametrize("path", CASES)
def test_an_example_runs_and_draws(path, monkeypatch, tmp_path):
    if "label_sets" in path.stem:
        pytest.importorskip("mapie.classification")
    monkeypatch.chdir(tmp_path)
    plt.switch_backend("Agg")
    plt.close("all")
    begun = time.process_time()
    runpy.run_path(str(path))
    assert plt.get_fignums(), "an example draws a figure"
    assert all(plt.figure(number).axes for number in plt.get_fignums())
    assert time.process_time() - begun < 20
    plt.close("all")


def test_there_are_at_least_fifteen():
    assert len(GALLERY) >= 15
    assert {path.stem for path in GALLERY} >= set(QUICK)


def test_every_display_has_a_picture():
    drawn = "".join(path.read_text(encoding="utf-8") for path in GALLERY)
    assert [name for name in displays.__all__ if f"{name}(" not in drawn and f"{name}.from_" not in drawn] == []


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_has_a_title_and_ends_with_your_own_data(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""\n# ')
    last = text.rpartition("# ## On your own data\n")[2]
    assert last != text
    assert all(line.startswith("#") for line in last.strip().splitlines())
