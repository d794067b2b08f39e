"""Access control from outside: a real server, browsers' cookies, TLS by openssl, google-auth unchanged, and a real
OpenID Connect provider. What the machine lacks (npm packages, google-auth) is said loudly and skipped."""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse
import warnings

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))

import program  # noqa: E402  (needs the path above)

PASSWORD = "correct horse battery"


def skip_loudly(what):
    warnings.warn(f"STROBE_NOTICE: NOT TESTED: {what}", stacklevel=2)
    pytest.skip(what)


class Place:
    """A folder with a catalogue, an administrator, and servers over it."""

    def __init__(self, folder):
        self.folder = folder
        self.catalog = os.path.join(folder, "catalog.db")
        self.logs = os.path.join(folder, "logs")
        os.makedirs(self.logs)

    def command(self, *arguments, env=None):
        home = os.path.join(self.folder, "home")
        os.makedirs(home, exist_ok=True)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "STROBE_"))}
        done = subprocess.run([program.BINARY, *arguments], capture_output=True, text=True, timeout=60,
                              env={**clean, "HOME": home, **(env or {})}, check=False)
        return done

    def admin_code(self, name="ada"):
        done = self.command("access", "create-admin", name, "--catalog", self.catalog)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @contextlib.contextmanager
    def server(self, *options, port=0, env=None):
        log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "STROBE_"))}
        child = subprocess.Popen(
            [program.BINARY, "serve", self.logs, "--listen", f"127.0.0.1:{port}", "--access", "--catalog",
             self.catalog, "--cache", os.path.join(self.folder, "cache"), *options],
            stdout=subprocess.PIPE, stderr=log, text=True, env={**clean, "HOME": self.folder, **(env or {})})
        try:
            line = child.stdout.readline()
            found = re.search(r"(https?)://127\.0\.0\.1:(\d+)/", line)
            assert found, (line, open(log.name, encoding="utf-8").read())
            yield Client(int(found.group(2)), found.group(1) == "https"), child
        finally:
            child.terminate()
            child.wait(30)
            log.close()

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as file:
            return file.read()


class Client:
    """One browser: it keeps cookies and sends what its pages send."""

    def __init__(self, port, tls=False, context=None):
        self.port, self.tls, self.context = port, tls, context
        self.cookies, self.csrf = {}, None

    def __call__(self, method, target, body=None, headers=None, form=None):
        connection = (http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self.context)
                      if self.tls else http.client.HTTPConnection("127.0.0.1", self.port, timeout=60))
        sent = dict(headers or {})
        data = None
        if body is not None:
            data, sent["Content-Type"] = json.dumps(body), "application/json"
        if form is not None:
            data, sent["Content-Type"] = urllib.parse.urlencode(form), "application/x-www-form-urlencoded"
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        if self.csrf and method != "GET":
            sent["X-Strobe-Csrf"] = self.csrf
        connection.request(method, target, data, sent)
        answer = connection.getresponse()
        text = answer.read()
        for value in answer.headers.get_all("Set-Cookie") or []:
            name, _, rest = value.partition("=")
            self.cookies[name] = rest.split(";")[0]
        connection.close()
        return answer, text

    def json(self, method, target, body=None, **more):
        answer, text = self(method, target, body, **more)
        return answer.status, json.loads(text)

    def sign_in(self, code, user="ada"):
        status, said = self.json("POST", "/api/v1/sign-in",
                                 {"user": user, "code": code, "new_password": PASSWORD})
        assert status == 200, said
        status, me = self.json("GET", "/api/v1/me")
        assert status == 200, me
        self.csrf = me["csrf_token"]


@pytest.fixture
def place():
    with tempfile.TemporaryDirectory() as folder:
        yield Place(folder)


def test_beyond_loopback_needs_access_control(place):
    refused = place.command("serve", place.logs, "--listen", "0.0.0.0:0")
    assert refused.returncode == 2 and "LISTEN_NOT_LOOPBACK" in refused.stderr
    forgotten = place.command("serve", place.logs, "--access", "--no-cache")
    assert forgotten.returncode == 1 and "ACCESS_NEEDS_CATALOG" in forgotten.stderr


