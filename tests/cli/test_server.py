"""The running server: what happens to the files while it runs, its headers, its end."""

import contextlib
import hashlib
import os
import shutil
import socket
import tempfile
import threading
import time

import pytest

import profiles
import program
from test_hostile import five_million_events

SETTLE_S = 1.0  # a file that changed within this counts as being written
NOBODY = 65534


def tree(directory):
    """Everything about a directory that writing into it would change."""
    found = {}
    for folder, folders, files in os.walk(directory):
        for name in [".", *folders, *files]:
            path = os.path.join(folder, name)
            facts = os.lstat(path)
            content = None
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            found[path] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns,
                           facts.st_ino, facts.st_uid, content)
    return found


def look_at_everything(server):
    """What a person who opens each session makes the server do."""
    for session in server.sessions():
        where = f"/api/v1/sessions/{session['id']}"
        if server.get(where + "/lines").status != 200:
            continue  # damaged
        lines = server.lines(where)
        for part in ("", "/overview", "/completeness", "/search?q=a"):
            server.get(where + part)
        for host in lines["hosts"]:
            for plane in host["planes"]:
                for chunk in range(plane["chunks"]):
                    server.get(f"{where}/tiles/{plane['id']}.{chunk}/40/0?v={lines['version']}")
    server.get("/runs")
    server.get("/metrics")


def test_new_session_appears(tmp_path, serve):
    profiles.save(profiles.simple(), tmp_path, "", "first")
    server = serve(tmp_path, "--no-cache")
    assert [s["name"] for s in server.sessions()] == ["first"]
    profiles.save(profiles.simple(count=9), tmp_path, "later/run", "second", "other", age_s=600)
    server.wait_for(server.sessions, lambda s: {x["name"] for x in s} == {"first", "second"})
    session = server.session("second")
    assert server.lines(session)["hosts"][0]["planes"][0]["event_count"] == 9
    shutil.rmtree(tmp_path / "later")
    server.wait_for(server.sessions, lambda s: [x["name"] for x in s] == ["first"])
    assert server.get(session).status == 404


def test_first_session_of_an_empty_directory(tmp_path, serve):
    server = serve(tmp_path, "--no-cache")
    assert server.sessions() == []
    profiles.save(profiles.simple(), tmp_path, "", "only")
    server.wait_for(server.sessions, lambda s: len(s) == 1)


