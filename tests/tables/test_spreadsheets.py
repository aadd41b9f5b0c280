"""Workbooks, encodings and archives are read as they are, or refused in a sentence that helps."""

import datetime
import gzip
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twoheads import InvalidObservations, InvalidParameter
from twoheads.tables import check, scan
from twoheads.tables.formats.data_file import Wanted
from twoheads.tables.formats.sheet_cells import cell_name
from twoheads.tables.formats.spreadsheet import SpreadsheetFile
from twoheads.testing import check_format

HERE = Path(__file__).parents[1] / "formats"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ROLE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def cell(row, column, value):
    """A cell as XML; a value that begins with < is XML already."""
    name = cell_name(row, column)
    if value is None:
        return ""
    if isinstance(value, str):
        if value.startswith("<c "):
            return value
        return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{name}"><v>{value!r}</v></c>'


def write_xlsx(path, rows, *, merged="", more=""):
    """A workbook with a sheet of these rows; ``more`` is the text of a second one."""
    lines = [
        f'<row r="{at + 1}">{"".join(cell(at, column, value) for column, value in enumerate(row))}</row>'
        for at, row in enumerate(rows)
    ]
    merges = f'<mergeCells><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
    sheets = {1: "".join(lines)} | ({2: f'<row r="1">{cell(0, 0, more)}</row>'} if more else {})
    listed = "".join(f'<sheet name="Sheet{at}" sheetId="{at}" r:id="rId{at}"/>' for at in sheets)
    related = "".join(
        f'<Relationship Id="rId{at}" Type="{ROLE}/worksheet" Target="worksheets/sheet{at}.xml"/>' for at in sheets
    )
    root = f'<Relationship Id="rId1" Type="{ROLE}/officeDocument" Target="xl/workbook.xml"/>'
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{root}</Relationships>')
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{ROLE}"><sheets>{listed}</sheets></workbook>'
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>'
        )
        for at, data in sheets.items():
            end = merges if at == 1 else ""
            text = f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData>{end}</worksheet>'
            book.writestr(f"xl/worksheets/sheet{at}.xml", text)


def test_workbooks_keep_the_contract(tmp_path):
    def write(path, table):
        write_xlsx(path, [table.column_names, *(list(row.values()) for row in table.to_pylist())])

    check_format(SpreadsheetFile, write, tmp_path / "table.xlsx")


@pytest.mark.parametrize("name", ["reads.xlsx", "reads.ods"])
def test_cells_are_the_text_a_person_sees(name):
    table = scan(HERE / name, item="Image ID", sheet="Reads")
    observations, truth = table.read()
    assert (observations.items.tolist(), observations.annotators) == (["007", "8", "9.5"], ("1", "2"))
    assert observations.model_proba[0].tolist() == [[0.25, 0.75], [2 / 3, 1 / 3], [0.5, 0.5]]
    assert truth.tolist() == ["Normal", "Abnormal", ""]
    assert table.notes[0] == f"1 empty row of {HERE / name} is skipped, and not counted."
    dates = SpreadsheetFile(HERE / name, "Reads")
    (batch,) = dates.batches(Wanted(labels=("Read on",)), 100)
    read = [datetime.datetime.fromisoformat(value) for value in batch.column(0).to_pylist() if value]
    assert read == [datetime.datetime(2024, 3, 5), datetime.datetime(2024, 3, 6, 14, 30)]


def test_a_sheet_must_be_named_if_several_hold_something():
    with pytest.raises(InvalidObservations) as caught:
        scan(HERE / "reads.xlsx")
    assert str(caught.value).endswith(
        "has 2 sheets that hold something, 'Reads', 'Notes'. Name one with sheet (--sheet 'Reads')."
    )
    with pytest.raises(InvalidObservations, match=r"must have the sheet 'Raeds' that sheet .* names; it has 'Reads'"):
        scan(HERE / "reads.xlsx", sheet="Raeds")
    with pytest.raises(InvalidParameter, match=r"sheet .* names a sheet of a workbook; .*train.* is none"):
        scan(HERE / "hugging_face" / "train", sheet="Reads")


