"""Build wheel and sdist, install each into an empty environment, and try it there: ``make package``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The library alone, without any extra: what it must do, and that its types, data and licence are there.
SMOKE = """
import importlib.metadata, importlib.resources, sys
import twoheads as th
from twoheads.datasets import load_digit_readings
data = load_digit_readings()
team = th.recommended().fit(data.observations, data.y)
assert (team.predict(data.observations) != data.truth)[data.y == -1].mean() < 0.08
team.save("team.json")
assert (th.load("team.json").predict(data.observations) == team.predict(data.observations)).all()
assert importlib.resources.files("twoheads").joinpath("py.typed").is_file()
assert any("LICENSE" in str(file) for file in importlib.metadata.files("twoheads"))
assert not {"pandas", "matplotlib", "duckdb", "pyarrow", "typer"} & set(sys.modules)
assert th.__file__.startswith(sys.prefix), th.__file__
print("twoheads", th.__version__, "from", th.__file__)
"""


def run(*command: str, cwd: Path) -> None:
    """Run a command, which must not find the package by PYTHONPATH; a failure ends the program."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=cwd, env=environment, check=True)


def try_file(path: Path) -> None:
    """Install one file into an empty environment and run the smoke test, outside of the repository."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder, "env"), with_pip=True)
        python = str(Path(folder, "env", "bin", "python"))
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(path), cwd=Path(folder))
        run(python, "-W", "error", "-c", SMOKE, cwd=Path(folder))


def main() -> None:
    """Build both, then try both."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--outdir", folder, str(ROOT), cwd=Path(folder))
        built = sorted(Path(folder).iterdir())
        assert {path.suffix for path in built} == {".whl", ".gz"}, built
        for path in built:
            print(f"{path.name}: {path.stat().st_size:,} bytes")
            try_file(path)


if __name__ == "__main__":
    main()