def test_first_administrator_users_and_audit(place):
    code = place.admin_code()
    with place.server("--access-contact", "Ask ops@example.com.") as (browser, _):
        assert browser("GET", "/healthz")[0].status == 200
        assert browser.json("GET", "/api/v1/sessions")[0] == 401
        assert browser("GET", "/sign-in")[0].status == 200
        browser.sign_in(code)
        assert browser.json("GET", "/api/v1/sessions")[0] == 200
        status, made = browser.json("POST", "/api/v1/access/users", {"name": "bob"})
        assert status == 201
        bob = Client(browser.port)
        bob.sign_in(made["one_time_code"], "bob")
        assert bob.json("GET", "/api/v1/access/users")[0] == 403
        # A token of one's own, for the command line.
        status, token = browser.json("POST", "/api/v1/access/tokens", {"name": "cli"})
        assert status == 201
        listed = place.command("users", "list", "--server", f"http://127.0.0.1:{browser.port}", "--format",
                               "value", env={"STROBE_TOKEN": token["token"]})
        assert listed.returncode == 0 and "bob" in listed.stdout, listed.stderr
        refused = place.command("users", "list", "--server", f"http://127.0.0.1:{browser.port}")
        assert refused.returncode == 1 and "NOT_SIGNED_IN" in refused.stderr
        # Changes beside the server count within a second or so.
        assert place.command("users", "disable", "bob", "--catalog", place.catalog).returncode == 0
        end = time.monotonic() + 30
        while bob.json("GET", "/api/v1/sessions")[0] != 401:
            assert time.monotonic() < end, "a disabled user is still let in"
            time.sleep(0.05)
    verified = place.command("audit", "verify", "--catalog", place.catalog)
    assert verified.returncode == 0 and "whole" in verified.stdout, verified.stderr
    import sqlite3
    with sqlite3.connect(place.catalog) as database:
        database.execute("UPDATE audit_records SET actor = 'nobody' WHERE id = "
                         "(SELECT id FROM audit_records ORDER BY id LIMIT 1 OFFSET 2)")
    broken = place.command("audit", "verify", "--catalog", place.catalog)
    assert broken.returncode == 4 and "AUDIT_BROKEN" in broken.stderr


