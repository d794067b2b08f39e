"""One measured run of one system on one file, and the reading speed from the C++ benchmark."""

import json
import subprocess
import time

import systems

ZOOMS = 60
# The decoder's benchmark by input; names as in src/xplane/profile_file_bench.cc.
READING = {"BM_DecodeAll/0": "TPU shape", "BM_DecodeAll/1": "GPU shape", "BM_DecodeAll/2": "host shape (nested, 20 B an event)"}


def seconds(action):
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def run_once(system, directory, corpus, cold):
    if cold:
        systems.drop_from_page_cache(directory)
    else:
        systems.warm_page_cache(directory)
    try:
        system.start(directory)
        try:
            figures = measure_server(system, corpus)
        finally:
            system.stop()
        if system.reopens:
            figures["reopen_window_s"] = reopen(system, directory, cold)
        return figures
    finally:
        system.forget()


def measure_server(system, corpus):
    begin = time.perf_counter()
    system.first_window()
    figures = {"first_window_s": time.perf_counter() - begin}
    system.wait_loaded()
    if system.name == "strobe":
        figures["loaded_s"] = time.perf_counter() - begin
    figures["zoom_window_s"] = seconds(lambda: system.zoom(0.05))
    figures["same_window_s"] = seconds(system.first_window)
    if system.name == "strobe":
        times = sorted(seconds(lambda: system.zoom(0.3 / (1 + i % 12) ** 2)) for i in range(ZOOMS))
        figures["tile_p50_s"] = times[len(times) // 2]
        figures["tile_p99_s"] = times[min(len(times) - 1, int(len(times) * 0.99))]
    figures["peak_ratio"] = system.server.peak_bytes() / corpus["size_bytes"]
    return figures


def reopen(system, directory, cold):
    """A new process on a file that was converted before: the columns come from the cache directory."""
    if cold:
        systems.drop_from_page_cache(directory)
        systems.drop_from_page_cache(system.cache)
    system.start(directory)
    try:
        return seconds(system.first_window)
    finally:
        system.stop()


def reading_speed(root):
    """MB/s of the decoder alone, by input, from the benchmark program beside the code."""
    output = subprocess.run([str(root / "build/release/strobe_xplane_bench"), "--benchmark_filter=Decode", "--benchmark_format=json",
                             "--benchmark_repetitions=5", "--benchmark_report_aggregates_only=true"], check=True, capture_output=True, text=True).stdout
    report = json.loads(output[output.index("{"):])
    speeds = {}
    for entry in report["benchmarks"]:
        if entry.get("aggregate_name") == "median" and "bytes_per_second" in entry:
            speeds[READING.get(entry["run_name"], entry["run_name"])] = entry["bytes_per_second"] / 1e6
    return speeds
