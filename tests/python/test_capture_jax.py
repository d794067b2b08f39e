"""`strobe capture` against real JAX processes: what it saves, and what it does when things go wrong.

What was saved is judged by the oracle reader and by the job itself (its process id, its steps),
never by Strobe. The program is build/strobe, or $STROBE_BINARY.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import grpc
import pytest

import make_expected
import xplane_reader
from test_live_job import Job, names_in, profile_request

BINARY = os.environ.get("STROBE_BINARY",
                        os.path.join(make_expected.REPOSITORY, "build", "strobe"))
LIMIT_S = 120  # far above any of these on a busy machine
SESSION = re.compile(r"\d{4}(_\d\d){5}_\d{3}_[0-9a-f]{4}")
STEP = "train"


@pytest.fixture(scope="module", autouse=True)
def program_is_there():
    assert os.access(BINARY, os.X_OK), f"{BINARY} is missing; ./dev build makes it"


@pytest.fixture(scope="module")
def job():
    """One light job for all tests that leave it as it was."""
    running = Job("--light")
    yield running
    running.process.kill()
    running.process.wait()
    running.process.stdout.close()


@pytest.fixture
def start():
    jobs = []

    def begin():
        jobs.append(Job("--light"))
        return jobs[-1]

    yield begin
    for each in jobs:
        each.process.kill()
        each.process.wait()
        each.process.stdout.close()


def begin_capture(targets, directory, duration="2s", *more):
    return subprocess.Popen(
        [BINARY, "capture", ",".join(targets), "--duration", duration, "--into", str(directory),
         *more], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def end_of(process):
    """(exit code, everything that it printed)."""
    try:
        printed, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        printed, _ = process.communicate()
        pytest.fail(f"the capture did not end within {LIMIT_S} s; it printed:\n{printed}")
    return process.returncode, printed


def capture(targets, directory, duration="2s", *more):
    return end_of(begin_capture(targets, directory, duration, *more))


def sessions_in(directory):
    """{session name: {file name: XSpace}} of a log directory; nothing else may lie there."""
    found = {}
    for folder, _, files in os.walk(directory):
        for name in files:
            relative = os.path.relpath(folder, directory).split(os.sep)
            assert relative[:2] == ["plugins", "profile"] and len(relative) == 3, folder
            assert name.endswith(".xplane.pb"), f"{name} was left behind"
            found.setdefault(relative[2], {})[name] = xplane_reader.read(
                os.path.join(folder, name))
    return found


def only_file(directory):
    (files,) = sessions_in(directory).values()
    ((name, space),) = files.items()
    return name, space


def stats_of(space, plane_name):
    (plane,) = [p for p in space.planes if p.name == plane_name]
    return dict(xplane_reader.named_stats(plane, plane.stats))


def process_id(space):
    return stats_of(space, "/host:CPU")["process_id"]


def window_ns(space):
    stats = stats_of(space, "Task Environment")
    return stats["profile_start_time"], stats["profile_stop_time"]


def step_numbers(space):
    numbers = []
    for plane in space.planes:
        names = {key: entry.name for key, entry in plane.event_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                if names.get(event.metadata_id) == STEP:
                    numbers.append(dict(xplane_reader.named_stats(plane, event.stats))["step_num"])
    return sorted(numbers)


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_recording(job, still_wanted=lambda: True):
    """Until the job's profiler refuses another recording, or the one awaited is no longer wanted.

    The question is itself a recording of no length, and may be what refuses the one awaited: a
    caller whose own recording does not try again must say when it was refused.
    """
    with grpc.insecure_channel(job.target) as channel:
        call = channel.unary_unary("/tensorflow.ProfilerService/Profile")
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            try:
                call(profile_request(0), timeout=LIMIT_S)  # ends at once
                if not still_wanted():
                    return
            except grpc.RpcError as error:
                assert "Another profiling session active" in error.details(), error
                return
            time.sleep(0.02)
    pytest.fail("no recording began")


def test_steps_of_the_job_are_inside(job, tmp_path):
    code, printed = capture([job.target], tmp_path)
    assert code == 0, printed
    ((session, files),) = sessions_in(tmp_path).items()
    assert SESSION.fullmatch(session), session
    ((name, space),) = files.items()
    assert name == space.hostnames[0] + ".xplane.pb"
    assert process_id(space) == job.process_id
    begin_ns, end_ns = window_ns(space)
    assert end_ns - begin_ns >= 1.9e9
    steps = step_numbers(space)
    assert len(steps) >= 2
    assert steps == list(range(steps[0], steps[-1] + 1)), "a step is missing"
    names, summary = names_in(space)
    assert names["tokenize"] >= 1
    assert summary["errors"] == []
    assert any(plane.name == "/host:metadata" and plane.event_metadata for plane in space.planes)


def test_named_session_is_not_overwritten(job, tmp_path):
    assert capture([job.target], tmp_path, "300ms", "--session", "first")[0] == 0
    before = only_file(tmp_path)[1].SerializeToString()
    code, printed = capture([job.target], tmp_path, "300ms", "--session", "first")
    assert code != 0
    assert "first" in printed
    assert only_file(tmp_path)[1].SerializeToString() == before


def test_two_captures_at_once_take_turns(job, tmp_path):
    both = [begin_capture([job.target], tmp_path, "1s") for _ in range(2)]
    for code, printed in [end_of(process) for process in both]:
        assert code == 0, printed
    sessions = sessions_in(tmp_path)
    assert len(sessions) == 2
    windows = sorted(window_ns(space) for files in sessions.values() for space in files.values())
    assert windows[0][1] <= windows[1][0], "two recordings of one process overlap"


def test_busy_is_told_apart_from_broken(job, tmp_path):
    # Somebody else holds the profiler for longer than a capture waits for it.
    with grpc.insecure_channel(job.target) as channel:
        call = channel.unary_unary("/tensorflow.ProfilerService/Profile")
        holding = call.future(profile_request(120_000), timeout=LIMIT_S)
        wait_until_recording(job, lambda: not holding.done())
        while holding.done():  # refused, because it met the question whether it records
            holding = call.future(profile_request(120_000), timeout=LIMIT_S)
            wait_until_recording(job, lambda: not holding.done())
        code, printed = capture([job.target], tmp_path)
        holding.cancel()
    assert code != 0
    assert "busy" in printed, printed
    assert "another profile is being taken" in printed, printed
    assert sessions_in(tmp_path) == {}


def test_interrupt_keeps_what_was_recorded(job, tmp_path):
    process = begin_capture([job.target], tmp_path, "100s")
    wait_until_recording(job)
    time.sleep(1.5)  # something must be recorded: the job makes 20 steps a second
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, printed = end_of(process)
    assert time.monotonic() - began < 60
    space = only_file(tmp_path)[1]
    begin_ns, end_ns = window_ns(space)
    assert 1e9 <= end_ns - begin_ns < 60e9, printed
    assert len(step_numbers(space)) >= 2
    # The profiler is free again.
    assert process_id(job.profile(200)) == job.process_id


def test_dead_target_beside_a_living_one(job, tmp_path):
    dead = f"127.0.0.1:{unused_port()}"
    _, printed = capture([dead, job.target], tmp_path, "1s")
    assert process_id(only_file(tmp_path)[1]) == job.process_id
    assert dead in printed and "cannot be reached" in printed, printed


def test_only_dead_targets(tmp_path):
    dead = f"127.0.0.1:{unused_port()}"
    code, printed = capture([dead], tmp_path, "1s")
    assert code != 0
    assert "cannot be reached" in printed and "start_server" in printed, printed
    assert sessions_in(tmp_path) == {}


def test_two_jobs_start_together(job, start, tmp_path):
    other = start()
    code, printed = capture([job.target, other.target], tmp_path, "1s")
    assert code == 0, printed
    (files,) = sessions_in(tmp_path).values()
    assert len(files) == 2
    for each in (job, other):
        (space,) = [s for name, s in files.items()
                    if name.endswith(f"_{each.target.split(':')[1]}.xplane.pb")]
        assert process_id(space) == each.process_id
        assert step_numbers(space)
    starts = [window_ns(space)[0] for space in files.values()]
    assert abs(starts[0] - starts[1]) < 0.5e9
    assert "same process" not in printed


def test_one_server_under_two_names_is_told(start, tmp_path):
    job = start()
    port = job.target.split(":")[1]
    # The second waits until the first is done, then the same process answers again.
    code, printed = capture([job.target, f"localhost:{port}"], tmp_path, "500ms")
    assert code == 0, printed
    assert f"the same process ({job.process_id})" in printed, printed


def test_job_that_is_killed(start, tmp_path):
    job = start()
    process = begin_capture([job.target], tmp_path, "100s")
    wait_until_recording(job)
    threading.Timer(0.5, job.process.kill).start()
    code, printed = end_of(process)
    assert code != 0
    assert "connection was lost" in printed, printed
    assert sessions_in(tmp_path) == {}


IDLE_JOB = """
import os, sys
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
server = jax.profiler.start_server(int(sys.argv[1]))
print("READY", flush=True)
sys.stdin.read()
"""


def test_idle_job_gives_nothing_and_says_so(tmp_path):
    port = unused_port()
    with subprocess.Popen([sys.executable, "-c", IDLE_JOB, str(port)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as idle:
        assert idle.stdout.readline() == "READY\n"
        code, printed = capture([f"127.0.0.1:{port}"], tmp_path, "300ms")
        idle.stdin.close()
    assert code != 0
    assert "empty" in printed and "idle" in printed, printed
    assert sessions_in(tmp_path) == {}


@pytest.mark.parametrize("target", ["unix:/tmp/x", "a/b:1", "127.0.0.1:0", "127.0.0.1:70000",
                                    "127.0.0.1", "", "../../x:1"])
def test_hostile_targets(target, tmp_path):
    code, printed = capture([target], tmp_path, "1s")
    assert code != 0
    assert printed.strip()
    assert sessions_in(tmp_path) == {}