def test_no_secret_is_logged(place):
    code = place.admin_code()
    secrets = [code, PASSWORD]
    with place.server("--log-level", "debug") as (browser, _):
        browser.sign_in(code)
        secrets.append(browser.cookies["strobe_session"])
        secrets.append(browser.csrf)
        _, token = browser.json("POST", "/api/v1/access/tokens", {"name": "x"})
        secrets.append(token["token"])
        plain = Client(browser.port)
        plain("GET", "/api/v1/sessions", headers={"Authorization": "Bearer " + token["token"]})
        plain("GET", "/api/v1/sessions?access_token=" + token["token"])
        plain("GET", "/sign-in/oidc/callback?code=very-secret-code&state=very-secret-state")
        plain("GET", "/l/linkid.very-secret-signature")
        secrets += ["very-secret-code", "very-secret-state", "very-secret-signature"]
        plain.json("POST", "/api/v1/sign-in", {"user": "ada", "password": "wrong-but-secret"})
        secrets.append("wrong-but-secret")
    log = place.log()
    assert "http.request" in log and '"audit"' in log
    for secret in secrets:
        assert secret not in log, secret
        if secret.startswith(("stb_", "sts_")):
            assert secret.split("_", 2)[2] not in log, secret
    kept = b""
    for name in (place.catalog, place.catalog + "-wal"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                kept += file.read()
    for secret in secrets:
        assert secret.encode() not in kept, "kept in clear"


def certificate(folder, name):
    key, cert = f"{folder}/{name}.key", f"{folder}/{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert,
                    "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    return cert, key


def test_tls_and_a_new_certificate_without_a_restart(place):
    code = place.admin_code()
    cert, key = certificate(place.folder, "one")
    with place.server("--tls-cert", cert, "--tls-key", key) as (browser, child):
        browser.context = ssl.create_default_context(cafile=cert)
        answer, _ = browser("GET", "/healthz")
        assert answer.status == 200
        assert answer.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        browser.sign_in(code)
        assert "__Host-strobe_session" in browser.cookies
        # Old protocols, and plain text, get nothing.
        with socket.create_connection(("127.0.0.1", browser.port), timeout=30) as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert not plain.recv(100).startswith(b"HTTP")
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises(OSError):
            with socket.create_connection(("127.0.0.1", browser.port), timeout=30) as raw:
                old.wrap_socket(raw)
        # Large answers, and many on one connection.
        connection = http.client.HTTPSConnection("127.0.0.1", browser.port, context=browser.context, timeout=60)
        for _ in range(20):
            connection.request("GET", "/api/v1/openapi.json",
                               headers={"Cookie": f"__Host-strobe_session={browser.cookies['__Host-strobe_session']}"})
            assert len(connection.getresponse().read()) > 50_000
        connection.close()
        second, second_key = certificate(place.folder, "two")
        os.replace(second, cert)
        os.replace(second_key, key)
        child.send_signal(1)
        trusted = ssl.create_default_context(cafile=cert)
        for _ in range(100):
            try:
                browser.context = trusted
                assert browser("GET", "/healthz")[0].status == 200
                break
            except ssl.SSLError:
                continue
        else:
            pytest.fail("the old certificate is still served")
    bad = place.command("serve", place.logs, "--tls-cert", cert, "--tls-key", os.devnull)
    assert bad.returncode == 2 and "TLS_FILES" in bad.stderr


def test_proxies_are_believed_only_when_trusted(place):
    place.admin_code()
    forwarded = {"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "Authorization": "Bearer nothing"}
    with place.server() as (browser, _):
        answer, _ = browser("GET", "/api/v1/sessions", headers=forwarded)
        assert answer.status == 401 and "Strict-Transport-Security" not in answer.headers
    assert '"203.0.113.7"' not in place.log()
    with place.server("--trusted-proxy", "127.0.0.0/8") as (browser, _):
        answer, _ = browser("GET", "/api/v1/sessions", headers=forwarded)
        assert answer.status == 401 and "Strict-Transport-Security" in answer.headers
    assert '"203.0.113.7"' in place.log()


def test_captures_go_only_where_the_owner_said(place):
    code = place.admin_code()
    trap = socket.create_server(("127.0.0.1", 0))
    trap.settimeout(0)
    port = trap.getsockname()[1]
    with place.server() as (browser, _):
        browser.sign_in(code)
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "169.254.169.254"):
            status, operation = browser.json("POST", "/api/v1/captures",
                                             {"targets": [f"{host}:{port}"], "duration_ms": 100})
            assert status == 202, operation
            while not operation["done"]:
                _, operation = browser.json("GET", "/api/v1/operations/" + operation["id"])
            assert operation["error"]["name"] == "ADDRESS_NOT_ALLOWED", operation
    with pytest.raises(BlockingIOError):
        trap.accept()
    trap.close()


def test_google_auth_gets_and_refreshes_tokens(place):
    python = os.environ.get("STROBE_SDK_PYTHON", os.path.join(program.REPOSITORY, "build", "venv-sdk", "bin", "python"))
    if not os.access(python, os.X_OK):
        skip_loudly(f"google-auth: {python} is missing (STROBE_SDK_PYTHON names another)")
    place.admin_code()
    with place.server() as (client, _):
        url = f"http://127.0.0.1:{client.port}"
        key = place.folder + "/key.json"
        for arguments in (("service-accounts", "create", "trainer"),
                          ("roles", "grant", "service:trainer", "editor"),
                          ("service-accounts", "create-key", "trainer", "--url", url, "--out", key)):
            done = place.command(*arguments, "--catalog", place.catalog)
            assert done.returncode == 0, done.stderr
        assert os.stat(key).st_mode & 0o777 == 0o600
        done = subprocess.run([python, os.path.join(HERE, "google_client.py"), key, url], capture_output=True,
                              text=True, timeout=120, check=False)
        assert done.returncode == 0 and done.stdout == "ok\n", done.stderr


@contextlib.contextmanager
def provider(algorithm):
    folder = os.path.join(HERE, "provider")
    if not os.path.isdir(os.path.join(folder, "node_modules")):
        skip_loudly("the OpenID Connect provider is not installed (npm ci in tests/access/provider)")
    child = subprocess.Popen(["node", "provider.mjs", algorithm], cwd=folder, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    try:
        yield child.stdout.readline().strip(), child
    finally:
        child.stdin.close()
        child.wait(30)


def change(child, **claims):
    child.stdin.write(json.dumps(claims) + "\n")
    child.stdin.flush()
    assert child.stdout.readline().strip() == "changed"


def walk(browser, start="/sign-in/oidc?return=%2Fs%2Fabc%3Fx%3D1"):
    """Follows a sign-in as a browser does; the last address that it is led to, and the callback."""
    answer, _ = browser("GET", start)
    assert answer.status == 303, answer.status
    asked = urllib.parse.urlsplit(answer.headers["Location"])
    query = dict(urllib.parse.parse_qsl(asked.query))
    assert query["code_challenge_method"] == "S256" and query["state"] and query["nonce"]
    other = http.client.HTTPConnection(asked.hostname, asked.port, timeout=30)
    other.request("GET", asked.path + "?" + asked.query)
    back = urllib.parse.urlsplit(other.getresponse().headers["Location"])
    callback = back.path + "?" + back.query
    answer, _ = browser("GET", callback)
    return answer.headers["Location"], callback, query


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_openid_connect(place, algorithm):
    code = place.admin_code()
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    with provider(algorithm) as (issuer, child), place.server(
            "--oidc-issuer", issuer, "--oidc-client-id", "strobe", "--public-url", f"http://127.0.0.1:{port}",
            "--oidc-name", "Example", port=port) as (browser, _):
        assert browser.json("GET", "/api/v1/sign-in")[1]["provider"] == "Example"
        change(child, aud="strobe")
        where, callback, _ = walk(browser)
        assert where == "/s/abc?x=1"
        status, me = browser.json("GET", "/api/v1/me")
        assert status == 200 and me["subject"] == "user:grace" and me["rights"]["projects"] == {}
        assert browser.json("GET", "/api/v1/sessions")[1]["total"] == 0, "no role yet"
        # The callback again, or in another browser, is no sign-in.
        for again in (browser, Client(port)):
            assert "problem=OIDC_STATE" in again("GET", callback)[0].headers["Location"]
        # What a provider says for others, or says wrongly, is refused.
        for claims in ({"aud": "other"}, {"aud": ["strobe", "other"]}, {"aud": "strobe", "iss": "http://evil"},
                       {"aud": "strobe", "nonce": "another"}, {"aud": "strobe", "exp": 1},
                       {"aud": "strobe", "azp": "other"}):
            change(child, **claims)
            visitor = Client(port)
            assert "problem=" in walk(visitor)[0], claims
            assert visitor.json("GET", "/api/v1/me")[0] == 401
        # An account that exists is not taken over by a provider's user of the same name.
        change(child, aud="strobe", preferred_username="ada", sub="somebody-else")
        visitor = Client(port)
        walk(visitor)
        assert re.fullmatch(r"user:ada\.[0-9a-f]{8}", visitor.json("GET", "/api/v1/me")[1]["subject"])
        # Nobody is led elsewhere.
        for evil in ("https://evil.example", "//evil.example", "/\\evil.example"):
            change(child, aud="strobe")
            assert walk(Client(port), "/sign-in/oidc?return=" + urllib.parse.quote(evil, safe=""))[0] == "/"
        # ID tokens as bearers.
        split = urllib.parse.urlsplit(issuer)
        other = http.client.HTTPConnection(split.hostname, split.port, timeout=30)
        verifier = "v" * 43
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        other.request("GET", "/authorize?" + urllib.parse.urlencode(
            {"response_type": "code", "client_id": "strobe", "redirect_uri": "http://127.0.0.1/", "scope": "openid",
             "state": "s", "code_challenge": challenge, "code_challenge_method": "S256"}))
        answer = other.getresponse()
        answer.read()
        got = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["Location"]).query))
        other.request("POST", "/token", urllib.parse.urlencode(
            {"grant_type": "authorization_code", "code": got["code"], "redirect_uri": "http://127.0.0.1/",
             "client_id": "strobe", "code_verifier": verifier}),
            {"Content-Type": "application/x-www-form-urlencoded"})
        token = json.loads(other.getresponse().read())["id_token"]
        bearer = Client(port)
        status, me = bearer.json("GET", "/api/v1/me", headers={"Authorization": "Bearer " + token})
        assert status == 200 and me["subject"] == "user:grace", me
        assert bearer.json("GET", "/api/v1/me", headers={"Authorization": "Bearer " + token[:-3] + "AAA"})[0] == 401
        local = Client(port)
        local.sign_in(code)
    assert "code=" not in place.log().replace("code=-", "")


