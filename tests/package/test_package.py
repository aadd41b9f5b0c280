"""What is published: metadata that agree, types that users can check against, and a package that installs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import twoheads

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("user_program.py")


@pytest.mark.slow
def test_a_users_program_passes_strict_types(tmp_path):
    pytest.importorskip("mypy")
    # Its own settings: those of this project must not help.
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\nfollow_imports = silent\n")
    call = [
        "-m",
        "mypy",
        "--config-file",
        str(tmp_path / "mypy.ini"),
        "--cache-dir",
        str(ROOT / ".mypy_cache" / "user"),
    ]
    done = subprocess.run(
        [sys.executable, *call, str(PROGRAM)],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_users_program_runs():
    done = subprocess.run([sys.executable, "-W", "error", str(PROGRAM)], capture_output=True, text=True, check=True)
    assert "the combination errs on" in done.stdout


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f"\nversion: {twoheads.__version__}\n" in citation
    assert f'version: "{twoheads.__version__}"' in recipe


def test_the_conda_recipe_has_the_requirements_of_the_package_and_its_command_line():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    names = {"duckdb": "python-duckdb", "matplotlib": "matplotlib-base"}  # as conda-forge calls them
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["cli"]]:
        name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
        assert f"- {names.get(name, name)} >={version}\n" in recipe


@pytest.mark.slow
def test_wheel_and_sdist_install_alone():
    pytest.importorskip("build")
    subprocess.run([sys.executable, "-m", "tools.try_package"], cwd=ROOT, check=True)
