"""What the console shows of each sample, against what its job planted (TRUTH.json)."""

import json
import os

import pytest

import profiles
import program

PS_PER_MS = 10**9
PS_PER_US = 10**6
# A step's event lies inside the job's own measurement of it (tests/python/sample_truth.py).
STEP_SLACK_US = 3000


def truth(sample):
    with open(os.path.join(program.SAMPLES, sample, "TRUTH.json"), encoding="utf-8") as file:
        return json.load(file)


def overview(server, sample):
    return server.json(server.session(truth(sample)["session"]) + "/overview")


def steps_of(answer):
    return {int(item["name"]): item["duration_ps"] for item in answer["steps"]["items"]}


def operations(answer):
    return {op["name"]: op for op in answer["top_ops"]}


@pytest.mark.parametrize("sample", ["input-stall", "four-devices", "recompile", "trace-only"])
def test_steps_are_those_of_the_job(sample, samples_server):
    planted = truth(sample)["hosts"][0]["steps"]["items"]
    answer = overview(samples_server, sample)
    found = steps_of(answer)
    assert answer["steps"]["count"] == len(planted)
    assert sorted(found) == [step["number"] for step in planted]
    for step in planted:
        late_us = step["duration_us"] - found[step["number"]] / PS_PER_US
        assert -50 <= late_us <= STEP_SLACK_US, step


