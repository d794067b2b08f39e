"""The unmodified google-cloud-mldiagnostics SDK against a running server, in its self-hosted dialect."""

import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))

import program  # noqa: E402  (needs the path above)

PYTHON = os.environ.get("STROBE_SDK_PYTHON", os.path.join(program.REPOSITORY, "build", "venv-sdk", "bin", "python"))
PARENT = "/v1alpha/projects/default/locations/local/machineLearningRuns"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def server(tmp_path):
    (tmp_path / "logs").mkdir()
    with program.Server(tmp_path / "logs", "--no-cache", "--catalog", tmp_path / "catalog.db") as server:
        server.logs = str(tmp_path / "logs")
        yield server


def run_job(server, name, how, base_url=None):
    """The exit code, the run's id and what the job said."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DIAGON_", "HTTP", "http"))}
    done = subprocess.run([PYTHON, os.path.join(HERE, "job.py"), base_url or f"http://user:token@{server.host}:{server.port}",
                           server.logs, name, how], capture_output=True, text=True, timeout=program.LIMIT_S,
                          env={**environment, "JAX_PLATFORMS": "cpu"})
    (run_id,) = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RUN ")] or [None]
    assert run_id, done.stderr[-3000:]
    return done.returncode, run_id, done.stderr


def sessions_of(server, run_id):
    return server.json(f"{PARENT}/{run_id}/profilerSessions?refresh=true").get("profilerSessions", [])


@pytest.mark.parametrize("how", ["context", "start", "decorator"])
def test_each_way_to_profile_gives_a_session_that_opens(server, how):
    code, run_id, said = run_job(server, "job", how)
    assert code == 0, said[-2000:]
    run = server.json(f"{PARENT}/{run_id}")
    assert (run["displayName"], run["runPhase"], run["state"]) == ("job", "COMPLETED", "STATE_COMPLETED")
    assert run["artifacts"]["gcsPath"] == server.logs
    (session,) = sessions_of(server, run_id)
    assert session["kind"] == "KIND_SCANNED" and session["state"] == "SUCCEEDED"
    assert session["storageFolderUri"].startswith(f"{server.logs}/{run_id}/plugins/profile/")
    if how == "start":
        assert session["name"].endswith("/by_hand")
    viewer = session["dashboardUri"].rsplit("/", 1)[1]
    assert server.json(f"/api/v1/sessions/{viewer}")["hosts"] == session["hosts"]


@pytest.mark.parametrize(("how", "expected_code"), [("error", 1), ("sigterm", -15)])
def test_a_job_that_fails_is_failed_and_its_next_start_is_a_new_run(server, how, expected_code):
    code, first, _ = run_job(server, "job", how)
    assert code == expected_code
    run = server.json(f"{PARENT}/{first}")
    assert run["runPhase"] == "FAILED" and not run["endTime"].startswith("0001")
    _, second, _ = run_job(server, "job", "context")
    assert second != first
    assert server.json(f"{PARENT}/{second}")["runPhase"] == "COMPLETED"
    assert server.json(f"{PARENT}/{first}")["runPhase"] == "FAILED"
    assert len(sessions_of(server, first)) == len(sessions_of(server, second)) == 1


def test_a_run_that_goes_on_is_joined(server):
    body = ('{"logicalId":"11111111-2222-4333-8444-555555555555","displayName":"a","creator":"CREATOR_MANUAL",'
            '"clusterId":"c","workload":{"workloadId":"w","displayName":"a"}}')
    target = "/v1/machineLearningRuns?update_mask=display_name,logical_id&allow_missing=true"
    first = server.request("PATCH", target, body, JSON).json()
    assert first["name"] == "machineLearningRuns/11111111-2222-4333-8444-555555555555" and first["clusterId"] == "c"
    assert server.request("PATCH", target, body, JSON).json()["name"] == first["name"]
    assert len(server.json(PARENT)["machineLearningRuns"]) == 1


def test_a_server_that_is_not_there_does_not_stop_the_job(server):
    server.close()
    done = subprocess.run([PYTHON, os.path.join(HERE, "job.py"), server.url, server.logs, "job", "context"],
                          capture_output=True, text=True, timeout=program.LIMIT_S, env={**os.environ, "JAX_PLATFORMS": "cpu"})
    assert done.returncode == 0, done.stderr[-2000:]