HEAD = ["item", "human", "p_a", "p_b"]


@pytest.mark.parametrize(
    ("rows", "options", "expected"),
    [
        ([HEAD, ["1", "a", 0.5, 0.5]], {"merged": "A2:B3"}, "must not have merged cells; A2:B3 are merged, and only"),
        ([[1, 2], [3, 4]], {}, "must begin with a row of column names; its first row holds only numbers (1, 2, ...)"),
        ([], {}, "is empty. A table has a row of column names"),
        ([HEAD, ["1", "a", "0,5", 0.5]], {}, "column 'p_a' must hold numbers; row 1 of"),
        ([HEAD], {}, "must have at least one row"),
        ([["human", "human"], ["a", "b"]], {}, "must have each column once; 'human' appears 2 times"),
    ],
)
def test_sheets_that_are_not_tables(rows, options, expected, tmp_path):
    write_xlsx(tmp_path / "t.xlsx", rows, **options)
    with pytest.raises(InvalidObservations) as caught:
        scan(tmp_path / "t.xlsx").read()
    assert expected in str(caught.value)


def test_cells_that_are_not_read_are_counted(tmp_path):
    error = '<c r="A2" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
    unknown, formula = '<c r="A3" t="e"><v>#N/A</v></c>', '<c r="B3"><f>A1</f></c>'
    rows = [["x", "human", "p_a", "p_b"], [error, "a", 0.5, 0.5], [unknown, formula, 0.25, 0.75]]
    write_xlsx(tmp_path / "t.xlsx", rows)
    notes = scan(tmp_path / "t.xlsx").notes
    assert [note.replace(str(tmp_path), "") for note in notes[:2]] == [
        "1 cell of /t.xlsx with an error (first: A2, #DIV/0!) read as blank.",
        "1 cell of /t.xlsx with a formula and without a value (first: B3) read as blank; "
        "open the workbook in a spreadsheet and save it, so that formulas are computed.",
    ]


def test_columns_without_a_name_and_rows_below(tmp_path):
    write_xlsx(tmp_path / "t.xlsx", [["human", None, "p_a", "p_b", None], ["a", "x", 1.0, 0.0, None], [None] * 5, [""]])
    file = SpreadsheetFile(tmp_path / "t.xlsx")
    assert (file.columns, file.count(), file.notes) == (("human", "column 2", "p_a", "p_b"), 1, ())


def test_other_files_called_workbooks(tmp_path):
    (tmp_path / "t.xlsx").write_text("item,human\n")
    with pytest.raises(InvalidObservations, match="is not an Excel file: it does not begin like one"):
        scan(tmp_path / "t.xlsx")
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(InvalidObservations, match="cannot be read as a workbook"):
        scan(tmp_path / "t.xls")


TEXT = "item;human;p_é;p_b\n1;é;0,25;0,75\n2;b;0,5;0,5\n"


@pytest.mark.parametrize(
    ("encoding", "options"),
    [("utf-16", {}), ("utf-8-sig", {}), ("cp1252", {"encoding": "cp1252"}), ("utf-16-le", {"encoding": "utf-16-le"})],
)
def test_text_in_other_encodings(encoding, options, tmp_path):
    data = TEXT.encode(encoding)
    (tmp_path / "t.csv").write_bytes(data)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(data))
    (tmp_path / "t.tsv.zst").write_bytes(pa.compress(TEXT.replace(";", "\t").encode(encoding), "zstd", asbytes=True))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("__MACOSX/._t.csv", "x")
        archive.writestr("folder/t.csv", data)
    for name in ("t.csv", "t.csv.gz", "t.tsv.zst", "t.zip"):
        observations, _ = scan(tmp_path / name, **options).read()
        assert observations.classes.tolist() == ["b", "é"]
        assert observations.model_proba[0].tolist() == [[0.75, 0.25], [0.5, 0.5]]
        assert observations.answers.column.tolist() == [1, 0]


