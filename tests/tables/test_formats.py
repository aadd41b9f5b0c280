"""Every format keeps the shipped contract, and one table declares them all."""

import pyarrow as pa
import pytest

from twoheads.tables import scan, write
from twoheads.tables.formats import registry
from twoheads.tables.formats.csv import CsvFile
from twoheads.tables.formats.data_file import DataFile, TableWriter
from twoheads.tables.formats.registry import FORMATS, Format
from twoheads.testing import check_format


def write_table(path, table):
    write(path, table.to_batches())


WRITTEN = [known for known in FORMATS if known.writer]


@pytest.mark.parametrize("known", WRITTEN, ids=lambda known: known.name)
def test_every_format_keeps_the_contract(known, tmp_path):
    for suffix in known.suffixes:
        check_format(known.open, write_table, tmp_path / f"table{suffix}")


@pytest.mark.parametrize("compression", registry.COMPRESSIONS)
@pytest.mark.parametrize("known", [known for known in WRITTEN if not known.magic], ids=lambda known: known.name)
def test_text_may_be_compressed(known, compression, tmp_path):
    check_format(known.open, write_table, tmp_path / f"table{known.suffixes[0]}{compression}")


class Backwards(CsvFile):
    """A format that loses the order of its rows."""

    def batches(self, wanted, rows, span=None):
        table = pa.Table.from_batches(list(super().batches(wanted, rows)))
        yield from table.take(list(range(len(table)))[::-1]).to_batches()


class Short(CsvFile):
    def count(self):
        return super().count() - 1


@pytest.mark.parametrize(
    ("broken", "words"), [(Backwards, "must hold the values written"), (Short, "must be the number of rows")]
)
def test_a_format_that_breaks_the_contract_is_found(broken, words, tmp_path):
    with pytest.raises(AssertionError, match=words):
        check_format(broken, write_table, tmp_path / "table.csv")


def test_names_and_suffixes_are_told_from_the_table():
    assert registry.titles() == "CSV, TSV, Parquet, JSON lines, Arrow, Excel or OpenDocument"
    assert registry.titles(written=True) == "CSV, TSV, Parquet, JSON lines or Arrow"
    assert registry.usual_suffixes(written=True) == (".csv, .tsv, .parquet, .jsonl or .arrow, text also .gz or .zst")
    assert registry.is_table_name("A.CSV.GZ")
    assert registry.is_table_name("a.xlsx")
    assert not registry.is_table_name("a.docx")
    assert registry.written_as(".txt") is None
    every = [suffix for known in FORMATS for suffix in (*known.suffixes, *known.also_read)]
    assert len(every) == len(set(every))


class PsvWriter(TableWriter):
    """Columns separated by bars."""

    def __init__(self, file, schema):
        self.file = file
        file.write("|".join(schema.names).encode() + b"\n")

    def write(self, batch):
        for row in batch.to_pylist():
            self.file.write("|".join("" if value is None else str(value) for value in row.values()).encode() + b"\n")


def test_a_new_format_is_one_entry(tmp_path, monkeypatch):
    psv = Format("psv", "PSV", (".psv",), (CsvFile.__module__, "CsvFile"), (__name__, "PsvWriter"))
    monkeypatch.setattr(registry, "_imported", lambda home: {"CsvFile": CsvFile, "PsvWriter": PsvWriter}[home[1]])
    monkeypatch.setattr(registry, "FORMATS", (*FORMATS, psv))
    path = tmp_path / "t.psv"
    write_table(path, pa.table({"human": ["a", "b"], "p_a": [0.75, 0.5], "p_b": [0.25, 0.5]}))
    assert path.read_text() == "human|p_a|p_b\na|0.75|0.25\nb|0.5|0.5\n"
    observations, _ = scan(path).read()
    assert observations.model_proba[0].tolist() == [[0.75, 0.25], [0.5, 0.5]]


def test_a_format_needs_four_methods():
    with pytest.raises(TypeError, match="_read_columns, batches, count, type_of"):
        DataFile("t.csv")
