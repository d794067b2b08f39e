#!/usr/bin/env python3
"""A load test: many people on one server at once, for a bounded time, and what one feels of another.

    ./dev bench load                                        200 users, 500 sessions, 120 s; appends to bench/history.jsonl
    ./dev bench load --users 20 --sessions 50 --seconds 10 --fair-seconds 0 --quick     only many users, nothing is written down
    ./dev bench load --users 0                              only what one user feels of another

Many users (bench/load_main.cc): the sessions are copies of small profiles of both shapes and of the samples, and a few large ones, each in a folder of its
own and with its own bytes, so that each is a session of its own to every cache. The users pan, zoom, search, ask for totals and tools, and close tabs in the
middle. Fails on any error that was not asked for, and when memory still grows after warming up: what the server holds (resident memory without mapped files)
in the last third must be within 5 % (and 64 MB) of the middle third.

One loads, another looks (bench/fair_main.cc): user A pans through a session that is loaded, alone and then while user B opens profiles of gigabytes in a loop,
without a cache on disk and with memory for about one of them, so that each opening decodes. Fails when A's tiles became more than twice as slow, in the median
or in the slowest hundredth, or when the server goes on for longer than 200 ms with what a closed tab asked for.
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
# What one user may cost another, and below what a tile's time is the scheduler's own noise.
SLOWER_AT_MOST = 2.0
NOISE_MS = 5.0
CLOSED_AT_MOST_MS = 200
TOGETHER_AT_MOST_MS = 250
# A curve of the memory in the results has about so many points.
CURVE_POINTS = 12


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--size-mb", type=int, default=4, help="of a made profile")
    parser.add_argument("--large", type=int, default=3, help="how many of the sessions are large")
    parser.add_argument("--large-mb", type=int, default=300)
    parser.add_argument("--memory", default="1G", help="the server's budget")
    parser.add_argument("--fair-seconds", type=int, default=30, help="of panning alone, and again beside the one who loads; 0: leave it out")
    parser.add_argument("--fair-mb", type=int, default=2000, help="of each profile that is loaded in a loop")
    parser.add_argument("--fair-sessions", type=int, default=2)
    parser.add_argument("--fair-memory", default="4G", help="the server's budget there")
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


def make_corpus(arguments, shape, size_mb, folder, seed):
    subprocess.run([f"{arguments.build}/bench/strobe_corpus", shape, str(size_mb), str(folder), "--seed", str(seed)], check=True, stdout=subprocess.DEVNULL)


def make_sessions(arguments, work):
    logs = work / "logs"
    for shape in ("tpu", "gpu", "host"):
        make_corpus(arguments, shape, arguments.size_mb, work / "made", arguments.seed)
    sources = sorted((work / "made").rglob("*.xplane.pb")) + sorted((ROOT / "samples").rglob("*.xplane.pb"))
    for number in range(arguments.sessions - arguments.large):
        folder = logs / f"run{number % 20}" / "plugins" / "profile" / f"s{number:04d}"
        folder.mkdir(parents=True)
        varied(sources[number % len(sources)], folder / "host0.xplane.pb", number)
    for number in range(arguments.large):
        make_corpus(arguments, ("tpu", "gpu")[number % 2], arguments.large_mb, logs / f"large{number}", arguments.seed + number)
    shutil.rmtree(work / "made")
    return logs


class MemoryWatch:
    """The server's resident memory, every half second: all of it, and without mapped files, whose pages the system can take back."""

    def __init__(self, pid):
        self.pid, self.all, self.own, self.done = pid, [], [], threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.done.wait(0.5):
            with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
                values = dict(line.split(":", 1) for line in status)
            self.all.append(int(values["VmRSS"].split()[0]) * 1024)
            self.own.append(int(values["RssAnon"].split()[0]) * 1024)

    def stop(self):
        self.done.set()
        self.thread.join()


def wait_settled(server):
    """A file is served once it has settled."""
    while any(session["state"] == "writing" for session in json.loads(server.get("/api/v1/sessions?page_size=1000"))["sessions"]):
        time.sleep(0.2)


