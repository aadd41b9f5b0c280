"""Members of a team that a table has no column of, or has and the team does not know, are named, and what follows."""

import warnings

import numpy as np
import pandas as pd
import pytest

import twoheads as th
from twoheads.cli.running import run
from twoheads.errors import InvalidObservations

COLUMNS = {
    "gpt": (["gpt.p_no", "gpt.p_yes"], "gpt (gpt.p_<class>)"),
    "bob": (["human_bob"], "bob (human_bob)"),
    "mistral": (["mistral.label"], "mistral (mistral.label)"),
    "x": (["x.score"], "x (x.score)"),
    "gus": (["human_gus.score"], "gus (human_gus.score)"),
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    names = np.array(["no", "yes"])

    def told():
        return names[np.where(rng.random(80) < 0.8, truth, 1 - truth)]

    p_yes = np.clip(0.5 + 0.3 * (2 * truth - 1) + 0.2 * rng.normal(size=80), 0.02, 0.98)
    return pd.DataFrame(
        {
            "item": [f"i{at}" for at in range(80)],
            "human_ann": told(),
            "human_bob": told(),
            "gpt.p_no": 1 - p_yes,
            "gpt.p_yes": p_yes,
            "mistral.label": told(),
            "x.score": 3 * truth + rng.normal(size=80),
            "human_gus.score": truth + rng.integers(0, 3, 80),
            "truth": names[truth],
        }
    )


@pytest.fixture(scope="module")
def team(table):
    return th.recommended().fit(th.Observations.from_frame(table, positive="yes"), table["truth"])


@pytest.mark.parametrize("member", COLUMNS)
def test_a_missing_column_is_named_and_its_member_absent(team, table, member, tmp_path, capsys):
    columns, shown = COLUMNS[member]
    without = table.drop(columns=columns)
    said = f"has no column of {shown}: 1 of 6 members of the team, absent for all items."
    person = all(column.startswith("human_") for column in columns)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        proba = team.predict_proba(without)
    assert [str(each.message) for each in found] == ([] if person else [f"X {said}"])  # people need not be asked
    blank = table.assign(**dict.fromkeys(columns, pd.Series([None] * len(table), dtype=object)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(proba, team.predict_proba(blank))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        th.evaluation.compare(team, without, table["truth"], held_out=True, n_bootstrap=10)
    assert len(found) == (0 if person else 1)
    without.to_csv(tmp_path / "d.csv", index=False)
    team.save(tmp_path / "team.json")
    arguments = ["combine", str(tmp_path / "team.json"), str(tmp_path / "d.csv"), "-o", str(tmp_path / "o.csv")]
    assert run(arguments) == 0
    assert f"{tmp_path / 'd.csv'} {said}" in capsys.readouterr().err
    assert run(["evaluate", *arguments[1:3]]) == 0
    assert f"{tmp_path / 'd.csv'} {said}" in capsys.readouterr().err


def test_people_alone_are_combined_by_a_team_with_models(team, table, tmp_path, capsys):
    people = table[["item", "human_ann", "human_bob"]]
    people.to_csv(tmp_path / "d.csv", index=False)
    team.save(tmp_path / "team.json")
    assert run(["combine", str(tmp_path / "team.json"), str(tmp_path / "d.csv"), "-o", str(tmp_path / "o.csv")]) == 0
    said = capsys.readouterr().err
    assert "has no column of gpt (gpt.p_<class>), mistral (mistral.label), x (x.score), gus (human_gus.score)" in said
    with pytest.warns(UserWarning, match="4 of 6 members"):
        proba = team.predict_proba(people)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "o.csv")["p_yes"], proba[:, 1], atol=1e-6)
    # what may be a misspelt column is not overlooked
    people.assign(gpt_yes=0.5).to_csv(tmp_path / "e.csv", index=False)
    assert run(["combine", str(tmp_path / "team.json"), str(tmp_path / "e.csv"), "-o", str(tmp_path / "o.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "e.csv must have a column of a model of the team, whose columns are gpt.p_<class>, human_ann" in said
    assert "gpt_yes. Rename those that are meant" in said
    assert "twoheads check --fix" in said


def test_a_misspelt_column_is_of_somebody_new(team, table):
    with pytest.warns(UserWarning, match="X has") as found:
        team.predict(table.rename(columns={"human_bob": "human_bbo"}))
    assert [str(each.message) for each in found] == [
        "X has no column of bob (human_bob): 1 of 6 members of the team, absent for all items.",
        "X has answers of bbo, unknown to the team; they count as its average member's. Did you mean 'bob'?",
    ]
    with pytest.raises(InvalidObservations, match="Did you mean 'gus'"):
        team.predict(table.rename(columns={"human_gus.score": "human_gis.score"}))


def test_observations_say_themselves_who_answered(team, table):
    seen = th.Observations.from_frame(table.drop(columns="human_bob"), positive="yes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        team.predict(seen)


def test_a_table_of_answers_for_a_team_of_people_alone_is_to_be_given_as_answers(tmp_path, capsys):
    lines = [
        f"{at},{person},{'yes' if (at + skip) % 3 else 'no'}"
        for at in range(12)
        for person, skip in (("u", 0), ("v", 1))
    ]
    (tmp_path / "a.csv").write_text("\n".join(["item,annotator,answer", *lines, ""]))
    team = str(tmp_path / "team.json")
    assert run(["fit", "--answers", str(tmp_path / "a.csv"), "-o", team]) == 0
    capsys.readouterr()
    assert run(["evaluate", team, str(tmp_path / "a.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "its columns are item, annotator, answer. It looks like a table of answers: give it as answers" in said


def test_a_member_who_gave_scores_and_now_labels_is_not_called_a_misspelling(team, table):
    changed = table.drop(columns="x.score").assign(**{"x.label": table["human_ann"]})
    with pytest.warns(UserWarning, match=r"^X has") as warned:
        team.predict_proba(changed)
    assert [str(each.message) for each in warned] == [
        "X has labels of x (not x.score), who gave scores or probabilities at fit; they count as its average member's.",
    ]


def test_a_model_is_refused_by_a_team_that_was_fitted_without_any(table):
    people = table[["human_ann", "human_bob", "mistral.label"]]
    alone = th.recommended().fit(people)
    for model in ("gpt.p_yes", "p_yes"):
        with pytest.raises(InvalidObservations) as raised:
            alone.predict_proba(people.assign(**{model: 0.9}))
        name = "gpt" if model.startswith("gpt") else "model"
        assert str(raised.value) == (
            f"X must hold no model's probabilities, as the team was fitted without any; it has those of '{name}'. "
            "Leave them out, or fit again with them."
        )
    blank = alone.predict_proba(people.assign(p_no=np.nan, p_yes=np.nan))
    assert np.array_equal(blank, alone.predict_proba(people))


def test_a_model_without_a_name_is_the_only_one_of_the_team_and_not_absent(team, table, tmp_path, capsys):
    plain = table.rename(columns={"gpt.p_no": "p_no", "gpt.p_yes": "p_yes"})
    unnamed = th.recommended().fit(th.Observations.from_frame(plain, positive="yes"), table["truth"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(team.predict_proba(plain), team.predict_proba(table))
        assert np.array_equal(unnamed.predict_proba(table), unnamed.predict_proba(plain))
    plain.to_csv(tmp_path / "p.csv", index=False)
    team.save(tmp_path / "team.json")
    assert run(["combine", str(tmp_path / "team.json"), str(tmp_path / "p.csv"), "-o", str(tmp_path / "o.csv")]) == 0
    assert "no column of" not in capsys.readouterr().err


def test_an_update_says_who_is_new_and_that_the_team_learns_from_them(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table[:60].to_csv("a.csv", index=False)
    assert run(["fit", "a.csv", "--keep-items", "--positive", "yes", "-o", "team.json"]) == 0
    before = (tmp_path / "team.json").read_bytes()
    day = table[60:].assign(**{"grok.label": table["human_bob"], "z.score": table["x.score"], "q.p_yes": 0.4})
    day.drop(columns="human_bob").assign(human_bbo=table["human_bob"]).to_csv("b.csv", index=False)
    for column, wrong, kind, kept in (
        ("x.score", "x.label", "labels", "x.score"),
        ("mistral.label", "mistral.score", "scores", "mistral.label"),
        ("human_ann", "human_ann.score", "scores", "human_ann"),
    ):
        values = table["x.score"] if kind == "scores" else table["human_bob"]
        table[60:].drop(columns=column).assign(**{wrong: values}).to_csv("c.csv", index=False)
        capsys.readouterr()
        assert run(["update", "team.json", "c.csv"]) == 2
        assert " ".join(capsys.readouterr().err.split()).startswith(
            "Error: c.csv must hold the same kind of answer of each member as the items that the team keeps; of "
            f"{kept.split('.')[0].removeprefix('human_')!r} it has {kind}, and they have {kept}. Rename the column if "
            "it is another member; else leave it out, or fit again."
        )
    assert (tmp_path / "team.json").read_bytes() == before
    assert run(["update", "team.json", "b.csv"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "b.csv has no column of bob (human_bob): 1 of 6 members of the team, absent for all items." in said
    assert "b.csv has answers of q, bbo, grok, z, new to the team, which learns from them. Did you mean 'bob'?" in said
    assert "average member" not in said
    learnt = th.load("team.json")
    assert {"bbo", "grok", "z"} < {*learnt.annotators_}
    assert learnt.models_ == ("gpt", "q")