def test_the_command_line_by_tls(place):
    session = os.path.join(program.SAMPLES, "input-stall")
    shutil.copytree(session, os.path.join(place.logs, "input-stall"))
    for arguments in (("service-accounts", "create", "ci"),
                      ("roles", "grant", "service:ci", "admin", "--project", "*")):
        assert place.command(*arguments, "--catalog", place.catalog).returncode == 0
    made = place.command("tokens", "create", "--subject", "service:ci", "--catalog", place.catalog)
    token = {"STROBE_TOKEN": made.stdout.split()[-1]}
    cert, key = certificate(place.folder, "one")
    other, _ = certificate(place.folder, "other")
    with place.server("--tls-cert", cert, "--tls-key", key) as (browser, _):
        url = f"https://127.0.0.1:{browser.port}"
        trusting = {**token, "STROBE_CA_FILE": cert}
        # Every way to ask: lists, changes, administration, tools, exports larger than memory, uploads.
        for arguments in (("runs", "create", "r1", "--server", url), ("runs", "list", "--server", url),
                          ("users", "create", "bob", "--server", url), ("audit", "verify", "--server", url),
                          ("tools", f"{url}/input-stall"), ("overview_page", f"{url}/input-stall"),
                          ("export", f"{url}/input-stall", "--output", os.path.join(place.folder, "trace.json"))):
            done = place.command(*arguments, env=trusting)
            assert done.returncode == 0, (arguments, done.stderr)
            done = place.command(*arguments[:1], *arguments[1:], "--ca-file", cert, env={**token, "STROBE_CA_FILE": other})
            assert "SERVER_CERTIFICATE" not in done.stderr, (arguments, done.stderr)
        assert os.path.getsize(os.path.join(place.folder, "trace.json")) > 1000
        (profile,) = [os.path.join(folder, name) for folder, _, names in os.walk(session) for name in names
                      if name.endswith(".xplane.pb")][:1]
        sent = place.command("upload", profile, "--server", url, "--run", "sent", env=trusting)
        assert sent.returncode == 0, sent.stderr
        # The system's authorities are those of the environment that OpenSSL knows.
        system = place.command("runs", "list", "--server", url, env={**token, "SSL_CERT_FILE": cert})
        assert system.returncode == 0, system.stderr

        def refused(name, sentence, *arguments, env=trusting):
            began = time.monotonic()
            done = place.command(*arguments, env=env)
            assert done.returncode != 0 and f"error: {name}" in done.stderr, done.stderr
            assert sentence in done.stderr, done.stderr
            assert time.monotonic() - began < 20

        for arguments in (("runs", "list", "--server", url), ("upload", profile, "--server", url)):
            refused("SERVER_CERTIFICATE", "is from an authority that is not trusted here", *arguments, env=token)
            refused("SERVER_CERTIFICATE", "is from an authority that is not trusted here", *arguments, "--ca-file", other)
        refused("SERVER_CERTIFICATE", "is not for localhost", "runs", "list", "--server",
                f"https://localhost:{browser.port}")
        refused("CA_FILE", "No certificates of authorities", "runs", "list", "--server", url, "--ca-file", os.devnull)
        refused("SERVER_", "", "runs", "list", "--server", url.replace("https", "http"))
        dated = os.path.join(place.folder, "dated.pem")
        subprocess.run(["openssl", "req", "-x509", "-key", key, "-out", dated, "-days", "-1", "-subj", "/CN=one", "-addext",
                        "subjectAltName=IP:127.0.0.1"], check=False, capture_output=True)
    with place.server() as (browser, _):
        refused("SERVER_NOT_TLS", "does not speak TLS", "runs", "list", "--server", f"https://127.0.0.1:{browser.port}")
    if os.path.exists(dated):  # openssl of Debian 12 and later makes certificates of yesterday
        with place.server("--tls-cert", dated, "--tls-key", key) as (browser, _):
            refused("SERVER_CERTIFICATE", "has expired", "runs", "list", "--server", f"https://127.0.0.1:{browser.port}",
                    env={**token, "STROBE_CA_FILE": dated})
