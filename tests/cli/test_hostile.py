"""Profiles that somebody made to do harm, and times at the edge of what fits in 64 bits."""

import os
import struct
import time

import numpy
import pytest

import profiles
import program

GIB = 1 << 30
MAX_INT64 = (1 << 63) - 1
# Whatever a profile says, these may not reach a terminal as they are.
FORBIDDEN_IN_A_TERMINAL = ([chr(c) for c in range(32) if c != 10] + [chr(c) for c in range(127, 160)]
                           + ["\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f"])


def one_event(directory, name, lenient=False, **where):
    space = profiles.space(lenient)
    wrap = (lambda text: text.encode()) if lenient else (lambda text: text)
    plane = space.planes.add(name=wrap("/host:CPU"))
    plane.event_metadata[1].id = 1
    plane.event_metadata[1].name = name
    profiles.line(plane, wrap("main"), [(1, 5_000_000, 1_000_000)])
    return profiles.save(space, directory, **where)


def test_name_of_a_megabyte(tmp_path, serve):
    name = "x" * (1 << 20)
    path = one_event(tmp_path, name)
    (event,) = program.events(path)
    assert event["name"] == name
    done = program.run("events", path)  # a terminal gets a line that a person can read
    assert done.code == 0 and len(done.out) < 2000
    server = serve(tmp_path, "--no-cache")
    session = server.session("s")
    tree = server.lines(session)
    detail = server.json(f"{session}/events/{tree['hosts'][0]['planes'][0]['lines'][0]['id']}.0")
    assert name.startswith(detail["name"].rstrip("…")) and len(detail["name"]) > 1000
    tile = server.get(f"{session}/tiles/0.0.0/24/0?v={tree['version']}")
    assert tile.status == 200 and len(tile.body) < 2000, "a tile holds at most 256 bytes of a name"
    assert server.json(session + "/search?q=xxx")["total"] == 1


BAD_UTF8 = {
    "lone continuation": b"a\x80b", "overlong slash": b"a\xc0\xafb", "surrogate": b"a\xed\xa0\x80b",
    "beyond unicode": b"a\xf5\x80\x80\x80b", "cut at the end": b"ab\xe2\x82", "latin-1": b"caf\xe9",
    "not at all": bytes(range(128, 256)),
}


@pytest.mark.parametrize("what", sorted(BAD_UTF8))
def test_invalid_utf8_is_replaced_everywhere(what, tmp_path):
    wanted = BAD_UTF8[what].decode("utf-8", "replace")
    path = one_event(tmp_path, BAD_UTF8[what], lenient=True)
    (event,) = program.events(path)  # decodes strictly
    # How many U+FFFD stand for a run of bad bytes is not told; that they stand there is.
    assert event["name"].replace("\ufffd", "") == wanted.replace("\ufffd", "")
    assert "\ufffd" in event["name"]
    for form in ([], ["--csv"]):
        assert "\ufffd" in program.run("events", path, *form).text()


def tile_text(tile):
    """The names in a tile, found as docs/formats/tiles.md says."""
    lines = int.from_bytes(tile[6:8], "little")
    rects, names, names_bytes, merged = struct.unpack("<4I", tile[16:32])
    begin = 32 + 16 * lines + 16 * rects + (2 * rects + 3) // 4 * 4 + 4 * merged + 8 * names
    assert len(tile) - begin in range(names_bytes, names_bytes + 4)
    return tile[begin:begin + names_bytes]


def test_invalid_utf8_over_http(tmp_path, serve):
    for number, bad in enumerate(BAD_UTF8.values()):
        one_event(tmp_path, bad, lenient=True, session=f"s{number}")
    server = serve(tmp_path, "--no-cache")
    for session in server.sessions():
        where = f"/api/v1/sessions/{session['id']}"
        version = server.lines(where)["version"]
        for part in ("/overview", "/completeness", "/search?q=a", "/events/0.0.0.0"):
            server.json(where + part)  # decodes strictly
        tile = server.get(f"{where}/tiles/0.0.0/24/0?v={version}").body
        assert "\ufffd" in tile_text(tile).decode("utf-8")


MARKUP = "<img src=x onerror=alert(1)>\"'&</script><script>alert(2)</script>"


def test_markup_is_data(tmp_path, serve):
    one_event(tmp_path, MARKUP, session="<b>s", host="<i>h")
    server = serve(tmp_path, "--no-cache")
    (session,) = server.sessions()
    assert (session["name"], session["hosts"]) == ("<b>s", ["<i>h"])
    where = f"/api/v1/sessions/{session['id']}"
    server.lines(where)
    for part in ("/overview", "/events/0.0.0.0", "/search?q=img"):
        answer = server.get(where + part)
        assert answer.status == 200
        # Never as a page: what a browser opens by mistake stays text.
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert server.json(where + "/events/0.0.0.0")["name"] == MARKUP
    assert server.json(where + "/search?q=onerror")["hits"][0]["name"] == MARKUP


