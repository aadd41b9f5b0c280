"""Labels that differ from a class by case or blanks: refused with a count, accepted where that is asked for."""

import json
from pathlib import Path

import numpy as np
import pytest

from twoheads import InvalidObservations, InvalidParameter
from twoheads.cli.running import run
from twoheads.tables import scan

WIDE = "item,human,p_Cat,p_Big dog,truth\n1,cat,.7,.3,Cat\n2,BIG  DOG,.2,.8,Big dog\n3,Cat,.6,.4,cat\n4,,.5,.5,\n"
ANSWERS = "item,annotator,answer\n1,ann,cat\n1,bob,Cat\n2,ann, big dog\n3,bob,unsure\n"
TRUTH = "item,truth\n1,CAT\n2,Big dog\n"
MODEL = "item,p_Cat,p_Big dog\n1,.7,.3\n2,.2,.8\n3,.6,.4\n"
EXPORT = Path(__file__).parents[1] / "formats" / "label_studio.json"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"wide": WIDE, "answers": ANSWERS, "truth": TRUTH, "model": MODEL}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def test_a_wide_table(here):
    with pytest.raises(
        InvalidObservations, match=r"loose_labels=True \(--loose-labels\) accepts such labels, 2 rows here"
    ):
        scan("wide.csv").read()
    table = scan("wide.csv", loose_labels=True)
    observations, truth = table.read()
    assert observations.classes.tolist() == ["Big dog", "Cat"]
    assert observations.answers.column.tolist() == [1, 0, 1, -1]
    assert truth.tolist() == ["Cat", "Big dog", "Cat", ""]
    assert table.notes == [
        "3 labels matched to classes apart from case and blanks: 'cat' is 'Cat' (2), 'BIG  DOG' is 'Big dog' (1)."
    ]
    assert len(list(table.blocks())) == 1
    assert table.notes[0].startswith("3 labels")  # a second pass counts nothing twice


def test_separate_tables(here):
    tables = {"answers": "answers.csv", "model": "model.csv", "truth": "truth.csv"}
    with pytest.raises(InvalidObservations, match="accepts such labels, 2 rows here"):
        scan(**tables).read()
    table = scan(**tables, loose_labels=True)
    observations, truth = table.read()
    assert observations.answers.per_item().tolist() == [2, 1, 0]
    assert observations.unsure.per_item().tolist() == [0, 0, 1]
    assert truth.tolist() == ["Cat", "Big dog", ""]
    (note,) = [note for note in table.notes if "apart from case" in note]
    assert note.startswith("3 labels matched to classes apart from case and blanks: ")
    assert "'CAT' is 'Cat' (1)" in note


def test_ambiguous_classes_are_refused(here):
    (here / "two.csv").write_text("item,human,p_a,p_A\n1,a,.5,.5\n")
    with pytest.raises(InvalidParameter, match=r"differ by more than case or blanks; 'A' and 'a' do not"):
        scan("two.csv", loose_labels=True).read()
    with pytest.raises(InvalidParameter, match="'Cat' and 'cat' do not"):
        scan(answers="answers.csv", loose_labels=True).read()  # which of the two is the class is not known
    found, _ = scan(answers="answers.csv", classes=["Cat", "Big dog"], loose_labels=True).read()
    assert len(found) == 3


def test_only_spellings_are_accepted(here):
    (here / "t.csv").write_text(WIDE + "5,bird,.5,.5,\n")
    with pytest.raises(InvalidObservations, match="has 'bird'"):
        scan("t.csv", loose_labels=True).read()


def test_a_class_that_is_a_word_for_no_value(here):
    (here / "t.csv").write_text("item,human,p_Na,p_Some\n1,NA,.7,.3\n2,Some,.2,.8\n3,,.2,.8\n")
    observations, _ = scan("t.csv", loose_labels=True).read()
    assert observations.answers.per_item().tolist() == [1, 1, 0]
    assert scan("t.csv").read()[0].answers.per_item().tolist() == [0, 1, 0]


def test_the_other_of_two_classes_is_found_beside_spellings_of_the_first(here):
    (here / "t.csv").write_text("item,human,p_Cat\n1,cat,.7\n2,Dog,.2\n3,Cat,.6\n")
    observations, _ = scan("t.csv", loose_labels=True).read()
    assert observations.classes.tolist() == ["Cat", "Dog"]
    assert np.array_equal(observations.answers.column, [0, 1, 0])


def test_an_export(here):
    tasks = json.loads(EXPORT.read_text().replace('"Normal"', '"normal"', 1))
    (here / "export.json").write_text(json.dumps(tasks))
    plain = scan(EXPORT)
    with pytest.raises(InvalidObservations, match="must be a class"):
        scan("export.json", classes=plain.classes)
    table = scan("export.json", classes=plain.classes, loose_labels=True)
    assert np.array_equal(table.read()[0].answers.column, plain.read()[0].answers.column)
    assert any("1 label matched" in note and "'normal' is 'Normal' (1)" in note for note in table.notes)
    with pytest.raises(InvalidParameter, match="differ by more than case"):
        scan("export.json", loose_labels=True)


def test_commands_accept_them_and_say_so(here, capsys):
    assert run(["fit", "wide.csv", "--method", "P+L"]) == 2
    assert "--loose-labels" in capsys.readouterr().err
    assert run(["fit", "wide.csv", "--loose-labels", "--method", "P+L", "--keep-items"]) == 0
    assert "3 labels matched to classes apart from case" in capsys.readouterr().err
    for line in (["combine", "team.json", "wide.csv", "-o", "v.csv"], ["evaluate", "team.json", "wide.csv"]):
        assert run(line) == 0  # the option is saved with the team
        assert "labels matched to classes apart from case" in capsys.readouterr().err
    assert run(["update", "team.json", "--truth", "truth.csv"]) == 0
    assert "1 label matched" in capsys.readouterr().err


def test_names_that_are_misspelt(here, capsys):
    (here / "t.csv").write_text(
        "item,human_1,human_2,human_3,p_a,p_b,truth\n"
        + "".join(f"{at},a,b,a,.7,.3,{'ab'[at % 2]}\n" for at in range(6))
    )
    assert run(["fit", "t.csv", "--method", "P+L"]) == 0
    wrong = {
        "--people must name people as the team does; 'Reader 3' is unknown to it (1 of 2 names are). Did you mean '3'?":
            ["ask", "team.json", "t.csv", "--budget", "1", "--people", "1,Reader 3"],
        "it is 'recomended'. Did you mean 'recommended'?": ["fit", "t.csv", "--method", "recomended"],
        "it is 'labelstudio'. Did you mean 'label-studio'?": ["fit", "t.csv", "--format", "labelstudio"],
        "it is 'logits'. Did you mean 'logit'?": ["fit", "t.csv", "--model-scale", "logits"],
        "Did you mean 'truth'?": ["fit", "t.csv", "--truth", "truht"],
    }  # fmt: skip
    for message, line in wrong.items():
        capsys.readouterr()
        assert run(line) == 2
        assert message in capsys.readouterr().err.replace("\n", " ")
    assert run(["ask", "team.json", "t.csv", "--budget", "1", "--people", "1,Zoe"]) == 0
    assert "1 person unknown to the team (Zoe)" in capsys.readouterr().err