def test_messages_name_the_file_and_not_its_copy(tmp_path):
    (tmp_path / "t.csv").write_bytes("item,human,p_a,p_b\n1,a,x,0.5\n".encode("utf-16"))
    with pytest.raises(InvalidObservations) as caught:
        scan(tmp_path / "t.csv").read()
    assert f"row 1 of {tmp_path / 't.csv'} has 'x'" in str(caught.value)
    (tmp_path / "c.csv").write_bytes(b"human,p_a,p_b\n\x81,0.5,0.5\n")
    with pytest.raises(InvalidObservations, match=r"must be text in cp1252, as its first bytes or encoding .* say"):
        scan(tmp_path / "c.csv", encoding="cp1252")
    with pytest.raises(InvalidParameter, match="such as cp1252, latin-1 or utf-16; it is 'klingon'"):
        scan(tmp_path / "c.csv", encoding="klingon")


def test_an_archive_of_an_unknown_version(tmp_path):
    content = (HERE / "reads.xlsx").read_bytes()
    at = content.index(b"PK\x01\x02")
    path = tmp_path / "t.xlsx"
    path.write_bytes(content[: at + 6] + b"\xd6" + content[at + 7 :])  # the version that is needed to unpack it
    with pytest.raises(InvalidObservations):
        scan(path)


def test_names_in_an_archive_are_shown_on_one_line(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a\nb.csv", "x")
        archive.writestr("c.csv", "x")
    with pytest.raises(InvalidObservations, match=r"it holds 2: a\\nb.csv, c.csv. Unpack it"):
        scan(tmp_path / "two.zip")


def test_archives_that_are_not_one_table(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("a.csv", TEXT)
        archive.writestr("b.csv", TEXT)
    with pytest.raises(InvalidObservations, match=r"must hold one table; it holds 2: a.csv, b.csv. Unpack it"):
        scan(tmp_path / "t.zip")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "t.zip").read_bytes()[:60])
    with pytest.raises(InvalidObservations, match="is damaged or cut off: it cannot be unpacked"):
        scan(tmp_path / "cut.zip")
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.write(HERE / "reads.ods", "reads.ods")
    assert len(scan(tmp_path / "book.zip", item="Image ID")) == 3


def test_copies_are_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "t.csv").write_bytes(TEXT.encode("utf-16"))
    table = scan(tmp_path / "t.csv")
    assert len(list(tmp_path.glob("twoheads-*"))) == 1
    del table
    assert list(tmp_path.glob("twoheads-*")) == []


CELL = (
    st.none()
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]), min_size=1, max_size=8)
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["007", "1e5", " a ", "TRUE", "0,5", "-"])
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6))
def test_cells_keep_their_values(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.xlsx")
        write_xlsx(path, [["item", "x", "y"], *([f"i{at}", *row] for at, row in enumerate(rows))])
        (batch,) = SpreadsheetFile(path).batches(Wanted("item", ("x", "y")), 100)
    for row, read in zip(rows, batch.to_pylist(), strict=True):
        for value, text in zip(row, (read["x"], read["y"]), strict=True):
            assert text == value if value is None or isinstance(value, str) else float(text) == value


def test_a_merged_title_above_the_column_names_is_dropped_by_a_clean_copy(tmp_path):
    rows = [[f"i{at}", "yes" if at % 3 else "no", "yes" if at % 2 else "no", at / 12] for at in range(12)]
    table = [["Reader study"], [], ["Image ID", "Reader 1", "Ground truth", "AI score"], *rows]
    write_xlsx(tmp_path / "t.xlsx", table, merged="A1:D1")
    found = check(tmp_path / "t.xlsx")
    assert found.columns == ("Image ID", "Reader 1", "Ground truth", "AI score")
    found.fix(tmp_path / "clean.csv")
    assert len(scan(tmp_path / "clean.csv", positive="yes")) == 12
    write_xlsx(tmp_path / "t.xlsx", table, merged="B3:C3")
    with pytest.raises(InvalidObservations, match="B3:C3 are merged"):
        check(tmp_path / "t.xlsx")