def test_stalls_stand_out(samples_server):
    stalls = {int(k): v for k, v in truth("input-stall")["hosts"][0]["planted"]["stalls_ms"]
              .items()}
    assert stalls == {6: 40, 13: 60, 20: 80}
    found = steps_of(overview(samples_server, "input-stall"))
    longest = sorted(found, key=found.get)[-3:]
    assert longest == [6, 13, 20], "the stalled steps, the worst last"
    usual = sorted(found.values())[len(found) // 2]
    for number, stall_ms in stalls.items():
        assert abs(found[number] - usual - stall_ms * PS_PER_MS) < 3 * PS_PER_MS, number


def test_compiling_steps_stand_out(samples_server):
    compiling = [c["step"] for c in truth("recompile")["hosts"][0]["compilations"]]
    found = steps_of(overview(samples_server, "recompile"))
    usual = sorted(found.values())[len(found) // 2]
    assert sorted(n for n, d in found.items() if d > 20 * usual) == compiling == [5, 9, 15]
    session = samples_server.session(truth("recompile")["session"])
    assert samples_server.json(session + "/search?q=backend_compile_and_load")["total"] == 3


@pytest.mark.parametrize("sample", ["input-stall", "four-devices", "recompile", "two-hosts"])
def test_operations_and_their_times(sample, samples_server):
    """Every operation listed, its count and its total, summed over the hosts."""
    wanted = {}
    for host in truth(sample)["hosts"]:
        for name, facts in host["operation_totals"].items():
            count, total = wanted.get(name, (0, 0))
            wanted[name] = (count + facts["events"], total + facts["total_ps"])
    found = operations(overview(samples_server, sample))
    assert {n: (op["count"], op["total_ps"]) for n, op in found.items()} == {
        n: wanted[n] for n in found}
    assert len(found) == min(len(wanted), 100)
    heaviest = max(wanted, key=lambda name: wanted[name][1])
    assert heaviest in list(found)[:5]


@pytest.mark.parametrize("sample, each", [("four-devices", 32), ("two-hosts", 24)])
def test_all_reduces(sample, each, samples_server):
    planted = {}
    for host in truth(sample)["hosts"]:
        for name, facts in host["operations"].items():
            planted[name] = planted.get(name, 0) + facts["events"]
    assert set(planted.values()) == {each}
    found = operations(overview(samples_server, sample))
    for name, count in planted.items():
        assert found[name]["count"] == count
        assert found[name]["category"] == "collective"
    # The search finds the same ones, and the one more that ends each.
    session = samples_server.session(truth(sample)["session"])
    hits = samples_server.json(session + "/search?q=/^all-reduce/&limit=10000")
    assert hits["total"] == sum(planted.values())


def test_hosts_and_devices(samples_server):
    for sample in ("two-hosts", "four-devices", "input-stall"):
        hosts = truth(sample)["hosts"]
        answer = overview(samples_server, sample)
        assert [h["host"] for h in answer["hosts"]] == [h["host"] for h in hosts]
        # JAX's CPU backend has one plane for all of its devices.
        assert [(d["host"], d["kind"]) for d in answer["devices"]] == [
            (h["host"], "CPU") for h in hosts]
        names = [f for h in hosts for f in h["files"] if ".xplane.pb" in f]
        assert answer["event_count"] == sum(
            h["files"][f]["events"] for h in hosts for f in h["files"] if f in names)


def test_straggler_is_visible(samples_server):
    """trainer-1 was late by 25 ms in each of its 12 steps; trainer-0 never."""
    session = samples_server.session(truth("two-hosts")["session"])
    hits = samples_server.json(session + "/search?q=slow_preprocessing")
    assert hits["total"] == 12
    assert {hit["event"].split(".")[0] for hit in hits["hits"]} == {"1"}
    assert all(hit["duration_ps"] >= 25 * PS_PER_MS for hit in hits["hits"])


def test_module_names_of_the_executions(samples_server):
    """Each operation tells the module that it belongs to, as the compiler named it."""
    for sample in ("input-stall", "four-devices", "two-hosts"):
        (module,) = {m["name"] for h in truth(sample)["hosts"] for m in h["modules"]}
        answer = overview(samples_server, sample)
        session = samples_server.session(truth(sample)["session"])
        for op in answer["top_ops"][:10]:
            detail = samples_server.json(f"{session}/events/{op['event']}")
            stats = {s["name"]: s["value"] for s in detail["stats"]}
            assert detail["name"] == op["name"]
            assert stats["hlo_op"] == op["name"]
            assert stats["hlo_module"] == module


def test_trace_only_session(samples_server):
    """A session of trace.json.gz alone has its lines, events and tiles like any other."""
    facts = truth("trace-only")["hosts"][0]
    threads = facts["files"]["trainer-0.trace.json.gz"]["threads"]
    session = samples_server.session("threads")
    tree = samples_server.lines(session)
    lines = [line for h in tree["hosts"] for p in h["planes"] for line in p["lines"]]
    assert {line["thread_id"]: line["event_count"] for line in lines} == {
        str(t["tid"]): t["events"] for t in threads}
    for number, unit_ms in enumerate((4, 8, 12)):
        hits = samples_server.json(f"{session}/search?q=task_{number}")
        assert hits["total"] == 5
        assert all(hit["duration_ps"] >= unit_ms * PS_PER_MS for hit in hits["hits"])
        assert all(hit["duration_ps"] < (unit_ms + 3) * PS_PER_MS for hit in hits["hits"])
    answer = samples_server.get(f"{session}/tiles/0.0.0/36/0?v={tree['version']}")
    assert answer.status == 200 and answer.body[:4] == b"STL1"


def test_idle_session(samples_server):
    session = samples_server.session("idle")
    answer = samples_server.json(session + "/overview")
    assert answer["event_count"] == 0
    assert answer["steps"] is None and answer["steps_reason"]
    assert answer["top_ops"] == [] and answer["top_ops_reason"]
    # The profiler's own window: from its start to its stop, by the file.
    path = os.path.join(program.SAMPLES, "idle/plugins/profile/idle/trainer-0.xplane.pb")
    assert 100 * PS_PER_MS <= answer["duration_ps"] < 200 * PS_PER_MS
    detail = samples_server.json(session)
    assert detail["origin_unix_ns"] == str(profiles.start_unix_ns(path))
    record = samples_server.json(session + "/completeness")
    assert any("no event" in reason for reason in record["reasons"])


def test_event_details_have_the_stats_of_the_file(samples_server):
    """All stats of some events, value by value, as the independent reader has them."""
    import xplane_reader  # the path is set by conftest.py
    path = os.path.join(program.SAMPLES, "input-stall/plugins/profile/training",
                        "trainer-0.xplane.pb")
    space = xplane_reader.read(path)
    (plane,) = [p for p in space.planes if p.name == "/host:CPU"]
    wanted = {}
    for number, line in enumerate(plane.lines):
        for event in line.events:
            key = (number, line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps,
                   plane.event_metadata[event.metadata_id].name)
            wanted[key] = xplane_reader.named_stats(plane, event.stats)
    session = samples_server.session("training")
    checked = 0
    for query in ("dot.3", "train", "ThreadpoolListener"):
        for hit in samples_server.json(f"{session}/search?q={query}&limit=20")["hits"]:
            detail = samples_server.json(f"{session}/events/{hit['event']}")
            key = (int(hit["event"].split(".")[2]), detail["start_ps"], detail["duration_ps"],
                   detail["name"])
            own = [s for s in detail["stats"] if s["origin"] == "event"]
            assert [(s["name"], str(s["value"])) for s in own] == [
                (name, str(value)) for name, value in wanted[key]]
            checked += len(own)
    assert checked > 50
