"""The three servers under measurement, behind one small interface: start, first window, zoomed window, stop."""

import gzip
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse

START_TIMEOUT_S = 60
ANSWER_TIMEOUT_S = 900
KEPT_TIMEOUT_S = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One server process and one kept-alive connection to it."""

    def __init__(self, command, port, ready_path):
        self.port = port
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        self.connection = None
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                self.get(ready_path)
                return
            except (OSError, http.client.HTTPException):
                self.connection = None
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.log.seek(0)
                    raise RuntimeError(f"{command[0]} did not start: {self.log.read()[-2000:]}")
                time.sleep(0.02)

    def get(self, path):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_TIMEOUT_S)
        self.connection.request("GET", path, headers={"Accept-Encoding": "identity"})
        response = self.connection.getresponse()
        body = response.read()
        self.packed = response.getheader("Content-Encoding") == "gzip"
        if response.status != 200:
            raise RuntimeError(f"GET {path}: {response.status} {self.unpacked(body)[:300]!r}")
        return body

    def unpacked(self, body):
        """The text of the last answer. XProf packs every answer, asked or not; unpacking is kept out of what is timed."""
        return gzip.decompress(body) if self.packed else body

    def peak_bytes(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
        return None

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Strobe:
    name = "strobe"
    reopens = True

    def __init__(self, root):
        self.binary = root / "build/strobe"
        self.cache = pathlib.Path(tempfile.mkdtemp(prefix="strobe-bench-cache-"))
        self.random = random.Random(1)

    def start(self, directory):
        port = free_port()
        self.server = Server([str(self.binary), "serve", str(directory), "--listen", f"127.0.0.1:{port}", "--cache", str(self.cache),
                              "--log-level", "warning"], port, "/readyz")
        # A file is served once it has settled; that wait is not what is measured.
        while json.loads(self.server.get("/api/v1/sessions"))["sessions"][0]["state"] == "writing":
            time.sleep(0.05)
        self.session = json.loads(self.server.get("/api/v1/sessions"))["sessions"][0]["id"]
        self.base = f"/api/v1/sessions/{self.session}"
        self.lines = None

    def first_window(self):
        """What the page asks to draw the whole session: the line tree without waiting, then a tile of every chunk."""
        self.first_tile_at = None
        self.lines = json.loads(self.server.get(f"{self.base}/lines?wait_ms=0"))
        self.window = self.lines["window"]
        self.fetch_window(self.window["start_ps"], self.window["end_ps"])

    def fetch_window(self, start_ps, end_ps):
        level = max(10, (max(1, end_ps - start_ps) - 1).bit_length())
        first, last = start_ps >> level, max(start_ps, end_ps - 1) >> level
        for host in self.lines["hosts"]:
            for plane in host["planes"]:
                for chunk in range(plane["chunks"]):
                    for index in range(first, last + 1):
                        self.server.get(f"{self.base}/tiles/{plane['id']}.{chunk}/{level}/{index}?v={self.lines['version']}")
                        self.first_tile_at = self.first_tile_at or time.perf_counter()

    def wait_loaded(self):
        while json.loads(self.server.get(self.base))["load"]["stage"] != "ready":
            time.sleep(0.005)
        self.lines = json.loads(self.server.get(f"{self.base}/lines"))
        self.window = self.lines["window"]

    def zoom(self, share):
        span = self.window["end_ps"] - self.window["start_ps"]
        width = max(1, int(span * share))
        start = self.window["start_ps"] + int(self.random.random() * (span - width))
        self.fetch_window(start, start + width)

    def wait_rest(self):
        """Until nothing runs or waits in the background: a moment in which both are zero twice running."""
        deadline = time.monotonic() + KEPT_TIMEOUT_S
        at_rest = 0
        while at_rest < 2:
            text = self.server.get("/metrics").decode()
            busy = sum(int(count) for count in re.findall(r'strobe_engine_work_(?:waiting|running)\{class="background"\} (\d+)', text))
            at_rest = 0 if busy else at_rest + 1
            if time.monotonic() > deadline:
                raise RuntimeError(f"the server had work for more than {KEPT_TIMEOUT_S} s")
            time.sleep(0.02)

    def wait_kept(self):
        """Until the conversion is whole: what a first look needs is written last."""
        deadline = time.monotonic() + KEPT_TIMEOUT_S
        while not any(self.cache.rglob("*.look")):
            if time.monotonic() > deadline:
                raise RuntimeError(f"nothing was kept in {self.cache} within {KEPT_TIMEOUT_S} s")
            time.sleep(0.02)

    def stop(self):
        self.server.stop()

    def forget(self):
        shutil.rmtree(self.cache, ignore_errors=True)


class XprofLike:
    """XProf and xprof-rs speak the same routes."""

    reopens = False

    def __init__(self, root, name, command):
        self.name = name
        self.command = [str(root / "build/venv-peers/bin" / command[0]), *command[1:]]
        self.random = random.Random(1)
        self.span_ms = 1000.0  # until the first answer tells

    def start(self, directory):
        port = free_port()
        arguments = [f"--logdir={directory}", f"--port={port}"]
        if self.name == "xprof":
            arguments.append(f"--grpc_port={free_port()}")
        self.server = Server([*self.command, *arguments], port, "/version")
        self.run = json.loads(self.server.unpacked(self.server.get("/runs")))[0]
        self.host = "host0"

    def query(self, **options):
        parameters = {"run": self.run, "tag": "trace_viewer@", "host": self.host, "resolution": "8000", **options}
        return self.server.get("/data?" + urllib.parse.urlencode(parameters))

    def first_window(self):
        self.first_answer = self.query()

    def wait_loaded(self):
        found = re.search(rb'"fullTimespan":\[([0-9.eE+-]+),([0-9.eE+-]+)\]', self.server.unpacked(self.first_answer))
        if found:
            self.span_ms = float(found.group(2))

    def zoom(self, share):
        width = self.span_ms * share
        start = self.random.random() * (self.span_ms - width)
        self.query(start_time_ms=str(start), end_time_ms=str(start + width))

    def stop(self):
        self.server.stop()

    def forget(self):
        pass


def make(name, root):
    if name == "strobe":
        return Strobe(root)
    if name == "xprof":
        return XprofLike(root, name, ["xprof"])
    return XprofLike(root, name, ["xprof-rs"])


def settle_disk():
    """Waits until what earlier rounds wrote is on the disk: writing it back would slow the round that is measured."""
    os.sync()


def drop_from_page_cache(directory):
    for path in pathlib.Path(directory).rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def warm_page_cache(directory):
    for path in pathlib.Path(directory).rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                while file.read(1 << 24):
                    pass
