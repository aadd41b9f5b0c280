"""``python -m benchmarks.limits``: every command with little memory and little disk.

Each run ends with the right result, the same as without a limit, or with one true sentence and a code other than 0.
Memory is limited as by ``ulimit -v`` (address space), disk by the size of files (``ulimit -f``) or, for root, by a
small file system for temporary files (``--mount``). Anything else is printed as WRONG, with what the command said.
"""

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.files import write_table

MEMORY = (300, 400, 500, 600, 700, 800, 1000, 1200, 1500, 1800, 2200, 2600, 3000)
DISK = (0, 1, 3, 10, 30, 100, 300, 1000)
COMMANDS = {
    "fit": ("fit", "table.parquet", "-o", "new.json"),
    "update": ("update", "team.json", "day.parquet", "-o", "new.json"),
    "combine": ("combine", "team.json", "table.parquet", "-o", "new.parquet"),
    "evaluate": ("evaluate", "team.json", "day.parquet", "--json"),
    "report": ("report", "team.json", "day.parquet", "-o", "new.html"),
}
#: What a sentence about a lack of room says.
TRUE_WORDS = ("memory", "no room", "not enough", "too large", "could not be written", "was not written", "disk")


def run(folder, arguments, limits=(), temporary=None):
    """Run a command under limits; returns its code, stdout and stderr."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does: a write fails instead
        for kind, megabytes in limits:
            resource.setrlimit(kind, (megabytes << 20, megabytes << 20))

    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {} if temporary is None else {"TMPDIR": str(temporary)}
    done = subprocess.run(
        [sys.executable, "-m", "twoheads", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
        env=environment,
    )
    return done.returncode, done.stdout, done.stderr


def outcome(code, stdout, stderr, expected):
    """What became of a run: right, a sentence, or WRONG with the reason."""
    if code == 0:
        return "right" if stdout == expected else "WRONG: another result"
    lines = [line for line in stderr.splitlines() if line.strip() and "OpenBLAS" not in line]
    last = lines[-1] if lines else ""
    if code < 0:
        return f"WRONG: ended by signal {-code}"
    if "Traceback" in stderr:
        return f"WRONG: a traceback, {last[:90]}"
    if not any(word in stderr for word in TRUE_WORDS):
        return f"WRONG: {last[:110] or 'not a word'}"
    return f"said: {last[:110]}"


def prepare(folder, rows):
    """A table, a day of it, and a team that keeps its items."""
    write_table(folder / "table.parquet", rows)
    write_table(folder / "day.parquet", max(rows // 10, 100))
    code, _, stderr = run(folder, ["fit", "table.parquet", "--keep-items", "--method", "P+L", "-o", "team.json"])
    if code:
        raise SystemExit(stderr)


def campaign(folder, commands, limits, say, temporary=None):
    """Each command under each limit; returns how many runs were wrong."""
    n_wrong = 0
    for name in commands:
        code, expected, stderr = run(folder, COMMANDS[name])
        if code:
            raise SystemExit(stderr)
        for what, limit in limits:
            _remove_results(folder)
            found = outcome(*run(folder, COMMANDS[name], limit, temporary), expected)
            left = [path.name for path in folder.iterdir() if path.name.startswith(".")]
            found = f"WRONG: left {left[0]}" if left else found
            n_wrong += found.startswith("WRONG")
            say(f"{name:10}{what:>16}   {found}")
    _remove_results(folder)
    return n_wrong


def _remove_results(folder):
    for path in folder.glob("new*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def on_small_disk(folder, commands, megabytes, say):
    """The temporary folder on a file system of so many megabytes; needs root."""
    n_wrong = 0
    for size in megabytes:
        place = folder.parent / "small"
        place.mkdir(exist_ok=True)
        kind = ["mount", "-t", "tmpfs", "-o", f"size={max(size, 1) << 20 if size else 4096}", "tmpfs", str(place)]
        subprocess.run(kind, check=True)
        try:
            n_wrong += campaign(folder, commands, [(f"TMPDIR {size} MB", ())], say, place)
        finally:
            subprocess.run(["umount", str(place)], check=True)
    return n_wrong


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--only", nargs="*", choices=list(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--memory", nargs="*", type=int, default=MEMORY, metavar="MB")
    parser.add_argument("--disk", nargs="*", type=int, default=DISK, metavar="MB")
    parser.add_argument("--mount", action="store_true", help="a small file system for temporary files, too; needs root")
    options = parser.parse_args()

    def say(line):
        print(line, flush=True)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        prepare(folder, options.rows)
        limits = [(f"memory {size} MB", [(resource.RLIMIT_AS, size)]) for size in options.memory]
        limits += [(f"files {size} MB", [(resource.RLIMIT_FSIZE, size)]) for size in options.disk]
        n_wrong = campaign(folder, options.only, limits, say)
        if options.mount:
            n_wrong += on_small_disk(folder, options.only, options.disk, say)
    say(f"{n_wrong} runs were wrong")
    raise SystemExit(n_wrong > 0)


if __name__ == "__main__":
    main()
