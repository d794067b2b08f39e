"""Runs the built program as a user does: a command with its output, or a server with its answers.

    done = program.run("inspect", "--json", path)      # done.code, done.out, done.err, done.max_rss
    with program.Server(directory, "--no-cache") as server:
        server.json("/api/v1/sessions")["total"]

The program is build/strobe, or $STROBE_BINARY. Every run has a time limit and its own cache and
home directory, so that nothing of the person who tests is touched. A run that ends by a signal
fails at once: whatever the input, that is a crash.
"""

import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
BINARY = os.environ.get("STROBE_BINARY", os.path.join(REPOSITORY, "build", "strobe"))
CORPUS = os.environ.get("STROBE_CORPUS", os.path.join(REPOSITORY, "..", "shared", "data"))
SAMPLES = os.path.join(REPOSITORY, "samples")
LIMIT_S = 120  # far above any of these on a busy machine
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NOT_FOUND, EXIT_PARTIAL = range(5)
ANNOUNCEMENT = re.compile(r"https?://([0-9.]+|\[[0-9a-f:]+\]):(\d+)/")


# A process begins with the peak memory of the one that started it, and pytest is large. So a run
# whose memory counts is started by a small process, which writes down what it was.
MEASURE = """
import os, resource, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    file.write(str(usage.ru_maxrss * 1024))
code = os.waitstatus_to_exitcode(status)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


class Done:
    """How a command ended; `max_rss_bytes` is None when it was not asked for."""

    def __init__(self, code, out, err, max_rss_bytes, seconds):
        self.code, self.out, self.err = code, out, err
        self.max_rss_bytes, self.seconds = max_rss_bytes, seconds

    def text(self):
        return self.out.decode("utf-8")  # strictly: what is printed is always UTF-8

    def json(self):
        return json.loads(self.text())


def _environment(home):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "STROBE_"))}
    return {**clean, "HOME": home}


def run(*arguments, limit_s=LIMIT_S, measure=False):
    """Runs one command to its end; with `measure` its peak memory is told."""
    with tempfile.TemporaryDirectory() as folder, open(folder + "/out", "w+b") as out, \
            open(folder + "/err", "w+b") as err:
        home, peak = folder + "/home", folder + "/peak"
        os.mkdir(home)
        command = [BINARY, *map(str, arguments)]
        if measure:
            command = [sys.executable, "-I", "-S", "-c", MEASURE, peak, *command]
        began = time.monotonic()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env=_environment(home), start_new_session=True)
        try:
            code = child.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
        seconds = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        done = Done(code, out.read(), err.read(), None, seconds)
        if measure:
            with open(peak, encoding="ascii") as file:
                done.max_rss_bytes = int(file.read())
        assert os.listdir(home) == [], "a command left something in the home directory"
    assert code >= 0, (f"strobe {arguments} ended by signal {-code} after {seconds:.1f} s\n"
                       f"{done.err[-2000:].decode('utf-8', 'replace')}")
    return done


def inspect(path, codes=(EXIT_OK,)):
    done = run("inspect", "--json", path)
    assert done.code in codes, (done.code, done.err.decode("utf-8", "replace"))
    return done.json()


def events(path, *options):
    """All events that `strobe events` prints, as dicts."""
    done = run("events", path, "--json", "--limit", 0, *options)
    assert done.code in (EXIT_OK, EXIT_PARTIAL), done.err.decode("utf-8", "replace")
    answer = done.json()
    assert answer["truncated"] is False
    return answer["events"]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body.decode("utf-8"))

    def error_name(self):
        return self.json()["error"]["name"]


class Server:
    """`strobe serve` on a free port; its log is kept in `log()`.

    `user` (a number) runs it as another user, which needs root; `listen` is an address; `authority` is the file of
    the one to trust when the arguments have a certificate.
    """

    def __init__(self, *arguments, user=None, listen="127.0.0.1:0", authority=None):
        self._tls = ssl.create_default_context(cafile=authority) if authority else None
        self._folder = tempfile.TemporaryDirectory()
        self._log = open(os.path.join(self._folder.name, "log"), "w+b")
        home = os.path.join(self._folder.name, "home")
        os.mkdir(home)
        self.process = subprocess.Popen(
            [BINARY, "serve", *map(str, arguments), "--listen", listen],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log,
            env=_environment(home), user=user)
        said = self.process.stdout.readline().decode()
        found = ANNOUNCEMENT.search(said)
        assert found, f"the server said {said!r}\n{self.log()}"
        self.host, self.port = found[1], int(found[2])
        self._connection = None

    @property
    def url(self):
        return f"{'https' if self._tls else 'http'}://{self.host}:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def log(self):
        with open(self._log.name, "rb") as file:
            return file.read().decode("utf-8")

    def logged(self, event):
        """The log records of one kind."""
        records = [json.loads(line) for line in self.log().splitlines()]
        return [record for record in records if record["event"] == event]

    def request(self, method, target, body=None, headers=None):
        if self._connection is None:
            self._connection = (
                http.client.HTTPSConnection(self.host, self.port, timeout=LIMIT_S, context=self._tls) if self._tls
                else http.client.HTTPConnection(self.host, self.port, timeout=LIMIT_S))
        try:
            self._connection.request(method, target, body, headers or {})
            response = self._connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        except (http.client.HTTPException, OSError):
            self._connection.close()
            self._connection = None
            raise

    def get(self, target, **headers):
        return self.request("GET", target, None,
                            {name.replace("_", "-"): value for name, value in headers.items()})

    def json(self, target):
        answer = self.get(target)
        assert answer.status == 200, (target, answer.status, answer.body[:500])
        return answer.json()

    def sessions(self, query=""):
        """Every session, page by page."""
        found, token = [], ""
        while True:
            page = self.json(f"/api/v1/sessions?page_size=1000&q={urllib.parse.quote(query)}"
                             + (f"&page_token={urllib.parse.quote(token)}" if token else ""))
            found += page["sessions"]
            token = page.get("next_page_token")
            if not token:
                assert len(found) == page["total"]
                return found

    def session(self, name):
        (only,) = [s for s in self.sessions() if s["name"] == name]
        return f"/api/v1/sessions/{only['id']}"

    def lines(self, session):
        """The line tree, wholly decoded."""
        return self.wait_for(lambda: self.json(session + "/lines?wait_ms=10000"),
                             lambda tree: tree["complete"])

    def metric(self, name):
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        raise AssertionError(f"/metrics has no {name}")

    def wait_for(self, ask, fits, limit_s=60):
        """Asks until the answer fits; it is the answer that decides, never the time."""
        end = time.monotonic() + limit_s
        while True:
            answer = ask()
            if fits(answer):
                return answer
            assert time.monotonic() < end, f"not within {limit_s} s; last {str(answer)[:1000]}"
            time.sleep(0.05)

    def close(self):
        """Ends the server as a service manager does; the exit code."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self.process.poll() is None:
            self.process.terminate()
        try:
            code = self.process.wait(timeout=LIMIT_S)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            if not self._log.closed:
                self._log.close()
        assert code >= 0, f"the server ended by signal {-code}\n{self.log()[-3000:]}"
        self._folder.cleanup()
        return code
