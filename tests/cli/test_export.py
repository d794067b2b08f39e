"""Exports read by other people's code: Python's json, and Perfetto's own message classes from PyPI.

What is wanted comes from the independent reader of the profile (tests/python/xplane_reader.py), never from our own answers.
"""

import collections
import decimal
import json
import os
import socket
import time

import pytest

import program
import xplane_reader

perfetto_trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

SAMPLE = os.path.join(program.SAMPLES, "four-devices", "plugins", "profile", "mesh_2x2")
PROFILE = os.path.join(SAMPLE, "trainer-0.xplane.pb")
COUNTERS = "_counters_"
# Planes that hold no events in time are not shown, and not exported.
HIDDEN = ("/host:metadata", "Task Environment", "/host:__ScopeRangeCallStack__")
WORK_STOPS_S = 0.2


def events_of(path):
    """(plane, line, name, start_ps, duration_ps) of every event, from the session's origin."""
    space = xplane_reader.read(path)
    stamps = [line.timestamp_ns for plane in space.planes for line in plane.lines if line.events and line.timestamp_ns]
    environment = [plane for plane in space.planes if plane.name == "Task Environment"]
    origin = min(stamps, default=0)
    for plane in environment:
        names = {key: value.name for key, value in plane.stat_metadata.items()}
        for stat in plane.stats:
            if names[stat.metadata_id] == "profile_start_time":
                # Lines carry the wall clock, or times that count from the start already.
                origin = stat.uint64_value if origin > stat.uint64_value // 2 else 0
    found = []
    for plane in space.planes:
        if plane.name.startswith(HIDDEN):
            continue
        for line in plane.lines:
            if line.name == COUNTERS:
                continue
            for event in line.events:
                metadata = plane.event_metadata[event.metadata_id]
                start = (line.timestamp_ns - origin) * 1000 + event.offset_ps
                found.append((plane.name, line.display_name or line.name, metadata.display_name or metadata.name, start, event.duration_ps))
    return found


@pytest.fixture(scope="module")
def wanted():
    return events_of(PROFILE)


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "all.trace.json"
    done = program.run("export", SAMPLE, "-o", path)
    assert done.code == 0, done.err
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def test_chrome_json_has_every_event_exactly(chrome, wanted):
    processes = {e["pid"]: e["args"]["name"] for e in chrome["traceEvents"] if e["ph"] == "M" and e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in chrome["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    found = collections.Counter()
    for event in chrome["traceEvents"]:
        if event["ph"] != "X":
            continue
        start, duration = decimal.Decimal(event["ts"]) * 10**6, decimal.Decimal(event["dur"]) * 10**6
        assert start == int(start) and duration == int(duration)
        found[processes[event["pid"]], event["name"], int(start), int(duration)] += 1
        assert (event["pid"], event["tid"]) in threads
    assert found == collections.Counter((plane, name, start, duration) for plane, _, name, start, duration in wanted)
    assert chrome["otherData"]["events"] == sum(found.values())


def test_flows_of_chrome_json_come_in_pairs(chrome):
    begins = collections.Counter(e["id"] for e in chrome["traceEvents"] if e["ph"] == "s")
    ends = collections.Counter(e["id"] for e in chrome["traceEvents"] if e["ph"] == "f")
    assert begins and begins == ends
    slices = {(e["pid"], e["tid"], e["ts"]) for e in chrome["traceEvents"] if e["ph"] == "X"}
    assert all((e["pid"], e["tid"], e["ts"]) in slices for e in chrome["traceEvents"] if e["ph"] in "sf")


def test_perfetto_reads_every_event(tmp_path, wanted):
    path = tmp_path / "all.pftrace"
    assert program.run("export", SAMPLE, "-o", path).code == 0
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    tracks, texts, events = {}, {}, collections.defaultdict(list)
    for packet in trace.packet:
        if packet.sequence_flags & 1:
            texts.clear()
        for name in packet.interned_data.event_names:
            texts[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            tracks[descriptor.uuid] = (descriptor.name, descriptor.parent_uuid)
        if packet.HasField("track_event"):
            event = packet.track_event
            name = texts[event.name_iid] if event.name_iid else ""
            events[event.track_uuid].append((packet.timestamp, event.type, name))
    begin, end = perfetto_trace_pb2.TrackEvent.TYPE_SLICE_BEGIN, perfetto_trace_pb2.TrackEvent.TYPE_SLICE_END
    found = collections.Counter()
    for track, of_track in events.items():
        plane = tracks[tracks[track][1]][0]
        of_track.sort(key=lambda event: event[0])  # stable, as readers sort
        open_slices = []
        for timestamp, kind, name in of_track:
            if kind == begin:
                open_slices.append((timestamp, name))
            elif kind == end:
                start, opened = open_slices.pop()
                found[plane, opened, start, timestamp] += 1
        assert not open_slices
    shift = min(0, min(start for _, _, _, start, _ in wanted) // 1000)
    assert found == collections.Counter((plane, name, start // 1000 - shift, (start + duration) // 1000 - shift) for plane, _, name, start, duration in wanted)


def test_a_server_sends_what_the_command_writes(samples_server, tmp_path):
    session = samples_server.session("mesh_2x2")
    for form, ending in (("chrome", "trace.json"), ("perfetto", "pftrace")):
        path = tmp_path / ("all." + ending)
        assert program.run("export", SAMPLE, "-o", path, "--format", form).code == 0
        answer = samples_server.get(f"{session}/export?format={form}")
        assert answer.status == 200
        assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
        if form == "perfetto":
            assert answer.body == path.read_bytes()
        else:
            assert json.loads(answer.body)["traceEvents"] == json.loads(path.read_bytes())["traceEvents"]
        there = tmp_path / ("there." + ending)
        done = program.run("export", f"{samples_server.url}/four-devices/mesh_2x2", "-o", there, "--format", form)
        assert done.code == 0, done.err
        assert there.read_bytes() == answer.body
    assert samples_server.request("HEAD", f"{session}/export").body == b""


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("mine")
    assert program.run("export", SAMPLE, "-o", path).code == program.EXIT_USAGE
    assert path.read_text() == "mine"
    assert program.run("export", SAMPLE, "--line", "9.9.9", "-o", tmp_path / "other.json").code == program.EXIT_NOT_FOUND
    assert os.listdir(tmp_path) == ["out.json"]
    assert program.run("export", SAMPLE, "-o", path, "--force").code == 0
    assert json.loads(path.read_text())["traceEvents"]


def test_an_export_that_nobody_takes_stops(serve, corpus, tmp_path):
    """A tab that is closed in the middle: the work stops within 200 ms."""
    server = serve(os.path.join(corpus, "sessions", "tpu-v6e-4-inference"), "--no-cache")
    (only,) = server.sessions()
    session = f"/api/v1/sessions/{only['id']}"
    server.lines(session)
    server.get(f"{session}/export")  # once, so that nothing has to be worked out
    taker = socket.create_connection((server.host, server.port))
    taker.sendall(f"GET {session}/export HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n\r\n".encode())
    assert taker.recv(10_000).startswith(b"HTTP/1.1 200")
    assert server.metric("strobe_http_open_streams") == 1
    taker.close()
    began = time.monotonic()
    server.wait_for(lambda: server.metric("strobe_http_open_streams"), lambda streams: streams == 0)
    assert time.monotonic() - began < WORK_STOPS_S + 0.1  # one look at the metrics takes a part of it
