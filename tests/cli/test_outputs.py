"""Where commands write: never over an input, into what is not a file, with the permissions of what is replaced."""

import os
import socket
import stat
import threading

import pytest

from twoheads.cli.running import run
from twoheads.errors import CannotWrite
from twoheads.storage.atomic import atomic_write

HEADER = "item,human,p_a,p_b,truth\n"
ROWS = "1,a,0.7,0.3,a\n2,b,0.4,0.6,b\n3,a,0.8,0.2,a\n4,b,0.1,0.9,a\n"
MORE = "5,a,0.7,0.3,a\n6,b,0.3,0.7,b\n7,a,0.8,0.2,b\n8,b,0.2,0.8,b\n"


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "days").mkdir()
    (tmp_path / "days" / "a.csv").write_text(HEADER + ROWS)
    (tmp_path / "days" / "b.csv").write_text(HEADER + MORE)
    (tmp_path / "held.csv").write_text(HEADER + MORE)
    (tmp_path / "t.csv").write_text("item,truth\n5,a\n6,b\n7,b\n8,b\n")
    (tmp_path / "answers.csv").write_text("item,annotator,answer\n5,ann,a\n6,ann,b\n7,ann,a\n8,ann,b\n")
    assert run(["fit", "days/a.csv"]) == 0
    capsys.readouterr()
    return tmp_path


ANOTHER_ROAD = [
    ["fit", "days/*.csv", "-o", "days/a.csv"],
    ["fit", "days", "-o", "days/b.csv"],
    ["fit", "held.csv", "--truth", "t.csv", "-o", "t.csv"],
    ["fit", "--answers", "answers.csv", "--model", "held.csv", "-o", "answers.csv"],
    ["combine", "team.json", "days/*.csv", "-o", "days/a.csv"],
    ["combine", "team.json", "days/*.csv", "-o", "link.csv"],
    ["combine", "team.json", "days/*.csv", "-o", "hard.csv"],
    ["report", "team.json", "days/*.csv", "-o", "days/a.csv"],
    ["report", "team.json", "held.csv", "--truth", "t.csv", "-o", "t.csv"],
    ["ask", "team.json", "days", "--budget", "2", "-o", "days/a.csv"],
    ["ask", "team.json", "held.csv", "--budget", "2", "-o", "team.json"],
    ["combine", "team.json", "held.csv", "--class-shares", "shares.csv", "-o", "shares.csv"],
    ["report", "team.json", "held.csv", "--class-shares", "shares.csv", "-o", "shares.csv"],
    ["update", "keeping.json", "--forget", "ids.csv", "-o", "ids.csv"],
    ["update", "keeping.json", "days/*.csv", "-o", "hard.csv"],
    ["merge", "team.json", "keeping.json", "-o", "team.json"],
    ["check", "days/*.csv", "--fix", "link.csv"],
    ["compare", "days", "--methods", "P+L", "-o", "days/a.csv"],
]


@pytest.mark.parametrize("arguments", ANOTHER_ROAD, ids=" ".join)
def test_an_input_by_another_road_is_not_overwritten(arguments, here, capsys):
    (here / "link.csv").symlink_to("days/a.csv")
    os.link(here / "days" / "b.csv", here / "hard.csv")
    (here / "shares.csv").write_text("class,share\na,0.5\nb,0.5\n")
    (here / "ids.csv").write_text("item\n5\n")
    assert run(["fit", "held.csv", "--keep-items", "-o", "keeping.json"]) == 0
    capsys.readouterr()
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert run(arguments) == 2
    assert "would destroy it" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("command", ["fit", "combine team.json", "check"])
def test_kept_items_are_not_overwritten(command, here, capsys):
    assert run(["fit", "held.csv", "--keep-items", "-o", "keeping.json"]) == 0
    (kept,) = here.glob("keeping.items/*/items.parquet")
    before, option = kept.read_bytes(), "--fix" if command == "check" else "-o"
    assert run([*command.split(), "held.csv", option, str(kept)]) == 2
    said = capsys.readouterr().err
    assert f"holds items that a team keeps, and nothing else. Write elsewhere with {option}." in said
    assert kept.read_bytes() == before


def reader_of(pipe, found):
    thread = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    thread.start()
    return thread


@pytest.mark.parametrize("command", ["fit", "combine", "report", "ask"])
def test_a_pipe_is_written_into(command, here):
    os.mkfifo(here / "pipe")
    found = []
    thread = reader_of(here / "pipe", found)
    arguments = {
        "fit": ["held.csv"],
        "combine": ["team.json", "held.csv"],
        "report": ["team.json", "held.csv"],
        "ask": ["team.json", "held.csv", "--budget", "2"],
    }[command]
    assert run([command, *arguments, "-o", "pipe"]) == 0
    thread.join(timeout=20)
    start = {
        "fit": b'{\n "format": "twoheads"',
        "combine": b"item,combined_label",
        "report": b"<!DOCTYPE",
        "ask": b"item,ann",
    }
    assert found[0].startswith(start[command])
    assert stat.S_ISFIFO((here / "pipe").stat().st_mode)


def test_a_device_is_written_into(here):
    before = os.stat("/dev/null").st_mode
    assert run(["fit", "held.csv", "-o", "/dev/null"]) == 0
    (here / "null").symlink_to("/dev/null")
    assert run(["combine", "team.json", "held.csv", "-o", "null"]) == 0
    assert (here / "null").is_symlink()
    assert os.stat("/dev/null").st_mode == before


def test_a_socket_is_written_into(here):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        listening.listen()
        with atomic_write("s") as file:
            file.write(b"all of it")
        connection, _ = listening.accept()
        with connection:
            assert connection.recv(100) == b"all of it"
    assert stat.S_ISSOCK(os.stat("s").st_mode)


def test_a_replaced_file_keeps_its_permissions_and_a_new_one_follows_the_umask(here):
    for mode in (0o600, 0o640, 0o666):
        (here / "team.json").chmod(mode)
        assert run(["fit", "held.csv"]) == 0
        assert stat.S_IMODE((here / "team.json").stat().st_mode) == mode
    before = os.umask(0o027)
    try:
        assert run(["fit", "held.csv", "-o", "new.json"]) == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((here / "new.json").stat().st_mode) == 0o640


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_replaced_file_keeps_its_owner(here):
    os.chown(here / "team.json", 12345, 23456)
    assert run(["fit", "held.csv"]) == 0
    assert ((here / "team.json").stat().st_uid, (here / "team.json").stat().st_gid) == (12345, 23456)


def test_an_owner_that_cannot_be_kept_is_an_error(here, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    monkeypatch.setattr(
        os, "fstat", lambda handle, stat_of=os.fstat: os.stat_result([*stat_of(handle)[:4], 1, 2, 3, 4, 5, 6])
    )
    before = (here / "team.json").read_text()
    with pytest.raises(CannotWrite, match="belongs to another user or group"), atomic_write("team.json") as file:
        file.write(b"x")
    assert (here / "team.json").read_text() == before
    assert not list(here.glob(".*"))


def test_the_longest_name_can_be_written(here, capsys):
    name = "ä" * 125 + ".json"
    assert run(["fit", "held.csv", "-o", name]) == 0
    assert (here / name).exists()
    capsys.readouterr()
    assert run(["fit", "held.csv", "-o", "x" * 260]) == 2
    assert "its name is too long" in capsys.readouterr().err
