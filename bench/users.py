#!/usr/bin/env python3
"""A load test: many people on one server at once, for a bounded time.

    ./dev bench load                                        200 users, 500 sessions, 60 s; appends to bench/history.jsonl
    ./dev bench load --users 20 --sessions 50 --seconds 10 --quick     nothing is written down

The sessions are copies of small profiles of both shapes and of the samples, each in a folder of its own and with its own bytes, so that each is a
session of its own to every cache. The users (bench/load_main.cc) pan, zoom, search, ask for totals and tools, and close tabs in the middle. Fails on any
error that was not asked for, and when memory grows: the server's resident memory in the last third must be within 5 % (and 64 MB) of the middle third.
"""

import argparse
import datetime
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import report
import systems

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What grows by less is noise of the allocator and of caches that fill.
FLAT_SHARE = 0.05
FLAT_BYTES = 64 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--size-mb", type=int, default=4, help="of a made profile")
    parser.add_argument("--memory", default="2G", help="the server's budget")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", default=str(ROOT / "build/strobe"))
    parser.add_argument("--build", default=str(ROOT / "build/release"), help="folder of strobe_corpus and strobe_load")
    parser.add_argument("--quick", action="store_true", help="write nothing down")
    return parser.parse_args()


def varied(source, target, number):
    """A copy that is another profile by content: a warning is added to the XSpace (field 3, a text), which any reader knows."""
    text = f"copy {number}".encode()
    with open(target, "wb") as out:
        with open(source, "rb") as original:
            shutil.copyfileobj(original, out)
        out.write(b"\x1a" + bytes([len(text)]) + text)


def make_sessions(arguments, work):
    sources = []
    for shape in ("tpu", "gpu", "host"):
        subprocess.run([f"{arguments.build}/bench/strobe_corpus", shape, str(arguments.size_mb), str(work / "made"), "--seed", str(arguments.seed)],
                       check=True, stdout=subprocess.DEVNULL)
    sources += sorted((work / "made").rglob("*.xplane.pb"))
    sources += sorted((ROOT / "samples").rglob("*.xplane.pb"))
    logs = work / "logs"
    for number in range(arguments.sessions):
        source = sources[number % len(sources)]
        folder = logs / f"run{number % 20}" / "plugins" / "profile" / f"s{number:04d}"
        folder.mkdir(parents=True)
        varied(source, folder / "host0.xplane.pb", number)
    shutil.rmtree(work / "made")
    return logs


class MemoryWatch:
    """The server's resident memory, every half second."""

    def __init__(self, pid):
        self.pid, self.samples, self.done = pid, [], threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.done.wait(0.5):
            for line in open(f"/proc/{self.pid}/status"):
                if line.startswith("VmRSS"):
                    self.samples.append(int(line.split()[1]) * 1024)

    def stop(self):
        self.done.set()
        self.thread.join()
        return self.samples


def wait_settled(server):
    """A file is served once it has settled."""
    while any(session["state"] == "writing" for session in json.loads(server.get("/api/v1/sessions?page_size=1000"))["sessions"]):
        time.sleep(0.2)


def run(arguments, work):
    logs = make_sessions(arguments, work)
    port = systems.free_port()
    server = systems.Server([arguments.binary, "serve", str(logs), "--listen", f"127.0.0.1:{port}", "--cache", str(work / "cache"), "--catalog", str(work / "catalog.db"),
                             "--memory", arguments.memory, "--log-level", "warning"], port, "/readyz")
    try:
        wait_settled(server)
        watch = MemoryWatch(server.process.pid)
        made = subprocess.run([f"{arguments.build}/bench/strobe_load", str(port), "--users", str(arguments.users), "--seconds", str(arguments.seconds),
                               "--seed", str(arguments.seed)], check=True, capture_output=True, text=True)
        samples = watch.stop()
        result = json.loads(made.stdout)
        third = max(1, len(samples) // 3)
        result["rss_middle_bytes"] = statistics.mean(samples[third:2 * third] or samples)
        result["rss_last_bytes"] = statistics.mean(samples[-third:])
        result["rss_peak_bytes"] = server.peak_bytes()
        result["alive"] = server.process.poll() is None
        return result
    finally:
        server.stop()


def faults(result):
    found = []
    if result["errors"]:
        found.append(f"{result['errors']} errors: " + "; ".join(result["error_examples"][:5]))
    grown = result["rss_last_bytes"] - result["rss_middle_bytes"]
    if grown > max(FLAT_BYTES, FLAT_SHARE * result["rss_middle_bytes"]):
        found.append(f"resident memory grew by {grown / 1e6:.0f} MB in the last third")
    if not result["alive"]:
        found.append("the server ended")
    return found


def section(arguments, result):
    lines = [report.origin(ROOT), f"{arguments.users} users on {arguments.sessions} sessions for {arguments.seconds} s: {result['requests']:,} requests, "
             f"{result['requests_per_s']:.0f} a second, {result['abandoned']:,} abandoned in the middle, {result['errors']} errors. Resident memory "
             f"{result['rss_middle_bytes'] / 1e6:.0f} MB in the middle third, {result['rss_last_bytes'] / 1e6:.0f} MB in the last, peak {result['rss_peak_bytes'] / 1e6:.0f} MB "
             f"(budget {arguments.memory}). Users and server share the machine's cores.", ""]
    rows = [[kind, f"{values['count']:,}", *(f"{values[name]:.1f} ms" for name in ("p50_ms", "p99_ms", "p999_ms", "worst_ms"))]
            for kind, values in result["kinds"].items()]
    return lines + report.table(["request", "number", "p50", "p99", "p99.9", "worst"], rows)


def main():
    arguments = parse_arguments()
    work = pathlib.Path(tempfile.mkdtemp(prefix="strobe-load-"))
    try:
        result = run(arguments, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    lines = section(arguments, result)
    print("\n".join(["## Many users", "", *lines]))
    found = faults(result)
    for fault in found:
        print(f"bench load: {fault}", file=sys.stderr)
    if not arguments.quick:
        report.replace_sections(ROOT / "bench" / "RESULTS.md", {"Many users": lines})
        medians = {f"strobe/load/{kind}_{name}": values[name] for kind, values in result["kinds"].items() for name in ("p50_ms", "p99_ms")}
        medians |= {"strobe/load/requests_per_s": result["requests_per_s"], "strobe/load/rss_peak_bytes": result["rss_peak_bytes"]}
        record = {"commit": report.commit(ROOT), "date": str(datetime.date.today()), "machine": report.machine(), "shape": "users",
                  "size_mb": arguments.users, "medians": medians}
        with open(ROOT / "bench" / "history.jsonl", "a", encoding="utf-8") as history:
            history.write(json.dumps(record) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