def test_control_characters_do_not_reach_a_terminal(tmp_path):
    nasty = "\x1b[2J\x1b]0;owned\x07\r\x00\x9b31m\u202egnp.exe\u2066\x7f\ttab"
    space = profiles.simple(names=(nasty,))
    space.planes[0].lines[0].name = nasty
    space.planes[0].name = "/host:" + nasty
    space.errors.append(nasty)
    space.warnings.append(nasty)
    path = profiles.save(space, tmp_path)
    session = os.path.join(tmp_path, "plugins", "profile", "s\x1b[31m")
    os.rename(os.path.dirname(path), session)
    for arguments in (["ls", tmp_path], ["inspect", session], ["events", session],
                      ["inspect", session + "/none\x1b[1m"], ["events", session, "--from", nasty
                                                              .replace("\0", "")]):
        done = program.run(*arguments)
        said = (done.out + done.err).decode("utf-8")
        found = [c for c in FORBIDDEN_IN_A_TERMINAL if c in said]
        assert found == [], (arguments, found)
        assert said.strip()
    # In JSON and CSV the name is what it is, so that a program can have it back.
    assert {e["name"] for e in program.events(session)} == {nasty}


def edge_profile(timestamp_ns, events):
    space = profiles.space()
    plane = profiles.plane(space, "/host:CPU", {1: "edge"})
    profiles.line(plane, "main", events, timestamp_ns=timestamp_ns)
    return space


EDGES = {
    "2^63 ps": (0, [(1, MAX_INT64, 5), (1, 10, 5)]),
    "duration of 2^63 ps": (0, [(1, 10, MAX_INT64)]),
    "timestamp of 2^63 ns": (MAX_INT64, [(1, 10, 5)]),
    "timestamp of -2^63 ns": (-MAX_INT64 - 1, [(1, 10, 5)]),
    "offset of -2^63 ps": (1000, [(1, -MAX_INT64 - 1, 5), (1, 10, 5)]),
    "negative duration": (1000, [(1, 10, -500), (1, 600, 5)]),
    "both at the edge": (MAX_INT64, [(1, MAX_INT64, MAX_INT64)]),
}


@pytest.mark.parametrize("what", sorted(EDGES))
def test_times_at_the_edge(what, tmp_path):
    path = profiles.save(edge_profile(*EDGES[what]), tmp_path)
    answer = program.inspect(path, [program.EXIT_OK, program.EXIT_PARTIAL])
    host = answer["completeness"]["hosts"][0]
    count = len(EDGES[what][1])
    assert host["events"] == count, "an event was lost"
    if what.startswith("timestamp"):
        # The wall clock itself fits; events count from it.
        assert answer["origin_unix_ns"] in (None, str(EDGES[what][0]))
    else:  # what cannot be shown as it is must be told
        assert host["events_saturated"] + host["events_negative"] > 0, host
    printed = program.events(path)
    assert len(printed) == count
    for event in printed:
        assert int(event["duration_ps"]) >= 0
        assert -(1 << 63) <= int(event["start_ps"]) < 1 << 63


def test_edges_over_http(tmp_path, serve):
    for number, (timestamp_ns, events) in enumerate(EDGES.values()):
        profiles.save(edge_profile(timestamp_ns, events), tmp_path, "", f"s{number}")
    server = serve(tmp_path, "--no-cache")
    for session in server.sessions():
        where = f"/api/v1/sessions/{session['id']}"
        tree = server.lines(where)
        for part in ("/overview", "/search?q=edge", "/events?line=0.0.0&at_ps=9007199254740993"):
            server.json(where + part)
        for level, index in ((10, 0), (62, 0), (62, -1), (40, 1 << 21)):
            answer = server.get(f"{where}/tiles/0.0.0/{level}/{index}?v={tree['version']}")
            assert answer.status in (200, 400, 404), answer.body


def test_negative_offset_and_zero_duration(tmp_path):
    events = [(1, -7_000, 3_000), (1, 0, 0), (1, 5_000, 0), (1, 5_000, 2_000)]
    path = profiles.save(edge_profile(10_000_000, events), tmp_path)
    answer = program.inspect(path, [program.EXIT_OK, program.EXIT_PARTIAL])
    (line,) = answer["lines"]["hosts"][0]["planes"][0]["lines"]
    assert line["event_count"] == 4
    # Relative to the earliest, whatever the origin is.
    first = line["start_ps"]
    found = sorted((e["start_ps"] - first, e["duration_ps"]) for e in program.events(path))
    assert found == sorted((offset + 7_000, duration) for _, offset, duration in events)
    assert line["end_ps"] - first == 14_000


def test_unsorted_and_badly_nested(tmp_path):
    events = [(1, 9_000, 500), (1, 0, 5_000), (1, 4_000, 5_000), (1, 2_000, 1_000), (1, 0, 9_999)]
    path = profiles.save(edge_profile(1_000, events), tmp_path)
    answer = program.inspect(path, [program.EXIT_OK, program.EXIT_PARTIAL])
    host = answer["completeness"]["hosts"][0]
    assert host["events_out_of_order"] == 3  # those that begin before the one before them
    assert host["events_overlapping"] > 0
    printed = [(e["start_ps"], e["duration_ps"]) for e in program.events(path)]
    first = printed[0][0]
    assert [start for start, _ in printed] == sorted(start for start, _ in printed)
    assert sorted((start - first, duration) for start, duration in printed) == sorted(
        (offset, duration) for _, offset, duration in events)


