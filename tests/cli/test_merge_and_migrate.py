"""Teams merged on the command line, and teams of an older version brought up to date."""

import json
import subprocess
import sys

import numpy as np
import pytest

import twoheads as th
from twoheads import tables
from twoheads.cli.running import run
from twoheads.storage import artifact

HEADER = "item,human_ann,human_bob,p_no,p_yes,truth\n"


def row(item, rng):
    truth = rng.integers(2)
    ann, bob = ("no", "yes")[truth ^ (rng.random() < 0.1)], ("no", "yes")[truth ^ (rng.random() < 0.3)]
    score = round(0.2 + 0.3 * truth + 0.3 * rng.random(), 4)
    return f"i{item},{ann},{bob},{1 - score:.4f},{score:.4f},{('no', 'yes')[truth] if item % 3 else ''}\n"


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    rows = [row(100 + item, rng) for item in range(120)]
    for name, part in {"north": rows[:70], "south": rows[70:], "east": rows[60:90], "all": rows}.items():
        (tmp_path / f"{name}.csv").write_text(HEADER + "".join(part))
    return tmp_path


def fit(name, *options):
    assert run(["fit", f"{name}.csv", "--method", "P+L", *options, "-o", f"{name}.json"]) == 0


def checksum(path):
    return json.loads(path.read_text())["sha256"]


def test_merged_teams_that_keep_their_items_are_the_team_of_all_items(here):
    for name in ("north", "south", "east", "all"):
        fit(name, "--keep-items")
    assert run(["merge", "north.json", "east.json", "south.json", "-o", "merged.json"]) == 0
    assert checksum(here / "merged.json") == checksum(here / "all.json")
    assert [entry["what"] for entry in th.load("merged.json").history()] == ["fit", "fit", "fit", "merge"]
    assert run(["update", "merged.json", "all.csv"]) == 0
    assert checksum(here / "merged.json") == checksum(here / "all.json")


def test_merged_teams_without_items_add_their_counts(here, capsys):
    for name in ("north", "south", "all"):
        fit(name)
    assert run(["merge", "north.json", "south.json", "-o", "merged.json"]) == 0
    assert "Items without truth cannot be compared" in capsys.readouterr().err
    X, _ = tables.scan("all.csv").read()
    merged, one = th.load("merged.json"), th.load("all.json")
    np.testing.assert_array_equal(merged.labelled_counts_, one.labelled_counts_)
    np.testing.assert_allclose(merged.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-6)
    assert run(["show", "merged.json"]) == 0


def test_teams_that_cannot_be_merged_are_refused(here, capsys):
    def message(*arguments):
        assert run(["merge", *arguments, "-o", "merged.json"]) == 2
        assert not (here / "merged.json").exists()
        return capsys.readouterr().err

    fit("north")
    fit("east")
    assert "they share 7 of known truth" in message("north.json", "east.json")
    assert "at least two teams" in message("north.json")
    assert "named once" in message("north.json", "north.json")
    assert run(["fit", "south.csv", "--method", "SP", "-o", "south.json"]) == 0
    assert "north.json and south.json are not" in message("north.json", "south.json")
    (here / "other.csv").write_text((here / "south.csv").read_text().replace("yes", "maybe"))
    fit("other")
    assert "must have the same classes" in message("north.json", "other.json")
    assert run(["merge", "north.json", "other.json", "-o", "north.json"]) == 2
    assert "would destroy it" in capsys.readouterr().err


def make_older(path):
    document = json.loads(path.read_text())
    del document["object"]["fitted"]["confusion_"]  # as if it were called otherwise then
    path.write_text(json.dumps(document | {"version": artifact.VERSION - 1}))


def test_a_team_that_keeps_its_items_is_migrated(here, capsys):
    fit("north", "--keep-items")
    before, bits = th.load("north.json"), checksum(here / "north.json")
    assert run(["migrate", "north.json"]) == 0
    assert "nothing is to be done" in capsys.readouterr().err
    assert run(["migrate", "north.json", "-o", "new.json"]) == 0
    assert "nothing is to be done. new.json is not written." in " ".join(capsys.readouterr().err.split())
    make_older(here / "north.json")
    assert run(["show", "north.json"]) == 2
    assert "twoheads migrate north.json" in capsys.readouterr().err
    assert run(["migrate", "north.json", "-o", "new.json"]) == 0
    assert checksum(here / "new.json") == bits
    assert artifact.is_older(artifact.read_document(here / "north.json"))
    assert run(["migrate", "north.json"]) == 0
    assert checksum(here / "north.json") == bits
    after = th.load("north.json")
    assert [entry["what"] for entry in after.history()] == ["fit", "migrate"]
    assert after.provenance() == before.provenance()


def test_of_a_team_without_items_the_command_is_named(here, capsys):
    fit("north", "--truth", "truth", "--unsure", "don't know", "--normalise")
    make_older(here / "north.json")
    assert run(["migrate", "north.json"]) == 2
    command = "twoheads fit --keep-items north.csv --truth truth --unsure 'don'\"'\"'t know' --normalise --method P+L"
    assert f"{command} -o north.json" in capsys.readouterr().err


def test_a_team_of_this_version_in_a_process_of_its_own(tmp_path):
    (tmp_path / "t.csv").write_text("item,human,p_a,p_b,truth\n1,a,0.9,0.1,a\n2,b,0.2,0.8,b\n3,b,0.6,0.4,\n")
    assert run(["fit", str(tmp_path / "t.csv"), "--method", "P+L", "-o", str(tmp_path / "team.json")]) == 0
    command = [sys.executable, "-m", "twoheads", "migrate", str(tmp_path / "team.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "nothing is to be done" in done.stderr
