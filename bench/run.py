#!/usr/bin/env python3
"""Benchmarks of Strobe beside the xprof and xprof-rs wheels: same machine, same files, same run.

    ./dev bench                 everything (about 30 minutes); writes bench/RESULTS.md and appends to bench/history.jsonl
    ./dev bench --quick         100 MB files only, nothing written
    ./dev bench --only tools    that part alone (load, tools); the other one's section in RESULTS.md stays
    ./dev bench --only tools --small --tools hlo_stats,op_profile --peers xprof-rs
    ./dev bench --only load --sizes 100,300 --shapes gpu --repeat 5

Each figure is taken over HTTP from a server process of its own that has never seen the file. "Cold" means that the file's pages were
dropped from the page cache first. Peak memory is the server's VmHWM, which counts mapped pages too.
"""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import measure
import report
import systems
import tools

ROOT = pathlib.Path(__file__).resolve().parents[1]
SEED = 7
# XProf needs minutes beyond this, and tens of times the file in memory.
XPROF_MAX_MB = 100
PEER_MAX_MB = 1000
# A peer's rounds, so that everything stays within half an hour: half a minute or more each.
PEER_REPEAT = {"xprof": 2, "xprof-rs": 3}
PEER_REPEAT_LARGE = 1
LARGE_MB = 1000
TOOL_SIZES_MB = (100, 1000)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--small", action="store_true", help="100 MB files only")
    parser.add_argument("--only", default="load,tools", help="comma list of parts: load, tools")
    parser.add_argument("--tools", default=",".join(tools.TOOLS), help="comma list of tools to measure")
    parser.add_argument("--sizes", default="100,300,1000", help="file sizes in MB")
    parser.add_argument("--shapes", default="tpu,gpu")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peers", default="xprof,xprof-rs", help="comma list, may be empty")
    parser.add_argument("--output", default=str(ROOT / "bench" / "RESULTS.md"))
    parser.add_argument("--work", default=None, help="where corpus files go (default: a temporary folder)")
    arguments = parser.parse_args()
    if arguments.quick or arguments.small:
        arguments.sizes = "100"
    if arguments.quick:
        arguments.repeat = 3
    arguments.sizes = [int(size) for size in arguments.sizes.split(",")]
    for name in ("shapes", "peers", "only", "tools"):
        setattr(arguments, name, [value for value in getattr(arguments, name).split(",") if value])
    unknown = [tool for tool in arguments.tools if tool not in tools.TOOLS] + [part for part in arguments.only if part not in ("load", "tools")]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    return arguments


def make_corpus(work, shape, size_mb):
    directory = work / f"{shape}_{size_mb}"
    made = subprocess.run([str(ROOT / "build/release/bench/strobe_corpus"), shape, str(size_mb), str(directory), "--seed", str(SEED)],
                          check=True, capture_output=True, text=True)
    return directory, json.loads(made.stdout.splitlines()[0])


def fresh_copy(directory, work, name):
    """The same bytes in a folder of its own, so that what one system leaves beside the file helps nobody (nor itself)."""
    copy = work / f"copy_{name}" / directory.name
    shutil.rmtree(copy.parent, ignore_errors=True)
    shutil.copytree(directory, copy, copy_function=os.link if directory.is_relative_to(work) else shutil.copyfile)
    return copy


def wanted(system, size_mb, repetition, arguments):
    if system == "strobe":
        return True
    limit = XPROF_MAX_MB if system == "xprof" else PEER_MAX_MB
    rounds = PEER_REPEAT_LARGE if size_mb >= LARGE_MB else PEER_REPEAT[system]
    return system in arguments.peers and size_mb <= limit and repetition < rounds


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
                        if not wanted(name, size_mb, repetition, arguments) or (cold and name == "xprof"):
                            continue
                        copy = fresh_copy(directory, work, name)
                        figures = measure.run_once(systems.make(name, ROOT), copy, corpus, cold=cold)
                        print(f"  {repetition} {name} {'cold' if cold else 'warm'} {figures}", flush=True)
                        for figure, value in figures.items():
                            runs.setdefault((name, "cold" if cold else "warm", figure), []).append(value)
            rows.append({"shape": shape, "size_mb": size_mb, "corpus": corpus, "runs": runs})
            shutil.rmtree(directory, ignore_errors=True)
    return rows


FIGURES = [("first_tile_s", "first visible tile, never-seen file", "s"), ("first_window_s", "first trace window, never-seen file", "s"), ("loaded_s", "everything decoded, pyramids ready", "s"),
           ("zoom_window_s", "a zoomed window after that", "ms"), ("same_window_s", "the same window again", "ms"),
           ("tile_p50_s", "warm tile set (all visible lines), p50", "ms"), ("tile_p99_s", "warm tile set, p99", "ms"),
           ("kept_s", "until it is kept for the next time, after that", "s"), ("reopen_tile_s", "first visible tile of a file converted before, new process", "ms"),
           ("reopen_window_s", "first window of a file converted before, new process", "ms"), ("peak_ratio", "peak memory / file size", "x")]