def start(arguments, logs, memory, *more):
    port = systems.free_port()
    server = systems.Server([arguments.binary, "serve", str(logs), "--listen", f"127.0.0.1:{port}", "--memory", memory, "--log-level", "error", *more], port, "/readyz")
    wait_settled(server)
    return server


def thinned(samples):
    step = max(1, len(samples) // CURVE_POINTS)
    return samples[::step]


def run_users(arguments, work):
    logs = make_sessions(arguments, work)
    server = start(arguments, logs, arguments.memory, "--cache", str(work / "cache"), "--catalog", str(work / "catalog.db"))
    try:
        watch = MemoryWatch(server.process.pid)
        made = subprocess.run([f"{arguments.build}/bench/strobe_load", str(server.port), "--users", str(arguments.users), "--seconds", str(arguments.seconds),
                               "--seed", str(arguments.seed)], check=True, capture_output=True, text=True)
        watch.stop()
        result = json.loads(made.stdout)
        third = max(1, len(watch.own) // 3)
        result["own_middle_bytes"] = statistics.mean(watch.own[third:2 * third] or watch.own)
        result["own_last_bytes"] = statistics.mean(watch.own[-third:])
        result["own_curve"], result["rss_curve"] = thinned(watch.own), thinned(watch.all)
        result["rss_peak_bytes"] = server.peak_bytes()
        result["alive"] = server.process.poll() is None
        return result
    finally:
        server.stop()


def run_fair(arguments, work):
    """The sessions by size: the small one is watched, the others are loaded."""
    logs = work / "fair"
    make_corpus(arguments, "tpu", 100, logs / "watched", arguments.seed)
    for number in range(arguments.fair_sessions):
        make_corpus(arguments, ("tpu", "gpu")[number % 2], arguments.fair_mb, logs / f"loaded{number}", arguments.seed + 1 + number)
    server = start(arguments, logs, arguments.fair_memory, "--no-cache")
    try:
        sessions = json.loads(server.get("/api/v1/sessions?page_size=1000"))["sessions"]
        watched = next(session["id"] for session in sessions if session["run"].startswith("watched"))
        loaded = [session["id"] for session in sessions if session["id"] != watched]
        made = subprocess.run([f"{arguments.build}/bench/strobe_fair", str(server.port), "--watched", watched, "--loaded", ",".join(loaded),
                               "--seconds", str(arguments.fair_seconds), "--seed", str(arguments.seed)], check=False, capture_output=True, text=True)
        if not made.stdout:
            raise RuntimeError(f"strobe_fair: {made.stderr}")
        result = json.loads(made.stdout)
        result["rss_peak_bytes"] = server.peak_bytes()
        result["alive"] = server.process.poll() is None
        return result
    finally:
        server.stop()


def errors_of(result):
    found = []
    if result["errors"]:
        found.append(f"{result['errors']} errors: " + "; ".join(result["error_examples"][:5]))
    if not result["alive"]:
        found.append("the server ended")
    return found


def faults_of_users(result):
    found = errors_of(result)
    grown = result["own_last_bytes"] - result["own_middle_bytes"]
    if grown > max(FLAT_BYTES, FLAT_SHARE * result["own_middle_bytes"]):
        found.append(f"memory grew by {grown / 1e6:.0f} MB in the last third")
    return found


def slower(result, name):
    return max(result["beside"][name], NOISE_MS) / max(result["alone"][name], NOISE_MS)


def faults_of_fair(result):
    found = errors_of(result)
    for name in ("p50_ms", "p99_ms"):
        if slower(result, name) > SLOWER_AT_MOST:
            found.append(f"tiles of one user became {slower(result, name):.1f} times as slow ({name}) beside one who loads")
    if result["together"]["p99_ms"] > TOGETHER_AT_MOST_MS:
        found.append(f"tiles of twenty users took {result['together']['p99_ms']:.0f} ms (p99)")
    if not result["cold"]:
        found.append("nothing was loaded")
    if not result["closed"]["count"]:
        found.append("no tab was closed in the middle of its work")
    if result["closed"]["worst_ms"] > CLOSED_AT_MOST_MS:
        found.append(f"the server went on for {result['closed']['worst_ms']:.0f} ms with what a closed tab asked for")
    return found


def megabytes(samples):
    return ", ".join(f"{sample / 1e6:.0f}" for sample in samples)


def users_section(arguments, result):
    lines = [report.origin(ROOT), f"{arguments.users} users on {arguments.sessions} sessions ({arguments.large} of {arguments.large_mb} MB) for {arguments.seconds} s: "
             f"{result['requests']:,} requests, {result['requests_per_s']:.0f} a second, {result['abandoned']:,} abandoned in the middle, {result['errors']} errors. "
             f"Memory of the server's own {result['own_middle_bytes'] / 1e6:.0f} MB in the middle third, {result['own_last_bytes'] / 1e6:.0f} MB in the last; with mapped files "
             f"{result['rss_peak_bytes'] / 1e6:.0f} MB at most (budget {arguments.memory}). Users and server share the machine's cores.", "",
             f"Over time, MB: own {megabytes(result['own_curve'])}; with mapped files {megabytes(result['rss_curve'])}.", ""]
    rows = [[kind, f"{values['count']:,}", *(f"{values[name]:.1f} ms" for name in ("p50_ms", "p99_ms", "p999_ms", "worst_ms"))]
            for kind, values in result["kinds"].items()]
    return lines + report.table(["request", "number", "p50", "p99", "p99.9", "worst"], rows)


def fair_section(arguments, result):
    lines = [report.origin(ROOT), f"One user pans through 100 MB, 20 tiles a second; another opens {arguments.fair_sessions} profiles of {arguments.fair_mb} MB in a loop on four "
             f"connections ({result['rounds']} openings, {result['cold']} of them decoded; no cache on disk, budget {arguments.fair_memory}).", ""]
    rows = [[name, f"{result[key]['count']:,}", *(f"{result[key][value]:.1f} ms" for value in ("p50_ms", "p99_ms", "worst_ms"))]
            for name, key in (("tile, alone", "alone"), ("tile, beside the one who loads", "beside"), ("tile, 20 users with 10 a second each", "together"),
                          ("work after a tab was closed", "closed"))]
    rows.append(["times as slow", "", f"{slower(result, 'p50_ms'):.2f}", f"{slower(result, 'p99_ms'):.2f}", ""])
    return lines + report.table(["", "number", "p50", "p99", "worst"], rows)


def record(shape, size, medians):
    return {"commit": report.commit(ROOT), "date": str(datetime.date.today()), "machine": report.machine(), "shape": shape, "size_mb": size, "medians": medians}


def users_record(arguments, result):
    medians = {f"strobe/load/{kind}_{name}": values[name] for kind, values in result["kinds"].items() for name in ("p50_ms", "p99_ms")}
    medians |= {"strobe/load/requests_per_s": result["requests_per_s"], "strobe/load/rss_peak_bytes": result["rss_peak_bytes"]}
    return record("users", arguments.users, medians)


def fair_record(arguments, result):
    medians = {f"strobe/fair/tile_{key}_{name}": result[key][name] for key in ("alone", "beside", "together") for name in ("p50_ms", "p99_ms")}
    return record("fair", arguments.fair_mb, medians)


def main():
    arguments = parse_arguments()
    work = pathlib.Path(tempfile.mkdtemp(prefix="strobe-load-"))
    sections, records, found = {}, [], []
    try:
        if arguments.users > 0:
            result = run_users(arguments, work)
            sections["Many users"] = users_section(arguments, result)
            records.append(users_record(arguments, result))
            found += faults_of_users(result)
        if arguments.fair_seconds > 0:
            result = run_fair(arguments, work)
            sections["One loads, another looks"] = fair_section(arguments, result)
            records.append(fair_record(arguments, result))
            found += faults_of_fair(result)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for title, lines in sections.items():
        print("\n".join([f"## {title}", "", *lines]))
    for fault in found:
        print(f"bench load: {fault}", file=sys.stderr)
    if not arguments.quick:
        report.replace_sections(ROOT / "bench" / "RESULTS.md", sections)
        with open(ROOT / "bench" / "history.jsonl", "a", encoding="utf-8") as history:
            for one in records:
                history.write(json.dumps(one) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
