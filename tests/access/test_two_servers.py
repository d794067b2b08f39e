"""Two real servers on one PostgreSQL: what one acknowledges the other has, what both are asked at once happens once, and
operations, scans and the audit chain do not collide; one that is killed holds nobody up."""

import concurrent.futures
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
import warnings

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "cli"), os.path.join(HERE, "..", "python")]

import program  # noqa: E402  (needs the path above)
from postgres_server import PostgresServer  # noqa: E402

RUNS = "/v1alpha/projects/p/locations/l/machineLearningRuns"
ADMIN = "/api/v1/access/"


class Servers:
    """A database, a folder of profiles, an administrator's token, and servers over them."""

    def __init__(self, folder, postgres):
        self.folder, self.postgres = str(folder), postgres
        self.catalog = postgres.new_database()
        self.logs = os.path.join(self.folder, "logs")
        os.makedirs(self.logs)
        self.command("service-accounts", "create", "ci")
        self.command("roles", "grant", "service:ci", "admin", "--project", "*")
        self.token = self.command("tokens", "create", "--subject", "service:ci").split()[-1]
        self.children = []

    def environment(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "STROBE_"))}
        return {**clean, "HOME": self.folder}

    def command(self, *arguments):
        done = subprocess.run([program.BINARY, *arguments, "--catalog", self.catalog], capture_output=True, text=True,
                              timeout=120, env=self.environment(), check=False)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def start(self):
        log = open(os.path.join(self.folder, f"log{len(self.children)}"), "w", encoding="utf-8")
        child = subprocess.Popen([program.BINARY, "serve", self.logs, "--listen", "127.0.0.1:0", "--access", "--catalog",
                                  self.catalog, "--project", f"p={self.logs}", "--no-cache"],
                                 stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment())
        self.children.append(child)
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", child.stdout.readline())
        assert found, open(log.name, encoding="utf-8").read()
        return Asker(int(found.group(1)), self.token, child)

    def stop(self):
        for child in self.children:
            if child.poll() is None:
                child.terminate()
        for child in self.children:
            child.wait(30)

    def number(self, sql):
        return int(self.postgres.rows(self.catalog, sql)[0][0])


class Asker:
    def __init__(self, port, token, process):
        self.port, self.token, self.process = port, token, process

    def __call__(self, method, target, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, target, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None


@pytest.fixture(scope="module")
def postgres():
    if PostgresServer.missing():
        warnings.warn(f"STROBE_NOTICE: NOT TESTED: two servers on one database: {PostgresServer.missing()}", stacklevel=2)
        pytest.skip("no PostgreSQL")
    with PostgresServer() as server:
        yield server


@pytest.fixture
def servers(tmp_path, postgres):
    servers = Servers(tmp_path, postgres)
    try:
        yield servers
    finally:
        servers.stop()


def at_once(*calls):
    """Runs them as nearly at the same moment as threads allow."""
    barrier = threading.Barrier(len(calls))

    def wait_and_call(call):
        barrier.wait()
        return call()

    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(wait_and_call, call) for call in calls]]


def check_records(servers):
    """Every operation has its record, the chain is whole, and the numbers of the records have no gap."""
    operations = servers.number("SELECT count(*) FROM operations")
    records = servers.number("SELECT count(*) FROM audit_records WHERE outcome = 'DONE' AND action LIKE 'ml%'")
    assert operations == records
    assert servers.number("SELECT count(*) FROM audit_records") == servers.number("SELECT max(id::bigint) FROM audit_records")
    assert "is whole" in servers.command("audit", "verify")
    return operations


def test_what_both_are_asked_happens_once(servers):
    one, two = servers.start(), servers.start()
    for i in range(20):
        # The same new run: one makes it, the other says that it is there.
        made = at_once(*(lambda server=server: server("POST", f"{RUNS}?machineLearningRunId=r{i}", {"displayName": "x"})
                         for server in (one, two)))
        assert sorted(status for status, _ in made) == [200, 409], made
        # The same request sent again to the other server while the first still works on it.
        request = str(uuid.uuid4())
        again = at_once(*(lambda server=server: server(
            "POST", f"{RUNS}?machineLearningRunId=q{i}&requestId={request}", {"displayName": "x"}) for server in (one, two)))
        assert [status for status, _ in again] == [200, 200], again
        assert again[0][1]["name"] == again[1][1]["name"]
        # Two changes of one version: the second comes too late.
        etag = two("GET", f"{RUNS}/r{i}")[1]["etag"]
        changed = at_once(*(lambda server=server, name=name: server(
            "PATCH", f"{RUNS}/r{i}?updateMask=displayName", {"displayName": name, "etag": etag})
            for server, name in ((one, "one"), (two, "two"))))
        assert sorted(status for status, _ in changed)[0] == 200, changed
        assert [status for status, _ in changed].count(200) == 1, changed
        winner = "one" if changed[0][0] == 200 else "two"
        assert [server("GET", f"{RUNS}/r{i}")[1]["displayName"] for server in (one, two)] == [winner] * 2
    # A request id that came twice has one operation, but both times it was asked are recorded.
    operations = servers.number("SELECT count(*) FROM operations")
    records = servers.number("SELECT count(*) FROM audit_records WHERE outcome = 'DONE' AND action LIKE 'ml%'")
    assert (operations, records) == (60, 80)
    assert "is whole" in servers.command("audit", "verify")


