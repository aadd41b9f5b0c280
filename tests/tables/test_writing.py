"""Tables are written whole or not at all."""

import errno
import gzip
import io
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twoheads import InvalidParameter, Observations, TwoheadsError
from twoheads.errors import CannotWrite
from twoheads.tables import scan, verdicts, write

PROBA = np.array([[0.25, 0.75], [0.875, 0.125], [0.5, 0.5]])


def seen(items=("a", 'b, "c"', "ü"), classes=("no", "yes")):
    return Observations.from_arrays([0, 1, -1], PROBA, classes=list(classes), items=list(items))


def batches(**options):
    yield verdicts(seen(**options)[:2], PROBA[:2], seen(**options).classes, item="image")
    yield verdicts(seen(**options)[2:], PROBA[2:], seen(**options).classes, item="image")


CSV = (
    "image,combined_label,confidence,p_no,p_yes\n"
    '"a","yes",0.75,0.25,0.75\n"b, ""c""","no",0.875,0.875,0.125\nü,no,0.5,0.5,0.5\n'
)


def test_csv_by_hand(tmp_path):
    assert write(tmp_path / "t.csv", batches()) == 3
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == CSV
    assert os.listdir(tmp_path) == ["t.csv"]


def test_every_suffix(tmp_path):
    for name in ("t.tsv", "t.csv.gz", "t.csv.zst", "t.jsonl", "t.jsonl.gz", "t.parquet"):
        assert write(tmp_path / name, batches()) == 3
    assert (tmp_path / "t.tsv").read_text(encoding="utf-8").splitlines()[0] == "\t".join(CSV.splitlines()[0].split(","))
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()).decode() == CSV
    first = {"image": "a", "combined_label": "yes", "confidence": 0.75, "p_no": 0.25, "p_yes": 0.75}
    assert json.loads((tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()[0]) == first
    assert pq.read_table(tmp_path / "t.parquet").to_pylist()[0] == first


@pytest.mark.parametrize("name", ["t.csv", "t.csv.zst", "t.tsv", "t.jsonl", "t.parquet"])
def test_what_is_written_can_be_read(tmp_path, name):
    write(tmp_path / name, batches())
    back, _ = scan(tmp_path / name, item="image", human="combined_label").read()
    assert back.items.tolist() == ["a", 'b, "c"', "ü"]
    np.testing.assert_array_equal(back.model_proba[0], PROBA)
    assert back.answers.column.tolist() == [1, 0, 0]


def test_ids_and_labels_keep_their_type(tmp_path):
    numbered = seen(items=(7, 5, 6), classes=(0, 1))
    write(tmp_path / "t.parquet", [verdicts(numbered, PROBA, numbered.classes, item_type=pa.int16())])
    schema = pq.read_schema(tmp_path / "t.parquet")
    assert (schema.field("item").type, schema.field("combined_label").type) == (pa.int16(), pa.int64())
    assert schema.names == ["item", "combined_label", "confidence", "p_0", "p_1"]


def test_gaps_and_what_is_no_number(tmp_path):
    batch = pa.record_batch({"item": ["a", None], "p": [float("nan"), None], "when": pa.array([0, 1], pa.date32())})
    write(tmp_path / "t.jsonl", [batch])
    assert (tmp_path / "t.jsonl").read_text().splitlines() == [
        '{"item": "a", "p": null, "when": "1970-01-01"}',
        '{"item": null, "p": null, "when": "1970-01-02"}',
    ]


def test_row_groups_are_not_those_of_the_batches(tmp_path):
    batch = pa.record_batch({"x": np.arange(1000)})
    assert write(tmp_path / "t.parquet", [batch] * 150) == 150_000
    assert pq.ParquetFile(tmp_path / "t.parquet").metadata.num_row_groups == 2


def test_to_an_open_file():
    out = io.BytesIO()
    assert write(out, batches(), format="csv") == 3
    assert out.getvalue().decode() == CSV


def test_a_file_that_was_there_is_replaced_and_a_link_followed(tmp_path):
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "old.csv")
    write(tmp_path / "link.csv", batches())
    assert (tmp_path / "old.csv").read_text(encoding="utf-8") == CSV
    assert (tmp_path / "link.csv").is_symlink()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("no"), TwoheadsError("no"), MemoryError()])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.jsonl"])
def test_nothing_is_left_behind(tmp_path, error, name):
    (tmp_path / name).write_text("old")

    def failing():
        yield from batches()
        raise error

    with pytest.raises(type(error)):
        write(tmp_path / name, failing())
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "old"


def message(path, rows=None):
    with pytest.raises(CannotWrite) as caught:
        write(path, batches() if rows is None else rows)
    assert isinstance(caught.value, TwoheadsError)
    assert isinstance(caught.value, OSError)
    return str(caught.value)


def test_a_full_folder_for_temporary_files_is_not_called_a_full_output(tmp_path):
    def failing():
        yield from batches()
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        write(tmp_path / "t.csv", failing())
    assert not isinstance(caught.value, CannotWrite)
    assert os.listdir(tmp_path) == []


def test_a_disk_that_is_full_at_the_end(tmp_path, monkeypatch):
    def no_space(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    for name in ("t.csv", "t.parquet", "t.csv.gz"):
        what = "the disk is full. Nothing was left behind; make room, or write elsewhere."
        assert message(tmp_path / name) == f"{tmp_path / name} cannot be written: {what}"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.jsonl"])
def test_a_disk_that_is_full_in_the_middle(tmp_path, name):
    # A limit on the size of files fails as a full disk does: in the middle of writing.
    resource, signal = pytest.importorskip("resource"), pytest.importorskip("signal")
    batch = pa.record_batch({"x": np.random.default_rng(0).random(100_000)})
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, before[1]))
    try:
        assert "the disk is full" in message(tmp_path / name, [batch] * 8)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("")
    assert message("no/t.csv") == (
        f"no/t.csv cannot be written: the folder '{tmp_path}/no' does not exist. Make it first, or write elsewhere."
    )
    assert message("folder.csv") == "folder.csv cannot be written: a folder has that name. Name a file."
    assert message("file/t.csv") == f"file/t.csv cannot be written: '{tmp_path}/file' is not a folder. Write elsewhere."


@pytest.mark.skipif(not hasattr(os, "seteuid") or os.geteuid() != 0, reason="only root can become someone who may not")
def test_a_folder_that_may_not_be_written_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        os.chmod(folder, 0o755)
    rows = list(batches())
    os.seteuid(65534)
    try:
        text = message("t.csv", rows)
    finally:
        os.seteuid(0)
    assert text == (
        f"t.csv cannot be written: permission denied in '{tmp_path}'. Change its permissions, or use another folder."
    )


def test_suffixes_that_say_nothing(tmp_path):
    with pytest.raises(InvalidParameter) as caught:
        write("t.xlsx", batches())
    assert str(caught.value) == (
        "the suffix must be that of a format: .csv, .tsv, .parquet, .jsonl or .arrow, text also .gz or .zst; that of "
        "'t.xlsx' is not."
    )
    with pytest.raises(InvalidParameter, match="at least one record batch"):
        write(tmp_path / "t.csv", [])
    assert os.listdir(tmp_path) == []


def test_ctrl_c_inside_duckdb_is_ctrl_c():
    from twoheads.tables.duckdb import interruptible

    with pytest.raises(KeyboardInterrupt), interruptible():
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="something else"), interruptible():
        raise RuntimeError("something else")
