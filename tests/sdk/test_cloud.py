"""The unmodified google-cloud-mldiagnostics SDK in its cloud dialect: Google's addresses lead to a server of ours
through a proxy with a certificate of its own, the credentials are a key file that the server issued."""

import contextlib
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
sys.path.insert(0, HERE)

import program  # noqa: E402  (needs the path above)
from cloud_proxy import NAMES, CloudProxy, TunnelProxy, make_certificates  # noqa: E402

PYTHON = os.environ.get("STROBE_SDK_PYTHON", os.path.join(program.REPOSITORY, "build", "venv-sdk", "bin", "python"))
PROJECT, REGION = "p1", "us-central1"
RUNS = f"/v1alpha/projects/{PROJECT}/locations/{REGION}/machineLearningRuns"


class Cloud:
    def __init__(self, server, proxy, logs, key, token):
        self.server, self.proxy, self.logs, self.key, self.token = server, proxy, logs, key, token

    def run_job(self, name, how, without=()):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("DIAGON_", "HTTP", "http", "RUN_WORKLOAD"))}
        done = subprocess.run(
            [PYTHON, os.path.join(HERE, "job.py"), "cloud", self.logs, name, how], capture_output=True, text=True,
            timeout=program.LIMIT_S * 2, check=False,
            env={k: v for k, v in {
                **clean, **self.proxy.environment, "JAX_PLATFORMS": "cpu", "GOOGLE_CLOUD_DISABLE_GRPC": "true",
                "GOOGLE_APPLICATION_CREDENTIALS": self.key, "HOSTNAME": "node0", "RUN_WORKLOAD_ID": name}.items()
                if k not in without})
        found = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RUN ")]
        return done.returncode, found[0] if found else None, done.stderr

    def json(self, target):
        answer = self.server.get(target, Authorization="Bearer " + self.token)
        assert answer.status == 200, (target, answer.body)
        return answer.json()


