"""A team that is kept up to date: five days of answers and truths give the team of one fit on everything."""

import csv
import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyarrow import csv as arrow_csv

import twoheads as th
from twoheads import tables
from twoheads.cli import keeping
from twoheads.cli.running import run

CLASSES = ("cat", "dog", "Dog")  # names that differ only in case
PEOPLE = ("ann", "bob", "cy")
HEADER = ["item", *(f"human_{name}" for name in PEOPLE), *(f"p_{name}" for name in CLASSES), "truth", "seen"]
N_ITEMS, N_DAYS = 120, 5
#: How most teams are fitted here: P+L is quicker than the recommended combiner.
KEPT = ["--method", "P+L", "--keep-items", "--time", "seen"]


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def write_days(folder):
    """all.csv, and day0.csv to day4.csv: an item's model row comes first, its answers and its truth then or later."""
    rng = np.random.default_rng(5)
    truth = rng.integers(3, size=N_ITEMS)
    proba = rng.dirichlet(np.ones(3), size=N_ITEMS) + np.eye(3)[truth]
    proba = (proba / proba.sum(axis=1, keepdims=True)).tolist()
    first = rng.integers(N_DAYS, size=N_ITEMS)
    later = np.minimum(first[:, None] + rng.integers(0, 3, size=(N_ITEMS, 4)), N_DAYS - 1)
    known = rng.random((N_ITEMS, 4)) < [0.8, 0.8, 0.5, 0.5]
    given = np.where(rng.random((N_ITEMS, 3)) < 0.8, truth[:, None], rng.integers(3, size=(N_ITEMS, 3)))
    labels = np.array(CLASSES)[np.column_stack([given, truth])]

    def row(item, there):
        seen = [label if yes else "" for label, yes in zip(labels[item], there, strict=True)]
        return [f"image {item}", *seen[:3], *map(repr, proba[item]), seen[3], f"2026-03-{1 + first[item]:02d}"]

    write_csv(folder / "all.csv", HEADER, [row(item, known[item]) for item in range(N_ITEMS)])
    for day in range(N_DAYS):
        now = known & (later == day)
        there = [item for item in range(N_ITEMS) if first[item] == day or (first[item] < day and now[item].any())]
        write_csv(folder / f"day{day}.csv", HEADER, [row(item, now[item]) for item in there])


@pytest.fixture(scope="module")
def five_days(tmp_path_factory):
    """The tables, and the team of day 0 with its items."""
    folder = tmp_path_factory.mktemp("days")
    write_days(folder)
    assert run(["fit", str(folder / "day0.csv"), *KEPT, "-o", str(folder / "team.json")]) == 0
    return folder


