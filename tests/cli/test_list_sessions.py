"""`strobe ls` and /api/v1/sessions: every layout that a log directory can have."""

import os
import time

import pytest

import profiles
import program

MANY = 5000
# Point 10's bound is 1 s on a quiet machine; this one holds on a machine that does other work.
MANY_LIMIT_S = 10
HOSTS = ["34.83.195.179_6003", "node0.example.com", "a_b_c", "host0"]


def listed(directory):
    done = program.run("ls", "--json", directory)
    assert done.code == 0, done.err
    answer = done.json()
    assert answer["total"] == len(answer["sessions"])
    return answer["sessions"]


def by_path(sessions):
    return {s["path"]: s for s in sessions}


@pytest.fixture
def layout(tmp_path):
    """One log directory with everything odd in it."""
    content = profiles.simple()
    for host in HOSTS:
        profiles.save(content, tmp_path, "", "top", host)
    profiles.save(content, tmp_path, "run", "first")
    profiles.save(content, tmp_path, "run", "second")
    profiles.save(content, tmp_path, "a/b/c/d/e/f/g", "deep")
    profiles.save(content, tmp_path, "beside", "pair", "good")
    profiles.save(b"", tmp_path, "beside", "pair", "nothing")
    os.makedirs(tmp_path / "bare" / "plugins" / "profile" / "without")
    os.symlink(tmp_path, tmp_path / "a" / "loop")
    os.symlink(tmp_path / "run", tmp_path / "run" / "plugins" / "profile" / "second" / "self")
    return tmp_path


def test_every_layout_is_found(layout):
    found = by_path(listed(layout))
    assert sorted(found) == sorted([
        "plugins/profile/top", "run/plugins/profile/first", "run/plugins/profile/second",
        "a/b/c/d/e/f/g/plugins/profile/deep", "beside/plugins/profile/pair",
        "bare/plugins/profile/without"])
    top = found["plugins/profile/top"]
    assert (top["run"], top["name"], top["hosts"]) == ("", "top", sorted(HOSTS))
    assert top["size_bytes"] == 4 * len(profiles.simple().SerializeToString())
    deep = found["a/b/c/d/e/f/g/plugins/profile/deep"]
    assert (deep["run"], deep["name"]) == ("a/b/c/d/e/f/g", "deep")
    assert found["run/plugins/profile/first"]["run"] == "run"
    assert found["run/plugins/profile/second"]["run"] == "run"
    bare = found["bare/plugins/profile/without"]
    assert (bare["state"], bare["hosts"], bare["size_bytes"]) == ("empty", [], 0)


def without_project(sessions):
    """Projects are the server's: a directory knows of none."""
    return [{key: value for key, value in session.items() if key != "project"} for session in sessions]


def test_the_server_lists_the_same(layout, serve):
    server = serve(layout, "--no-cache")
    assert by_path(without_project(server.sessions())) == by_path(listed(layout))
    assert [s["name"] for s in server.sessions("SECOND")] == ["second"]
    assert [s["name"] for s in server.sessions("node0.exam")] == ["top"]


def test_empty_file_beside_a_good_one(layout, serve):
    answer = program.inspect(layout / "beside/plugins/profile/pair", [program.EXIT_PARTIAL])
    good, nothing = answer["completeness"]["hosts"]
    assert (good["host"], good["state"], good["events"]) == ("good", "complete", 4)
    assert (nothing["host"], nothing["size_bytes"]) == ("nothing", 0)
    assert nothing["state"] in ("empty", "damaged")
    assert any("nothing" in reason for reason in answer["completeness"]["reasons"])
    server = serve(layout, "--no-cache")
    tree = server.lines(server.session("pair"))
    assert [len(host["planes"]) for host in tree["hosts"]] == [1, 0]
    assert tree["hosts"][1]["error"]["name"]


def test_session_without_a_profile_is_named(layout):
    done = program.run("inspect", layout / "bare/plugins/profile/without")
    assert done.code in (program.EXIT_NOT_FOUND, program.EXIT_PARTIAL)
    assert b"profile" in done.err


def test_no_sessions_and_no_directory(tmp_path):
    assert listed(tmp_path) == []
    done = program.run("ls", tmp_path / "absent")
    assert done.code == program.EXIT_NOT_FOUND
    assert b"absent" in done.err


def test_newest_first(tmp_path):
    for age, session in ((300, "old"), (100, "new"), (200, "middle")):
        profiles.save(profiles.simple(), tmp_path, "", session, age_s=age)
    assert [s["name"] for s in listed(tmp_path)] == ["new", "middle", "old"]


def test_five_thousand_sessions(tmp_path, serve):
    content = profiles.simple().SerializeToString()
    for number in range(MANY):
        profiles.save(content, tmp_path, f"run{number // 100}", f"s{number:04}")
    began = time.monotonic()
    found = listed(tmp_path)
    assert time.monotonic() - began < MANY_LIMIT_S
    assert {s["path"] for s in found} == {
        f"run{n // 100}/plugins/profile/s{n:04}" for n in range(MANY)}
    server = serve(tmp_path, "--no-cache")
    began = time.monotonic()
    over_http = server.sessions()
    assert time.monotonic() - began < MANY_LIMIT_S
    assert without_project(over_http) == found, "other sessions, or in another order"
    assert server.json("/api/v1/sessions?q=s0042")["total"] == 1


def test_terminal_table_has_every_session(layout):
    done = program.run("ls", layout)
    assert done.code == 0
    rows = done.text().splitlines()
    assert len(rows) == 1 + 6
    assert sum("34.83.195.179_6003 +3" in row for row in rows) == 1