def test_file_that_is_being_written(tmp_path, serve):
    """Grown piece by piece: `writing` for as long as it grows, then whole with all its events."""
    data = profiles.simple(count=40_000).SerializeToString()
    path = profiles.path_of(tmp_path, "", "grows", "host0")
    os.makedirs(os.path.dirname(path))
    server = serve(tmp_path, "--no-cache")
    pieces, seen = 25, []
    with open(path, "wb", buffering=0) as file:
        for number in range(pieces):
            file.write(data[len(data) * number // pieces:len(data) * (number + 1) // pieces])
            wrote = time.monotonic()
            sessions = server.sessions()
            if sessions and sessions[0]["hosts"]:
                where = f"/api/v1/sessions/{sessions[0]['id']}"
                lines = server.get(where + "/lines?wait_ms=0")
                # Only what was answered within the settling time can be judged.
                if time.monotonic() - wrote < SETTLE_S * 0.8:
                    seen.append(sessions[0]["state"])
                    if lines.status == 200:
                        (host,) = lines.json()["hosts"]
                        assert host["planes"] == [] and host["error"], "half a file was served"
                    else:
                        assert lines.status in (404, 409, 503), lines.body
                        assert lines.error_name()
            time.sleep(0.2)  # longer than a tick of the file system's clock, far below settling
    assert seen and set(seen) == {"writing"}, seen
    server.wait_for(server.sessions, lambda s: s[0]["state"] not in ("writing", "empty"))
    session = server.session("grows")
    tree_of_it = server.wait_for(lambda: server.json(session + "/lines?wait_ms=1000"),
                                 lambda t: t["complete"] and t["hosts"][0]["planes"])
    assert tree_of_it["hosts"][0]["planes"][0]["event_count"] == 40_000
    assert server.json(session + "/completeness")["state"] == "complete"


def test_replaced_file_is_a_new_version(tmp_path, serve):
    path = profiles.save(profiles.simple(count=4), tmp_path, "", "s")
    server = serve(tmp_path, "--no-cache")
    session = server.session("s")
    before = server.lines(session)
    tile = f"{session}/tiles/0.0.0/24/0?v="
    answer = server.get(tile + before["version"])
    assert answer.status == 200
    assert "immutable" in answer.headers["Cache-Control"]
    # As a copying tool does it: a new file under the old name.
    with open(path + ".new", "wb") as file:
        file.write(profiles.simple(count=7).SerializeToString())
    profiles.make_old(path + ".new", 1800)
    os.replace(path + ".new", path)
    # First it counts as being written, since it was seen to change.
    server.wait_for(lambda: server.get(session + "/lines?wait_ms=1000"), lambda a: a.status == 200)
    after = server.lines(session)
    assert after["version"] != before["version"]
    assert after["hosts"][0]["planes"][0]["event_count"] == 7
    old = server.get(tile + before["version"])
    assert (old.status, old.error_name()) == (409, "VERSION_CHANGED")
    new = server.get(tile + after["version"])
    assert new.status == 200
    assert int.from_bytes(new.body[16:20], "little") > 0


def test_file_cut_short_while_it_is_open(tmp_path, serve):
    """`truncate -s` on a mapped file raises SIGBUS in programs that do not expect it."""
    path = profiles.save(five_million_events(300_000), tmp_path, "", "s")
    server = serve(tmp_path, "--no-cache")
    session = server.session("s")
    version = server.json(session + "/lines?wait_ms=0")["version"]
    os.truncate(path, 1000)
    for part in ("/lines?wait_ms=2000", "/overview", "/completeness", "/search?q=tick",
                 "/events/0.0.0.299999", f"/tiles/0.0.0/40/0?v={version}"):
        answer = server.get(session + part)
        if answer.status != 200:
            assert answer.error_name()
    assert server.get("/healthz").status == 200


def test_log_directory_stays_as_it_was(tmp_path, serve):
    logs, cache = tmp_path / "logs", tmp_path / "cache"
    shutil.copytree(program.SAMPLES, logs)
    profiles.save(five_million_events(100_000), logs, "big", "s")  # large enough to be cached
    profiles.save(b"", logs, "broken", "s")
    before = tree(logs)
    server = serve(logs, "--cache", cache)
    look_at_everything(server)
    server.close()
    program.run("ls", logs)
    program.run("inspect", logs / "big")
    assert tree(logs) == before


@contextlib.contextmanager
def folder_of_nobody():
    """A folder that another user can reach, who has no rights in it but to read."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    try:
        yield folder
    finally:
        for path, folders, _ in os.walk(folder):
            for name in folders:
                os.chmod(os.path.join(path, name), 0o755)
        shutil.rmtree(folder)


def other_user():
    """The user to run as so that permissions mean something; None: we are nobody special."""
    return NOBODY if os.geteuid() == 0 else None


def test_log_directory_without_write_permission():
    with folder_of_nobody() as folder:
        logs = os.path.join(folder, "logs")
        shutil.copytree(os.path.join(program.SAMPLES, "input-stall"), logs)
        profiles.save(five_million_events(100_000), logs, "big", "s")
        for path, folders, _ in os.walk(logs):
            for name in folders:
                os.chmod(os.path.join(path, name), 0o555)
        os.chmod(logs, 0o555)
        before = tree(logs)
        with program.Server(logs, "--cache", os.path.join(folder, "none"),
                            user=other_user()) as server:
            look_at_everything(server)
            assert server.json(server.session("training") + "/overview")["steps"]["count"] == 24
        assert tree(logs) == before


STRICT = {
    "X-Content-Type-Options": lambda v: v == "nosniff",
    "Content-Security-Policy": lambda v: ("default-src 'none'" in v and "frame-ancestors" in v
                                          and "unsafe-inline" not in v and "unsafe-eval" not in v
                                          and "http:" not in v and "https:" not in v),
    "Referrer-Policy": lambda v: v in ("no-referrer", "same-origin"),
    "X-Request-Id": lambda v: len(v) >= 8,
}

# (method, path, headers, body, status)
REQUESTS = [
    ("GET", "/", {}, None, 200), ("HEAD", "/", {}, None, 200),
    ("GET", "/some/page", {}, None, 200), ("GET", "/healthz", {}, None, 200),
    ("GET", "/readyz", {}, None, 200), ("GET", "/metrics", {}, None, 200),
    ("GET", "/api/v1/sessions", {}, None, 200), ("GET", "/api/v1/openapi.json", {}, None, 200),
    ("GET", "/runs", {}, None, 200), ("GET", "/version", {}, None, 200),
    ("GET", "/data?run=a", {}, None, 404), ("GET", "/api/v1/nothing", {}, None, 404),
    ("GET", "/api/v1/sessions/nothing", {}, None, 404),
    ("GET", "/assets/nothing.js", {}, None, 404),
    ("GET", "/../../etc/passwd", {}, None, None), ("GET", "/%2e%2e/%2e%2e/etc/passwd", {}, None, None),
    ("GET", "/api/v1/sessions?page_size=x", {}, None, 400),
    ("DELETE", "/api/v1/sessions", {}, None, None), ("PUT", "/", {}, b"x", None),
    ("DELETE", "/api/v1/sessions", {"Content-Type": "application/json"}, None, 405),
    ("POST", "/healthz", {"Content-Type": "application/json"}, b"{}", 405),
    ("POST", "/api/v1/captures", {"Content-Type": "text/plain"}, b"{}", 415),
    ("POST", "/api/v1/captures", {"Content-Type": "application/json"}, b"{", 400),
    ("POST", "/api/v1/captures", {"Content-Type": "application/json",
                                  "Origin": "http://evil.example"}, b"{}", 403),
    ("GET", "/api/v1/sessions", {"Host": "evil.example"}, None, 421),
    ("GET", "/" + "x" * 9000, {}, None, 414), ("GET", "/", {"X-Long": "y" * 20_000}, None, 431),
]


@pytest.mark.parametrize("method, path, headers, body, status", REQUESTS,
                         ids=[f"{r[0]} {r[1][:30]} {r[4]} {sorted(r[2])}" for r in REQUESTS])
def test_strict_headers_on_every_answer(method, path, headers, body, status, samples_server):
    answer = samples_server.request(method, path, body, headers)
    assert status is None or answer.status == status, (answer.status, answer.body[:300])
    for name, fits in STRICT.items():
        assert answer.headers[name] is not None, name
        assert fits(answer.headers[name]), (name, answer.headers[name])
    assert b"root:" not in answer.body
    # XProf's own routes answer in its words, packed, as its readers expect (test_xprof_routes.py).
    if answer.status >= 400 and method != "HEAD" and not path.startswith("/data?"):
        error = answer.json()["error"]
        assert error["code"] and error["name"] and error["message"]
        assert error["request_id"] == answer.headers["X-Request-Id"]
    samples_server.request("GET", "/healthz")  # the connection, or a new one, still works


def test_unchanged_answers_are_304(samples_server):
    for path in ("/api/v1/sessions", samples_server.session("training") + "/overview",
                 "/api/v1/openapi.json", "/"):
        first = samples_server.get(path)
        again = samples_server.get(path, If_None_Match=first.headers["ETag"])
        assert (again.status, again.body) == (304, b""), path
        for name, fits in STRICT.items():
            assert fits(again.headers[name] or ""), name
        assert samples_server.get(path, If_None_Match='"other"').status == 200


def raw(server, request):
    """Sends bytes as they are; everything that comes back."""
    with socket.create_connection((server.host, server.port), timeout=program.LIMIT_S) as wire:
        wire.sendall(request)
        wire.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := wire.recv(65536):
            answer += piece
    return answer


@pytest.mark.parametrize("request_bytes", [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"GARBAGE\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /api/v1/captures HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 99999999999999\r\n\r\n{}",
    b"POST /api/v1/captures HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
def test_raw_bytes(request_bytes, samples_server):
    answer = raw(samples_server, request_bytes)
    assert samples_server.get("/healthz").status == 200
    if not answer:
        return  # closed without a word
    head = answer.split(b"\r\n\r\n", 1)[0].decode()
    status = int(head.split()[1])
    assert 400 <= status < 500, head
    for name in STRICT:
        assert name.lower() in head.lower(), (name, head)


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
def test_beyond_loopback_is_refused(address):
    done = program.run("serve", program.SAMPLES, "--no-cache", "--listen", address, limit_s=30)
    assert done.code == program.EXIT_USAGE
    assert b"LISTEN_NOT_LOOPBACK" in done.err and b"--insecure-no-auth" in done.err
    assert done.out == b""


def test_beyond_loopback_when_told(serve):
    server = serve(program.SAMPLES, "--no-cache", "--insecure-no-auth", listen="0.0.0.0:0")
    assert len(server.sessions()) == 6


@pytest.mark.parametrize("arguments, code, said", [
    (["/nonexistent"], program.EXIT_NOT_FOUND, b"ROOT_NOT_FOUND"),
    ([], program.EXIT_USAGE, b"PLACE"),
    ([program.SAMPLES, "--listen", "nonsense"], program.EXIT_USAGE, b"LISTEN_MALFORMED"),
    ([program.SAMPLES, "--cache-size", "many"], program.EXIT_USAGE, b"SIZE_MALFORMED")])
def test_wrong_start(arguments, code, said):
    done = program.run("serve", *arguments, limit_s=30)
    assert (done.code, done.out) == (code, b"")
    assert said in done.err


def test_address_in_use(samples_server):
    done = program.run("serve", program.SAMPLES, "--no-cache", "--listen",
                       f"127.0.0.1:{samples_server.port}", limit_s=30)
    assert done.code == program.EXIT_FAILED
    assert str(samples_server.port).encode() in done.err


def test_clean_end_while_a_request_runs(tmp_path):
    """SIGTERM in the middle of an answer: the answer is finished, the code is 0."""
    profiles.save(five_million_events(5_000_000), tmp_path, "", "s")
    server = program.Server(tmp_path, "--no-cache", "--threads", 1)
    session = server.session("s")
    answers = []

    def ask():
        with socket.create_connection((server.host, server.port),
                                      timeout=program.LIMIT_S) as wire:
            wire.sendall(f"GET {session}/overview HTTP/1.1\r\nHost: localhost\r\n"
                         "Connection: close\r\n\r\n".encode())
            answer = b""
            while piece := wire.recv(65536):
                answer += piece
            answers.append(answer)

    asking = threading.Thread(target=ask)
    asking.start()
    # Itself and the other one; or the other one is done already, on a fast machine.
    server.wait_for(lambda: server.metric("strobe_http_running_requests"),
                    lambda running: running >= 2 or not asking.is_alive())
    server.process.terminate()
    assert server.process.wait(program.LIMIT_S) == 0
    asking.join(program.LIMIT_S)
    head, body = answers[0].split(b"\r\n\r\n", 1)
    length = int([h for h in head.split(b"\r\n") if h.lower().startswith(b"content-length")][0]
                 .split(b":")[1])
    assert len(body) == length, "the answer was cut off"
    assert head.split()[1] in (b"200", b"503")
    server.close()


def test_end_with_idle_connections(tmp_path):
    profiles.save(profiles.simple(), tmp_path)
    server = program.Server(tmp_path, "--no-cache")
    with socket.create_connection((server.host, server.port)):
        server.get("/healthz")
        server.process.terminate()
        assert server.process.wait(30) == 0
    server.close()


def test_access_log_is_structured(tmp_path, serve):
    profiles.save(profiles.simple(), tmp_path)
    server = serve(tmp_path, "--no-cache")
    answer = server.get("/api/v1/sessions?q=%22")
    server.get("/api/v1/sessions/nothing")
    server.get("/api/v1/sessions?q=%22%0a%1b[31m")  # may not become a line of its own
    records = server.wait_for(lambda: server.logged("http.request"), lambda r: len(r) == 3)
    assert records[0]["request_id"] == answer.headers["X-Request-Id"]
    assert [r["status"] for r in records][:2] == [200, 404]
    assert records[1]["error"] and "\x1b" not in server.log()
    assert {"time", "level", "method", "target", "bytes", "ms", "peer"} <= set(records[0])


def test_many_at_once_get_the_same(tmp_path, serve):
    """32 clients ask for the same never-seen session: one answer for all."""
    profiles.save(five_million_events(500_000), tmp_path, "", "s")
    server = serve(tmp_path, "--no-cache")
    session = server.session("s")
    bodies, errors = set(), []

    def ask():
        try:
            other = program.http.client.HTTPConnection(server.host, server.port,
                                                       timeout=program.LIMIT_S)
            other.request("GET", session + "/overview")
            answer = other.getresponse()
            bodies.add((answer.status, answer.read()))
            other.close()
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(program.LIMIT_S)
    assert errors == []
    assert len(bodies) == 1 and next(iter(bodies))[0] == 200
