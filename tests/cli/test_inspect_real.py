"""`strobe inspect --json` of every real profile against tests/golden/sessions.json.

The golden counts come from protobuf's own classes (make_expected.py), never from Strobe.
"""

import gzip
import json
import lzma
import os
import subprocess

import pytest
import zstandard

import make_expected
import profiles
import program

PS_PER_NS = 1000
# A wall clock, as opposed to a time that counts from the profile's own start: after 1971.
WALL_CLOCK_PS = 365 * 86400 * 10**12
# JAX writes microseconds with three digits of a nanosecond, as doubles.
TRACE_JSON_TOLERANCE_PS = 1500


def golden():
    with open(make_expected.GOLDEN, encoding="utf-8") as file:
        return json.load(file)


GOLDEN = golden()
XPLANES = sorted(path for path, facts in GOLDEN.items() if facts["kind"] == "xplane")
# A trace.json.gz beside an xplane.pb is another form of the same; alone it is the session.
TRACES = sorted(path for path, facts in GOLDEN.items() if facts["kind"] == "trace_json")
RIEGELI = sorted(path for path, facts in GOLDEN.items() if facts["kind"] == "riegeli")


def plane_rows(answer):
    """{plane index: {line index: line}} of the only host."""
    (host,) = answer["lines"]["hosts"]
    return {int(p["id"].split(".")[1]): (p, {int(row["id"].split(".")[2]): row
                                             for row in p["lines"]}) for p in host["planes"]}


def check_line(row, wanted, origin_ps):
    assert row["name"] == wanted["name"]
    assert row["thread_id"] == str(wanted["id"])
    assert row["event_count"] == wanted["events"]
    if wanted["first_ps"] is None:
        return
    shift = origin_ps if wanted["first_ps"] > WALL_CLOCK_PS else 0
    assert row["start_ps"] == wanted["first_ps"] - shift, row
    assert row["end_ps"] == wanted["last_ps"] - shift, row


@pytest.mark.parametrize("path", XPLANES)
def test_planes_lines_and_times(path, corpus):
    facts = GOLDEN[path]
    file = os.path.join(corpus, "sessions", path)
    # Some real files are not flawless (an event beyond the window); then the code says so.
    answer = program.inspect(file, [program.EXIT_OK, program.EXIT_PARTIAL])
    record = answer["completeness"]["hosts"][0]
    assert record["events"] == facts["events"]
    assert record["planes"] == len(facts["planes"])
    assert record["lines"] == sum(len(p["lines"]) for p in facts["planes"])
    assert record["size_bytes"] == record["readable_bytes"] == facts["size_bytes"]
    assert record["damage"] == []
    # Of planes without lines only those of devices are listed: an idle device is worth seeing.
    found = plane_rows(answer)
    assert sorted(found) == [i for i, p in enumerate(facts["planes"])
                             if p["lines"] or p["name"].startswith("/device:")]
    origin_ps = int(answer["origin_unix_ns"] or 0) * PS_PER_NS
    for index, (plane, rows) in found.items():
        wanted = facts["planes"][index]
        assert (plane["name"], plane["event_count"]) == (wanted["name"], wanted["events"])
        assert sorted(rows) == list(range(len(wanted["lines"])))
        for number, row in rows.items():
            check_line(row, wanted["lines"][number], origin_ps)


@pytest.mark.parametrize("path", [p for p in XPLANES if not p.endswith(".xz")])
def test_origin_is_where_the_profiler_began(path, corpus):
    file = os.path.join(corpus, "sessions", path)
    wanted = profiles.start_unix_ns(file)
    if wanted is None:  # older profiles: the first time on any line
        walls = [row["timestamp_ns"] for p in GOLDEN[path]["planes"] for row in p["lines"]
                 if row["events"] and row["timestamp_ns"] * PS_PER_NS > WALL_CLOCK_PS]
        wanted = min(walls, default=None)
    answer = program.inspect(file, [program.EXIT_OK, program.EXIT_PARTIAL])
    assert answer["origin_unix_ns"] == (None if wanted is None else str(wanted))


@pytest.mark.parametrize("path", TRACES)
def test_trace_json_alone(path, corpus, tmp_path):
    facts = GOLDEN[path]
    file = os.path.join(corpus, "sessions", path)
    os.symlink(file, tmp_path / os.path.basename(path))
    answer = program.inspect(tmp_path / os.path.basename(path),
                             [program.EXIT_OK, program.EXIT_PARTIAL])
    assert answer["completeness"]["hosts"][0]["events"] == facts["events"]
    (host,) = answer["lines"]["hosts"]
    # Both sides as (process, thread, id, events, start, end).
    found = sorted((p["name"], row["name"], int(row["thread_id"]), row["event_count"],
                    row["start_ps"], row["end_ps"]) for p in host["planes"] for row in p["lines"])
    wanted = sorted((t["process"], t["thread"], t["tid"], t["events"], t["first_ps"],
                     t["last_ps"]) for t in facts["threads"])
    assert [row[:4] for row in found] == [row[:4] for row in wanted]
    for row, other in zip(found, wanted):
        assert abs(row[4] - other[4]) <= TRACE_JSON_TOLERANCE_PS
        assert abs(row[5] - other[5]) <= TRACE_JSON_TOLERANCE_PS


