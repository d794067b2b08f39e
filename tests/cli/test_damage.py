"""Damaged files: named errors, the events before the damage, bounded memory and time, no crash.

Which events a cut leaves is computed from the bytes that protobuf wrote: each event of the cut
profile is unique, so its place in the file is found by looking for its bytes.
"""

import gzip
import os
import random

import pytest

import profiles
import program

MIB = 1 << 20
# What a run needs whatever it reads: the program with its libraries, and its threads.
BASE_BYTES = 48 * MIB
FLIPS = 150
SEED = 20261130


def within_three_times(done, size_bytes):
    assert done.max_rss_bytes <= 3 * size_bytes + BASE_BYTES, (
        f"{done.max_rss_bytes >> 20} MiB for a file of {size_bytes >> 20} MiB")


def unique_profile():
    """(bytes, [(end of the event in the file, start, duration)])"""
    space = profiles.space()
    plane = profiles.plane(space, "/host:CPU", {1: "first", 2: "second"})
    serial = 0
    for name in ("alpha", "beta", "gamma"):
        events = []
        for _ in range(12):
            serial += 1
            events.append((1 + serial % 2, serial * 10_000_019, 1_000_003 + serial))
        profiles.line(plane, name, events)
    data = space.SerializeToString()
    placed = []
    for line in plane.lines:
        for event in line.events:
            coded = profiles.length_delimited(4, event.SerializeToString())
            assert data.count(coded) == 1
            placed.append((data.index(coded) + len(coded), event.offset_ps, event.duration_ps))
    return data, placed


def left_by(cut, placed):
    return sorted(event[1:] for event in placed if event[0] <= cut)


def test_cut_at_every_byte(tmp_path, serve):
    """Each cut is a session of one server; its record must count exactly what was whole."""
    data, placed = unique_profile()
    for cut in range(len(data) + 1):
        profiles.save(data[:cut], tmp_path, "", f"cut{cut:05}")
    server = serve(tmp_path, "--no-cache", "--log-level", "error")
    sessions = server.sessions()
    assert len(sessions) == len(data) + 1
    for session in sessions:
        cut = int(session["name"][3:])
        answer = server.get(f"/api/v1/sessions/{session['id']}/completeness")
        if answer.status != 200:
            assert cut < 64, f"nothing of the first {cut} bytes could be read"
            assert left_by(cut, placed) == []
            error = answer.json()["error"]
            assert error["name"] and error["message"] and error["hint"]
            continue
        record = answer.json()
        (host,) = record["hosts"]
        if host["events"] is None:  # unknown, because not even the first plane could be read
            assert host["state"] == "damaged" and left_by(cut, placed) == [], cut
        else:
            assert host["events"] == len(left_by(cut, placed)), f"cut after {cut} bytes"
        assert host["size_bytes"] == cut
        if 0 < cut < len(data):
            # Between two top-level fields a cut cannot be told from the end; there is one field.
            assert host["state"] in ("partial", "damaged"), f"cut after {cut} bytes"
            assert host["damage"] or host["errors"] or record["reasons"]
            for damage in host["damage"]:
                assert damage["name"] and damage["message"]
                assert 0 <= damage["offset_bytes"] <= cut
    whole = server.session(f"cut{len(data):05}")
    assert server.json(whole + "/completeness")["state"] == "complete"
    assert server.close() == 0


@pytest.mark.parametrize("share", [0.02, 0.1, 0.33, 0.5, 0.75, 0.9, 0.999])
def test_cut_on_the_command_line(share, tmp_path):
    data, placed = unique_profile()
    cut = int(len(data) * share)
    path = profiles.save(data[:cut], tmp_path)
    wanted = left_by(cut, placed)
    done = program.run("inspect", path, measure=True)
    if wanted:
        assert done.code == program.EXIT_PARTIAL
        assert b"XPLANE_TRUNCATED" in done.out or b"XPLANE_BAD_LENGTH" in done.out
    else:
        assert done.code != program.EXIT_OK
    within_three_times(done, cut)
    done = program.run("events", path, "--json", "--limit", 0)
    if wanted:
        assert done.code == program.EXIT_PARTIAL, "a damaged profile must not look whole"
        assert sorted((e["start_ps"], e["duration_ps"]) for e in done.json()["events"]) == wanted


SAMPLE = os.path.join(program.SAMPLES, "four-devices/plugins/profile/mesh_2x2",
                      "trainer-0.xplane.pb")


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_cut_sample_keeps_a_prefix_of_each_line(share, tmp_path):
    with open(SAMPLE, "rb") as file:
        data = file.read()
    whole = {}
    for plane, line, _, start, duration in profiles.events_of(SAMPLE):
        whole.setdefault((plane, line), []).append((start, duration))
    path = profiles.save(data[:int(len(data) * share)], tmp_path, host="trainer-0")
    done = program.run("events", path, "--json", "--limit", 0, measure=True)
    assert done.code == program.EXIT_PARTIAL
    within_three_times(done, len(data))
    left = {}
    for event in done.json()["events"]:
        left.setdefault((event["plane"], event["line"]), []).append(
            (event["start_ps"], event["duration_ps"]))
    assert left
    shift = None
    for key, events in left.items():
        # In the file's order the first so many; without the window at the end of the file, times
        # may count from another origin, the same for all.
        prefix = sorted(whole[key][:len(events)])
        shift = min(events)[0] - prefix[0][0] if shift is None else shift
        assert sorted(events) == [(start + shift, duration) for start, duration in prefix], key


