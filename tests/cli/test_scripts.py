"""Commands in scripts: JSON alone on stdout, quiet, logs, tables from stdin, exit codes, help and completion."""

import gzip
import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from jsonschema import Draft202012Validator
from tests.docs import json_page

import twoheads as th
from twoheads.cli.app import app
from twoheads.cli.exit_codes import MEANINGS
from twoheads.cli.options import SCALES
from twoheads.cli.running import run
from twoheads.cli.strict_json import as_json
from twoheads.observations.checks import MODEL_SCALES

SCHEMA = json.loads(json_page.SCHEMA.read_text(encoding="utf-8"))
COMMANDS = typer.main.get_command(app).commands


def write_table(path, n, first, *, truth=True):
    rng = np.random.default_rng(first)
    true = rng.integers(0, 2, n)
    lines = ["item,human_ann,human_bob,p_cat,p_dog" + (",truth" if truth else "")]
    for at, code in enumerate(true):
        answers = [("cat", "dog")[code ^ int(rng.random() < wrong)] for wrong in (0.1, 0.25)]
        dog = round(float(np.clip(0.25 + 0.5 * code + 0.2 * rng.normal(), 0.02, 0.98)), 3)
        row = [f"i{first + at}", *answers, f"{1 - dog:.3f}", str(dog), *([("cat", "dog")[code]] if truth else [])]
        lines.append(",".join(row))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with tables, and teams of two methods."""
    folder = tmp_path_factory.mktemp("scripts")
    write_table(folder / "a.csv", 60, 0)
    write_table(folder / "b.csv", 40, 100)
    write_table(folder / "new.csv", 20, 200, truth=False)
    for name in ("a", "b"):
        assert run(["fit", str(folder / f"{name}.csv"), "--keep-items", "-q", "-o", str(folder / f"{name}.json")]) == 0
    assert run(["fit", str(folder / "a.csv"), "--method", "LR", "-q", "-o", str(folder / "lr.json")]) == 0
    return folder


@pytest.fixture
def here(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def not_strict(text):
    raise AssertionError(f"{text} is not JSON")


def valid(found, command):
    """JSON that is valid against the schema of a command."""
    Draft202012Validator({"$ref": f"#/$defs/{command}", "$defs": SCHEMA["$defs"]}).validate(found)
    return found


def printed(capsys, *arguments):
    """The JSON that a command prints, and nothing else."""
    capsys.readouterr()
    assert run([*arguments, "--json", "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return valid(json.loads(said.out, parse_constant=not_strict), arguments[0])


LINES = {
    "fit": ["fit", "a.csv", "--method", "P+L", "-o", "other.json"],
    "fit L+L": ["fit", "a.csv", "--method", "L+L", "-o", "other.json"],
    "fit without truth": ["fit", "new.csv", "-o", "other.json"],
    "combine": ["combine", "a.json", "new.csv", "-o", "v.csv"],
    "evaluate": ["evaluate", "a.json", "b.csv"],
    "evaluate LR": ["evaluate", "lr.json", "b.csv"],
    "evaluate without truth": ["evaluate", "a.json", "new.csv"],
    "evaluate learning shares": ["evaluate", "a.json", "b.csv", "--class-shares", "learn"],
    "evaluate with metrics": ["evaluate", "a.json", "b.csv", "--metrics", "kappa,sensitivity"],
    "compare": ["compare", "a.csv", "--methods", "P+L,L+L,P+L-EM", "--metrics", "error,mcc"],
    "report": ["report", "a.json", "b.csv"],
    "report with methods": ["report", "a.json", "b.csv", "--methods", "P+L,L+L"],
    "report without truth": ["report", "lr.json", "new.csv"],
    "ask": ["ask", "a.json", "new.csv", "--budget", "3"],
    "check": ["check", "a.csv"],
    "check and fix": ["check", "a.csv", "--fix", "clean.csv"],
    "update": ["update", "a.json", "new.csv", "-o", "updated.json"],
    "update with nothing new": ["update", "a.json", "a.csv"],
    "merge": ["merge", "a.json", "b.json", "-o", "both.json"],
    "migrate": ["migrate", "a.json"],
    "show": ["show", "a.json"],
    "show LR": ["show", "lr.json"],
    "show the history": ["show", "a.json", "--history"],
}


@pytest.mark.parametrize("line", LINES.values(), ids=list(LINES))
def test_json_has_the_fields_that_are_documented(line, here, capsys):
    assert printed(capsys, *line)


def test_every_command_has_a_schema_and_the_page_is_made_of_them():
    assert [name for name in SCHEMA["$defs"] if name not in json_page.SHARED] == list(COMMANDS)
    tried = {line[0] for line in LINES.values()} | {"demo", "study"}
    assert tried == set(COMMANDS)
    Draft202012Validator.check_schema(SCHEMA)
    assert json_page.PAGE.read_text(encoding="utf-8") == json_page.page(SCHEMA), "run python -m tests.docs.json_page"


def test_json_of_the_demo_holds_the_results_of_its_commands(tmp_path, capsys, monkeypatch):
    from twoheads.cli import console
    from twoheads.cli.commands import demo

    def ran(step):
        assert not console.wants_json()  # the page is written all the same
        console.line("left out")
        console.result({"of": step[0]})
        return 0

    monkeypatch.setattr(demo, "write_example", lambda *_, **__: None)
    with console.mode(json=True, quiet=True):
        console.result(demo.run_demo(tmp_path / "demo", ran))
    found = valid(json.loads(capsys.readouterr().out), "demo")
    assert [step["command"][1] for step in found["steps"]] == ["fit", "combine", "evaluate", "report"]
    assert [step["result"]["of"] for step in found["steps"]] == ["fit", "combine", "evaluate", "report"]


def test_json_of_a_study(capsys, monkeypatch):
    from twoheads import studies
    from twoheads.studies.outcome import Outcome
    from twoheads.studies.published import Agreement
    from twoheads.studies.rows import Row

    row = Row("cifar", "resnet", None, "P+L", 50, 3, "error", 1.5, float("nan"), "", "", "")
    outcome = Outcome("calibration", (Path("t.csv"),), (row,), (Agreement("t1", "a table", (), 2),), (), ("some",))
    monkeypatch.setattr(studies, "run", lambda *_, **__: outcome)
    found = printed(capsys, "study", "calibration", "--data", "d", "--out", "o")
    assert found["rows"][0] | {"mean": 1.5, "sd": None} == found["rows"][0]


def test_json_is_strict_whatever_it_holds():
    content = {
        "a": np.float64("nan"),
        "b": [np.int64(3), float("inf")],
        "c": Path("x"),
        4: np.array([0.5]),
        "d": "\udcff",
    }
    assert json.loads(as_json(content)) == {"a": None, "b": [3, None], "c": "x", "4": [0.5], "d": "?"}


def test_questions_are_written_and_printed(here, capsys):
    found = printed(capsys, "ask", "a.json", "new.csv", "--budget", "2", "-o", "q.csv")
    rows = [line.split(",") for line in (here / "q.csv").read_text().split()]
    assert rows[0] == ["item", "annotator", "expected_gain", "price"]
    assert [row[:2] for row in rows[1:]] == [[each["item"], each["annotator"]] for each in found["questions"]]
    assert found["output"] == "q.csv"


def test_an_error_is_one_sentence_and_no_json(here, capsys):
    assert run(["show", "nothing.json", "--json", "--quiet"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("Error: There is no file nothing.json.")
    assert run(["combine", "a.json", "new.csv", "--json", "-o", "-"]) == 2
    assert "--json and -o - both write to stdout" in capsys.readouterr().err
    assert run(["fit", "a.csv", "-o", "-"]) == 2
    assert "-o - is stdout" in capsys.readouterr().err


def test_quiet_leaves_the_data(here, capsys):
    assert run(["evaluate", "a.json", "b.csv", "-q"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("On 40 items (held out)")
    assert said.err == ""


def test_progress_is_for_terminals_that_want_it(monkeypatch):
    from twoheads.cli import console

    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    assert console.shows_progress()
    with console.mode(json=False, quiet=True):
        assert not console.shows_progress()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not console.shows_progress()


def test_the_log_says_what_was_read_fitted_and_written(here, capsys):
    line = ["fit", "a.csv", "--method", "P+L", "-q", "-o", "other.json"]
    assert run([*line, "--log-level", "info"]) == 0
    said = capsys.readouterr().err
    for part in (
        "reading a.csv as csv",
        "fitting on 60 items with truth and 0 without",
        "stages of the fit: fit the parts",
        "wrote ",
    ):
        assert part in said
    assert run(line) == 0
    assert capsys.readouterr().err == ""
    assert run([*line, "--log-level", "loud"]) == 2
    assert "--log-level must be debug, info, warning or error; it is 'loud'" in capsys.readouterr().err


def test_iterations_of_em_are_logged_under_the_name_of_the_package(here, caplog):
    with caplog.at_level(logging.DEBUG, "twoheads"):
        th.ProbabilityLabelCombiner().fit(th.tables.scan(here / "new.csv"))
    iterations = [each.message for each in caplog.records if each.message.startswith("EM, iteration")]
    assert f"EM: {len(iterations)} iterations" in caplog.text
    assert {each.name.partition(".")[0] for each in caplog.records} == {"twoheads"}


def test_the_library_alone_prints_no_log():
    handlers = logging.getLogger("twoheads").handlers
    assert [type(each) for each in handlers] == [logging.NullHandler]


def test_a_warning_is_one_sentence(here, capsys, monkeypatch):
    import warnings

    from twoheads.cli.commands import show

    monkeypatch.setattr(show, "described", lambda team: warnings.warn("odd", UserWarning, stacklevel=1) or {})
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run(["show", "a.json"]) == 0
    assert capsys.readouterr().err == "Warning: odd\n"


def give_stdin(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


@pytest.fixture
def no_rest(tmp_path, monkeypatch):
    """A folder for temporary files that is empty in the end."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_table_from_stdin(here, capsys, monkeypatch, no_rest, pack):
    give_stdin(monkeypatch, pack((here / "a.csv").read_bytes()))
    line = ["fit", "-", "--method", "P+L", "-o", "piped.json"]
    assert printed(capsys, *line)["source"] == {"table": "stdin"}
    assert run(["fit", "a.csv", *line[2:-1], "filed.json"]) == 0
    piped, filed = th.load("piped.json"), th.load("filed.json")
    assert piped.history()[0]["files"] == ["stdin"]
    assert np.array_equal(piped.predict_proba(th.tables.scan("b.csv")), filed.predict_proba(th.tables.scan("b.csv")))


