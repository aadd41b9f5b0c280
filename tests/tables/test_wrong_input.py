"""Wrong tables, one by one: each gets one message that says where, what, and what to do."""

import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twoheads import InvalidObservations, InvalidParameter
from twoheads.tables import scan

HEAD = "item,human,p_cat,p_dog,truth\n"
GOOD = HEAD + "1,cat,.5,.5,dog\n"


def message(source, **options):
    with pytest.raises(InvalidObservations) as caught:
        scan(source, **options).read()
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


WRONG_TEXTS = {
    "empty": ("", {}, "t.csv is empty. A table has a row of column names, then one row per item."),
    "blank lines only": ("\n \n", {}, "t.csv is empty. A table has a row of column names, then one row per item."),
    "header only": (HEAD, {}, "t.csv must have at least one row; it has column names and no row below them."),
    "no header": (
        "0,1,0.5,0.5\n1,1,0.25,0.75\n",
        {},
        "t.csv must begin with a line of column names; its first line holds only numbers (0, 1, ...). "
        "Put names above it: item, human, p_<class>, truth.",
    ),
    "no probability columns": (
        "id,human,score_cat,score_dog\n1,cat,.5,.5\n",
        {},
        "t.csv must have one probability column per class, named p_<class>; its columns are id, human, "
        "score_cat, score_dog. Did you mean the columns 'score_*'? Then set model_columns='score_*' "
        "(--model-columns 'score_*'); else see what twoheads check finds.",
    ),
    "no numbers at all": (
        "id,human\n1,cat\n",
        {},
        "t.csv must have one probability column per class, named p_<class>; its columns are id, human. Name them "
        "with model_columns (--model-columns), as in 'score_*', or see what twoheads check finds.",
    ),
    "people without a model": (
        "item,human_ann,human_bob\n1,cat,dog\n",
        {},
        "t.csv must have one probability column per class, named p_<class>; its columns are item, human_ann, human_bob."
        " Without a model, give it as answers (--answers); else name them with model_columns (--model-columns).",
    ),
    "columns of readers are not those of a model": (
        "Image ID,Reader 1,Reader 2,AI score\n1,cat,dog,.5\n",
        {},
        "t.csv must have one probability column per class, named p_<class>; its columns are Image ID, Reader 1, "
        "Reader 2, AI score. Name them with model_columns (--model-columns), as in 'score_*', or see what twoheads "
        "check finds.",
    ),
    "columns of doctors are not those of a model": (
        "Case,Dr. Ames,Dr. Bell\n1,cat,dog\n",
        {},
        "t.csv must have one probability column per class, named p_<class>; its columns are Case, Dr. Ames, Dr. Bell. "
        "Name them with model_columns (--model-columns), as in 'score_*', or see what twoheads check finds.",
    ),
    "a pattern that fits nothing": (
        GOOD,
        {"model_columns": "q_*"},
        "t.csv must have one probability column per class, named 'q_*'; its columns are p_cat, p_dog. Did you "
        "mean the columns 'p_*'? Then set model_columns='p_*' (--model-columns 'p_*'); else see what twoheads check "
        "finds.",
    ),
    "a pattern without a star": (
        GOOD,
        {"model_columns": "p_cat"},
        "model_columns (--model-columns) must hold one *, in place of the class, as in 'score_*'; it is 'p_cat'.",
    ),
    "a long table as the table": (
        "task,worker,label\n1,ann,cat\n",
        {},
        "t.csv must have one probability column per class, named p_<class>; its columns are task, worker, "
        "label. It looks "
        "like a table of answers: give it as answers (--answers) and the model's rows as model (--model).",
    ),
    "a single class": (
        "human,p_cat\ncat,1\n",
        {},
        "t.csv must show both classes; its only probability column is 'p_cat', and no answer and no truth is of "
        "another class. Add the column of the other class, or name both with classes (--classes), in Python in "
        "Observations.from_frame(X, classes=...).",
    ),
    "a misspelt option": (
        GOOD,
        {"item": "itme"},
        "t.csv must have the column 'itme' that item (--item) names; its columns are item, human, p_cat, p_dog, "
        "truth. Did you mean 'item'? Then set item='item' (--item item).",
    ),
    "a misspelt person": (
        "item,Humans,p_cat,p_dog\n1,cat,.5,.5\n",
        {},
        "t.csv must have a column of a person's answers, named human or human_<name>; its columns are item, "
        "Humans, p_cat, p_dog. Did you mean 'Humans'? Then set human='Humans' (--human Humans).",
    ),
    "people that are not there": (
        GOOD,
        {"human": "reader_*"},
        "t.csv must have columns named 'reader_*'; its columns are item, human, p_cat, p_dog, truth. Name it "
        "with human (--human).",
    ),
    "one person under two names": (
        "human,human_human,p_cat,p_dog\ncat,cat,.5,.5\n",
        {},
        "t.csv must name each person once; 'human' and 'human_human' are the same name. Rename one of them.",
    ),
    "a truth that is not there": (
        GOOD,
        {"truth": "true label"},
        "t.csv must have the column 'true label' that truth (--truth) names, if it is not a file; its columns "
        "are item, human, p_cat, p_dog, truth. Did you mean 'truth'? Then set truth='truth' (--truth truth).",
    ),
    "a column twice": (
        "item,human,p_cat,p_dog,human\n1,cat,.5,.5,dog\n",
        {},
        "t.csv must have each column once; 'human' appears 2 times (columns 2 and 5). Drop or rename the copies.",
    ),
    "text among probabilities": (
        GOOD + "2,cat,oops,.5,\n3,cat,.5,.5,\n4,cat,.5,1/2,\n",
        {},
        "column 'p_cat' must hold numbers; row 2 of t.csv has 'oops' (2 of 4 rows are off). Correct those "
        "entries, or leave the whole row blank where the model has no prediction.",
    ),
    "rows that do not sum to 1": (
        GOOD + "2,cat,.9,.5,\n",
        {},
        "the model's columns must sum to 1 in every row; row 2 of t.csv sums to 1.4 (1 of 2 rows are off). If "
        "these are logits, set model_scale='logit' (--model-scale logit); else divide each row by its sum "
        "(normalise=True, --normalise).",
    ),
    "percentages": (
        HEAD + "1,cat,40,60,\n",
        {},
        "the model's columns must sum to 1 in every row; row 1 of t.csv sums to 100 (1 of 1 rows are off). "
        "These look like percentages: divide by 100.",
    ),
    "logits": (
        GOOD + "2,cat,-3.5,2,\n",
        {},
        "the model's columns must not be negative; row 2 of t.csv has -3.5 (1 of 2 rows are off). If these are "
        "logits, set model_scale='logit' (--model-scale logit); if log-probabilities, set model_scale='log' "
        "(--model-scale log).",
    ),
    "infinite": (
        GOOD + "2,cat,inf,0,\n",
        {},
        "the model's columns must be finite; row 2 of t.csv has inf (1 of 2 rows are off). Leave the whole row "
        "blank (NaN) where the model has no prediction.",
    ),
    "half a row": (
        GOOD + "2,cat,,0.5,\n",
        {},
        "the model's columns must be finite; row 2 of t.csv has nan (1 of 2 rows are off). Leave the whole row "
        "blank (NaN) where the model has no prediction.",
    ),
    "an unknown answer": (
        GOOD + "2,Cat,.5,.5,\n3,cta,.5,.5,\n",
        {},
        "column 'human' must hold classes; row 2 of t.csv has 'Cat' (2 of 3 rows are off). The classes are "
        "'cat', 'dog'. Only case or blanks differ from 'cat': write it as the class is written. loose_labels=True "
        "(--loose-labels) accepts such labels, 1 row here.",
    ),
    "an answer with a slip": (
        GOOD + "2,cta,.5,.5,\n",
        {},
        "column 'human' must hold classes; row 2 of t.csv has 'cta' (1 of 2 rows are off). The classes are "
        "'cat', 'dog'. Did you mean 'cat'?",
    ),
    "codes in place of names": (
        GOOD + "2,1,.5,.5,\n",
        {},
        "column 'human' must hold classes; row 2 of t.csv has '1' (1 of 2 rows are off). The classes are 'cat', "
        "'dog'. If these are codes, write the names of the classes instead: 1 is 'dog' counted from 0, 'cat' "
        "counted from 1.",
    ),
    "two decimals": (
        HEAD.replace("p_dog", "p_cow,p_dog") + "1,cat,.33,.33,.33,\n",
        {},
        "the model's columns must sum to 1 in every row; row 1 of t.csv sums to 0.99 (1 of 1 rows are off). If these "
        "were rounded, divide each row by its sum (normalise=True, --normalise); if a class has no column, add it.",
    ),
    "a class without a column": (
        GOOD + "2,cat,.5,.2,\n",
        {},
        "the model's columns must sum to 1 in every row; row 2 of t.csv sums to 0.7 (1 of 2 rows are off). If a class "
        "has no column, add it; else divide each row by its sum (normalise=True, --normalise).",
    ),
    "a column of totals": (
        HEAD.replace("p_dog", "p_dog,p_total") + "1,cat,.3,.7,1,\n",
        {},
        "the model's columns must sum to 1 in every row; row 1 of t.csv sums to 2 (1 of 1 rows are off). Without "
        "the column of 'total' it sums to 1: drop that column if it is not a class.",
    ),
    "one negative entry": (
        GOOD + "2,cat,-.02,1.02,\n",
        {},
        "the model's columns must not be negative; row 2 of t.csv has -0.02 (1 of 2 rows are off). Otherwise the "
        "row holds probabilities: correct that entry, or set it to 0.",
    ),
    "one wrong sign": (
        GOOD + "2,cat,-.7,.3,\n",
        {},
        "the model's columns must not be negative; row 2 of t.csv has -0.7 (1 of 2 rows are off). Otherwise the "
        "row holds probabilities: correct that entry, or set it to 0.",
    ),
    "nothing to normalise": (
        GOOD + "2,cat,0,0,\n",
        {"normalise": True},
        "the model's columns must sum to 1 in every row; row 2 of t.csv sums to 0 (1 of 2 rows are off). If a class "
        "has no column, add it; else divide each row by its sum (normalise=True, --normalise).",
    ),
    "an unknown truth": (
        GOOD + "2,cat,.5,.5,zebra\n",
        {},
        "column 'truth' must hold classes; row 2 of t.csv has 'zebra' (1 of 2 rows are off). The classes are "
        "'cat', 'dog'. If 'zebra' is a class, it needs a column of probabilities like the others; else correct "
        "those labels, or leave them blank.",
    ),
    "an answer that may mean unsure": (
        GOOD + "2,Weiß nicht,.5,.5,\n",
        {},
        "column 'human' must hold classes; row 2 of t.csv has 'Weiß nicht' (1 of 2 rows are off). The classes are "
        "'cat', 'dog'. If 'Weiß nicht' means that somebody was unsure, name it with unsure (--unsure); where it is a "
        "truth, leave it blank.",
    ),
    "an item twice": (
        GOOD + "2,cat,.5,.5,\n1,cat,.5,.5,\n1,cat,.5,.5,\n",
        {},
        "t.csv must have one row per item; item '1' of column 'item' has 3 (2 of 4 rows are repeats). "
        "Keep one row of each item.",
    ),
    "an item of several models": (
        "item,model,human,p_a,p_b\n1,x,a,.5,.5\n1,y,a,.5,.5\n",
        {},
        "t.csv must have one row per item; item '1' of column 'item' has 2 (1 of 2 rows are repeats). Keep one "
        "row of each item. It has a column 'model': give the answers in a separate table (--answers), or keep "
        "the rows of one model.",
    ),
    "an item without a name": (
        GOOD + " ,cat,.5,.5,\n",
        {},
        "column 'item' must name the item in every row; row 2 of t.csv is blank. Name it, or drop the row.",
    ),
    "a row without anything": (
        GOOD + "2,,,,dog\n",
        {},
        "every item must have a model row or an answer; row 2 of t.csv (item 2) has neither (1 of 2 rows are off). "
        "Drop those rows.",
    ),
    "a row too short": (
        GOOD + "2,cat,.5,.5\n3,cat,.5,.5,\n",
        {},
        "every row of t.csv must have 5 columns, like its first line; row 2 has 4 (1 of 3 rows are off). Put "
        "values that hold ',' in quotation marks.",
    ),
    "a row too long": (
        GOOD + "2,cat, or dog,.5,.5,\n",
        {},
        "every row of t.csv must have 5 columns, like its first line; row 2 has 6 (1 of 2 rows are off). Put "
        "values that hold ',' in quotation marks.",
    ),
    "a quotation mark left open": (
        GOOD + '2,"cat,.5,.5,\n3,cat,.5,.5,\n',
        {},
        "t.csv must close every quotation mark; one that begins in row 2 is not closed, or has text right after it. "
        'Write a quotation mark inside a value twice ("").',
    ),
    "line ends of two kinds": (
        "item,human,p_cat,p_dog\n1,cat,.5,.5\r\n2,cat,.5,.5\n",
        {},
        "t.csv must end all its lines alike; some end in CR LF and some in LF. Save it again with one of them.",
    ),
    "more classes than the team's": (
        HEAD.replace("p_dog", "p_dog,p_elk") + "1,cat,.3,.7,0,\n",
        {"classes": ["cat", "dog"]},
        "t.csv must have the classes of the team; 'p_elk' is new (0 of 2 are missing, 1 are new). Drop or rename "
        "what is new, or fit a team to these classes.",
    ),
    "fewer classes than the team's": (
        GOOD,
        {"classes": ["cat", "dog", "elk"]},
        "t.csv must have the classes of the team; 'p_elk' is missing (1 of 3 are missing, 0 are new). Add what "
        "is missing, 0 where the model never predicts that class, or fit a team to these classes.",
    ),
    "other classes than the team's": (
        GOOD,
        {"classes": ["cat", "cow"]},
        "t.csv must have the classes of the team; 'p_cow' is missing, 'p_dog' is new (1 of 2 are missing, 1 are "
        "new). Rename the columns, or fit a team to these classes.",
    ),
}


