"""Writes tests/golden/sessions.json: what an independent reader counts in the real profiles.

    build/venv-test/bin/python tests/python/make_expected.py [--corpus DIR] [--check]

For every profile below <corpus>/sessions (../shared/data from the repository root, or
$STROBE_CORPUS) the file holds, per plane and line, the counts, the first and last time and the
sums that xplane_reader.py finds; for every JAX trace.json.gz the same per process and thread;
for a Riegeli file its records counted as one profile (riegeli_reader.py). Only counts and names
are kept, no event. --check compares instead of writing and exits with 1 on a difference.
Cost: about ten seconds, 1 GB of memory for the two-million-event file.
"""

import argparse
import decimal
import gzip
import hashlib
import json
import os
import sys

import riegeli_reader
import xplane_reader

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
GOLDEN = os.path.join(REPOSITORY, "tests", "golden", "sessions.json")
PICOSECONDS_PER_MICROSECOND = 1_000_000
LINE_FIELDS = ("id", "name", "display_id", "display_name", "timestamp_ns", "events", "aggregated",
               "first_ps", "last_ps", "sum_duration_ps", "sum_offset_ps", "event_stats",
               "distinct_names", "zero_duration", "starts_before_previous")
ALWAYS = {"id", "name", "timestamp_ns", "events", "first_ps", "last_ps", "sum_duration_ps",
          "sum_offset_ps"}


def kind_of(name):
    for ending in ("", ".gz", ".xz", ".zst"):
        if name.endswith(".xplane.pb" + ending):
            return "xplane"
    if name.endswith(".xplane.riegeli"):
        return "riegeli"
    if name.endswith(".trace.json.gz"):
        return "trace_json"
    return None


def compact_line(line):
    """The fields that tests compare; those that are zero or empty are left out."""
    return {key: line[key] for key in LINE_FIELDS if key in ALWAYS or line[key]}


def expect_xplane(path):
    summary = xplane_reader.summarise(xplane_reader.read(path))
    return {
        "hostnames": summary["hostnames"], "errors": len(summary["errors"]),
        "warnings": len(summary["warnings"]), "events": summary["events"],
        "first_ps": summary["first_ps"], "last_ps": summary["last_ps"],
        "planes": [{
            "id": plane["id"], "name": plane["name"], "events": plane["events"],
            "event_metadata": plane["event_metadata"], "stat_metadata": plane["stat_metadata"],
            "stats": [name for name, _ in plane["stats"]],
            "lines": [compact_line(line) for line in plane["lines"]],
        } for plane in summary["planes"]]}


def picoseconds(value):
    return int(decimal.Decimal(value) * PICOSECONDS_PER_MICROSECOND)


def expect_trace_json(path):
    with gzip.open(path, "rb") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    names, threads = {}, {}
    for event in trace["traceEvents"]:
        key = (event.get("pid"), event.get("tid"))
        if event.get("ph") == "M" and event["name"] in ("process_name", "thread_name"):
            names[(event["name"],) + (key if event["name"] == "thread_name" else key[:1])] = (
                event["args"]["name"])
        if event.get("ph") != "X":
            continue
        start = picoseconds(event["ts"])
        end = start + picoseconds(event.get("dur", 0))
        line = threads.setdefault(key, {
            "pid": key[0], "tid": key[1], "events": 0, "first_ps": start, "last_ps": end,
            "sum_duration_ps": 0})
        line["events"] += 1
        line["first_ps"] = min(line["first_ps"], start)
        line["last_ps"] = max(line["last_ps"], end)
        line["sum_duration_ps"] += end - start
    for (pid, tid), line in threads.items():
        line["process"] = names.get(("process_name", pid), "")
        line["thread"] = names.get(("thread_name", pid, tid), "")
    return {"events": sum(line["events"] for line in threads.values()),
            "threads": sorted(threads.values(), key=lambda line: (line["pid"], line["tid"]))}


def expect_file(path):
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    kind = kind_of(path)
    record = {"kind": kind, "size_bytes": os.path.getsize(path), "sha256": digest}
    if kind == "xplane":
        record.update(expect_xplane(path))
    elif kind == "riegeli":
        record.update(riegeli_reader.merge_lines(riegeli_reader.read(path)))
    elif kind == "trace_json":
        record.update(expect_trace_json(path))
    return record


def profiles_below(root):
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if kind_of(name):
                yield os.path.join(folder, name)


def expect_all(corpus):
    sessions = os.path.join(corpus, "sessions")
    if not os.path.isdir(sessions):
        sys.exit(f"make_expected: no real profiles at {sessions}; set STROBE_CORPUS or --corpus")
    return {os.path.relpath(path, sessions).replace(os.sep, "/"): expect_file(path)
            for path in profiles_below(sessions)}


def render(expected):
    """One line per profile line, so that a change shows as a small difference."""
    out = ["{"]
    for number, (path, record) in enumerate(expected.items()):
        head = {k: v for k, v in record.items() if k not in ("planes", "threads")}
        out.append(f"{',' if number else ' '}{json.dumps(path)}: {json.dumps(head)[:-1]}")
        for key in ("planes", "threads"):
            if key in record:
                out.append(f"  , {json.dumps(key)}: [")
                out.append(",\n".join(render_item(item) for item in record[key]))
                out.append("  ]")
        out.append("  }")
    return "\n".join(out) + "\n}\n"


def render_item(item):
    if "lines" not in item:
        return "    " + json.dumps(item)
    head = json.dumps({k: v for k, v in item.items() if k != "lines"})[:-1]
    lines = ",\n".join("      " + json.dumps(line) for line in item["lines"])
    return f"    {head}, \"lines\": [" + (f"\n{lines}\n    ]}}" if lines else "]}")


def differences(was, now, where=""):
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(set(was) | set(now), key=str):
            yield from differences(was.get(key), now.get(key), f"{where}/{key}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, (a, b) in enumerate(zip(was, now)):
            yield from differences(a, b, f"{where}/{index}")
    elif was != now:
        yield f"{where}: written {str(was)[:80]}, now {str(now)[:80]}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default=os.environ.get(
        "STROBE_CORPUS", os.path.join(REPOSITORY, "..", "shared", "data")))
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    expected = expect_all(arguments.corpus)
    if arguments.check:
        with open(GOLDEN, encoding="utf-8") as file:
            found = list(differences(json.load(file), expected))
        print("\n".join(found) or f"{len(expected)} profiles agree with {os.path.basename(GOLDEN)}")
        sys.exit(1 if found else 0)
    text = render(expected)
    if json.loads(text) != expected:
        raise AssertionError("the rendered file does not hold what was counted")
    os.makedirs(os.path.dirname(GOLDEN), exist_ok=True)
    with open(GOLDEN, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{len(expected)} profiles, {len(text)} bytes")


if __name__ == "__main__":
    main()
