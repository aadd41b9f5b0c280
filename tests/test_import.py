"""Importing the package loads nothing of an extra, and nothing of an extra is needed; help comes at once."""

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


def test_a_public_name_is_no_module_whatever_was_loaded_before():
    """A module of the same name would take the place of a name that is imported on first use."""
    run(
        "import importlib, pkgutil, twoheads, twoheads.tables\n"
        "for package in (twoheads, twoheads.tables):\n"
        "    modules = {each.name for each in pkgutil.iter_modules(package.__path__)}\n"
        "    for name in modules & set(package.__all__):\n"
        "        importlib.import_module(f'{package.__name__}.{name}')\n"
        "        assert not isinstance(getattr(package, name), type(pkgutil)) or name == 'tables', name\n"
    )


def test_help_comes_before_anything_slow_is_loaded():
    told = run(
        "import sys; sys.argv = ['twoheads', 'fit', '--help']\n"
        "from twoheads.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code)\n"
        "print(*{'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'duckdb'} & set(sys.modules))"
    )
    assert "twoheads fit labelled.csv" in told
    assert told.endswith("0\n\n")


def test_the_package_is_the_command():
    done = subprocess.run([sys.executable, "-m", "twoheads", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("twoheads ")


def test_a_missing_extra_is_one_sentence(tmp_path):
    (tmp_path / "a.csv").write_text("human,p_0,p_1,truth\n0,0.6,0.4,0\n")
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        f"sys.argv = ['twoheads', 'fit', {str(tmp_path / 'a.csv')!r}, '-o', {str(tmp_path / 't.json')!r}]\n"
        "from twoheads.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'twoheads[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