@pytest.mark.parametrize("case", WRONG_TEXTS)
def test_wrong_text(tmp_path, case):
    text, options, expected = WRONG_TEXTS[case]
    (tmp_path / "t.csv").write_text(text, newline="")
    assert message("t.csv", **options) == expected


READABLE = (
    "CSV, TSV, Parquet, JSON lines, Arrow, Excel or OpenDocument "
    "(.csv, .tsv, .parquet, .jsonl, .arrow, .xlsx or .ods, text also .gz or .zst)"
)
WRONG_BYTES = {
    "latin-1": (
        "t.csv",
        (GOOD + "2,cat,.5,.5,\n3,é,.5,.5,\n").encode("latin-1"),
        "t.csv must be text in UTF-8; row 3 has the byte 0xe9, which is not. "
        "If it was saved on Windows, name its encoding (--encoding cp1252 in Western Europe); "
        "or save it as UTF-8 (in a spreadsheet: 'CSV UTF-8').",
    ),
    "latin-1 far down": (
        "t.csv",
        (GOOD + "2,cat,.5,.5,\n" * 30_000 + "3,é,.5,.5,\n").encode("latin-1"),
        "t.csv must be text in UTF-8; row 30002 has the byte 0xe9, which is not. "
        "If it was saved on Windows, name its encoding (--encoding cp1252 in Western Europe); "
        "or save it as UTF-8 (in a spreadsheet: 'CSV UTF-8').",
    ),
    "UTF-16, cut off": (
        "t.csv",
        GOOD.encode("utf-16")[:-1],
        "t.csv must be text in utf-16, as its first bytes or encoding (--encoding) say; it is not "
        "(truncated data). Save it as UTF-8.",
    ),
    "binary": (
        "t.csv",
        bytes(range(256)),
        f"t.csv is binary, not a table of text. A table is {READABLE}. "
        "If it is text in UTF-16 without a byte order mark, name it with encoding (--encoding utf-16-le).",
    ),
    "a workbook": (
        "t.xlsx",
        b"PK\x03\x04 and so on",
        "t.xlsx is damaged or cut off: it cannot be unpacked (File is not a zip file). Copy it again.",
    ),
    "text called Parquet": (
        "t.parquet",
        GOOD.encode(),
        "t.parquet is not a Parquet file: it does not begin like one. Write or copy it again.",
    ),
    "nothing called Parquet": (
        "t.parquet",
        b"",
        "t.parquet is not a Parquet file: it is empty. Write or copy it again.",
    ),
    "gzip cut off": (
        "t.csv.gz",
        gzip.compress(GOOD.encode())[:-12],
        "t.csv.gz is damaged or cut off: it cannot be decompressed. Copy it again.",
    ),
    "no gzip": (
        "t.csv.gz",
        GOOD.encode(),
        "t.csv.gz is damaged or cut off: it cannot be decompressed. Copy it again.",
    ),
    "JSON cut off": (
        "t.jsonl",
        b'{"human": "a", "p_a": 1, "p_b": 0}\n{"human": "a", "p_a',
        "every line of t.jsonl must be a JSON object; row 2 is not (Unterminated string starting at). "
        "Write one object per item, each on its own line.",
    ),
    "JSON with text among probabilities": (
        "t.jsonl",
        b'{"human": "a", "p_a": 1, "p_b": 0}\n{"human": "a", "p_a": "x", "p_b": 1}\n',
        "column 'p_a' must hold numbers; row 2 of t.jsonl has 'x' (1 of 2 rows are off). Correct those entries, "
        "or leave the whole row blank where the model has no prediction.",
    ),
}