@pytest.fixture(params=["proxy"])
def cloud(request, tmp_path):
    """`proxy`: one that ends TLS. `tls`: the server's own TLS, to which the names lead."""
    logs, catalog, key = tmp_path / "logs", tmp_path / "catalog.db", str(tmp_path / "key.json")
    logs.mkdir()

    def strobe(*arguments):
        done = subprocess.run([program.BINARY, *arguments, "--catalog", str(catalog)], capture_output=True, text=True,
                              timeout=60, env={**os.environ, "HOME": str(tmp_path)}, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    strobe("access", "create-admin", "ada")
    strobe("service-accounts", "create", "trainer")
    strobe("roles", "grant", "service:trainer", "editor", "--project", PROJECT)
    token = strobe("tokens", "create", "--subject", "service:trainer")
    with contextlib.ExitStack() as stack:
        names = [option for name in NAMES for option in ("--allow-host", name)]
        authority, certificate, private = make_certificates(str(tmp_path / "certificates"))
        tls = request.param == "tls"
        files = ["--tls-cert", certificate, "--tls-key", private] if tls else []
        server = stack.enter_context(program.Server(logs, "--no-cache", "--catalog", catalog, "--access", "--project",
                                                    f"{PROJECT}={logs}", *names, *files, authority=authority if tls else None))
        strobe("service-accounts", "create-key", "trainer", "--url", server.url, "--out", key)
        proxy = stack.enter_context(TunnelProxy(authority, server.host, server.port) if tls else
                                    CloudProxy(str(tmp_path / "proxy"), server.host, server.port))
        yield Cloud(server, proxy, str(logs), key, token)


@pytest.mark.parametrize("how", ["context", "start", "decorator"])
def test_each_way_to_profile_is_a_session_of_the_run(cloud, how):
    code, run_id, said = cloud.run_job("job", how)
    assert code == 0, said[-3000:]
    run = cloud.json(f"{RUNS}/{run_id}")
    assert (run["displayName"], run["runPhase"], run["orchestrator"]) == ("job", "COMPLETED", "CUSTOM")
    assert run["labels"]["created_by"] == "diagon_sdk" and run["artifacts"]["gcsPath"] == cloud.logs
    (session,) = cloud.json(f"{RUNS}/{run_id}/profilerSessions?refresh=true")["profilerSessions"]
    assert (session["kind"], session["state"]) == ("KIND_PROGRAMMATIC", "SUCCEEDED")
    # The SDK names a folder that is not there; what is shown is where the files are.
    folder = session["storageFolderUri"]
    assert folder.startswith(f"{cloud.logs}/{run_id}/plugins/profile/") and os.listdir(folder)
    viewer = session["dashboardUri"].rsplit("/", 1)[1]
    assert cloud.json(f"/api/v1/sessions/{viewer}")["hosts"] == session["hosts"]
    # One request after the other, as the SDK has it: create, then the session's beginning and end, then the phase.
    asked = [method for method, name, path in cloud.proxy.seen if name == NAMES[0] and "/operations/" not in path]
    assert asked[0] == "POST" and asked[-1] == "PATCH" and asked.count("POST") == 2, cloud.proxy.seen


def test_metrics_and_configs_arrive(cloud):
    code, run_id, said = cloud.run_job("job", "metrics")
    assert code == 0, said[-3000:]
    assert any(name == "logging.googleapis.com" and path.startswith("/v2/entries:write")
               for _, name, path in cloud.proxy.seen), cloud.proxy.seen
    check_metrics(cloud, run_id)


def check_metrics(cloud, run_id):
    at = f"/api/v1/runs/{PROJECT}/{REGION}/{run_id}/metrics"
    got = cloud.json(at)
    metrics = {metric["name"]: metric for metric in got["metrics"]}
    assert got["configs"]["user"]["batch"] == "8", got["configs"]
    assert metrics["loss"]["point_count"] == 20 and metrics["loss"]["last"] == 0.05, metrics
    assert (metrics["loss"]["first_step"], metrics["loss"]["last_step"]) == (0, 19)
    assert metrics["my own"]["point_count"] == 1
    (series,) = cloud.json(at + "/series?name=loss")["series"]
    assert series["x"] == list(range(20)) and series["mean"] == [1.0 / (step + 1) for step in range(20)]


# As Google's clients come: everything to port 443 of Google's names, metrics by gRPC, and no proxy that ends TLS.
@pytest.mark.parametrize("cloud", ["tls"], indirect=True)
def test_the_servers_own_tls_takes_rest_and_grpc(cloud):
    code, run_id, said = cloud.run_job("job", "metrics", without={"GOOGLE_CLOUD_DISABLE_GRPC"})
    assert code == 0, said[-3000:]
    check_metrics(cloud, run_id)
    assert {"hypercomputecluster.googleapis.com:443", "logging.googleapis.com:443"} <= set(cloud.proxy.seen)
    # None of it came by HTTP.
    assert not [each for each in cloud.server.logged("http.request") if "entries:write" in each["target"]]
    code, run_id, said = cloud.run_job("job", "context", without={"GOOGLE_CLOUD_DISABLE_GRPC"})
    assert code == 0, said[-3000:]
    (session,) = cloud.json(f"{RUNS}/{run_id}/profilerSessions?refresh=true")["profilerSessions"]
    assert session["state"] == "SUCCEEDED"


@pytest.mark.parametrize(("how", "expected_code"), [("error", 1), ("sigterm", -15)])
def test_a_job_that_fails_and_starts_again(cloud, how, expected_code):
    code, first, said = cloud.run_job("job", how)
    assert code == expected_code, said[-2000:]
    assert cloud.json(f"{RUNS}/{first}")["runPhase"] == "FAILED"
    code, second, said = cloud.run_job("job", "context")
    assert code == 0 and second, said[-3000:]
    assert cloud.json(f"{RUNS}/{second}")["runPhase"] == "COMPLETED"
