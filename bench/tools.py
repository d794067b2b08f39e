"""Every tool on generated files: the first answer on a file that nobody has seen, the same answer again, and peak memory.

A tool is asked over XProf's own route with the parameters that its page sends. Each is the first question to a server process of its own,
so that no tool profits from another. Whoever needs longer than the limit is stopped, and the limit stands in the table.
"""

import json
import socket
import statistics
import time
import urllib.parse

import report
import systems

TOOLS = {
    "overview_page": {}, "input_pipeline_analyzer": {}, "framework_op_stats": {}, "hlo_stats": {}, "op_profile": {}, "kernel_stats": {},
    "roofline_model": {}, "memory_profile": {}, "pod_viewer": {}, "megascale_stats": {}, "inference_profile": {}, "perf_counters": {},
    "utilization_viewer": {}, "kernel_utilization": {}, "smart_suggestion": {}, "trace_viewer": {}, "trace_viewer@": {"resolution": "8000"},
    "memory_viewer": {}, "graph_viewer": {"type": "graph"},
}
# A profile of a real program with its HLO modules, which generated files lack: what memory_viewer and graph_viewer need.
SAMPLE = "four-devices"
SAMPLE_MODULE = {"module_name": "jit_train_step(12)"}
SAMPLE_OPTIONS = {"memory_viewer": SAMPLE_MODULE, "graph_viewer": {**SAMPLE_MODULE, "node_name": "dot.125"}}
# Windows of a trace are never stored: each is asked once.
NOT_STORED = {"trace_viewer", "trace_viewer@"}
STORED_ASKS = 5
# How long a system may take for one answer, by file size in MB; and how often it is asked.
LIMIT_S = {100: 60, 1000: 90}
REPEAT = {"strobe": 3, "xprof-rs": 3, "xprof": 1}
REPEAT_LARGE = {"strobe": 3, "xprof-rs": 1}
# XProf needs minutes and tens of gigabytes for each tool beyond this size, and half a minute for each at it.
XPROF_MAX_MB = 100
XPROF_TOOLS = {"overview_page", "input_pipeline_analyzer", "framework_op_stats", "hlo_stats", "op_profile", "kernel_stats", "roofline_model",
               "memory_profile", "trace_viewer@"}
ROW_8_EVENTS, ROW_8_S = 30e6, 0.300
ROW_9_S = 0.005
ROW_10_S = 6.0
FASTER_THAN = {"xprof-rs": 1.5, "xprof": 8.0}


class NoAnswer(Exception):
    """Why a system has no answer."""


def host_of(directory):
    return next(directory.rglob("*.xplane.pb")).name.removesuffix(".xplane.pb")


def path_of(system, directory, tool):
    server = system.server
    prefix = "/data/plugin/profile" if system.name == "strobe" else ""
    if not hasattr(server, "run"):
        server.run = json.loads(server.unpacked(server.get(prefix + "/runs")))[0]
    return f"{prefix}/data?" + urllib.parse.urlencode({"run": server.run, "tag": tool, "host": host_of(directory), **TOOLS[tool],
                                                **(SAMPLE_OPTIONS.get(tool, {}) if SAMPLE in str(directory) else {})})


def ask(system, path, limit_s):
    if system.server.connection is not None:
        system.server.connection.sock.settimeout(limit_s)
    begin = time.perf_counter()
    try:
        body = system.server.get(path)
    except (socket.timeout, TimeoutError):
        raise NoAnswer(f"> {limit_s} s") from None
    except RuntimeError as error:
        raise NoAnswer(f"no answer ({str(error).split(':')[1].strip().split(' ')[0]})") from None
    except OSError:
        raise NoAnswer("died") from None
    if not body:
        raise NoAnswer("empty answer")
    return time.perf_counter() - begin


