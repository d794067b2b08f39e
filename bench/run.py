#!/usr/bin/env python3
"""Benchmarks of Strobe beside the xprof and xprof-rs wheels: same machine, same files, same run.

    ./dev bench                 everything (about 25 minutes); writes bench/RESULTS.md and appends to bench/history.jsonl
    ./dev bench --quick         100 MB files only, three repetitions, nothing written
    ./dev bench --sizes 100,300 --shapes gpu --repeat 5 --peers xprof-rs

Each figure is taken over HTTP from a server process of its own that has never seen the file. "Cold" means that the file's pages were
dropped from the page cache first. Peak memory is the server's VmHWM, which counts mapped pages too.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

import measure
import systems

ROOT = pathlib.Path(__file__).resolve().parents[1]
SEED = 7
# XProf needs minutes beyond this, and tens of times the file in memory.
XPROF_MAX_MB = 100
PEER_MAX_MB = 1000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sizes", default="100,300,1000", help="file sizes in MB")
    parser.add_argument("--shapes", default="tpu,gpu")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peers", default="xprof,xprof-rs", help="comma list, may be empty")
    parser.add_argument("--output", default=str(ROOT / "bench" / "RESULTS.md"))
    parser.add_argument("--work", default=None, help="where corpus files go (default: a temporary folder)")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.sizes, arguments.repeat = "100", 3
    arguments.sizes = [int(size) for size in arguments.sizes.split(",")]
    arguments.shapes = arguments.shapes.split(",")
    arguments.peers = [peer for peer in arguments.peers.split(",") if peer]
    return arguments


def make_corpus(work, shape, size_mb):
    directory = work / f"{shape}_{size_mb}"
    made = subprocess.run([str(ROOT / "build/release/bench/strobe_corpus"), shape, str(size_mb), str(directory), "--seed", str(SEED)],
                          check=True, capture_output=True, text=True)
    return directory, json.loads(made.stdout.splitlines()[0])


def fresh_copy(directory, work, name):
    """The same bytes in a folder of its own, so that what one system leaves beside the file helps nobody (nor itself)."""
    copy = work / f"copy_{name}"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(directory, copy, copy_function=os.link)
    return copy


def wanted(system, size_mb, arguments):
    if system == "strobe":
        return True
    limit = XPROF_MAX_MB if system == "xprof" else PEER_MAX_MB
    return system in arguments.peers and size_mb <= limit


def measure_all(arguments, work):
    rows = []
    for shape in arguments.shapes:
        for size_mb in arguments.sizes:
            directory, corpus = make_corpus(work, shape, size_mb)
            print(f"{shape} {size_mb} MB: {corpus['events']:,} events, xxh3 {corpus['xxh3']}", flush=True)
            runs = {}
            # One round of every system after the other, so that a slow minute of the machine hits all alike.
            for repetition in range(arguments.repeat):
                for cold in (False, True):
                    for name in ("strobe", "xprof-rs", "xprof"):
                        if not wanted(name, size_mb, arguments) or (cold and name == "xprof"):
                            continue
                        copy = fresh_copy(directory, work, name)
                        figures = measure.run_once(systems.make(name, ROOT), copy, corpus, cold=cold)
                        print(f"  {repetition} {name} {'cold' if cold else 'warm'} {figures}", flush=True)
                        for figure, value in figures.items():
                            runs.setdefault((name, "cold" if cold else "warm", figure), []).append(value)
            rows.append({"shape": shape, "size_mb": size_mb, "corpus": corpus, "runs": runs})
            shutil.rmtree(directory, ignore_errors=True)
    return rows


def cell(values, unit):
    if not values or any(value is None for value in values):
        return "-"
    median, worst = statistics.median(values), max(values)
    if unit == "s":
        return f"{median:.3f} s ({worst:.3f})"
    if unit == "ms":
        return f"{median * 1000:.1f} ms ({worst * 1000:.1f})"
    return f"{median:.2f}x ({worst:.2f})"


FIGURES = [("first_tile_s", "first visible tile, never-seen file", "s"), ("first_window_s", "first trace window, never-seen file", "s"), ("loaded_s", "everything decoded, pyramids ready", "s"),
           ("zoom_window_s", "a zoomed window after that", "ms"), ("same_window_s", "the same window again", "ms"),
           ("tile_p50_s", "warm tile set (all visible lines), p50", "ms"), ("tile_p99_s", "warm tile set, p99", "ms"),
           ("reopen_tile_s", "first visible tile of a file converted before, new process", "ms"),
           ("reopen_window_s", "first window of a file converted before, new process", "ms"), ("peak_ratio", "peak memory / file size", "x")]


def table(rows):
    lines = []
    for row in rows:
        names = [name for name in ("strobe", "xprof-rs", "xprof") if any(key[0] == name for key in row["runs"])]
        lines.append(f"### {row['shape'].upper()} shape, {row['corpus']['size_bytes'] / 1e6:.0f} MB, {row['corpus']['events']:,} events\n")
        lines.append("| figure: median (worst) | " + " | ".join(names) + " |")
        lines.append("|---|" + "---|" * len(names))
        for temperature in ("warm", "cold"):
            for figure, label, unit in FIGURES:
                cells = [cell(row["runs"].get((name, temperature, figure), []), unit) for name in names]
                if any(text != "-" for text in cells):
                    lines.append(f"| {temperature}: {label} | " + " | ".join(cells) + " |")
        lines.append(f"\nCorpus: seed {SEED}, xxh3 `{row['corpus']['xxh3']}`.\n")
    return lines


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    memory = next(line.split()[1] for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return f"{os.cpu_count()} cores, {model}, {int(memory) / 2**20:.0f} GiB"


def main():
    arguments = parse_arguments()
    subprocess.run(["ninja", "-C", str(ROOT / "build/release"), "strobe_corpus", "strobe_xplane_bench", "strobe_timeline_bench"], check=True, stdout=subprocess.DEVNULL)
    work = pathlib.Path(tempfile.mkdtemp(prefix="strobe-bench-", dir=arguments.work))
    try:
        reading = measure.reading_speed(ROOT)
        tiles = measure.tile_encoding(ROOT)
        rows = measure_all(arguments, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    text = ["# Benchmark results", "", f"Machine: {machine()}. Commit {commit}, {datetime.date.today()}. Command: `{' '.join(['./dev bench', *sys.argv[1:]])}`.",
            f"Each figure is the median of {arguments.repeat} runs, the worst in brackets; every run is a new server process over HTTP on loopback.",
            "Peers: the `xprof` 2.24.2 and `xprof-rs` 0.1.3 wheels, asked for `trace_viewer@` with `resolution=8000` as their own pages do.", "",
            "### Reading alone (one core, warm): wire bytes to columns", "", "| input | MB/s |", "|---|---|"]
    text += [f"| {name} | {speed:.0f} |" for name, speed in reading.items()]
    text += ["", f"Encoding what a screen shows (142 lines, 2 tiles each, {tiles['events']:,.0f} events, all zooms): p50 {tiles['p50_cpu_ms']:.1f} ms, "
             f"p99 {tiles['p99_cpu_ms']:.1f} ms of CPU.", ""] + table(rows)
    print("\n".join(text))
    if not arguments.quick:
        pathlib.Path(arguments.output).write_text("\n".join(text) + "\n", encoding="utf-8")
        with open(ROOT / "bench" / "history.jsonl", "a", encoding="utf-8") as history:
            for row in rows:
                flat = {"/".join(key): statistics.median(values) for key, values in row["runs"].items() if None not in values}
                history.write(json.dumps({"commit": commit, "date": str(datetime.date.today()), "machine": machine(), "shape": row["shape"],
                                          "size_mb": row["size_mb"], "reading_mb_s": reading, "tile_encoding": tiles, "medians": flat}) + "\n")


if __name__ == "__main__":
    main()
