#!/usr/bin/env python3
"""Compiles every file of ours without precompiled headers, for its meaning only: a file must include all that it uses.

    tools/check_includes.py BUILD [PART OF A PATH]

BUILD is a configured build folder (its compile_commands.json is read; generated headers must be there). Prints the files
that do not compile alone; the exit code is 1 when there are any. About a second a file and core.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def compile_alone(entry):
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if "clang++" in word) :]
    at = words.index("-include-pch")
    del words[at : at + 2]
    at = words.index("-o")
    del words[at : at + 2]
    done = subprocess.run([*words, "-fsyntax-only", "-w"], cwd=entry["directory"], capture_output=True, text=True)
    return entry["file"], done.returncode, done.stderr


def main():
    build, part = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    with open(os.path.join(build, "compile_commands.json")) as commands:
        entries = [entry for entry in json.load(commands) if "-include-pch" in entry["command"] and part in entry["file"]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, code, errors in pool.map(compile_alone, entries):
            if code != 0:
                failed += 1
                print(f"{file} does not compile without precompiled headers:\n{errors[:2000]}", file=sys.stderr)
    print(f"{len(entries) - failed} of {len(entries)} files include what they use")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
