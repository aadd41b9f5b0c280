"""Try the package in new environments, made by uv and removed afterwards. From the root of the project:

    python -m tests.install.environments lowest                    the lowest versions that pyproject.toml declares
    python -m tests.install.environments extras                    no extras, then each extra alone, then all
    python -m tests.install.environments extras --python 3.13      with another Python, if there is one

Each environment runs `tests.install.smoke`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def extras() -> list[str]:
    """The extras for users, each by itself."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return [name for name in declared if name not in ("all", "docs", "test")]


def tried(chosen: list[str], python: str, *, lowest: bool = False) -> bool:
    """Install the package with these extras into an environment of its own, and run the smoke test there."""
    what = f"{'lowest versions, ' if lowest else ''}{', '.join(chosen) or 'no extras'}"
    with tempfile.TemporaryDirectory() as folder:
        inside = str(Path(folder) / "bin" / "python")
        resolution = ["--resolution", "lowest-direct"] if lowest else []
        wanted = f"{ROOT}[{','.join(chosen)}]" if chosen else str(ROOT)
        _run([sys.executable, "-m", "uv", "venv", "--quiet", "--python", python, folder])
        _run([sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", inside, *resolution, wanted])
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([inside, "-m", "tests.install.smoke", *chosen], cwd=ROOT, env=environment, check=False)
    print(f"{what}: {'sound' if done.returncode == 0 else 'FAILED'}", flush=True)
    return done.returncode == 0


def _run(line: list[str]) -> None:
    subprocess.run(line, cwd=ROOT, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["lowest", "extras"])
    parser.add_argument("--python", default=sys.executable, help="an interpreter, or its version")
    given = parser.parse_args()
    if given.what == "lowest":
        return 0 if tried(extras(), given.python, lowest=True) else 1
    choices = [[], *([name] for name in extras()), extras()]
    return min(1, sum(not tried(chosen, given.python) for chosen in choices))


if __name__ == "__main__":
    sys.exit(main())
