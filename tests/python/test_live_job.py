"""The live job does what captures rely on: it says when it is ready, answers, and ends well.

The request is encoded by hand from the field numbers, so this shares nothing with Strobe's own
capture client.
"""

import os
import signal
import socket
import subprocess
import sys
import threading

import grpc
import pytest

import make_expected
import sample_truth
import xplane_reader

JOB = os.path.join(make_expected.REPOSITORY, "tests", "jobs", "live_job.py")
READY_LIMIT_S = 120
CALL_LIMIT_S = 60
CAPTURE_TRIES = 8
STALL_EVERY, STALL_MS = 16, 150  # as live_job.py plants them


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile_request(duration_ms):
    """ProfileRequest: duration, options (levels literal, HLO on), session, XSpace inline."""
    options = (field(2, 2) + field(3, 1) + field(5, 1) + field(7, 1) + field(9, duration_ms))
    return field(1, duration_ms) + field(4, options) + field(6, b"test") + field(9, 1)


def xspace_of(response):
    """The bytes of field 8 of a ProfileResponse."""
    position = 0
    while position < len(response):
        tag, position = read_varint(response, position)
        length, position = read_varint(response, position)
        if tag & 7 == 0:
            continue
        assert tag & 7 == 2, f"wire type {tag & 7} at {position}"
        if tag >> 3 == 8:
            return response[position:position + length]
        position += length
    return b""


def read_varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, position


class Job:
    """A running live job; READY has been read."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, JOB, "--follow-parent", *arguments], stdout=subprocess.PIPE,
            text=True)
        watch = threading.Timer(READY_LIMIT_S, self.process.kill)
        watch.start()
        words = self.process.stdout.readline().split()
        watch.cancel()
        assert words[:2] == ["PROFILER", "READY"], words
        self.target, self.process_id = words[2], int(words[3])

    def profile(self, duration_ms):
        with grpc.insecure_channel(
                self.target, options=[("grpc.max_receive_message_length", -1)]) as channel:
            call = channel.unary_unary("/tensorflow.ProfilerService/Profile")
            response = call(profile_request(duration_ms), timeout=CALL_LIMIT_S)
        return xplane_reader.space_class().FromString(xspace_of(response))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        rest = self.process.stdout.read()
        return self.process.wait(timeout=CALL_LIMIT_S), rest


@pytest.fixture
def start():
    jobs = []

    def begin(*arguments):
        jobs.append(Job(*arguments))
        return jobs[-1]

    yield begin
    for job in jobs:
        job.process.kill()
        job.process.wait()
        job.process.stdout.close()


def names_in(space):
    summary = xplane_reader.summarise(space, names=True)
    return {n: c for plane in summary["planes"] for n, c in plane["names"].items()}, summary


def test_light_job_is_captured_and_ends_on_sigterm(start):
    job = start("--light")
    names, summary = names_in(job.profile(1000))
    assert names["train"] >= 1
    assert names["tokenize"] >= 1
    ids = {v for plane in summary["planes"] for k, v in plane["stats"] if k == "process_id"}
    assert ids == {job.process_id}
    assert job.process_id == job.process.pid
    code, rest = job.end()
    assert code == 0
    assert rest.startswith("PROFILER DONE steps=")


def stalled_reads(space):
    """Durations of the `read_shard` events whose batch is one of those planted to be late."""
    return [event.duration_ps for event in sample_truth.observe(space)["events"]
            if event.name == "read_shard" and event.stats["shard"] % STALL_EVERY == 0]


def test_full_job_shows_steps_stalls_and_named_scopes(start):
    job = start("--devices", "2")
    for _ in range(CAPTURE_TRIES):  # a busy machine may need more than one for 16 batches
        space = job.profile(2500)
        stalls = stalled_reads(space)
        if stalls:
            break
    assert stalls and min(stalls) >= STALL_MS * sample_truth.PICOSECONDS_PER_MS
    names, summary = names_in(space)
    assert names["train"] >= 1
    assert names["wait_for_batch"] >= 1
    assert summary["errors"] == []
    data = space.SerializeToString()
    for scope in (b"layer_0", b"layer_1", b"attention", b"mlp", b"optimizer"):
        assert scope in data
    assert job.end()[0] == 0


def test_it_ends_by_itself_after_the_seconds_asked_for(start):
    job = start("--light", "--seconds", "0.3")
    assert job.process.wait(timeout=CALL_LIMIT_S) == 0


def test_a_taken_port_is_refused():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run([sys.executable, JOB, "--light", "--port", str(port)],
                              capture_output=True, text=True, timeout=READY_LIMIT_S, check=False)
    assert done.returncode == 1
    assert f"port {port} is not free" in done.stderr