@pytest.mark.parametrize("case", WRONG_BYTES)
def test_wrong_bytes(tmp_path, case):
    name, content, expected = WRONG_BYTES[case]
    (tmp_path / name).write_bytes(content)
    assert message(name) == expected


def test_gzip_cut_off_far_down(tmp_path):
    rows = "".join(f"{at},cat,{at / 90_000},{1 - at / 90_000},\n" for at in range(60_000))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((HEAD + rows).encode(), 1)[:-1000])
    assert message("t.csv.gz") == "t.csv.gz is damaged or cut off: it cannot be decompressed. Copy it again."


def test_parquet_cut_off_and_damaged(tmp_path):
    pq.write_table(pa.table({"human": ["a"] * 999, "p_a": [0.5] * 999, "p_b": [0.5] * 999}), "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:-40])
    (tmp_path / "damaged.parquet").write_bytes(whole[:4] + bytes(80) + whole[84:])
    for name in ("cut.parquet", "damaged.parquet"):
        assert message(name).startswith(f"{name} is a damaged or cut-off Parquet file (")
        assert message(name).endswith("). Write or copy it again.")


def test_parquet_with_text_among_probabilities():
    pq.write_table(pa.table({"human": ["a"] * 3, "p_a": ["1", None, "x"], "p_b": [0, 1, 1]}), "t.parquet")
    assert message("t.parquet") == (
        "column 'p_a' must hold numbers; row 3 of t.parquet has 'x' (1 of 3 rows are off). Correct those "
        "entries, or leave the whole row blank where the model has no prediction."
    )


def test_a_column_twice_in_parquet():
    pq.write_table(pa.Table.from_arrays([pa.array(["a"])] * 3, names=["human", "p_a", "human"]), "t.parquet")
    expected = (
        "t.parquet must have each column once; 'human' appears 2 times (columns 1 and 3). Drop or rename the copies."
    )
    assert message("t.parquet") == expected


def test_the_row_is_that_of_its_file_and_the_extent_that_of_the_block(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "1.csv").write_text(HEAD + "".join(f"{at},cat,.5,.5,\n" for at in range(100, 105)))
    (tmp_path / "d" / "2.csv").write_text(HEAD + "".join(f"{at},cat,.5,.{5 + at % 2},\n" for at in range(200, 205)))
    with pytest.raises(InvalidObservations) as caught:
        list(scan("d").blocks(4))
    assert "row 2 of d/2.csv sums to 1.1 (1 of rows 5 to 8 are off)" in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "scores.csv").write_text(GOOD)
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("no table")
    expected = {
        "score.csv": "table must name a file that exists; 'score.csv' does not; the nearest name there is "
        "'scores.csv'.",
        "no/t.csv": "table must name a file that exists; 'no/t.csv' does not, nor does the folder 'no'.",
        "*.arrow": "table must name files that exist; the pattern '*.arrow' matches none.",
        "empty": f"the folder 'empty' must hold tables; it is empty. A table is {READABLE}.",
        "notes": f"the folder 'notes' must hold tables; it holds a.md. A table is {READABLE}.",
    }
    assert {name: message(name) for name in expected} == expected


