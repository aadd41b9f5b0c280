"""``python -m benchmarks.limits``: every command with little memory and little disk.

Each run ends with the right result, the same as without a limit, or with one true sentence and a code other than 0.
A result is right if stdout and the written files are those of a run without limits: a table in each byte, a team in
all but its history and the time of its fit; a page is complete. All run with one thread of BLAS, as a command with
little memory does: with more, sums are added up in another order, and differ in their last digits. Memory is limited
as by ``ulimit -v`` (address space), disk by the size of files (``ulimit -f``) or, for root, by small file systems for
temporary files and for the output (``--mount``). Anything else is printed as WRONG, with what the command printed.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

from benchmarks.files import write_table

MEMORY = (300, 400, 500, 700, 1000, 1500, 2000, 3000)
DISK = (0, 1, 10, 100, 1000)
#: Seconds after which a run is called hanging.
PATIENCE = 180
COMMANDS = {
    "fit": ("fit", "table.parquet", "-o", "new.json"),
    "update": ("update", "team.json", "day.parquet", "-o", "new.json"),
    "combine": ("combine", "team.json", "table.parquet", "-o", "new.parquet"),
    "evaluate": ("evaluate", "team.json", "day.parquet", "--json"),
    "report": ("report", "team.json", "day.parquet", "-o", "new.html"),
    "ask": ("ask", "team.json", "day.parquet", "--budget", "50", "-o", "new.csv"),
    "check": ("check", "table.parquet", "--fix", "new.parquet"),
    "compare": ("compare", "day.parquet", "--methods", "P+L", "--json"),
    "merge": ("merge", "team.json", "other.json", "-o", "new.json"),
    "shares": ("combine", "team.json", "day.parquet", "--class-shares", "learn", "-o", "new.parquet"),
}
#: What a sentence about a lack of room says.
TRUE_WORDS = (
    "memory",
    "no room",
    "folder for temporary files",
    "not enough",
    "too large",
    "could not be written",
    "was not written",
    "disk",
)


def run(folder, arguments, limits=(), temporary=None):
    """Run a command under limits; returns its code, stdout and stderr."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as Python does: a write fails instead
        for kind, megabytes in limits:
            resource.setrlimit(kind, (megabytes << 20, megabytes << 20))

    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {} if temporary is None else {"TMPDIR": str(temporary)}
    process = subprocess.Popen(
        [sys.executable, "-m", "twoheads", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        env=environment,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", ""
    return process.returncode, stdout, stderr


def result_of(stdout, output):
    """What a command has given: stdout, and what it wrote."""
    written = [path for top in sorted(output.glob("new*")) for path in (top, *top.rglob("*"))]
    return stdout, {str(path.relative_to(output)): _content(path) for path in written}


def _content(path):
    if path.is_dir():
        return None
    if path.suffix == ".json":
        team = json.loads(path.read_text())["object"]
        team["fitted"]["provenance_"]["dict"].pop("fitted", None)
        return team
    if path.suffix == ".html":
        return path.read_text().rstrip().endswith("</html>")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def outcome(code, result, stderr, expected):
    """The outcome of a run: right, refused with a sentence, or WRONG with the reason."""
    if code is None:
        return f"WRONG: not ended after {PATIENCE} s"
    if code == 0:
        return "right" if result == expected else "WRONG: another result"
    lines = [line for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("Error: ")]
    noise = [line for line in lines if "OpenBLAS" in line]
    if code < 0 or code > 2:
        return f"WRONG: ended by signal, code {code}"
    if "Traceback" in stderr:
        return f"WRONG: a traceback, {lines[-1][:90]}"
    if len(errors) != 1 or not any(word in errors[0] for word in TRUE_WORDS):
        return f"WRONG: {(lines or ['not a word'])[-1][:110]}"
    if result[1]:
        return "WRONG: a file beside the sentence"
    return f"refused{' after a line of OpenBLAS' if noise else ''}: {errors[0][7:150]}"


def prepare(folder, rows):
    """A table, a day of it, and a team that keeps its items."""
    write_table(folder / "table.parquet", rows)
    write_table(folder / "day.parquet", max(rows // 10, 100))
    code, _, stderr = run(folder, ["fit", "table.parquet", "--keep-items", "--method", "P+L", "-o", "team.json"])
    if code:
        raise SystemExit(stderr)
    code, _, stderr = run(folder, ["fit", "day.parquet", "--keep-items", "--method", "P+L", "-o", "other.json"])
    if code:
        raise SystemExit(stderr)


def campaign(folder, commands, limits, report, *, temporary=None, output=None):
    """Each command under each limit; returns how many runs were right, refused with a sentence, or WRONG."""
    counts, output = Counter(), output or folder
    for name in commands:
        expected = _expected(folder, name)
        arguments = [str(output / word) if word.startswith("new") else word for word in COMMANDS[name]]
        for what, limit in limits:
            _remove_results(output)
            code, stdout, stderr = run(folder, arguments, limit, temporary)
            found = outcome(code, result_of(stdout.replace(f"{output}/", ""), output), stderr, expected)
            left = [path for place in {folder, output, temporary or output} for path in place.glob(".*")]
            found = f"WRONG: left {left[0].name} ({found})" if left else found
            counts[found.split(":")[0].split()[0]] += 1
            report(f"{name:10}{what:>16}   {found}")
        _remove_results(output)
    return counts


@cache
def _expected(folder, name):
    """What a command gives without limits."""
    code, stdout, stderr = run(folder, COMMANDS[name])
    if code:
        raise SystemExit(stderr)
    expected = result_of(stdout, folder)
    _remove_results(folder)
    return expected


def _remove_results(folder):
    for path in folder.glob("new*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def on_small_disk(folder, commands, megabytes, report):
    """The folder for temporary files, then that of the output, on a file system of so many megabytes; needs root."""
    counts = Counter()
    for size, where in product(megabytes, ("temporary", "output")):
        place = folder.parent / "small"
        place.mkdir(exist_ok=True)
        # A file system of 0 bytes would have no limit; in this one page, nothing can be written.
        kind = ["mount", "-t", "tmpfs", "-o", f"size={size << 20 or 4096}", "tmpfs", str(place)]
        subprocess.run(kind, check=True)
        if not size:
            (place / "full").write_bytes(bytes(4096))
        try:
            counts += campaign(folder, commands, [(f"{where} {size} MB", ())], report, **{where: place})
        finally:
            subprocess.run(["umount", str(place)], check=True)
    return counts


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--only", nargs="*", choices=list(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--memory", nargs="*", type=int, default=MEMORY, metavar="MB")
    parser.add_argument("--disk", nargs="*", type=int, default=DISK, metavar="MB")
    parser.add_argument("--mount", action="store_true", help="small file systems, not limits on files; needs root")
    options = parser.parse_args()

    def report(line):
        print(line, flush=True)

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        prepare(folder, options.rows)
        limits = [(f"memory {size} MB", [(resource.RLIMIT_AS, size)]) for size in options.memory]
        if not options.mount:
            limits += [(f"files {size} MB", [(resource.RLIMIT_FSIZE, size)]) for size in options.disk]
        counts = campaign(folder, options.only, limits, report)
        if options.mount:
            counts += on_small_disk(folder, options.only, options.disk, report)
    report(f"{counts['right']} runs were right, {counts['refused']} refused with a sentence, {counts['WRONG']} wrong")
    raise SystemExit(counts["WRONG"] > 0)


if __name__ == "__main__":
    main()