def load_section(arguments, reading, tiles, rows):
    lines = [report.origin(ROOT),
             f"Each figure is the median of {arguments.repeat} runs, the worst in brackets; every run is a new server process over HTTP on loopback. Peers: the "
             "`xprof` 2.24.2 and `xprof-rs` 0.1.3 wheels, asked for `trace_viewer@` with `resolution=8000` as their own pages do, "
             f"{PEER_REPEAT['xprof']} and {PEER_REPEAT['xprof-rs']} times ({PEER_REPEAT_LARGE} at 1 GB).", "",
             "### Reading alone (one core, warm): wire bytes to columns", ""]
    lines += report.table(["input", "MB/s"], [[name, f"{speed:.0f}"] for name, speed in reading.items()])
    lines += [f"Encoding what a screen shows (142 lines, 2 tiles each, {tiles['events']:,.0f} events, all zooms): p50 {tiles['p50_cpu_ms']:.1f} ms, "
              f"p99 {tiles['p99_cpu_ms']:.1f} ms of CPU.", ""]
    for row in rows:
        names = [name for name in ("strobe", "xprof-rs", "xprof") if any(key[0] == name for key in row["runs"])]
        cells = []
        for temperature in ("warm", "cold"):
            for figure, label, unit in FIGURES:
                values = [report.cell(row["runs"].get((name, temperature, figure), []), unit) for name in names]
                if any(text != "-" for text in values):
                    cells.append([f"{temperature}: {label}", *values])
        lines += [f"### {row['shape'].upper()} shape, {row['corpus']['size_bytes'] / 1e6:.0f} MB, {row['corpus']['events']:,} events", ""]
        lines += report.table(["figure: median (worst)", *names], cells)
        lines += [f"Corpus: seed {SEED}, xxh3 `{row['corpus']['xxh3']}`.", ""]
    return lines


def load_history(rows, reading, tiles, fixed):
    records = []
    for row in rows:
        flat = {"/".join(key): statistics.median(values) for key, values in row["runs"].items() if None not in values}
        records.append({**fixed, "shape": row["shape"], "size_mb": row["size_mb"], "reading_mb_s": reading, "tile_encoding": tiles, "medians": flat})
    return records


def measure_tools(arguments, work):
    rows = []
    for shape in arguments.shapes:
        for size_mb in [size for size in TOOL_SIZES_MB if size in arguments.sizes]:
            directory, corpus = make_corpus(work, shape, size_mb)
            print(f"{shape} {size_mb} MB: {corpus['events']:,} events, xxh3 {corpus['xxh3']}", flush=True)
            rows.append(tools.measure(ROOT, shape, size_mb, corpus, lambda name: fresh_copy(directory, work, name), arguments.peers, arguments.tools))
            shutil.rmtree(directory, ignore_errors=True)
    directory = ROOT / "samples" / tools.SAMPLE
    (profile,) = directory.rglob("*.xplane.pb")
    described = subprocess.run([str(ROOT / "build/strobe"), "inspect", str(profile), "--json"], check=True, capture_output=True, text=True)
    events = sum(host["events"] for host in json.loads(described.stdout)["completeness"]["hosts"])
    corpus = {"size_bytes": profile.stat().st_size, "events": events}
    rows.append(tools.measure(ROOT, tools.SAMPLE, 1, corpus, lambda name: fresh_copy(directory, work, name), arguments.peers, arguments.tools))
    return rows


def main():
    arguments = parse_arguments()
    subprocess.run(["ninja", "-C", str(ROOT / "build/release"), "strobe_corpus", "strobe_xplane_bench", "strobe_timeline_bench"], check=True, stdout=subprocess.DEVNULL)
    work = pathlib.Path(tempfile.mkdtemp(prefix="strobe-bench-", dir=arguments.work))
    fixed = {"commit": report.commit(ROOT), "date": str(datetime.date.today()), "machine": report.machine()}
    sections, records = {}, []
    try:
        if "load" in arguments.only:
            reading, tiles = measure.reading_speed(ROOT), measure.tile_encoding(ROOT)
            rows = measure_all(arguments, work)
            sections["Loading and drawing"] = load_section(arguments, reading, tiles, rows)
            records += load_history(rows, reading, tiles, fixed)
        if "tools" in arguments.only:
            rows = measure_tools(arguments, work)
            sections["Tools"] = tools.section(ROOT, rows)
            records += tools.history(rows, fixed)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for title, lines in sections.items():
        print("\n".join([f"## {title}", "", *lines]))
    if arguments.quick:
        return
    report.replace_sections(arguments.output, sections)
    with open(ROOT / "bench" / "history.jsonl", "a", encoding="utf-8") as history:
        history.writelines(json.dumps(record) + "\n" for record in records)


if __name__ == "__main__":
    main()
