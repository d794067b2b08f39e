"""How figures become text: cells, tables, and the sections of RESULTS.md."""

import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys


def cell(values, unit):
    """Median, and the worst in brackets when there are several; a text is shown as it is."""
    if isinstance(values, str):
        return values
    if not values or any(value is None for value in values):
        return "-"
    scale, digits, suffix = {"s": (1, 3, " s"), "ms": (1000, 1, " ms"), "x": (1, 2, "x"), "MB": (1e-6, 0, " MB")}[unit]
    median = f"{statistics.median(values) * scale:.{digits}f}{suffix}"
    return median if len(values) == 1 else f"{median} ({max(values) * scale:.{digits}f})"


def table(header, rows):
    """Markdown lines of a table."""
    return ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)] + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def machine():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    memory = next(line.split()[1] for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return f"{os.cpu_count()} cores, {model}, {int(memory) / 2**20:.0f} GiB"


def commit(root):
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=root, capture_output=True, text=True).stdout.strip()


def origin(root):
    """Where figures come from; stands at the head of each section."""
    return f"Machine: {machine()}. Commit {commit(root)}, {datetime.date.today()}. Command: `{' '.join(['./dev bench', *sys.argv[1:]])}`."


def replace_sections(path, sections):
    """Puts each section (title -> lines) in the place of the one of that title; others stay."""
    path = pathlib.Path(path)
    text = path.read_text(encoding="utf-8") if path.exists() else "# Benchmark results\n"
    for title, lines in sections.items():
        section = f"## {title}\n\n" + "\n".join(lines).rstrip() + "\n"
        old = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
        text = old.sub(lambda _: section + "\n", text) if old.search(text) else text.rstrip() + "\n\n" + section
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