def test_rights_given_and_taken_by_one_count_at_the_other(servers):
    one, two = servers.start(), servers.start()
    assert one("POST", ADMIN + "service-accounts", {"name": "bot"})[0] == 200
    assert one("POST", ADMIN + "roles", {"project": "p", "subject": "service:bot", "role": "viewer"})[0] == 200
    bot = Asker(two.port, one("POST", ADMIN + "tokens", {"subject": "service:bot"})[1]["token"], None)
    deadline = time.monotonic() + 5
    while bot("GET", RUNS)[0] != 200:
        assert time.monotonic() < deadline
    assert one("DELETE", ADMIN + "roles/p%7Cservice:bot%7Cviewer")[0] == 200
    taken = time.monotonic()
    while bot("GET", RUNS)[0] == 200:
        assert time.monotonic() - taken < 5, "a role that was taken away still counts"
    assert time.monotonic() - taken < 2.5


def test_scans_of_both_find_each_session_once(servers):
    one, two = servers.start(), servers.start()
    path = os.path.join(servers.logs, "job")
    source = os.path.join(program.SAMPLES, "idle")
    profiles = [os.path.join(folder, name) for folder, _, names in os.walk(source) for name in names
                if name.endswith(".xplane.pb")]

    def drop(run, session):
        folder = os.path.join(path, run, "plugins", "profile", session)
        os.makedirs(folder)
        shutil.copy(profiles[0], os.path.join(folder, "host0.xplane.pb"))

    def sessions(server, run):
        status, page = server("GET", f"{RUNS}/{run}/profilerSessions?pageSize=100")
        assert status == 200, page
        return sorted(each["name"].rsplit("/", 1)[1] for each in page.get("profilerSessions", []))

    for run in ("a", "b", "c"):
        drop(run, "s1")
        assert one("POST", f"{RUNS}?machineLearningRunId={run}", {"artifacts": {"gcsPath": path}})[0] == 200
    deadline = time.monotonic() + 60
    while any(sessions(server, run) != ["s1"] for server in (one, two) for run in "abc"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    for run in ("a", "b", "c"):
        drop(run, "s2")
    while any(sessions(server, run) != ["s1", "s2"] for server in (one, two) for run in "abc"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    shutil.rmtree(os.path.join(path, "b", "plugins", "profile", "s1"))
    while sessions(two, "b") != ["s2"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert servers.number("SELECT count(*) FROM profiler_sessions") == 5
    assert servers.number("SELECT count(*) FROM runs WHERE scan_error <> ''") == 0


def test_one_is_killed_under_load_and_the_other_goes_on(servers):
    one, two = servers.start(), servers.start()
    acknowledged, refused, stop = set(), [], threading.Event()

    def write(server, prefix):
        for i in range(10_000):
            if stop.is_set():
                return
            try:
                status, answer = server("POST", f"{RUNS}?machineLearningRunId={prefix}-{i}", {"displayName": "x"})
            except (OSError, http.client.HTTPException, ValueError):
                return
            (acknowledged.add(f"{prefix}-{i}") if status == 200 else refused.append((server.port, status, answer)))

    threads = [threading.Thread(target=write, args=(server, f"{name}{n}")) for n in range(3)
               for server, name in ((one, "one"), (two, "two"))]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    before = len([run for run in acknowledged if run.startswith("two")])
    one.process.send_signal(signal.SIGKILL)
    time.sleep(1.5)
    stop.set()
    for thread in threads:
        thread.join(60)
    after = len([run for run in acknowledged if run.startswith("two")])
    assert not refused, refused[:3]
    assert before > 0 and after > before, "the other server stood still"
    there = {row[0] for row in servers.postgres.rows(servers.catalog, "SELECT id FROM runs")}
    assert acknowledged <= there
    assert len(there - acknowledged) <= 3, "at most what the killed server had under way"
    assert check_records(servers) == len(there)
