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
    systems.settle_disk()
    if cold:
        systems.drop_from_page_cache(directory)
    else:
        systems.warm_page_cache(directory)
    try:
        system.start(directory)
        try:
            figures = measure_server(system, corpus)
            if system.reopens:
                figures["kept_s"] = seconds(system.wait_kept)
        finally:
            system.stop()
        if system.reopens:
            figures |= reopen(system, directory, cold)
        return figures
    finally:
        system.forget()


def measure_server(system, corpus):
    begin = time.perf_counter()
    system.first_window()
    figures = {"first_window_s": time.perf_counter() - begin}
    system.wait_loaded()
    if system.name == "strobe":
        figures["first_tile_s"] = system.first_tile_at - begin
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
    systems.settle_disk()
    if cold:
        systems.drop_from_page_cache(directory)
        systems.drop_from_page_cache(system.cache)
    system.start(directory)
    try:
        begin = time.perf_counter()
        system.first_window()
        return {"reopen_tile_s": system.first_tile_at - begin, "reopen_window_s": time.perf_counter() - begin}
    finally:
        system.stop()


def cpp_benchmark(root, module, *options):
    """The report of a module's benchmark program."""
    output = subprocess.run([str(root / f"build/release/strobe_{module}_bench"), "--benchmark_format=json", *options],
                            check=True, capture_output=True, text=True).stdout
    return json.loads(output[output.index("{"):])["benchmarks"]


def tile_encoding(root):
    """CPU time of encoding what one screen shows: 142 lines, two tiles each, of 32 M events, at all zooms."""
    report = cpp_benchmark(root, "timeline", "--benchmark_filter=BM_ViewsAtAllZooms")[0]
    return {name: report[name] for name in ("p50_cpu_ms", "p99_cpu_ms", "events")}


def reading_speed(root):
    """MB/s of the decoder alone, by input, from the benchmark program beside the code."""
    speeds = {}
    for entry in cpp_benchmark(root, "xplane", "--benchmark_filter=Decode", "--benchmark_repetitions=5",
                               "--benchmark_report_aggregates_only=true"):
        if entry.get("aggregate_name") == "median" and "bytes_per_second" in entry:
            speeds[READING.get(entry["run_name"], entry["run_name"])] = entry["bytes_per_second"] / 1e6
    return speeds
