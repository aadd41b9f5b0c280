"""Long tables of scores and of models' labels are refused with the shape that is read."""

import pytest

from twoheads import InvalidObservations
from twoheads.tables import scan

ANSWERS = "item,annotator,answer\n1,ann,a\n2,ann,b\n"
LONG = {
    "scores of models": (
        {"answers": ANSWERS, "model": "item,model,score\n1,m,.7\n1,n,.6\n2,m,.2\n"},
        "model must have one row per item, with the scores in columns <model>.score; it has a column 'score' and a row "
        "per item and model. Give each model a column of its own, in a table with one row per item.",
    ),
    "labels of models": (
        {"answers": ANSWERS, "model": "item,model,label\n1,m,a\n1,n,b\n2,m,b\n"},
        "model must have one row per item, with the labels in columns <model>.label; it has a column 'label' and a row "
        "per item and model. Give each model a column of its own, in a table with one row per item.",
    ),
    "scores of people": (
        {"answers": "item,annotator,score\n1,ann,3\n1,bob,2\n"},
        "answers must have one row per item, with the scores in columns human_<name>.score; it has a column 'score' "
        "and a row per item and person. Give each person a column of its own, in a table with one row per item.",
    ),
}


@pytest.mark.parametrize(("tables", "message"), LONG.values(), ids=list(LONG))
def test_a_long_table_names_the_shape_that_is_read(tables, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidObservations) as refused:
        scan(**{name: name for name in tables}, positive="a")
    assert str(refused.value) == message