def five_million_events(count):
    """A profile of `count` events of 1 ns back to back, 13 bytes each, made without a loop."""
    offsets = numpy.arange(count, dtype=numpy.uint64) * 1000
    rows = numpy.empty((count, 14), dtype=numpy.uint8)
    rows[:, 0:4] = numpy.frombuffer(b"\x22\x0c\x08\x01", dtype=numpy.uint8)
    rows[:, 4] = 0x10
    for byte in range(6):  # a varint of always six bytes: 42 bits
        part = (offsets >> numpy.uint64(7 * byte) & numpy.uint64(0x7F)).astype(numpy.uint8)
        rows[:, 5 + byte] = part | (0x80 if byte < 5 else 0)
    rows[:, 11:14] = numpy.frombuffer(b"\x18\xe8\x07", dtype=numpy.uint8)
    line = b"\x08\x07" + profiles.length_delimited(2, b"main") + rows.tobytes()
    names = profiles.length_delimited(4, b"\x08\x01" + profiles.length_delimited(
        2, b"\x08\x01" + profiles.length_delimited(2, b"tick")))
    plane = profiles.length_delimited(2, b"/host:CPU") + profiles.length_delimited(3, line) + names
    return profiles.length_delimited(1, plane)


def test_encoder_of_this_test_makes_what_protobuf_reads():
    space = profiles.SPACE.FromString(five_million_events(1000))
    events = space.planes[0].lines[0].events
    assert [(e.offset_ps, e.duration_ps) for e in events] == [(n * 1000, 1000) for n in range(1000)]
    assert space.planes[0].event_metadata[1].name == "tick"


def test_five_million_events_of_a_nanosecond(tmp_path):
    count = 5_000_000
    data = five_million_events(count)
    path = profiles.save(data, tmp_path)
    done = program.run("inspect", "--json", path, limit_s=60, measure=True)
    assert done.code == program.EXIT_OK, done.err
    (line,) = done.json()["lines"]["hosts"][0]["planes"][0]["lines"]
    assert (line["event_count"], line["row_count"]) == (count, 1)
    assert line["end_ps"] - line["start_ps"] == count * 1000
    assert done.max_rss_bytes <= 3 * len(data) + (48 << 20), f"{done.max_rss_bytes >> 20} MiB"
    # In the very middle: one that ends as the window begins, three inside.
    middle = count // 2 * 1000
    found = program.events(path, "--from", middle, "--to", middle + 2001)
    assert [(e["start_ps"], e["duration_ps"]) for e in found] == [
        (middle + 1000 * n, 1000) for n in (-1, 0, 1, 2)]


def test_file_beyond_four_gib_with_planes_behind(tmp_path):
    """5 GiB of nothing (a hole, an unknown field) and a profile behind it."""
    hole = 5 * GIB
    before = profiles.simple(names=("before",), count=3).SerializeToString()
    after = profiles.simple(names=("after",), count=5).SerializeToString()
    path = profiles.path_of(tmp_path, "", "s", "host0")
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as file:
        file.write(before + profiles.varint(15 << 3 | 2) + profiles.varint(hole))
        file.seek(hole, os.SEEK_CUR)
        file.write(after)
    profiles.make_old(path)
    assert os.stat(path).st_size > hole
    assert os.stat(path).st_blocks * 512 < 1 << 20, "this file system cannot make holes"
    began = time.monotonic()
    found = program.events(path)
    assert time.monotonic() - began < 60
    names = [e["name"] for e in found]
    assert (names.count("before"), names.count("after")) == (3, 5)
    assert [e["start_ps"] for e in found if e["name"] == "after"] == [n * 10**6 for n in range(5)]


def test_many_planes_and_lines(tmp_path):
    """A million empty lines and planes are counted, not drawn until asked."""
    plane = profiles.length_delimited(1, b"\x12\x01p" + b"\x1a\x02\x08\x01" * 100)
    path = profiles.save(plane * 2000, tmp_path)
    done = program.run("inspect", "--json", path, limit_s=60)
    record = done.json()["completeness"]["hosts"][0]
    assert (record["planes"], record["lines"]) == (2000, 200_000)


def test_deep_nesting(tmp_path):
    """20,000 events, each inside the one before it."""
    depth = 20_000
    events = [(1, n, 2 * (depth - n)) for n in range(depth)]
    path = profiles.save(edge_profile(1000, events), tmp_path)
    answer = program.inspect(path, [program.EXIT_OK, program.EXIT_PARTIAL])
    (line,) = answer["lines"]["hosts"][0]["planes"][0]["lines"]
    assert line["event_count"] == depth
    assert len(program.events(path)) == depth
