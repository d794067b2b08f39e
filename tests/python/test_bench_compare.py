"""What `./dev bench --compare` calls worse, and the page that draws the figures."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

import compare  # noqa: E402  (needs the path above)

SERVER = "2 cores, AMD EPYC 7B13, 24 GiB"
SAME_KIND = "2 cores, AMD EPYC, 24 GiB"
OTHER = "8 cores, Intel Xeon, 64 GiB"


def record(commit, machine=SERVER, **medians):
    return {"commit": commit, "date": "2026-11-30", "machine": machine, "shape": "tpu", "size_mb": 100, "reading_mb_s": {"TPU": medians.pop("reading", 500)},
            "medians": {f"strobe/{name}": value for name, value in medians.items()}}


def worse(*records):
    return [line.split(": ")[1] for line in compare.compare(list(records))[0]]


def test_ten_percent_is_the_border():
    assert worse(record("a", first_tile_s=1.0), record("b", first_tile_s=1.09)) == []
    assert worse(record("a", first_tile_s=1.0), record("b", first_tile_s=1.11)) == ["strobe/first_tile_s"]
    assert worse(record("a", first_tile_s=1.0), record("b", first_tile_s=0.5)) == []


def test_more_is_better_for_speeds():
    assert worse(record("a", reading=500), record("b", reading=440)) == ["reading_mb_s/TPU"]
    assert worse(record("a", requests_per_s=100), record("b", requests_per_s=80)) == ["strobe/requests_per_s"]
    assert worse(record("a", requests_per_s=100), record("b", requests_per_s=200)) == []


def test_only_the_same_kind_of_machine_counts():
    assert worse(record("a", OTHER, first_tile_s=0.1), record("b", first_tile_s=1.0)) == []
    assert worse(record("a", SAME_KIND, first_tile_s=0.1), record("b", first_tile_s=1.0)) == ["strobe/first_tile_s"]
    # The last one before counts, not the best ever; of one commit the last row.
    assert worse(record("a", first_tile_s=0.1), record("b", first_tile_s=1.0), record("c", first_tile_s=1.05)) == []
    assert worse(record("a", first_tile_s=1.0), record("b", first_tile_s=2.0), record("b", first_tile_s=1.0)) == []


def test_noise_and_peers_are_not_judged():
    assert worse(record("a", same_window_s=0.0001), record("b", same_window_s=0.0015)) == []
    first, second = record("a"), record("b")
    first["medians"]["xprof/first_window_s"], second["medians"]["xprof/first_window_s"] = 1, 9
    assert worse(first, second) == []


def test_the_page_has_a_curve_for_each_figure():
    page = compare.chart([record("a", first_tile_s=1.0), record("<b>", first_tile_s=1.2)])
    assert page.count("<figure>") == 2 and page.count("<circle") == 4
    assert "<b>:" not in page and "&lt;b&gt;" in page


def test_the_recorded_history_can_be_read():
    history = compare.read_history(compare.ROOT / "bench" / "history.jsonl")
    assert history and compare.series(history)
