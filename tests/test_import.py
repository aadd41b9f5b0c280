"""Importing the package loads nothing of an extra, and nothing of an extra is needed."""

import subprocess
import sys

EXTRAS = ("pandas", "polars", "pyarrow", "matplotlib", "duckdb", "typer", "rich", "jinja2", "dask", "fastapi")


def run(code):
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_of_an_extra_is_loaded():
    loaded = run("import twoheads, sys; print(*{name.partition('.')[0] for name in sys.modules})").split()
    assert "twoheads" in loaded
    assert not set(loaded) & set(EXTRAS)


def test_nothing_of_an_extra_is_needed():
    # scikit-learn itself loads pandas where it finds it, so that only its absence tells.
    fitted = run(
        f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))\n"
        "import twoheads, twoheads.combination, twoheads.calibration, twoheads.confusion, twoheads.evaluation\n"
        "X = [[0, 0.6, 0.4], [1, 0.3, 0.7], [0, 0.2, 0.8], [1, 0.1, 0.9]]\n"
        "print(twoheads.ProbabilityLabelCombiner().fit(X, [0, 1, 0, 1]).predict(X))"
    )
    assert fitted == "[0 1 0 1]\n"


def test_every_public_name_is_there():
    assert (
        run("import twoheads; [getattr(twoheads, name) for name in twoheads.__all__]; print(len(dir(twoheads)) > 0)")
        == "True\n"
    )
