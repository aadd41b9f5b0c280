"""Every format gives the same observations, whole or in blocks."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twoheads import InvalidParameter
from twoheads.tables import scan

CLASSES = ["a, b", 'say "hi"', "日本 語"]
ROWS = [
    ("img 1", 'say "hi"', 0.25, 0.5, 0.25, "日本 語"),
    ("img,2", "", 0.125, 0.125, 0.75, ""),
    ("ünï", "a, b", 1.0, 0.0, 0.0, "a, b"),
    ("x\ny", "日本 語", None, None, None, 'say "hi"'),
]
NAMES = ["item", "human", *(f"p_{name}" for name in CLASSES), "truth"]


def as_csv(separator=",", end="\n", decimal="."):
    def cell(value):
        text = "" if value is None else str(value).replace(".", decimal) if isinstance(value, float) else value
        return (
            f'"{text.replace(chr(34), chr(34) * 2)}"' if any(some in text for some in (separator, '"', "\n")) else text
        )

    return end.join(separator.join(map(cell, row)) for row in [NAMES, *ROWS]) + end


def as_arrow(rows=ROWS):
    return pa.table(
        {name: [row[at] or None if at in (1, 5) else row[at] for row in rows] for at, name in enumerate(NAMES)}
    )


def write_csv(folder):
    (folder / "t.csv").write_text(as_csv(), encoding="utf-8", newline="")


def write_tsv(folder):
    (folder / "t.tsv").write_text(as_csv("\t"), encoding="utf-8", newline="")


def write_semicolon_with_bom(folder):
    (folder / "t.csv").write_text(as_csv(";", "\r\n", ","), encoding="utf-8-sig", newline="")


def write_gzip(folder):
    (folder / "t.csv.gz").write_bytes(gzip.compress(as_csv().encode()))


def write_zstd(folder):
    (folder / "t.csv.zst").write_bytes(pa.compress(as_csv().encode(), "zstd", asbytes=True))


def write_json_lines(folder):
    lines = [json.dumps(row, ensure_ascii=False) for row in as_arrow().to_pylist()]
    (folder / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")


def write_json_gzip(folder):
    lines = [json.dumps(row) for row in as_arrow().to_pylist()]
    (folder / "t.ndjson.gz").write_bytes(gzip.compress("\n".join(lines).encode()))


def write_parquet(folder):
    pq.write_table(as_arrow(), folder / "t.parquet")


def write_parquet_of_categories(folder):
    table = as_arrow()
    pq.write_table(table.set_column(1, "human", table["human"].dictionary_encode()), folder / "t.parquet")


def write_parquet_without_suffix(folder):
    pq.write_table(as_arrow(), folder / "t.csv")


WRITERS = [value for name, value in list(globals().items()) if name.startswith("write_")]


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__.removeprefix("write_"))
def test_every_format_gives_the_same(tmp_path, write):
    write(tmp_path)
    table = scan(next(tmp_path.iterdir()))
    seen, truth = table.read()
    assert table.classes.tolist() == CLASSES
    assert table.annotators == ("human",)
    assert (len(table), table.has_truth, table.notes, table.item_name) == (4, True, [], "item")
    assert seen.items.tolist() == [row[0] for row in ROWS]
    assert seen.answers.column.tolist() == [1, -1, 0, 2]
    assert truth.tolist() == [row[5] for row in ROWS]
    np.testing.assert_array_equal(seen.model_proba[0], np.array([row[2:5] for row in ROWS], dtype=float))
    assert table.fingerprint == "0ce292f62f12696dd9eb3a1e3bac7de4"  # kept in teams: it must never change


def test_a_folder_and_a_pattern_are_one_table_in_the_order_of_names(tmp_path):
    folder = tmp_path / "parts"
    (folder / "more").mkdir(parents=True)
    pq.write_table(as_arrow(ROWS[:2]), folder / "a.parquet")
    pq.write_table(as_arrow(ROWS[2:]).select(NAMES[::-1]), folder / "more" / "b.parquet")
    (folder / "README.txt~").write_text("no table")
    (folder / "_SUCCESS").write_text("")
    for source in (folder, folder / "**" / "*.parquet"):
        seen, truth = scan(source).read()
        assert seen.items.tolist() == [row[0] for row in ROWS]
        assert truth.tolist() == [row[5] for row in ROWS]


def test_csv_files_of_a_folder_may_order_their_columns_differently(tmp_path):
    (tmp_path / "1.csv").write_text("item,human,p_no,p_yes\na,yes,.5,.5\n")
    (tmp_path / "2.csv").write_text("p_yes,item,p_no,human,remark\n.25,b,.75,no,x\n")
    seen, _ = scan(tmp_path).read()
    assert seen.items.tolist() == ["a", "b"]
    assert seen.model_proba[0].tolist() == [[0.5, 0.5], [0.75, 0.25]]


def big(n_rows=1000, n_classes=3, dtype=np.float64):
    rng = np.random.default_rng(5)
    proba = rng.dirichlet(np.ones(n_classes), n_rows).astype(dtype)
    label = rng.integers(-1, n_classes, (3, n_rows))
    names = np.array([*(f"c{at:03}" for at in range(n_classes)), None], dtype=object)
    columns = {"item": [f"i{at}" for at in rng.permutation(n_rows)], "truth": names[label[2]]}
    columns |= {"human_ann": names[label[0]], "human_bob": names[label[1]]}
    return pa.table(columns | {f"p_c{at:03}": proba[:, at] for at in range(n_classes)})


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("rows", [1, 7, 333, 1000, 5000])
def test_streaming_equals_the_whole(tmp_path, suffix, rows):
    from twoheads.tables import write

    if rows == 1 and suffix != "parquet":
        rows = 50
    table = big().slice(0, 60 if rows == 1 else 1000)
    write(tmp_path / f"t.{suffix}", table.to_batches(100))
    whole, truth = scan(tmp_path / f"t.{suffix}").read()
    blocks = list(scan(tmp_path / f"t.{suffix}").blocks(rows))
    sizes = [len(seen) for seen, _ in blocks]
    assert sizes == [rows] * (len(table) // rows) + [len(table) % rows] * bool(len(table) % rows)
    np.testing.assert_array_equal(np.concatenate([seen.model_proba[0] for seen, _ in blocks]), whole.model_proba[0])
    np.testing.assert_array_equal(np.concatenate([seen.items for seen, _ in blocks]), whole.items)
    np.testing.assert_array_equal(np.concatenate([some for _, some in blocks]), truth)
    per_item = np.concatenate([seen.answers.per_item() for seen, _ in blocks])
    np.testing.assert_array_equal(per_item, whole.answers.per_item())
    given = np.concatenate([seen.answers.column[seen.answers.column >= 0] for seen, _ in blocks])
    np.testing.assert_array_equal(given, whole.answers.column[whole.answers.column >= 0])
    assert {seen.annotators for seen, _ in blocks} == {("ann", "bob")} == {whole.annotators}


def test_agrees_with_a_data_frame(tmp_path):
    from twoheads import Observations

    table = big()
    pq.write_table(table, tmp_path / "t.parquet")
    seen, _ = scan(tmp_path / "t.parquet").read()
    frame = Observations.from_frame(table.to_pandas())
    np.testing.assert_array_equal(seen.answers.column, frame.answers.column)
    np.testing.assert_array_equal(seen.answers.start, frame.answers.start)
    np.testing.assert_array_equal(seen.model_proba[0], frame.model_proba[0])
    np.testing.assert_array_equal(seen.classes, frame.classes)


def test_500_classes_and_single_precision(tmp_path):
    pq.write_table(big(50, 500, np.float32), tmp_path / "t.parquet")
    seen, _ = scan(tmp_path / "t.parquet").read()
    assert seen.model_proba[0].shape == (50, 500)
    assert seen.model_proba[0].dtype == np.float32
    assert sum(len(block) for block, _ in scan(tmp_path / "t.parquet").blocks()) == 50


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (["1", "10", "2"], [1, 2, 10]),
        (["007", "1.0", "1e3"], ["007", "1.0", "1e3"]),
        (["True", "False"], ["False", "True"]),
        (["0.5", "2"], [0.5, 2.0]),
        (["A", "a"], ["A", "a"]),
        (["NA", "None"], ["NA", "None"]),
    ],
)
def test_class_names_that_look_like_something_else_stay_what_they_are(tmp_path, names, classes):
    header = ",".join(["item", "human", *(f"p_{name}" for name in names), "truth"])
    share = ",".join([str(1 / len(names))] * len(names))
    rows = [f"00{at},{name},{share},{name}" for at, name in enumerate(names)]
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]))
    seen, truth = scan(tmp_path / "t.csv").read()
    assert seen.classes.tolist() == classes
    assert [str(label) for label in truth.tolist()] == [str(float(n)) if classes[0] == 0.5 else n for n in names]
    assert seen.items.tolist() == [f"00{at}" for at in range(len(names))]


def test_labels_of_a_typed_column_match_by_text_and_missing_ones_are_missing(tmp_path):
    columns = {
        "human": pa.array([1.0, None, -1.0]),
        "truth": pa.array([2, 1, None]),
        "p_1": [0.5] * 3,
        "p_2": [0.5] * 3,
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    seen, truth = scan(tmp_path / "t.parquet").read()
    assert (seen.classes.tolist(), seen.classes.dtype.kind) == ([1, 2], "i")
    assert seen.answers.column.tolist() == [0, -1, -1]
    assert truth.tolist() == [2, 1, -1]
    assert seen.items.tolist() == [1, 2, 3]  # row numbers, where there are no ids


def test_booleans(tmp_path):
    columns = {"human": [True, False], "truth": pa.array([None, True]), "p_True": [0.5, 0.5], "p_False": [0.5, 0.5]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    seen, truth = scan(tmp_path / "t.parquet").read()
    assert (seen.classes.tolist(), truth.tolist()) == ([False, True], [None, True])
    assert seen.answers.column.tolist() == [1, 0]


def test_words_for_no_value(tmp_path):
    (tmp_path / "t.csv").write_text("human,p_a,p_b,truth\nNA,.5,.5,None\na,NA,NA,\n a ,nan,nan,-1\n,1,0, \n")
    table = scan(tmp_path / "t.csv")
    seen, truth = table.read()
    assert seen.answers.column.tolist() == [-1, 0, 0, -1]
    assert truth.tolist() == ["", "", "", ""]
    assert seen.has_model().tolist() == [True, False, False, True]
    assert not table.has_truth


def test_columns_by_option(tmp_path):
    (tmp_path / "t.csv").write_text("id,reader A,reader B,score_x,score_y,gold\n7,x,,2,-1,y\n8,y,x,0,1,\n")
    table = scan(
        tmp_path / "t.csv", item="id", human="reader *", truth="gold", model_columns="score_*", model_scale="logit"
    )
    seen, truth = table.read()
    assert (seen.annotators, seen.items.tolist(), truth.tolist()) == (("A", "B"), ["7", "8"], ["y", ""])
    assert (seen.model_scale, seen.model_proba[0].tolist()) == ("logit", [[2, -1], [0, 1]])
    assert table.item_name == "id"
    one = scan(tmp_path / "t.csv", item="id", human="reader A", model_columns="score_*", model_scale="logit")
    assert one.annotators == ("human",)
    two = scan(tmp_path / "t.csv", human=["reader A", "reader B"], model_columns="score_*", model_scale="logit")
    assert two.annotators == ("reader A", "reader B")


def test_what_is_not_asked_for_is_not_read(tmp_path):
    (tmp_path / "t.csv").write_text("item,human,p_a,p_b,truth\nx,a,.5,.5,nonsense\nx,a,.5,.5,b\n")
    seen, truth = next(scan(tmp_path / "t.csv").blocks(items=False, truth=False))
    assert (seen.items.tolist(), truth) == ([1, 2], None)


def test_a_table_without_people_says_so(tmp_path):
    (tmp_path / "t.csv").write_text("item,p_a,p_b\nx,.5,.5\n")
    table = scan(tmp_path / "t.csv")
    assert table.annotators == ()
    assert table.read()[0].answers.column.tolist() == [-1]
    path = tmp_path / "t.csv"
    assert table.notes == [
        f"{path} has no column of a person's answers (human or human_<name>); only the model is used."
    ]


def test_a_table_of_one_row(tmp_path):
    (tmp_path / "t.csv").write_text("human,p_a,p_b,truth\na,.5,.5,b")
    seen, truth = scan(tmp_path / "t.csv").read()
    assert (len(seen), truth.tolist()) == (1, ["b"])


def test_known_classes_keep_their_type(tmp_path):
    (tmp_path / "t.csv").write_text("human,p_1,p_2\n1,.5,.5")
    assert scan(tmp_path / "t.csv", classes=["1", "2"]).read()[0].classes.tolist() == ["1", "2"]


def test_files_whose_names_hold_signs_of_patterns(tmp_path):
    path = tmp_path / "it's [1] * ?.csv"
    path.write_text("human,p_a,p_b\na,.5,.5")
    assert len(scan(path).read()[0]) == 1


def test_ids_keep_their_type(tmp_path):
    pq.write_table(
        pa.table({"item": pa.array([2, 1], pa.int32()), "p_a": [0.5] * 2, "p_b": [0.5] * 2}), tmp_path / "t.parquet"
    )
    table = scan(tmp_path / "t.parquet")
    assert table.item_type == pa.int32()
    assert table.read()[0].items.tolist() == [2, 1]


def test_a_block_has_rows(tmp_path):
    (tmp_path / "t.csv").write_text("human,p_a,p_b\na,.5,.5")
    with pytest.raises(InvalidParameter, match="rows must be at least 1; it is 0"):
        next(scan(tmp_path / "t.csv").blocks(0))


def test_files_written_with_other_types_are_one_table(tmp_path):
    # pandas writes whole numbers as floats, or as nothing at all, in files where some are missing
    proba = {"p_1": pa.array([0.5]), "p_2": pa.array([0.5])}
    kinds = [
        {"item": pa.array([7]), "human": pa.array([2]), "truth": pa.array([1])},
        {"item": pa.array([8.0]), "human": pa.array([1.0]), "truth": pa.array([None])},
        {"item": pa.array(["x"]), "human": pa.array(["2"]), "truth": pa.array([2.0])},
    ]
    for at, kind in enumerate(kinds):
        single = {name: column.cast(pa.float32()) for name, column in proba.items()} if at == 1 else proba
        pq.write_table(pa.table(kind | single), tmp_path / f"{at}.parquet")
    table = scan(tmp_path)
    seen, truth = table.read()
    assert (seen.items.tolist(), seen.answers.column.tolist(), truth.tolist()) == (
        ["7", "8", "x"],
        [1, 0, 1],
        [1, -1, 2],
    )
    assert seen.model_proba[0].dtype == np.float64
    assert [block.items.tolist() for block, _ in scan(tmp_path).blocks(2)] == [["7", "8"], ["x"]]


def test_words_for_no_value_far_down(tmp_path):
    rows = [f"{at},a,.5,.5" for at in range(60_000)]
    rows[50_000] = "50000,a,NA,NA"
    rows[0] = "NA ,a,.5,.5"
    (tmp_path / "t.csv").write_text("\n".join(["item,human,p_a,p_b", *rows]))
    blocks = [seen for seen, _ in scan(tmp_path / "t.csv").blocks(10_000)]
    assert [len(seen) for seen in blocks] == [10_000] * 6
    assert [item for seen in blocks for item in seen.items.tolist()] == [row.split(",")[0] for row in rows]
    assert np.flatnonzero(~np.concatenate([seen.has_model() for seen in blocks])).tolist() == [50_000]


def test_an_id_may_be_a_word_for_no_value(tmp_path):
    rows = [f"{at},a,.5,.5" for at in range(100)] + ["NA,a,.5,.5"]
    (tmp_path / "t.csv").write_text("\n".join(["item,human,p_a,p_b", *rows]))
    assert scan(tmp_path / "t.csv").read()[0].items.tolist()[-1] == "NA"


def test_rounded_rows_are_divided_by_their_sums_where_that_is_asked_for(tmp_path):
    (tmp_path / "t.csv").write_text("human,p_a,p_b,p_c\na,.33,.33,.33\nb,,,\nc,.5,.25,.27\n")
    seen, _ = scan(tmp_path / "t.csv", normalise=True).read()
    given = np.array([[0.33, 0.33, 0.33], [np.nan] * 3, [0.5, 0.25, 0.27]])
    np.testing.assert_allclose(seen.model_proba[0], given / given.sum(axis=1, keepdims=True), rtol=1e-15)


def test_thousands_of_columns_are_read(tmp_path):
    row = ",".join(["0.0005"] * 2000)
    names = ",".join(f"p_{k}" for k in range(2000))
    (tmp_path / "t.csv").write_text(f"human,{names}\n" + f"3,{row}\n" * 2500)
    assert sum(len(seen) for seen, _ in scan(tmp_path / "t.csv").blocks()) == 2500


def test_only_probabilities_are_normalised(tmp_path):
    (tmp_path / "t.csv").write_text("human,p_a,p_b\na,1,2\n")
    with pytest.raises(InvalidParameter) as caught:
        scan(tmp_path / "t.csv", normalise=True, model_scale="logit")
    assert str(caught.value) == (
        "normalise (--normalise) is for rows of probabilities; model_scale is 'logit'. Leave it out."
    )
