"""`strobe events`: every event, and every filter, against the independent reader."""

import collections
import csv
import io
import os

import pytest

import profiles
import program

SAMPLE = os.path.join(program.SAMPLES, "input-stall", "plugins", "profile", "training",
                      "trainer-0.xplane.pb")
MS = 10**9
EMPTY_NAME = ""


@pytest.fixture(scope="module")
def known():
    """(plane, line, name, start, duration) of the sample; its times count from the start."""
    return profiles.events_of(SAMPLE)


def bag(events):
    """Printed events as a multiset of (plane, line, name, start, duration)."""
    return collections.Counter((e["plane"], e["line"], e["name"], int(e["start_ps"]),
                                int(e["duration_ps"])) for e in events)


def ends_after(event, time_ps):
    return event[3] + event[4] >= time_ps


def test_all_events_are_those_of_the_file(known):
    assert bag(program.events(SAMPLE)) == collections.Counter(known)


FILTERS = {
    "name": (["--name", "LOAD_batch"], lambda e: "load_batch" in e[2].lower()),
    "line": (["--line", "xlaeigen"], lambda e: "xlaeigen" in e[1].lower()),
    "plane": (["--plane", "host:cpu"], lambda e: "host:cpu" in e[0].lower()),
    "no such plane": (["--plane", "TPU"], lambda e: False),
    "no such host": (["--host", "trainer-9"], lambda e: False),
    "host": (["--host", "TRAINER-0"], lambda e: True),
    "from": (["--from", "300ms"], lambda e: ends_after(e, 300 * MS)),
    "to": (["--to", "20ms"], lambda e: e[3] < 20 * MS),
    "window": (["--from", "100ms", "--to", "120500us"],
               lambda e: ends_after(e, 100 * MS) and e[3] < 120_500_000_000),
    "picoseconds": (["--from", "0", "--to", "68539001"], lambda e: e[3] < 68_539_001),
    "all at once": (["--line", "python", "--name", "train", "--to", "50ms"],
                    lambda e: e[1] == "python" and "train" in e[2] and e[3] < 50 * MS),
}


@pytest.mark.parametrize("which", sorted(FILTERS))
def test_filter(which, known):
    options, fits = FILTERS[which]
    wanted = collections.Counter(event for event in known if fits(event))
    assert bag(program.events(SAMPLE, *options)) == wanted
    if not which.startswith("no such"):
        assert wanted, "this filter tests nothing"


def test_csv_has_the_same_events(known):
    done = program.run("events", SAMPLE, "--csv", "--limit", 0)
    assert done.code == 0 and done.err == b""
    rows = list(csv.DictReader(io.StringIO(done.text())))
    assert bag(rows) == collections.Counter(known)
    assert {row["host"] for row in rows} == {"trainer-0"}
    assert len({row["event"] for row in rows}) == len(rows), "two events have one id"


def test_time_order_within_a_line():
    last = {}
    for event in program.events(SAMPLE):
        line = event["event"].rsplit(".", 1)[0]
        assert event["start_ps"] >= last.get(line, event["start_ps"])
        last[line] = event["start_ps"]


def test_limit(known):
    done = program.run("events", SAMPLE, "--json", "--limit", 7)
    answer = done.json()
    assert len(answer["events"]) == 7 and answer["truncated"] is True
    assert bag(answer["events"]) <= collections.Counter(known)
    assert program.run("events", SAMPLE).text().count("\n") == 101  # 100 and the header
    done = program.run("events", SAMPLE, "--json", "--limit", len(known))
    assert done.json()["truncated"] is False


def test_ids_are_those_of_the_console(samples_server, known):
    session = samples_server.session("training")
    printed = program.events(SAMPLE, "--name", "load_batch")
    for event in printed[::5]:
        detail = samples_server.json(f"{session}/events/{event['event']}")
        assert (detail["name"], detail["start_ps"], detail["duration_ps"]) == (
            event["name"], event["start_ps"], event["duration_ps"])
    found = samples_server.json(session + "/search?q=load_batch")
    assert found["total"] == sum("load_batch" in e[2] for e in known) == len(printed)
    assert [h["event"] for h in found["hits"]] == [e["event"] for e in printed]


@pytest.mark.parametrize("options", [["--from", "soon"], ["--to", "10 parsecs"],
                                     ["--from", "10ms", "--to", "5ms"],
                                     ["--limit", "-1"], ["--json", "--csv"], ["--nosuch"]])
def test_wrong_usage(options):
    done = program.run("events", SAMPLE, *options)
    assert done.code == program.EXIT_USAGE
    assert done.out == b"" and b"error" in done.err.lower()
    assert b"+308" not in done.err and len(done.err) < 400, done.err


def test_csv_of_names_with_commas_quotes_and_lines(tmp_path):
    name = 'a, "b"\nc\r\n=1+1'
    path = profiles.save(profiles.simple(names=(name,)), tmp_path)
    rows = list(csv.DictReader(io.StringIO(
        program.run("events", path, "--csv").text(), newline="")))
    assert [row["name"] for row in rows] == [name] * 4


def test_several_sessions_below_a_path(tmp_path):
    for session in ("one", "two"):
        profiles.save(profiles.simple(), tmp_path, "", session)
    done = program.run("events", tmp_path)
    assert done.code == program.EXIT_USAGE
    assert b"SESSION_AMBIGUOUS" in done.err and b"one" in done.err and b"two" in done.err


def test_derived_and_aggregated_events_of_real_files(corpus):
    path = os.path.join(corpus, "sessions/gpu-mi300-elementwise/plugins/profile",
                        "2025_08_02_00_00_00/tw003.xplane.pb")
    known = profiles.events_of(path)
    printed = bag(program.events(path))
    # Strobe's times count from the session's start; the difference is one number for all.
    wanted = collections.Counter(known)
    shifts = {min(e[3] for e in printed) - min(e[3] for e in wanted)}
    (shift,) = shifts
    assert printed == collections.Counter(
        {(p, l, n, s + shift, d): count for (p, l, n, s, d), count in wanted.items()})