def test_files_that_do_not_belong_together(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "1.csv").write_text(GOOD)
    (tmp_path / "d" / "2.csv").write_text(GOOD.replace("p_dog", "p_cow"))
    assert message("d") == (
        "all files of d must have the same columns; d/2.csv has no 'p_dog', unlike d/1.csv (missing: 1, new: 1). "
        "Name the files that belong together by a pattern."
    )
    (tmp_path / "d" / "2.csv").unlink()
    pq.write_table(pa.table({"p_a": [0.5], "p_b": [0.5]}), tmp_path / "d" / "3.parquet")
    assert message("d") == (
        "'d' must hold tables of one format; it holds 1.csv and 3.parquet. Name the files by a pattern, such as "
        "'d/*.parquet'."
    )


@pytest.mark.skipif(not hasattr(os, "seteuid") or os.geteuid() != 0, reason="only root can become someone who may not")
def test_a_file_that_may_not_be_read(tmp_path):
    for folder in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(folder, 0o755)
    for name in ("t.csv", "t.parquet"):
        (tmp_path / name).write_text(GOOD)
        os.chmod(tmp_path / name, 0)
        os.seteuid(65534)
        try:
            text = message(name)
        finally:
            os.seteuid(0)
        assert text == f"{name} may not be read by this user (permission denied). Change its permissions."