@pytest.fixture
def here(five_days, tmp_path, monkeypatch, capsys):
    shutil.copytree(five_days, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    return tmp_path


def update(*arguments):
    return run(["update", "team.json", *arguments])


def checksum(path):
    return json.loads(path.read_text())["sha256"]


def contents(folder):
    """The bytes of a team and of its items."""
    paths = [folder / "team.json", *(folder / "team.items").rglob("*")]
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


def predictions(folder, team="team.json"):
    X, _ = tables.scan(folder / "all.csv").read()
    return th.load(folder / team).predict_proba(X)


def test_five_days_give_the_team_of_one_fit(here):
    assert run(["fit", "day0.csv", "--keep-items", "--time", "seen"]) == 0
    for day in range(1, N_DAYS):
        assert update(f"day{day}.csv", "--time", "seen") == 0
    assert run(["fit", "all.csv", "-o", "all.json"]) == 0
    np.testing.assert_allclose(predictions(here), predictions(here, "all.json"), rtol=0, atol=1e-10)
    one, many = th.load("all.json"), th.load("team.json")
    assert (one.n_labelled_, one.n_unlabelled_) == (many.n_labelled_, many.n_unlabelled_)
    np.testing.assert_array_equal(one.labelled_counts_, many.labelled_counts_)
    assert run(["fit", "all.csv", "--keep-items", "--time", "seen", "-o", "kept.json"]) == 0
    assert checksum(here / "kept.json") == checksum(here / "team.json")


def test_a_separate_table_of_the_truth_gives_the_same_team_as_its_column(here):
    with (here / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    write_csv(here / "gold.csv", ["item", "truth"], [[row["item"], row["truth"]] for row in rows if row["truth"]])
    without = [name for name in HEADER if name != "truth"]
    write_csv(here / "seen.csv", without, [[row[name] for name in without] for row in rows])
    assert run(["fit", "all.csv", *KEPT, "-o", "one.json"]) == 0
    assert run(["fit", "seen.csv", "--truth", "gold.csv", *KEPT, "-o", "two.json"]) == 0
    assert checksum(here / "one.json") == checksum(here / "two.json")
    assert th.load("two.json").history()[0]["files"] == ["seen.csv", "gold.csv"]


def test_any_order_of_days_gives_the_same_team_and_items(here):
    for day in (1, 2, 3, 4):
        assert update(f"day{day}.csv", "--time", "seen") == 0
    assert run(["fit", "day3.csv", *KEPT, "-o", "other.json"]) == 0
    for day in (4, 0, 2, 1):
        assert run(["update", "other.json", f"day{day}.csv", "--time", "seen"]) == 0
    assert checksum(here / "team.json") == checksum(here / "other.json")
    items = [sorted((here / name).rglob("*.parquet")) for name in ("team.items", "other.items")]
    assert len(items[0]) == 4
    assert [path.read_bytes() for path in items[0]] == [path.read_bytes() for path in items[1]]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_the_same_table_again_changes_no_byte(suffix, here, capsys):
    table = arrow_csv.read_csv(here / "day1.csv")
    tables.write(here / f"again.{suffix}", table.to_batches())
    assert update("day1.csv") == 0
    before = contents(here)
    assert update(f"again.{suffix}") == 0
    assert "Nothing is new" in capsys.readouterr().err
    assert contents(here) == before
    assert update(f"again.{suffix}", "-o", "copy.json") == 0
    assert (here / "copy.json").read_bytes() == before[str(here / "team.json")]
    assert run(["update", "copy.json", "day2.csv"]) == 0


def test_truth_makes_an_item_labelled_and_may_come_first(here, capsys):
    before = th.load("team.json")
    table = arrow_csv.read_csv(here / "day0.csv").to_pylist()
    unknown = next(row for row in table if not row["truth"])
    write_csv(here / "truths.csv", ["item", "truth"], [[unknown["item"], "cat"], ["new", "dog"]])
    assert update("truths.csv") == 0
    assert "1 item with a truth, but no answer or model row yet" in capsys.readouterr().err
    after = th.load("team.json")
    assert (after.n_labelled_, after.n_unlabelled_) == (before.n_labelled_ + 1, before.n_unlabelled_ - 1)
    write_csv(here / "answers.csv", ["item", "annotator", "answer"], [["new", "ann", "dog"], ["new", "eve", "unsure"]])
    assert update("--answers", "answers.csv") == 0
    assert th.load("team.json").n_labelled_ == before.n_labelled_ + 2
    assert th.load("team.json").annotators_ == ("ann", "bob", "cy", "eve")


def test_an_answer_that_comes_again_replaces_the_old_one(here, capsys):
    n_answers = th.load("team.json").annotation_counts_[0].sum()
    row = next(row for row in arrow_csv.read_csv(here / "day0.csv").to_pylist() if row["human_ann"])
    other = "dog" if row["human_ann"] != "dog" else "cat"
    write_csv(here / "answers.csv", ["item", "annotator", "answer"], [[row["item"], "ann", other]])
    assert update("--answers", "answers.csv") == 0
    assert "answers 1 replaced." in capsys.readouterr().err
    assert th.load("team.json").annotation_counts_[0].sum() == n_answers
    kept = pq.read_table(next((here / "team.items").rglob("answers.parquet"))).to_pylist()
    assert [each["answer"] for each in kept if (each["item"], each["annotator"]) == (row["item"], "ann")] == [other]


def test_items_are_forgotten_by_id_by_table_and_by_window(here, capsys):
    assert update("day1.csv", "--time", "seen") == 0
    n_items = len(arrow_csv.read_csv(here / "day0.csv"))
    assert update("--forget", "nobody") == 0
    assert "--forget: 1 id not found among the items (first: nobody)" in capsys.readouterr().err
    first = arrow_csv.read_csv(here / "day0.csv")["item"].to_pylist()
    assert update("--forget", first[0]) == 0
    write_csv(here / "gone.csv", ["item"], [[item] for item in first[1:3]])
    assert update("--forget", "gone.csv") == 0
    assert th.load("team.json").history()[-1]["counts"]["items"] == {"new": 0, "replaced": 0, "removed": 2}
    assert update("--window", "1d") == 0
    assert "Nothing is new" in capsys.readouterr().err
    assert update("day2.csv", "--time", "seen", "--window", "1d") == 0
    assert th.load("team.json").history()[-1]["counts"]["items"]["removed"] == n_items - 3
    before = contents(here)
    assert update("day0.csv", "--time", "seen", "--window", "1d") == 0
    assert contents(here) == before


@pytest.mark.parametrize("broken", ["fit_team", "save"])
def test_an_interrupted_update_leaves_the_old_pair(broken, here, monkeypatch, capsys):
    before = contents(here)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    if broken == "save":
        monkeypatch.setattr(th.ProbabilityLabelCombiner, "save", interrupted)
    else:
        monkeypatch.setattr(keeping, "fit_team", interrupted)
    assert update("day1.csv") == 130
    assert contents(here) == before
    assert run(["fit", "all.csv", *KEPT, "-o", "new.json"]) == 130
    assert not list(here.glob("new*"))
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert update("day1.csv") == 0


def test_items_that_a_killed_update_left_are_removed_by_the_next(here):
    (here / "team.items" / ("0" * 32)).mkdir()
    assert update("day1.csv") == 0
    assert len(list((here / "team.items").iterdir())) == 1


def test_a_copy_of_a_pair_that_is_interrupted_leaves_nothing(here, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(keeping, "atomic_write", interrupted)
    assert update("day0.csv", "--time", "seen", "-o", "new.json") == 130
    assert not list(here.glob("new*"))


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_kept_items_have_the_permissions_of_their_team(mode, here):
    (here / "team.json").chmod(mode)
    assert update("day1.csv") == 0
    found = {path.name: path.stat().st_mode & 0o777 for path in (here / "team.items").glob("*/*")}
    assert found == dict.fromkeys(found, mode)
    assert [path.stat().st_mode & 0o777 for path in (here / "team.items").iterdir()] == [mode | (mode & 0o444) >> 2]
    assert (here / "team.json").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("line", ["update team.json day1.csv", "fit day0.csv --keep-items --method P+L"])
def test_no_items_are_kept_beside_a_device(line, here, capsys):
    (here / "null").symlink_to("/dev/null")
    before = sorted(here.iterdir())
    assert run([*line.split(), "-o", "null"]) == 2
    assert "items cannot be kept next to null: it is not a file. Name one with -o." in capsys.readouterr().err
    assert sorted(here.iterdir()) == before


def test_what_cannot_be_updated_is_refused_with_the_remedy(here, capsys):
    def message(*arguments):
        assert run(list(arguments)) == 2
        return capsys.readouterr().err

    assert "Give a TABLE, --answers, --truth, --forget or --window" in message("update", "team.json")
    assert "--window must be a number of days, such as 90d; it is '3 weeks'" in message(
        "update", "team.json", "--window", "3 weeks"
    )
    assert "column 'truth' must hold dates" in message("update", "team.json", "day1.csv", "--time", "truth")
    assert "day1.csv must have the column 'sen' that time (--time) names" in message(
        "update", "team.json", "day1.csv", "--time", "sen"
    )
    assert run(["fit", "day0.csv", "-o", "plain.json"]) == 0
    assert "twoheads fit TABLE --keep-items -o plain.json" in message("update", "plain.json", "day1.csv")
    write_csv(here / "none.csv", HEADER[1:], [["cat", "", "", 0.5, 0.3, 0.2, "", ""]])
    assert "must have a column of item ids" in message("update", "team.json", "none.csv")
    write_csv(here / "truths.csv", ["item", "truth"], [["image 1", "cat"], ["image 1", "dog"]])
    assert "one truth per item; item 'image 1'" in message("update", "team.json", "truths.csv")
    write_csv(here / "truths.csv", ["item", "truth"], [["image 1", "cow"]])
    assert "row 1 of truths.csv has 'cow'" in message("update", "team.json", "--truth", "truths.csv")
    (kept,) = (here / "team.items").iterdir()
    (kept / "truth.parquet").unlink()
    assert "was changed or is damaged" in message("update", "team.json", "day1.csv")
    kept.rename(kept.with_name("f" * 32))
    assert "holds the items of another team" in message("update", "team.json", "day1.csv")
    shutil.rmtree(here / "team.items")
    assert "team.items does not exist" in message("update", "team.json", "day1.csv")


def test_the_history_is_shown_and_is_no_part_of_the_checksum(here, capsys):
    assert update("day1.csv") == 0
    capsys.readouterr()
    assert run(["show", "team.json", "--history"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["when", "what", "files", "changes"]
    assert [line.split()[3] for line in lines] == ["fit", "update"]
    assert "day1.csv  items " in lines[1]
    assert run(["show", "team.json", "--history", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["history"]
    assert [(entry["what"], len(entry["files"])) for entry in shown] == [("fit", 1), ("update", 1)]
    assert shown[1]["counts"]["items"]["new"] > 0
    document = json.loads((here / "team.json").read_text())
    del document["history"]
    (here / "bare.json").write_text(json.dumps(document))
    assert th.load(here / "bare.json").history() == []


def test_a_crowd_without_a_model_and_other_methods_are_updated(here):
    rows = [[f"{item}", f"w{who}", CLASSES[(item + (who == item % 4)) % 2]] for item in range(30) for who in range(4)]
    header = ["item", "annotator", "answer"]
    write_csv(here / "first.csv", header, rows[:60])
    write_csv(here / "second.csv", header, rows[60:])
    write_csv(here / "both.csv", header, rows)
    assert run(["fit", "--answers", "first.csv", "--classes", "cat,dog,Dog", "--keep-items", "-o", "crowd.json"]) == 0
    assert run(["update", "crowd.json", "--answers", "second.csv"]) == 0
    assert run(["fit", "--answers", "both.csv", "--classes", "cat,dog,Dog", "-o", "one.json"]) == 0
    X, _ = tables.scan(answers=here / "both.csv", classes=["cat", "dog", "Dog"]).read()
    np.testing.assert_allclose(
        th.load("crowd.json").predict_proba(X), th.load("one.json").predict_proba(X), rtol=0, atol=1e-10
    )
    assert run(["fit", "day0.csv", "--keep-items", "--method", "SP", "-o", "team.json"]) == 0
    assert update("day1.csv") == 0
    assert th.load("team.json").provenance()["method"] == "SP"


def test_labels_and_scores_of_machines_and_people_are_kept_as_such(here):
    rng = np.random.default_rng(3)
    rows = []
    for item in range(60):
        truth = int(rng.integers(2))
        label, score = ("no", "yes")[truth ^ (rng.random() < 0.2)], round(float(truth + rng.normal()), 3)
        grade = round(float(-truth + rng.normal()), 3)  # high means no
        human = ("no", "yes")[truth ^ (rng.random() < 0.1)]
        rows.append([f"i{item:02d}", human, label, score, grade, ("no", "yes")[truth] if item % 2 else ""])
    for positive, score in (("yes", 3), ("no", 4)):
        header = ["item", "human_ann", "judge.label", "net.score", "human_bob.score", "truth"]
        chosen = [[*row[:3], row[score], row[score], row[5]] for row in rows]
        write_csv(here / "one.csv", header, chosen[:40])
        write_csv(here / "two.csv", header, chosen[30:])
        write_csv(here / "both.csv", header, chosen)
        options = ["--positive", positive, "--method", "P+L"]
        assert run(["fit", "one.csv", *options, "--keep-items"]) == 0
        assert update("two.csv") == 0
        assert run(["fit", "both.csv", *options, "-o", "both.json"]) == 0
        many, one = th.load("team.json"), th.load("both.json")
        assert (many.annotators_, many.machines_) == (one.annotators_, one.machines_)
        assert many.levels_.positive == one.levels_.positive == positive
        X = tables.scan("both.csv", positive=positive, classes=["no", "yes"])
        np.testing.assert_allclose(many.predict_proba(X), one.predict_proba(X), rtol=0, atol=1e-10)


def test_a_table_of_truths_with_another_column(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("item,human,p_a,p_b,truth\n1,a,0.9,0.1,a\n2,b,0.2,0.8,b\n3,b,0.6,0.4,\n")
    (tmp_path / "gold.csv").write_text("item,truth,by\n3,a,chief\n")
    assert run(["fit", "t.csv", "--method", "P+L", "--keep-items", "-o", "team.json"]) == 0
    assert run(["update", "team.json", "gold.csv"]) == 2
    assert capsys.readouterr().err.endswith("To learn nothing but its truth: --truth gold.csv\n")
    assert run(["update", "team.json", "--truth", "gold.csv"]) == 0
    assert th.load("team.json").n_labelled_ == 3


def test_dates_that_alone_are_new_are_counted(here, capsys):
    assert run(["fit", "day0.csv", "--method", "P+L", "--keep-items"]) == 0
    capsys.readouterr()
    assert update("day0.csv", "--time", "seen") == 0
    n_items = len((here / "day0.csv").read_text().splitlines()) - 1
    assert f"Changed: times {n_items:,} new." in capsys.readouterr().err