def test_flipped_bits(tmp_path, serve):
    with open(os.path.join(program.SAMPLES, "two-hosts/plugins/profile/two_hosts",
                           "trainer-0.xplane.pb"), "rb") as file:
        data = file.read()
    generator = random.Random(SEED)
    for number in range(FLIPS):
        bad = bytearray(data)
        for _ in range(generator.choice([1, 1, 4, 64])):
            bad[generator.randrange(len(bad))] ^= 1 << generator.randrange(8)
        profiles.save(bytes(bad), tmp_path, "", f"flip{number}")
    server = serve(tmp_path, "--no-cache", "--log-level", "error")
    for session in server.sessions():
        where = f"/api/v1/sessions/{session['id']}"
        for part in ("/completeness", "/lines?wait_ms=10000", "/overview", "/search?q=a"):
            answer = server.get(where + part)
            body = answer.json()  # always JSON, always UTF-8
            if answer.status != 200:
                assert answer.status < 500, (session["name"], part, body)
                assert body["error"]["name"] and body["error"]["hint"]
    assert server.get("/healthz").status == 200
    assert server.close() == 0


def test_flips_on_the_command_line(tmp_path):
    with open(SAMPLE, "rb") as file:
        data = file.read()
    generator = random.Random(SEED + 1)
    for number in range(12):
        bad = bytearray(data)
        for _ in range(1 << number % 5):
            bad[generator.randrange(len(bad))] ^= 1 << generator.randrange(8)
        path = profiles.save(bytes(bad), tmp_path, session=f"s{number}")
        done = program.run("inspect", "--json", path, limit_s=30, measure=True)
        answer = done.json()
        if "error" in answer:
            assert done.code != program.EXIT_OK and b"error: " in done.err
            assert answer["error"]["name"].encode() in done.err
        within_three_times(done, len(bad))


@pytest.mark.parametrize("where", ["inspect", "events"])
def test_absurd_lengths(where, tmp_path):
    """A length of nearly 2^63 in a small file must not be believed."""
    for number, field in enumerate((b"\x0a", b"\x12", b"\x22")):
        bad = field + profiles.varint((1 << 63) - 1) + b"x" * 100
        done = program.run(where, profiles.save(bad, tmp_path, session=f"s{number}"),
                           measure=True)
        assert done.code != program.EXIT_OK or field == b"\x22", done.out
        within_three_times(done, len(bad))


NOT_PROFILES = {
    "empty": b"", "text": b"step,time\n1,2\n" * 100, "zeros": bytes(4096),
    "html": b"<!doctype html><title>404</title>", "elf": b"\x7fELF" + bytes(range(256)) * 8,
    "json": b'{"traceEvents": []}', "gzip": gzip.compress(b"hello"), "one byte": b"\x0a",
}


@pytest.mark.parametrize("what", sorted(NOT_PROFILES))
def test_what_is_no_profile(what, tmp_path):
    path = profiles.save(NOT_PROFILES[what], tmp_path)
    for command in ("inspect", "events"):
        done = program.run(command, path)
        assert done.code != program.EXIT_OK, (command, done.code)
        said = done.out + done.err
        # Never a bare failure: a name, and the file that it is about.
        assert b"XPLANE_" in said or b"EMPTY" in said or b"error: " in said, said
        assert b"host0" in said


@pytest.mark.parametrize("ending, bad", [
    (".xplane.pb.gz", gzip.compress(os.urandom(3000))), (".xplane.pb.gz", b"not gzip at all"),
    (".xplane.pb.xz", b"\xfd7zXZ\x00broken"), (".xplane.pb.zst", b"\x28\xb5\x2f\xfdbroken"),
    (".xplane.riegeli", b"riegeli/no"), (".trace.json.gz", gzip.compress(b'{"traceEvents": [{')),
    (".trace.json.gz", b"{}")])
def test_damaged_wrappings(ending, bad, tmp_path):
    done = program.run("inspect", profiles.save(bad, tmp_path, ending=ending))
    assert done.code != program.EXIT_OK
    assert b"host0" in done.out + done.err


@pytest.mark.parametrize("keep", [0.2, 0.7, 0.99])
def test_cut_gzip_shows_what_was_whole(keep, tmp_path):
    with open(SAMPLE, "rb") as file:
        packed = gzip.compress(file.read())
    path = profiles.save(packed[:int(len(packed) * keep)], tmp_path, ending=".xplane.pb.gz")
    answer = program.inspect(path, [program.EXIT_PARTIAL])
    host = answer["completeness"]["hosts"][0]
    assert host["state"] == "partial"
    whole = len(profiles.events_of(SAMPLE))  # behind them lie the modules' programs
    assert 0 < host["events"] <= whole and (keep > 0.5 or host["events"] < whole)


def test_gzip_bomb_is_refused_or_bounded(tmp_path):
    """1 GiB of zeros in a megabyte: nothing may inflate it into memory."""
    bomb = gzip.compress(bytes(64 * MIB), 9) * 16
    done = program.run("inspect", profiles.save(bomb, tmp_path, ending=".xplane.pb.gz"),
                       measure=True)
    assert done.code != program.EXIT_OK
    assert done.max_rss_bytes < 256 * MIB


def test_broken_file_of_the_corpus(corpus):
    path = os.path.join(corpus, "broken", "tpu_inference.utf8-damaged.xplane.pb")
    answer = program.inspect(path, [program.EXIT_PARTIAL])
    (host,) = answer["completeness"]["hosts"]
    assert host["state"] in ("partial", "damaged")
    assert host["damage"][0]["name"].startswith("XPLANE_")
    # Every byte above 0x7f was replaced by three, so the file says less than it has; the length
    # of the first plane is the first thing that cannot be true.
    assert host["damage"][0]["offset_bytes"] < 64
    done = program.run("inspect", path, measure=True)
    assert done.code == program.EXIT_PARTIAL
    within_three_times(done, os.path.getsize(path))