def test_an_export_of_label_studio(tmp_path):
    (tmp_path / "t.json").write_text('[{"id": 1, "data": {"image": "1.jpg"}, "annotations": [], "predictions": []}]')
    assert message("t.json") == (
        "t.json: tasks must hold choices, as of Label Studio's control Choices; they hold none."
    )


def test_options_that_do_not_fit(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    assert message("t.csv", model="t.csv") == "Give table or model (--model), not both: they are the same thing."
    assert message(None) == "Give a table, or answers (--answers), or both answers and model (--model)."
    with pytest.raises(InvalidParameter, match="model_scale must be one of probability, log, logit; it is 'percent'"):
        scan("t.csv", model_scale="percent")
    (tmp_path / "u.csv").write_text("label,p_a,p_b\na,.5,.5\n")
    with pytest.raises(InvalidObservations, match="Did you mean 'label'"):
        scan("u.csv").need_people()
    (tmp_path / "v.csv").write_text("item,p_a,p_b\n1,.5,.5\n")
    with pytest.raises(InvalidObservations) as raised:
        scan("v.csv").need_people()
    assert str(raised.value) == (
        "v.csv must have a column of a person's answers, named human or human_<name>; its columns are item, p_a, "
        "p_b. Add one, blank where nobody was asked."
    )


def test_ids_are_checked_without_reading_the_rest(tmp_path):
    (tmp_path / "t.csv").write_text(GOOD + "1,nonsense,.9,.9,\n")
    with pytest.raises(InvalidObservations, match="item '1' of column 'item' has 2"):
        scan("t.csv").check_items()


def test_a_misspelt_column_of_people_is_no_anonymous_person(tmp_path):
    answers, model = tmp_path / "answers.csv", tmp_path / "model.csv"
    answers.write_text("item,anotator,answer\n1,ann,a\n1,bob,b\n")
    model.write_text("item,p_a,p_b\n1,0.7,0.3\n")
    with pytest.raises(InvalidObservations) as raised:
        scan(answers=answers, model=model)
    assert "a column that names the person, named annotator" in str(raised.value)
    assert "'anotator'" in str(raised.value)


@pytest.mark.parametrize("name", ["row 3", "row 0 sums to 1", "1 of 2 rows are off", "model_scale='log'"])
def test_a_name_that_reads_like_a_message_is_only_a_name(tmp_path, name):
    (tmp_path / "m.csv").write_text(f"human,{name}.p_a,{name}.p_b,n.p_a,n.p_b\na,.9,.5,.5,.5\na,.5,.5,.5,.5\n")
    assert message("m.csv") == (
        f"the columns of model {name!r} must sum to 1 in every row; row 1 of m.csv sums to 1.4 (1 of 2 rows are off). "
        "If these are logits, set model_scale='logit' (--model-scale logit); else divide each row by its sum "
        "(normalise=True, --normalise)."
    )
    (tmp_path / "h.csv").write_text(f"human_{name},p_a,p_b\nx,.5,.5\n")
    column = f"human_{name}"
    assert message("h.csv").startswith(
        f"column {column!r} must hold classes; row 1 of h.csv has 'x' (1 of 1 rows are off). The classes are 'a', 'b'."
    )