def test_json_lines_and_truth_from_stdin(here, capsys, monkeypatch, no_rest):
    rows = [json.dumps({"item": f"i{at}", "truth": "cat"}) for at in range(200, 220)]
    give_stdin(monkeypatch, "\n".join(rows).encode())
    assert printed(capsys, "fit", "new.csv", "--truth", "-", "--method", "P+L", "-o", "t.json")["labelled"] == 20
    assert run(["combine", "t.json", "new.csv", "-o", "v.csv"]) == 0  # nothing is left of stdin in the team
    give_stdin(monkeypatch, (here / "new.csv").read_bytes())
    capsys.readouterr()
    assert run(["combine", "t.json", "-", "-o", "-", "-q"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "item,combined_label,confidence,p_cat,p_dog"


def test_check_of_stdin_goes_on_with_stdin(here, capsys, monkeypatch, no_rest):
    give_stdin(monkeypatch, (here / "a.csv").read_bytes())
    assert printed(capsys, "check", "-")["commands"] == ["twoheads fit - -o team.json"]


def test_mistakes_in_stdin_name_it(here, capsys, monkeypatch, no_rest):
    give_stdin(monkeypatch, b"item,human,p_a,p_b\n1,a,0.9,0.9\n")
    assert run(["fit", "-"]) == 2
    assert "row 1 of stdin sums to 1.8" in capsys.readouterr().err
    give_stdin(monkeypatch, b"")
    assert run(["fit", "-"]) == 2
    assert "stdin is empty" in capsys.readouterr().err
    assert run(["fit", "--answers", "-", "--model", "-"]) == 2
    assert "- is stdin, which holds one table; it is given twice" in capsys.readouterr().err


def test_a_signal_removes_the_copy_of_stdin(here, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "twoheads", "check", "-"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        process.stdin.write((here / "a.csv").read_bytes())
        process.stdin.flush()  # and left open: the command waits for more
        for _ in range(600):
            if any(tmp_path.glob("twoheads-*/stdin")):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
        assert process.stderr.read() == b"Interrupted; no partial file was left.\n"
    assert list(tmp_path.iterdir()) == []


def help_of(capsys, monkeypatch, *arguments):
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*arguments, "--help"]) == 0
    return capsys.readouterr().out


def test_help_cuts_nothing_and_lists_the_exit_codes(capsys, monkeypatch):
    said = help_of(capsys, monkeypatch)
    assert max(map(len, said.splitlines())) <= 80
    words = " ".join(said.split())
    for command in COMMANDS.values():
        assert " ".join(command.help.split("\n\n")[0].split()) in words
    for code, meaning in MEANINGS.items():
        assert f"{code} {meaning}" in words


def test_exit_codes_are_documented():
    text = (json_page.DOCS / "command-line.md").read_text(encoding="utf-8")
    assert [code for code, meaning in MEANINGS.items() if f"| {code} | {meaning} |" not in text] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_shared_options_in_its_help(name, capsys, monkeypatch):
    letters = "".join(help_of(capsys, monkeypatch, name).split())  # words are broken at hyphens
    for parameter in COMMANDS[name].params:
        assert "".join((parameter.help or "").split()) in letters
    assert {"--json", "--quiet", "--log-level"} <= {text for each in COMMANDS[name].params for text in each.opts}


@pytest.mark.parametrize(
    ("command", "option", "typed", "found"),
    [
        ("fit", "method", "", ["recommended", "P+L", "SP", "Bayes", "L+L", "LR"]),
        ("fit", "format", "x", ["xlsx"]),
        ("check", "format", "label", ["label-studio"]),
        ("fit", "model_scale", "lo", ["log", "logit"]),
        ("combine", "engine", "d", ["dask"]),
        ("study", "name", "e", ["error-rates"]),
        ("show", "log_level", "w", ["warning"]),
    ],
)
def test_known_values_are_completed(command, option, typed, found):
    parameter = next(each for each in COMMANDS[command].params if each.name == option)
    context = typer.Context(COMMANDS[command])
    assert [each.value for each in parameter.shell_complete(context, typed)] == found


def test_scales_are_those_of_the_library():
    assert SCALES == MODEL_SCALES