@pytest.mark.parametrize("path", RIEGELI)
def test_riegeli(path, corpus):
    facts = GOLDEN[path]
    answer = program.inspect(os.path.join(corpus, "sessions", path),
                             [program.EXIT_OK, program.EXIT_PARTIAL])
    assert answer["completeness"]["hosts"][0]["events"] == facts["events"]
    found = {p["name"]: p for p in answer["lines"]["hosts"][0]["planes"]}
    for wanted in facts["planes"]:
        if not wanted["events"]:
            continue
        plane = found[wanted["name"]]
        rows = {int(row["thread_id"]): row for row in plane["lines"]}
        assert plane["event_count"] == wanted["events"]
        assert sorted(rows) == sorted(row["id"] for row in wanted["lines"])
        for line in wanted["lines"]:
            check_line(rows[line["id"]], line, int(answer["origin_unix_ns"] or 0) * PS_PER_NS)


def test_whole_session_of_two_hosts(corpus):
    folder = os.path.join(corpus, "sessions/cpu-jax-two-process/plugins/profile/two_hosts")
    hosts = ["strobe-host-0", "strobe-host-1"]
    starts = [profiles.start_unix_ns(os.path.join(folder, h + ".xplane.pb")) for h in hosts]
    answer = program.inspect(folder)
    assert answer["origin_unix_ns"] == str(min(starts))
    assert [h["host"] for h in answer["lines"]["hosts"]] == hosts
    for host, start, record in zip(hosts, starts, answer["completeness"]["hosts"]):
        facts = GOLDEN[f"cpu-jax-two-process/plugins/profile/two_hosts/{host}.xplane.pb"]
        assert record["events"] == facts["events"]
        # One clock for all: who began later is shifted by as much.
        assert record["clock_offset_ps"] == (start - min(starts)) * PS_PER_NS
        tree = answer["lines"]["hosts"][hosts.index(host)]
        for plane in tree["planes"]:
            wanted = facts["planes"][int(plane["id"].split(".")[1])]
            for row in plane["lines"]:
                line = wanted["lines"][int(row["id"].split(".")[2])]
                assert row["start_ps"] == line["first_ps"] + record["clock_offset_ps"]
                assert row["end_ps"] == line["last_ps"] + record["clock_offset_ps"]


PACKERS = {".gz": gzip.compress, ".xz": lambda data: lzma.compress(data, preset=0),
           ".zst": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("ending", sorted(PACKERS))
def test_packed_file_is_the_same_profile(ending, tmp_path):
    source = os.path.join(program.SAMPLES, "four-devices/plugins/profile/mesh_2x2",
                          "trainer-0.xplane.pb")
    with open(source, "rb") as file:
        data = file.read()
    plain = program.inspect(source)
    path = profiles.save(PACKERS[ending](data), tmp_path, host="trainer-0",
                         ending=".xplane.pb" + ending)
    packed = program.inspect(path)
    assert packed["lines"]["hosts"] == plain["lines"]["hosts"]
    assert packed["lines"]["window"] == plain["lines"]["window"]
    assert packed["origin_unix_ns"] == plain["origin_unix_ns"]
    assert program.events(path, "--line", "python") == program.events(source, "--line", "python")


def test_samples_as_their_truth_says():
    for sample in sorted(os.listdir(program.SAMPLES)):
        truth_path = os.path.join(program.SAMPLES, sample, "TRUTH.json")
        if not os.path.exists(truth_path):
            continue
        with open(truth_path, encoding="utf-8") as file:
            truth = json.load(file)
        answer = program.inspect(os.path.join(program.SAMPLES, sample),
                                 [program.EXIT_OK, program.EXIT_PARTIAL])
        records = {h["file"]: h for h in answer["completeness"]["hosts"]}
        for host in truth["hosts"]:
            names = [n for n in host["files"] if ".xplane." in n] or list(host["files"])
            (name,) = names
            facts = host["files"][name]
            assert records[name]["events"] == facts["events"], name
            assert records[name]["size_bytes"] == facts["size_bytes"]


def test_text_form_names_what_it_found():
    done = program.run("inspect", os.path.join(program.SAMPLES, "two-hosts"))
    assert done.code == 0
    assert "trainer-0.xplane.pb" in done.text() and "trainer-1.xplane.pb" in done.text()
    assert "State     complete" in done.text()


def test_output_that_nobody_reads_ends_quietly():
    """`strobe events ... | head -1` must not end in a crash."""
    child = subprocess.Popen(
        [program.BINARY, "events", os.path.join(program.SAMPLES, "four-devices"), "--csv",
         "--limit", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.readline()
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    code = child.wait(timeout=program.LIMIT_S)
    assert code in (0, 1, -13), (code, said)  # -13 is SIGPIPE, the usual end of such a pipe
