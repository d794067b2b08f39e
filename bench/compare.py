#!/usr/bin/env python3
"""Compares the newest recorded figures with those before them, and draws them all.

    ./dev bench --compare              fails when one of our figures became 10 % worse on the same kind of machine
    ./dev bench --chart FILE.html      a page with a curve for each figure, by commit

Figures are the rows of bench/history.jsonl. Two machines are of one kind when cores, the first two words of the processor's name and memory (within a
tenth) agree. Only our own figures are judged, and only those that are above what the clock can tell (NOISE). Of several rows of one commit the last counts.
"""

import argparse
import html
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORSE = 0.10
# Below this a figure is noise: seconds, milliseconds.
NOISE = {"_s": 0.002, "_ms": 1.0}
HIGHER_IS_BETTER = ("requests_per_s", "mb_s")


def read_history(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def machine_kind(text):
    cores = re.match(r"(\d+) cores", text)
    memory = re.search(r"(\d+) GiB", text)
    model = " ".join(text.split(",")[1].split()[:2]) if "," in text else ""
    return (int(cores[1]) if cores else 0, model, int(memory[1]) if memory else 0)


def same_kind(a, b):
    (cores_a, model_a, memory_a), (cores_b, model_b, memory_b) = machine_kind(a), machine_kind(b)
    return cores_a == cores_b and model_a == model_b and abs(memory_a - memory_b) <= 0.1 * max(memory_a, memory_b)


def figures(record):
    """Our own figures of a row by name."""
    own = {name: value for name, value in record.get("medians", {}).items() if name.startswith("strobe/") and isinstance(value, (int, float))}
    own |= {f"reading_mb_s/{name}": value for name, value in record.get("reading_mb_s", {}).items()}
    return {f"{record.get('shape')} {record.get('size_mb')}: {name}": value for name, value in own.items()}


def series(records):
    """figure -> [(commit, date, machine, value)] in the order of the file, the last row of a commit and machine."""
    found = {}
    for record in records:
        for name, value in figures(record).items():
            rows = found.setdefault(name, {})
            rows.pop((record["commit"], record["machine"]), None)
            rows[(record["commit"], record["machine"])] = (record["commit"], record.get("date", ""), record["machine"], value)
    return {name: list(rows.values()) for name, rows in found.items()}


def noise_of(name):
    return next((limit for ending, limit in sorted(NOISE.items(), key=lambda item: -len(item[0])) if name.endswith(ending)), 0)


def compare(records):
    """(what became worse, how many were compared)."""
    worse, compared = [], 0
    for name, rows in series(records).items():
        newest = rows[-1]
        before = [row for row in rows[:-1] if same_kind(row[2], newest[2])]
        if not before:
            continue
        compared += 1
        old, new = before[-1][3], newest[3]
        if max(old, new) < noise_of(name) or not old:
            continue
        higher = any(part in name for part in HIGHER_IS_BETTER)
        change = (old - new) / old if higher else (new - old) / old
        if change > WORSE:
            worse.append(f"{name}: {old:.4g} ({before[-1][0]}) -> {new:.4g} ({newest[0]}), {change * 100:.0f} % worse")
    return worse, compared


def curve(name, rows):
    """One figure as a picture."""
    width, height, margin = 360, 90, 8
    top = max(row[3] for row in rows) or 1
    step = (width - 2 * margin) / max(1, len(rows) - 1)
    points = [(margin + i * step, height - margin - (height - 2 * margin) * row[3] / top) for i, row in enumerate(rows)]
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{html.escape(f"{row[0]} {row[1]}: {row[3]:.5g} ({row[2]})")}</title></circle>'
                   for (x, y), row in zip(points, rows))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (f'<figure><figcaption>{html.escape(name)}<br><b>{rows[-1][3]:.4g}</b> (most {top:.4g})</figcaption>'
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}"><polyline points="{line}"/>{dots}</svg></figure>')


def chart(records):
    pictures = "\n".join(curve(name, rows) for name, rows in sorted(series(records).items()))
    return ('<!doctype html><meta charset="utf-8"><title>Strobe: figures by commit</title><style>body{font:13px sans-serif;display:flex;flex-wrap:wrap;gap:12px}'
            'figure{margin:0;padding:8px;border:1px solid #ccc}polyline{fill:none;stroke:#36c}circle{fill:#36c}</style>\n' + pictures + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--history", default=str(ROOT / "bench" / "history.jsonl"))
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--chart", default=None, metavar="FILE")
    arguments = parser.parse_args()
    records = read_history(pathlib.Path(arguments.history))
    if arguments.chart:
        pathlib.Path(arguments.chart).write_text(chart(records), encoding="utf-8")
        print(f"{arguments.chart}: {len(series(records))} figures")
        return 0
    worse, compared = compare(records)
    for line in worse:
        print(line)
    print(f"{compared} figures compared with the last ones of the same kind of machine, {len(worse)} became more than {WORSE * 100:.0f} % worse")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