def measure_tool(system, directory, tool, limit_s, from_disk=False, after=None):
    """One server process: {first_s, stored_s, peak_bytes}. The first question comes at once, after "loaded" (everything is decoded) or
    "rest" (the server has nothing left to do for the file)."""
    systems.settle_disk()
    (systems.drop_from_page_cache if from_disk else systems.warm_page_cache)(directory)
    try:
        system.start(directory)
        try:
            if after:
                system.wait_loaded()
            if after == "rest":
                system.wait_rest()
            path = path_of(system, directory, tool)
            figures = {"first_s": ask(system, path, limit_s)}
            if tool not in NOT_STORED:
                figures["stored_s"] = statistics.median(ask(system, path, limit_s) for _ in range(STORED_ASKS))
            figures["peak_bytes"] = system.server.peak_bytes()
            return figures
        finally:
            system.stop()
    finally:
        system.forget()


def takes_part(name, tool, shape, size_mb, peers):
    if name == "strobe":
        return True
    return name in peers and (name != "xprof" or shape == SAMPLE or (size_mb <= XPROF_MAX_MB and tool in XPROF_TOOLS))


def measure(root, shape, size_mb, corpus, fresh_copy, peers, tools):
    """All tools on one file: {(tool, system): {figure: [values]} or why there is none}."""
    limit_s = next(limit for size, limit in sorted(LIMIT_S.items()) if size_mb <= size)
    repeat = REPEAT if size_mb <= 100 else REPEAT_LARGE
    runs = {}
    for tool in tools:
        for name in ("strobe", "xprof-rs", "xprof"):
            if not takes_part(name, tool, shape, size_mb, peers):
                continue
            figures = {}
            for _ in range(repeat[name]):
                try:
                    for figure, value in measure_tool(systems.make(name, root), fresh_copy(name), tool, limit_s).items():
                        figures.setdefault(figure, []).append(value)
                except NoAnswer as reason:
                    figures = str(reason)
                    break
            runs[tool, name] = figures
            print(f"  {shape} {size_mb} {tool} {name} {figures}", flush=True)
    extra = {}
    if "overview_page" in tools and shape != SAMPLE:
        disk = [measure_tool(systems.make("strobe", root), fresh_copy("strobe"), "overview_page", limit_s, from_disk=True)["first_s"] for _ in range(3)]
        extra["overview_from_disk_s"] = disk
    ops = "kernel_stats" if shape == "gpu" else "hlo_stats"
    if ops in tools and shape != SAMPLE:
        for figure, after in (("just_loaded_s", "loaded"), ("warm_columns_s", "rest")):
            extra[figure] = [measure_tool(systems.make("strobe", root), fresh_copy("strobe"), ops, limit_s, after=after)["first_s"] for _ in range(3)]
        extra["warm_columns_tool"] = ops
    print(f"  {shape} {size_mb} {extra}", flush=True)
    return {"shape": shape, "size_mb": size_mb, "corpus": corpus, "runs": runs, "extra": extra}


def figure(row, tool, name, key, unit):
    found = row["runs"].get((tool, name))
    if found is None:
        return "-"
    if isinstance(found, str):
        return found if key == "first_s" else "-"
    return report.cell(found.get(key, []), unit)


def ratio(row, tool, peer):
    """How many times faster ours is; None when there is nothing to compare."""
    ours, theirs = row["runs"].get((tool, "strobe")), row["runs"].get((tool, peer))
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return None
    return statistics.median(theirs["first_s"]) / statistics.median(ours["first_s"])


def verdict(holds):
    return "holds" if holds else "**FAILS**"


def ratio_cell(row, tool, peer):
    value = ratio(row, tool, peer)
    if value is None:
        theirs = row["runs"].get((tool, peer))
        return "-" if not isinstance(theirs, str) or not theirs.startswith(">") else "holds"
    return f"{value:.1f}x, {verdict(value >= FASTER_THAN[peer])}"


def tool_table(row):
    peers = [peer for peer in ("xprof-rs", "xprof") if any(name == peer for _, name in row["runs"])]
    header = ["tool", "strobe: first", "again", "peak"]
    for peer in peers:
        header += [f"{peer}: first", "again", "peak", f"faster by ({FASTER_THAN[peer]:g}x)"]
    rows = []
    for tool in dict.fromkeys(tool for tool, _ in row["runs"]):
        cells = [tool]
        for name in ("strobe", *peers):
            cells += [figure(row, tool, name, "first_s", "s"), figure(row, tool, name, "stored_s", "ms"), figure(row, tool, name, "peak_bytes", "MB")]
            if name != "strobe":
                cells.append(ratio_cell(row, tool, name))
        rows.append(cells)
    what = f"the sample `{SAMPLE}`" if row["shape"] == SAMPLE else f"{row['shape'].upper()} shape"
    title = f"### Tools, {what}, {row['corpus']['size_bytes'] / 1e6:.{0 if row['corpus']['size_bytes'] > 1e7 else 1}f} MB, {row['corpus']['events']:,} events"
    return [title, ""] + report.table(header, rows)


