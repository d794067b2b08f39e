"""Tiles over HTTP against the independent reader: no event lost at any zoom, times exact.

Tiles are read here as docs/formats/tiles.md describes them, by code of these tests' own.
"""

import bisect
import os
import random
import struct

import pytest

import program
import xplane_reader

TPU = "tpu-v6e-4-inference/plugins/profile/2025_06_01_00_00_00"
WALL_CLOCK_PS = 365 * 86400 * 10**12  # after 1971
MERGED, BEFORE, AFTER = 1, 2, 4
SEED = 98


class Tile:
    """{line: [(start units, end units, flags, count)]} of one tile."""

    def __init__(self, body):
        magic, version, self.level, lines, self.index, rects, _, _, merged = struct.unpack(
            "<4sBBHqIIII", body[:32])
        assert (magic, version) == (b"STL1", 1)
        at = 32
        table = [struct.unpack_from("<4I", body, at + 16 * n) for n in range(lines)]
        at += 16 * lines
        rows = [struct.unpack_from("<3IHBB", body, at + 16 * n) for n in range(rects)]
        at += 16 * rects + (2 * rects + 3) // 4 * 4
        counts = iter(struct.unpack_from(f"<{merged}I", body, at))
        counted = [(start, end, flags, next(counts) if flags & MERGED else 1)
                   for start, end, _, _, _, flags in rows]
        assert next(counts, None) is None
        self.lines = {line: counted[first:first + total] for line, _, first, total in table}

    def count(self, line):
        return sum(rect[3] for rect in self.lines[line])


class Truth:
    """The events of one line, by session time."""

    def __init__(self, line, origin_ps):
        # Some lines of one file have a wall clock, others count from the profiler's start.
        base_ps = line.timestamp_ns * 1000
        if base_ps > WALL_CLOCK_PS:
            base_ps -= origin_ps
        self.events = sorted(
            (base_ps + event.offset_ps, event.duration_ps)
            for event in line.events if event.WhichOneof("data") != "num_occurrences")
        self.starts = [start for start, _ in self.events]
        self.longest = max((duration for _, duration in self.events), default=0)

    def touching(self, begin, end):
        first = bisect.bisect_left(self.starts, begin - self.longest)
        last = bisect.bisect_left(self.starts, end)
        return [(s, d) for s, d in self.events[first:last] if s >= begin or s + d > begin]


@pytest.fixture(scope="module")
def session(corpus):
    with program.Server(os.path.join(corpus, "sessions", TPU), "--no-cache") as server:
        (only,) = server.sessions()
        where = f"/api/v1/sessions/{only['id']}"
        tree = server.lines(where)
        origin_ps = int(server.json(where)["origin_unix_ns"]) * 1000
        space = xplane_reader.read(os.path.join(corpus, "sessions", TPU, "host0.xplane.pb"))
        truth = {(p, n): Truth(line, origin_ps) for p, plane in enumerate(space.planes)
                 for n, line in enumerate(plane.lines)}
        yield server, where, tree, truth


def tiles_at(session, level, index):
    """Yields (truth of a line, its rectangles' count, rectangles) for all lines."""
    server, where, tree, truth = session
    for plane in tree["hosts"][0]["planes"]:
        number = int(plane["id"].split(".")[1])
        for chunk in range(plane["chunks"]):
            answer = server.get(
                f"{where}/tiles/{plane['id']}.{chunk}/{level}/{index}?v={tree['version']}")
            assert answer.status == 200, answer.body[:200]
            tile = Tile(answer.body)
            assert (tile.level, tile.index) == (level, index)
            for line in tile.lines:
                yield truth[number, line], tile.count(line), tile.lines[line]


@pytest.mark.parametrize("level", [47, 46, 44, 41, 38])
def test_no_event_is_lost_far_out(level, session):
    """The whole session, 98 s, at five zooms: the counts add up to the file's, line by line."""
    end_ps = session[2]["window"]["end_ps"]
    assert end_ps > 97e12
    for index in range((end_ps >> level) + 1):
        begin, end = index << level, (index + 1) << level
        for truth, count, _ in tiles_at(session, level, index):
            assert count == len(truth.touching(begin, end)), (level, index)


@pytest.mark.parametrize("level", [34, 30, 26, 23, 20])
def test_close_up_is_exact(level, session):
    """Around events picked at random: all that touch the tile, at their own picosecond."""
    generator = random.Random(SEED + level)
    lines = [line for line in session[3].values() if line.events]
    unit = max(level - 31, 0)
    for _ in range(6):
        start, duration = generator.choice(generator.choice(lines).events)
        index = (start + generator.randrange(duration + 1)) >> level
        begin, end = index << level, (index + 1) << level
        drawn = 0
        for truth, count, rects in tiles_at(session, level, index):
            touching = truth.touching(begin, end)
            assert count == len(touching)
            clipped = sorted((max(s, begin) - begin >> unit, min(s + d, end) - begin)
                             for s, d in touching)
            starts = {s for s, _ in clipped}
            whole = {(s, e) for s, e in clipped}
            for rect_start, rect_end, flags, _ in rects:
                assert rect_start in starts, "a rectangle begins where no event does"
                if unit == 0 and not flags & MERGED:
                    assert (rect_start, rect_end) in whole
                assert bool(flags & BEFORE) <= (rect_start == 0)
            drawn += count
        assert drawn > 0


def test_one_microsecond_shows_every_event_alone(session):
    """At 2^20 ps a cell is 1 ns: what is longer stands alone, wherever in the 98 s it is."""
    longest = max(session[3].values(), key=lambda line: len(line.events))
    for start, duration in longest.events[::len(longest.events) // 5]:
        index = start >> 20
        for truth, _, rects in tiles_at(session, 20, index):
            if truth is not longest:
                continue
            begin = index << 20
            wanted = (start - begin, min(start + duration - begin, 1 << 20))
            alone = {(s, e) for s, e, flags, _ in rects if not flags & MERGED}
            assert wanted in alone or duration < 1024
