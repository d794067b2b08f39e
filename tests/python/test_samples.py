"""The samples still show what was planted in them, and tell nothing of who made them."""

import json
import os

import pytest

import make_expected
import sample_truth
import xplane_reader

SAMPLES = os.path.join(make_expected.REPOSITORY, "samples")
NAMES = sorted(n for n in os.listdir(SAMPLES)
               if os.path.exists(os.path.join(SAMPLES, n, "TRUTH.json")))
SIZE_LIMIT_BYTES = 2_000_000


def truth_of(sample):
    with open(os.path.join(SAMPLES, sample, "TRUTH.json"), encoding="utf-8") as file:
        return json.load(file)


def files_of(sample):
    truth = truth_of(sample)
    folder = os.path.join(SAMPLES, sample, "plugins", "profile", truth["session"])
    return [(host, os.path.join(folder, name), expected)
            for host in truth["hosts"] for name, expected in host["files"].items()]


def test_all_samples_are_here():
    assert NAMES == ["four-devices", "idle", "input-stall", "recompile", "trace-only", "two-hosts"]


@pytest.mark.parametrize("sample", NAMES)
def test_every_profile_is_accounted_for(sample):
    listed = {path for _, path, _ in files_of(sample)}
    assert listed == set(make_expected.profiles_below(os.path.join(SAMPLES, sample)))


@pytest.mark.parametrize("sample", NAMES)
def test_counts_fit_the_files(sample):
    for _, path, expected in files_of(sample):
        assert make_expected.expect_file(path) == expected
        assert expected["size_bytes"] <= SIZE_LIMIT_BYTES


@pytest.mark.parametrize("sample", NAMES)
def test_planted_facts_show(sample):
    for host, path, expected in files_of(sample):
        if expected["kind"] == "xplane":
            observation = sample_truth.observe(xplane_reader.read(path))
            assert sample_truth.disagreements(host, observation) == []
            assert observation["modules"] == host["metadata_modules"]


@pytest.mark.parametrize("sample", NAMES)
def test_nothing_tells_of_the_machine(sample):
    for _, path, _ in files_of(sample):
        data = xplane_reader.read_bytes(path)
        assert sample_truth.leaks(data) == []


def test_the_straggler_shows_as_waiting_on_the_other_host():
    hosts = {host["host"]: host for host in truth_of("two-hosts")["hosts"]}
    totals = {name: sum(host["operation_totals"][op]["total_ps"] for op in host["operations"])
              for name, host in hosts.items()}
    steps = len(hosts["trainer-0"]["steps"]["items"])
    planted_ps = steps * hosts["trainer-1"]["planted"]["lag_ms"] * sample_truth.PICOSECONDS_PER_MS
    assert totals["trainer-0"] - totals["trainer-1"] > 0.7 * planted_ps


def test_stalls_show_as_the_slowest_steps():
    host = truth_of("input-stall")["hosts"][0]
    slowest = sorted(host["steps"]["items"], key=lambda s: -s["duration_us"])[:3]
    assert [(s["number"], s["planted_stall_ms"]) for s in slowest] == [(20, 80), (13, 60), (6, 40)]


@pytest.mark.parametrize("field,value,expected", [
    ("host", "elsewhere", "host names"), ("process_id", 1, "process"),
    ("operations", {"no-such-operation": {"events": 3}}, "operation no-such-operation"),
    ("modules", [{"name": "jit_train_step", "executions": 1}], "jit_train_step ran"),
    ("annotations", {"load_batch": {"count": 24, "total_at_least_ms": 1e6}}, "load_batch"),
    ("compilations", [{"step": 2}], "compilations"), ("local_device_count", 7, "devices")])
def test_a_wrong_fact_is_noticed(field, value, expected):
    host, path, _ = next(f for f in files_of("input-stall") if f[2]["kind"] == "xplane")
    observation = sample_truth.observe(xplane_reader.read(path))
    problems = sample_truth.disagreements({**host, field: value}, observation)
    assert any(expected in problem for problem in problems), problems


def test_a_leak_is_noticed():
    assert sample_truth.leaks(b"\x12\x20/srv/elsewhere/train.py\x00") == ["/srv/elsewhere/train.py"]
    assert sample_truth.leaks(b"lib/python3.11/site-packages/jax") == ["site-packages"]
    assert sample_truth.leaks(b"\x0a\x11/opt/job/model.py /xla/xla/pjrt/client.cc") == []
