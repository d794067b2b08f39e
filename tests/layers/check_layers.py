#!/usr/bin/env python3
"""Checks the rules of the tree that a program can check; prints one `ok` or `not ok` line each.

1. A module of src/ includes only modules before it in the layer order (and itself).
2. Generated protobuf and gRPC headers are seen by capture alone; Boost by the one HTTP server file; nlohmann/json never in a header.
3. Tool maths (analysis, timeline, tools, hlo) opens no file or socket and prints no JSON.
4. Every module of src/ has a README.md; no file of code is longer than 800 lines.
5. ARCHITECTURE.md names every module.
"""

import pathlib
import re
import sys

LAYERS = ["base", "wire", "storage", "xplane", "hlo", "analysis", "timeline", "tools", "engine", "queue", "catalog",
          "capture", "monitor", "advisor", "api", "cli"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
PURE = ["analysis", "timeline", "tools", "hlo"]
IMPURE_HEADERS = re.compile(r"^(fstream|filesystem|sys/socket\.h|fcntl\.h|unistd\.h|sys/mman\.h|nlohmann/.*|boost/.*|grpc.*)$")
MAX_LINES = 800


def sources():
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".h", ".cc"):
            yield path, path.relative_to(ROOT / "src").parts[0], path.read_text(encoding="utf-8", errors="replace")


def is_helper_file(path):
    return re.search(r"_(test|bench|fuzz|for_test)\.(cc|h)$", path.name) or "testing" in path.parts


def layer_faults():
    for path, module, text in sources():
        if module not in LAYERS:
            yield f"{path.relative_to(ROOT)}: the folder {module} is not in the layer order"
            continue
        for kind, target in INCLUDE.findall(text):
            if not target.startswith("src/"):
                if kind == '"' and not target.endswith((".pb.h",)):
                    yield f'{path.relative_to(ROOT)}: include "{target}" must be written from the root ("src/...")'
                continue
            other = target.split("/")[1]
            if other not in LAYERS:
                yield f"{path.relative_to(ROOT)}: includes {target}, whose folder is not in the layer order"
            elif LAYERS.index(other) > LAYERS.index(module):
                yield f"{path.relative_to(ROOT)}: {module} must not include {other} ({target})"


def library_faults():
    beast_files = set()
    for path, module, text in sources():
        for _, target in INCLUDE.findall(text):
            where = f"{path.relative_to(ROOT)}: includes {target}"
            if target.endswith(".pb.h") or target.startswith(("grpc", "google/protobuf")):
                if module != "capture":
                    yield f"{where}; only capture speaks gRPC"
                elif path.suffix == ".h" and not is_helper_file(path) and not path.name.endswith("_internal.h"):
                    yield f"{where} in a header that others see"
            if target.startswith("boost/"):
                if module != "api":
                    yield f"{where}; only api sees Boost"
                elif not is_helper_file(path):
                    beast_files.add(path.name)
            if target.startswith("nlohmann/") and path.suffix == ".h" and not is_helper_file(path):
                yield f"{where}; a JSON library stays out of headers"
            if target.startswith("CLI/") and module != "cli":
                yield f"{where}; only cli parses arguments"
    if len(beast_files) > 3:
        yield f"Boost is seen by {len(beast_files)} files of api, at most 3 may: {sorted(beast_files)}"


def purity_faults():
    for path, module, text in sources():
        if module not in PURE or is_helper_file(path):
            continue
        for _, target in INCLUDE.findall(text):
            if IMPURE_HEADERS.match(target) or target == "src/base/json_writer.h":
                yield f"{path.relative_to(ROOT)}: {module} is pure and must not include {target}"
        for call in re.findall(r"\b(fopen|printf|fprintf|fwrite|fread)\s*\(", text):
            yield f"{path.relative_to(ROOT)}: {module} is pure and must not call {call}"


def readme_faults():
    for directory in sorted((ROOT / "src").iterdir()):
        if directory.is_dir() and not (directory / "README.md").is_file():
            yield f"{directory.relative_to(ROOT)}: has no README.md"


def length_faults():
    for folder in ("src", "web/src", "tests", "bench", "tools", "sdk"):
        for path in sorted((ROOT / folder).rglob("*")) if (ROOT / folder).is_dir() else []:
            if path.suffix in (".h", ".cc", ".ts", ".tsx", ".py", ".sh", ".mjs") and "node_modules" not in path.parts:
                lines = path.read_text(encoding="utf-8", errors="replace").count("\n")
                if lines > MAX_LINES:
                    yield f"{path.relative_to(ROOT)}: {lines} lines, at most {MAX_LINES}"


def architecture_faults():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8") if (ROOT / "ARCHITECTURE.md").is_file() else ""
    for directory in sorted((ROOT / "src").iterdir()):
        if directory.is_dir() and f"`src/{directory.name}`" not in text:
            yield f"ARCHITECTURE.md does not name `src/{directory.name}`"


def main():
    bad = 0
    for name, faults in (("modules include only earlier layers", layer_faults), ("libraries stay where they belong", library_faults),
                         ("pure modules stay pure", purity_faults), ("every module has a README", readme_faults),
                         ("no file is too long", length_faults), ("ARCHITECTURE.md names every module", architecture_faults)):
        found = list(faults())
        print(("not ok " if found else "ok ") + name)
        for fault in found:
            print("    " + fault)
        bad += bool(found)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
