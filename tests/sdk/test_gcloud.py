"""The commands of `gcloud alpha mldiagnostics` against a real server, over profiles of real jobs."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
sys.path.insert(0, HERE)

import program  # noqa: E402  (needs the path above)
from gcloud import Gcloud, GcloudError, basename  # noqa: E402

PYTHON = os.environ.get("STROBE_SDK_PYTHON", os.path.join(program.REPOSITORY, "build", "venv-sdk", "bin", "python"))
PROJECT, LOCATION = "p1", "us-central1"
PARENT = f"projects/{PROJECT}/locations/{LOCATION}"


class Place:
    """A folder with logs and a catalogue, and servers over it."""

    def __init__(self, folder):
        self.logs, self.catalog = os.path.join(folder, "logs"), os.path.join(folder, "catalog.db")
        os.makedirs(self.logs)

    def server(self, *options):
        return program.Server(self.logs, "--no-cache", "--catalog", self.catalog, *options)

    def sessions(self):
        """Every folder in which anybody would look for a session."""
        return sorted(os.path.relpath(path, self.logs) for path, _, _ in os.walk(self.logs)
                      if os.path.dirname(path).endswith("plugins/profile"))


@pytest.fixture
def place(tmp_path):
    return Place(str(tmp_path))


@contextlib.contextmanager
def jobs(count):
    """Jobs that work, and the ports of their profilers."""
    children = [subprocess.Popen([PYTHON, os.path.join(HERE, "profiled_job.py")], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
                for _ in range(count)]
    try:
        yield [int(child.stdout.readline().split()[1]) for child in children]
    finally:
        for child in children:
            child.stdin.close()
            child.stdout.close()
            child.wait(60)


def client_of(server):
    return Gcloud(server.url + "/", PROJECT, LOCATION)


def make_targets(server, run, addresses):
    for index, address in enumerate(addresses):
        answer = server.request(
            "POST", f"/v1alpha/{PARENT}/machineLearningRuns/{run}/profilerTargets?profilerTargetId=pod-{index}",
            f'{{"hostname":"{address}","nodeIndex":{index}}}', {"Content-Type": "application/json"})
        assert answer.status == 200, answer.body


def test_the_life_of_a_run(place):
    with place.server() as server:
        gcloud = client_of(server)
        made = gcloud("machine-learning-run", "create", "r1", display_name="llama", run_group="g",
                      gcs_path=place.logs, labels={"team": "a"}, configs_software={"framework": "JAX"},
                      orchestrator="gke", workload={"id": "w", "kind": "JobSet", "cluster": "c", "namespace": "n"})
        assert made.err[0] == "Create request issued for: [r1]" and made.err[1].endswith("done.")
        assert made.err[2] == "Created machine_learning_run [r1]."
        # A first answer that is done is not asked for again; the resource is read once.
        runs = f"/v1alpha/{PARENT}/machineLearningRuns"
        assert gcloud.requests == [("POST", runs + "?alt=json&machineLearningRunId=r1"), ("GET", runs + "/r1?alt=json")]

        run = gcloud("machine-learning-run", "describe", "r1").resource
        assert (run["runGroup"], run["orchestrator"], run["runPhase"]) == ("g", "GKE", "ACTIVE")
        assert run["workloadDetails"]["gke"]["kind"] == "JobSet" and run["name"] == f"{PARENT}/machineLearningRuns/r1"

        updated = gcloud("machine-learning-run", "update", "r1", display_name="llama", gcs_path=place.logs,
                         run_phase="completed", etag=run["etag"]).resource
        assert updated["runPhase"] == "COMPLETED" and updated["etag"] != run["etag"]
        assert "labels" not in updated  # a full replacement
        with pytest.raises(GcloudError) as stale:
            gcloud("machine-learning-run", "update", "r1", etag=run["etag"])
        assert stale.value.code == 409

        with pytest.raises(GcloudError) as twice:
            gcloud("machine-learning-run", "create", "r1")
        assert twice.value.status == "ALREADY_EXISTS"
        assert twice.value.details[0]["resourceName"] == f"{PARENT}/machineLearningRuns/r1"

        for index in range(120):  # more than a page
            gcloud("machine-learning-run", "create", f"many-{index}", display_name="x")
        assert len(gcloud("machine-learning-run", "list").resource) == 121

        make_targets(server, "r1", ["h0"])
        with pytest.raises(GcloudError) as children:
            gcloud("machine-learning-run", "delete", "r1")
        assert children.value.status == "FAILED_PRECONDITION"
        assert gcloud("machine-learning-run", "delete", "r1", force=True).err[-1] == "Deleted machine_learning_run [r1]."
        with pytest.raises(GcloudError) as gone:
            gcloud("machine-learning-run", "describe", "r1")
        assert gone.value.code == 404
        assert gcloud("machine-learning-run", "create").err[0].startswith("Create request issued for: [")


def test_events(place):
    with place.server() as server:
        gcloud = client_of(server)
        gcloud("machine-learning-run", "create", "r1")
        answer = server.request(
            "POST", f"/v1alpha/{PARENT}/machineLearningRuns/r1/monitoredEvents?monitoredEventId=e1",
            '{"type":"HANG","startTime":"2026-05-01T12:00:00Z","analyzerReports":[{"analyzer":"ICI Link Analyzer",'
            '"detectionState":"DETECTED","details":"node-3"}]}', {"Content-Type": "application/json"})
        assert answer.status == 200
        (listed,) = gcloud("monitored-events", "list", "r1").resource
        assert "analyzerReports" not in listed and listed["type"] == "HANG"
        event = gcloud("monitored-events", "describe", "e1", "r1").resource
        assert event["analyzerInsightFound"] and event["analyzerReports"][0]["detectionState"] == "DETECTED"


def test_a_capture_of_two_jobs_and_a_dead_one(place):
    with place.server() as server, jobs(2) as ports:
        gcloud = client_of(server)
        gcloud("machine-learning-run", "create", "r1", gcs_path=place.logs)
        make_targets(server, "r1", [f"127.0.0.1:{port}" for port in ports] + ["127.0.0.1:1"])
        names = sorted(basename(target["name"]) for target in gcloud("profiler-target", "list", "r1").resource)
        assert names == ["pod-0", "pod-1", "pod-2"]

        done = gcloud("profiler-session", "capture", "s1", "r1", names[:2], duration="1s",
                      python_tracer_level="python-tracer-level-enabled")
        session = done.resource
        assert done.err[0] == "Request issued for: [s1]" and done.err[1].endswith("done.")
        assert (session["kind"], session["state"], session["duration"]) == ("KIND_ON_DEMAND", "SUCCEEDED", "1s")
        phases = {basename(k): v["sessionPhase"] for k, v in session["targetSessions"].items()}
        assert phases == {"pod-0": "SUCCEEDED", "pod-1": "SUCCEEDED"}
        assert session["storageFolderUri"] == f"{place.logs}/r1/plugins/profile/s1"
        assert len(session["hosts"]) == 2 and place.sessions() == ["r1/plugins/profile/s1"]
        viewer = session["dashboardUri"].rsplit("/", 1)[1]
        assert server.json(f"/api/v1/sessions/{viewer}")["hosts"] == session["hosts"]
        assert gcloud("profiler-session", "describe", "s1", "r1").resource["name"] == session["name"]

        partly = gcloud("profiler-session", "capture", "s2", "r1", ["pod-0", "pod-2"], duration="0.5s").resource
        assert partly["state"] == "FAILED" and len(partly["hosts"]) == 1
        dead = partly["targetSessions"][f"{PARENT}/machineLearningRuns/r1/profilerTargets/pod-2"]
        assert dead["sessionPhase"] == "FAILED" and dead["status"]["code"] == 14

        with pytest.raises(GcloudError) as nothing:
            gcloud("profiler-session", "capture", "s3", "r1", ["pod-2"], duration="0.5s")
        assert nothing.value.code == 14
        with pytest.raises(GcloudError) as again:
            gcloud("profiler-session", "capture", "s1", "r1", ["pod-0"], duration="1s")
        assert again.value.status == "ALREADY_EXISTS"
        states = {basename(s["name"]): s["state"] for s in gcloud("profiler-session", "list", "r1").resource}
        assert states == {"s1": "SUCCEEDED", "s2": "FAILED", "s3": "FAILED"}


def wait_until_recording(server, operation):
    return server.wait_for(
        lambda: server.json("/v1alpha/" + operation["name"]),
        lambda o: o["done"] or o["metadata"].get("progress", {}).get("stage") == "recording")


def test_a_capture_that_is_cancelled_keeps_what_came(place):
    with place.server() as server, jobs(1) as ports:
        gcloud = client_of(server)
        gcloud("machine-learning-run", "create", "r1", gcs_path=place.logs)
        make_targets(server, "r1", [f"127.0.0.1:{ports[0]}"])
        operation = gcloud("profiler-session", "capture", "s1", "r1", ["pod-0"], duration="600s", is_async=True).resource
        assert not wait_until_recording(server, operation)["done"]
        assert place.sessions() == []
        time.sleep(0.5)  # so that there is something to keep; the answer does not hang on it
        gcloud.send("POST", operation["name"] + ":cancel", None, {})
        with pytest.raises(GcloudError) as cancelled:
            gcloud.wait(operation, [])
        assert cancelled.value.code == 1
        session = gcloud("profiler-session", "describe", "s1", "r1").resource
        assert session["state"] == "CANCELLED" and len(session["hosts"]) == 1
        assert place.sessions() == ["r1/plugins/profile/s1"]


def test_a_server_that_is_killed_leaves_nothing_half_made(place):
    with jobs(1) as ports:
        server = place.server()
        gcloud = client_of(server)
        gcloud("machine-learning-run", "create", "r1", gcs_path=place.logs)
        make_targets(server, "r1", [f"127.0.0.1:{ports[0]}"])
        operation = gcloud("profiler-session", "capture", "s1", "r1", ["pod-0"], duration="600s", is_async=True).resource
        assert not wait_until_recording(server, operation)["done"]
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        assert place.sessions() == []
        with place.server() as second:
            gcloud = client_of(second)
            with pytest.raises(GcloudError) as interrupted:
                gcloud.wait(operation, [])
            assert interrupted.value.code == 10 and "OPERATION_INTERRUPTED" in str(interrupted.value)
            session = gcloud("profiler-session", "describe", "s1", "r1").resource
            assert session["state"] == "FAILED" and "hosts" not in session
            assert place.sessions() == []
            # The name is free again once the failed one is deleted.
            gcloud.send("DELETE", session["name"])


def test_by_a_token_file_where_access_is_asked_for(place, tmp_path):
    def strobe(*arguments):
        done = subprocess.run([program.BINARY, *arguments, "--catalog", place.catalog], capture_output=True, text=True,
                              timeout=60, env={**os.environ, "HOME": str(tmp_path)}, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    strobe("access", "create-admin", "ada")
    strobe("service-accounts", "create", "ci")
    strobe("roles", "grant", "service:ci", "editor", "--project", PROJECT)
    token = strobe("tokens", "create", "--subject", "service:ci")
    (tmp_path / "token").write_text(token)
    with place.server("--access", "--project", f"{PROJECT}={place.logs}") as server:
        with pytest.raises(GcloudError) as nobody:
            client_of(server)("machine-learning-run", "list")
        assert nobody.value.code == 401
        gcloud = Gcloud(server.url, PROJECT, LOCATION, token_file=str(tmp_path / "token"))
        gcloud("machine-learning-run", "create", "r1")
        assert [basename(run["name"]) for run in gcloud("machine-learning-run", "list").resource] == ["r1"]
        # Captures go only where --allow-target lets them: nothing listens to what a run names.
        gcloud("machine-learning-run", "create", "r2", gcs_path=place.logs)
        gcloud.send("POST", gcloud.run_name("r2") + "/profilerTargets", {"profilerTargetId": "pod-0"},
                    {"hostname": "127.0.0.1:1"})
        with pytest.raises(GcloudError) as refused:
            gcloud("profiler-session", "capture", "s1", "r2", ["pod-0"], duration="1s")
        assert refused.value.code == 7 and "ADDRESS_NOT_ALLOWED" in str(refused.value)
        # The folder of another project is not written into.
        os.mkdir(place.logs + "/other")
        gcloud("machine-learning-run", "create", "r3", gcs_path=place.logs + "/../..")
        with pytest.raises(GcloudError) as outside:
            gcloud("profiler-session", "capture", "s1", "r3", [], duration="1s")
        assert "STORAGE_OUTSIDE_ROOTS" in str(outside.value.details)


def test_the_same_commands_of_our_own(place):
    def strobe(*arguments, code=0):
        done = subprocess.run([program.BINARY, *arguments], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == code, (done.stdout, done.stderr)
        return done

    with place.server() as server, jobs(1) as ports:
        at = ("--server", server.url, "--project", PROJECT, "--location", LOCATION)
        made = strobe("runs", "create", "r1", *at, "--display-name", "llama", "--gcs-path", place.logs, "--labels",
                      "team=a,rank=b", "--tools", "xprof", "--format", "value(name.basename(),labels.team)")
        assert made.stdout == "r1\ta\n" and "Created machine_learning_run [r1]." in made.stderr
        run = ("--run", "r1", *at)
        strobe("targets", "create", "pod-0", *run, "--hostname", f"127.0.0.1:{ports[0]}")
        listed = strobe("profiler-target", "list", "--machine-learning-run", "r1", *at, "--format",
                        "csv[no-heading](name.basename())")
        assert listed.stdout == "pod-0\n"
        done = strobe("sessions", "capture", "s1", *run, "--targets", "pod-0", "--duration", "700ms", "--format",
                      "value(state,duration)")
        assert done.stdout == "SUCCEEDED\t0.700s\n" and "done." in done.stderr
        begun = strobe("sessions", "capture", "s2", *run, "--duration", "600s", "--async", "--format",
                       "value(name.basename())").stdout.strip()
        strobe("operations", "cancel", begun, *at)
        assert "OPERATION_CANCELLED" in strobe("operations", "wait", begun, *at, code=1).stderr
        table = strobe("sessions", "list", *run, "--sort-by", "~name", "--format", "csv(name.basename(),state)").stdout
        assert table.splitlines()[1:] == ["s2,CANCELLED", "s1,SUCCEEDED"] or table.splitlines()[1:] == [
            "s2,FAILED", "s1,SUCCEEDED"], table
        assert strobe("runs", "list", *at, "--uri").stdout == f"{PARENT}/machineLearningRuns/r1\n"
        strobe("runs", "delete", "r1", *at, "--force")