def gate_rows(rows):
    gates = []
    for row in rows:
        where = row["shape"] if row["shape"] == SAMPLE else f"{row['shape'].upper()} {row['size_mb']} MB"
        warm = row["extra"].get("warm_columns_s")
        if warm:
            scaled = statistics.median(warm) * ROW_8_EVENTS / row["corpus"]["events"]
            gates.append([f"8: {row['extra']['warm_columns_tool']} over all events, columns warm and the server at rest, for 30 M events", where,
                          f"{scaled * 1000:.0f} ms", "300 ms", verdict(scaled <= ROW_8_S)])
            gates.append([f"{row['extra']['warm_columns_tool']} asked the moment everything is decoded", where,
                          f"{statistics.median(row['extra']['just_loaded_s']):.2f} s", "-", "-"])
        stored = {tool: statistics.median(found["stored_s"]) for (tool, name), found in row["runs"].items()
                  if name == "strobe" and isinstance(found, dict) and "stored_s" in found}
        if stored:
            slowest = max(stored, key=stored.get)
            gates.append([f"9: any tool's answer again (slowest: {slowest})", where, f"{stored[slowest] * 1000:.1f} ms", "5 ms",
                          verdict(stored[slowest] <= ROW_9_S)])
        disk = row["extra"].get("overview_from_disk_s")
        if disk and row["size_mb"] >= 1000:
            gates.append(["10: overview page, file not in the page cache", where, f"{statistics.median(disk):.2f} s", "6 s",
                          verdict(statistics.median(disk) <= ROW_10_S)])
        for peer, wanted in FASTER_THAN.items():
            ratios = {tool: value for tool in TOOLS if (value := ratio(row, tool, peer)) is not None}
            if ratios:
                least = min(ratios, key=ratios.get)
                gates.append([f"every tool faster than {peer} (least: {least})", where, f"{ratios[least]:.1f}x", f"{wanted:g}x",
                              verdict(ratios[least] >= wanted)])
    return gates


def section(root, rows):
    lines = [report.origin(root),
             "Each tool is the first question to a server process of its own on a file in the page cache that nobody has seen; then the same question "
             f"again ({STORED_ASKS} times, the median). Peak memory is the process's VmHWM, mapped pages counted. Of several runs the median, the worst in "
             "brackets: " + ", ".join(f"{name} {count}" for name, count in REPEAT.items()) + " runs; at 1 GB " +
             ", ".join(f"{name} {count}" for name, count in REPEAT_LARGE.items()) + ".",
             f"An answer may take {LIMIT_S[100]} s, at 1 GB {LIMIT_S[1000]} s. XProf is asked at {XPROF_MAX_MB} MB only (beyond, each tool takes it minutes) "
             f"and for {len(XPROF_TOOLS)} tools. A tool without an answer needs what generated files do not hold: HLO modules, counters, GPU kernels. "
             f"The sample `{SAMPLE}` is a real program with its modules; it is so small that mostly the start of each tool is measured.", "",
             "### Gates", ""]
    lines += report.table(["gate", "file", "figure", "wanted", "verdict"], gate_rows(rows))
    for row in rows:
        lines += tool_table(row)
    return lines


def history(rows, fixed):
    """Flat records for history.jsonl."""
    records = []
    for row in rows:
        flat = {f"{tool}/{name}/{key}": statistics.median(values) for (tool, name), found in row["runs"].items()
                if isinstance(found, dict) for key, values in found.items() if None not in values}
        flat |= {key: statistics.median(values) for key, values in row["extra"].items() if isinstance(values, list)}
        records.append({**fixed, "part": "tools", "shape": row["shape"], "size_mb": row["size_mb"], "medians": flat})
    return records
