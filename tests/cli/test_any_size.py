"""Any size and many askers: what must hold however large a profile is, and whatever happens to the cache meanwhile."""

import os
import shutil
import socket
import subprocess
import threading
import warnings

import pytest

import profiles
import program
from test_cache import answers, column_files, files_of
from test_hostile import five_million_events
from test_tiles import MERGED, Tile

MICROSECOND_PS = 10**6
SECOND_PS = 10**12
INTERACTIVE = '{class="interactive"}'


def tile(server, session, tree, address, level, index=0):
    answer = server.get(f"{session}/tiles/{address}/{level}/{index}?v={tree['version']}")
    assert answer.status == 200, (address, answer.body[:300])
    return Tile(answer.body)


def count_all(server, session, tree, level):
    """Events in the tiles of every chunk, which together show every line once."""
    seen, total = set(), 0
    for host in tree["hosts"]:
        for plane in host["planes"]:
            for chunk in range(plane["chunks"]):
                found = tile(server, session, tree, f"{plane['id']}.{chunk}", level)
                for line in found.lines:
                    assert (plane["id"], line) not in seen
                    seen.add((plane["id"], line))
                    total += found.count(line)
    return len(seen), total


def test_five_million_events_of_a_nanosecond_in_tiles(tmp_path, serve):
    count = 5_000_000
    profiles.save(five_million_events(count), tmp_path)
    server = serve(tmp_path, "--no-cache")
    session = server.session("s")
    tree = server.lines(session)
    assert count_all(server, session, tree, level=33) == (1, count)
    assert server.json(session + "/search?q=tick&limit=1")["total"] == count
    # Close up in the very middle each is alone, a thousand picoseconds long.
    level = 12
    middle = count // 2 * 1000
    close = tile(server, session, tree, "0.0.0", level, middle >> level).lines[0]
    assert [(flags & MERGED, number) for _, _, flags, number in close] == [(0, 1)] * len(close)
    assert 4 <= len(close) <= 6  # 4,096 ps
    assert {end - start for start, end, _, _ in close[1:-1]} == {1000}


def test_one_event_of_98_seconds_over_microseconds(tmp_path, serve):
    """The long one is drawn at every zoom, and hides none of those inside it."""
    inside = 50_000
    space = profiles.space()
    plane = profiles.plane(space, "/host:CPU", {1: "all of it", 2: "tick"})
    profiles.line(plane, "main", [(1, 0, 98 * SECOND_PS)] + [
        (2, n * 1900 * MICROSECOND_PS, MICROSECOND_PS) for n in range(inside)])
    profiles.save(space, tmp_path)
    server = serve(tmp_path, "--no-cache")
    session = server.session("s")
    tree = server.lines(session)
    assert count_all(server, session, tree, level=47) == (1, 1 + inside)
    assert tree["hosts"][0]["planes"][0]["lines"][0]["row_count"] == 2
    level = 24  # 16 us
    at = inside // 2 * 1900 * MICROSECOND_PS
    rects = tile(server, session, tree, "0.0.0", level, at >> level).lines[0]
    lengths = sorted(end - start for start, end, _, _ in rects)
    assert lengths == [MICROSECOND_PS, 1 << level]
    hits = server.json(session + "/search?q=all&limit=10")
    assert [hit["duration_ps"] for hit in hits["hits"]] == [98 * SECOND_PS]


def test_a_thousand_planes_and_five_thousand_lines(tmp_path, serve):
    space = profiles.space()
    for number in range(1000):
        plane = profiles.plane(space, f"/device:GPU:{number}", {1: "kernel"})
        profiles.line(plane, "Stream #1", [(1, 1000 * n, 500) for n in range(3)])
    wide = profiles.plane(space, "/host:CPU", {1: "call"})
    for number in range(5000):
        profiles.line(wide, f"thread {number}", [(1, number, 10), (1, number + 20, 10)])
    profiles.save(space, tmp_path)
    server = serve(tmp_path, "--no-cache")
    session = server.session("s")
    tree = server.lines(session)
    planes = tree["hosts"][0]["planes"]
    assert len(planes) == 1001
    assert sum(len(plane["lines"]) for plane in planes) == 6000
    assert max(plane["chunks"] for plane in planes) > 1
    assert count_all(server, session, tree, level=30) == (6000, 3 * 1000 + 2 * 5000)
    assert server.json(session + "/search?q=call&limit=5")["total"] == 10_000
    assert server.json(session + "/completeness")["state"] == "complete"


def test_a_cold_session_is_opened_once_for_all_who_ask(tmp_path, serve):
    profiles.save(five_million_events(2_000_000), tmp_path / "logs")
    server = serve(tmp_path / "logs", "--cache", tmp_path / "cache")
    session = server.session("s")
    bodies, errors = set(), []
    together = threading.Barrier(16)

    def ask(address):
        try:
            connection = program.http.client.HTTPConnection(server.host, server.port,
                                                            timeout=program.LIMIT_S)
            together.wait()
            connection.request("GET", session + address)
            answer = connection.getresponse()
            bodies.add((address, answer.status, answer.read()))
            connection.close()
        except OSError as error:
            errors.append(error)

    addresses = ["/overview", "/search?q=tick&limit=3"] * 8
    threads = [threading.Thread(target=ask, args=(address,)) for address in addresses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(program.LIMIT_S)
    assert errors == []
    assert sorted((address, status) for address, status, _ in bodies) == [
        ("/overview", 200), ("/search?q=tick&limit=3", 200)]
    assert server.metric("strobe_opened_sessions") == 1
    assert server.metric("strobe_column_file_misses_total") == 1, "opened more than once"


def test_a_closed_tab_stops_its_work(tmp_path, serve):
    """Its requests vanish from the counters of what waits and what runs, and others are answered."""
    space = profiles.space()
    plane = profiles.plane(space, "/host:CPU", {1: "one", 2: "two"})
    events = [(1 + n % 2, n * 1000, 900) for n in range(4000)]
    for number in range(150):
        profiles.line(plane, f"thread {number}", events)
    content = space.SerializeToString()
    for number in range(4):
        profiles.save(content, tmp_path, "", f"s{number}")
    server = serve(tmp_path, "--no-cache")
    sessions = [server.session(f"s{number}") for number in range(4)]
    tabs = []
    for session in sessions:
        for _ in range(6):
            tab = socket.create_connection((server.host, server.port))
            tab.sendall(f"GET {session}/search?q=one HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
            tabs.append(tab)
    for tab in tabs:
        tab.close()

    def at_work():
        # The question itself is one that runs.
        return (server.metric("strobe_requests_waiting" + INTERACTIVE),
                server.metric("strobe_requests_running" + INTERACTIVE) - 1,
                server.metric("strobe_engine_work_waiting" + INTERACTIVE),
                server.metric("strobe_engine_work_running" + INTERACTIVE))

    server.wait_for(at_work, lambda counts: counts == (0, 0, 0, 0))
    assert server.metric("strobe_http_clients_left_total") > 0
    assert server.json(sessions[0] + "/search?q=one&limit=1")["total"] == 150 * 2000


@pytest.fixture
def logs(tmp_path):
    directory = tmp_path / "logs"
    profiles.save(five_million_events(200_000), directory, "", "ticks")
    profiles.save(profiles.simple(count=9), directory, "run", "small")
    return directory


@pytest.fixture
def truth(logs):
    with program.Server(logs, "--no-cache") as server:
        return answers(server)


def test_cache_removed_while_its_columns_are_in_use(logs, truth, tmp_path):
    """What was opened goes on from the columns it holds; what is opened then is decoded."""
    cache = tmp_path / "cache"
    with program.Server(logs, "--cache", cache) as server:
        assert answers(server) == truth
        server.wait_for(lambda: column_files(cache), len)
    with program.Server(logs, "--cache", cache) as server:
        lines = server.lines(server.session("ticks"))
        assert server.metric("strobe_column_file_hits_total") == 1
        shutil.rmtree(cache)
        assert lines["complete"]
        assert answers(server) == truth
        # And columns are kept again for a profile that comes now.
        profiles.save(five_million_events(300_000), logs, "", "later")
        server.wait_for(server.sessions, lambda found: len(found) == 3)
        server.lines(server.session("later"))
        server.wait_for(lambda: column_files(cache), len)


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 512 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place],
                             capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        notice = f"STROBE_NOTICE: a full disk was not tried, nothing can be mounted: {mounted.stderr.strip()}"
        warnings.warn(notice, stacklevel=1)
        pytest.skip(notice)
    yield place
    subprocess.run(["umount", place], check=True)


def test_full_disk_under_the_cache(logs, truth, tiny_disk):
    """Answers are those of a server without a cache, no half file stays, and the disk's space is given back."""
    (tiny_disk / "of others").write_bytes(bytes(100 << 10))
    cache = tiny_disk / "cache"
    with program.Server(logs, "--cache", cache) as server:
        assert answers(server) == truth
        server.wait_for(lambda: [server.json(f"/api/v1/sessions/{s['id']}")["load"]["stage"] for s in server.sessions()],
                        lambda stages: set(stages) == {"ready"})
        assert answers(server) == truth
        assert server.get("/healthz").status == 200
    assert column_files(cache) == []
    left = sum(os.path.getsize(path) for path in files_of(cache))
    assert left < 300 << 10, files_of(cache)
    with program.Server(logs, "--cache", cache) as server:
        assert answers(server) == truth


def test_profile_replaced_while_its_columns_are_in_use(logs, truth, tmp_path):
    """The columns in the cache are of the old one; the new one is decoded, and kept as well."""
    cache = tmp_path / "cache"
    with program.Server(logs, "--cache", cache) as server:
        assert answers(server) == truth
        server.wait_for(lambda: column_files(cache), len)
    with program.Server(logs, "--cache", cache) as server:
        session = server.session("ticks")
        before = server.lines(session)
        assert server.metric("strobe_column_file_hits_total") == 1
        path = profiles.path_of(logs, "", "ticks", "host0")
        with open(path + ".new", "wb") as file:
            file.write(five_million_events(250_000))
        profiles.make_old(path + ".new", 1800)
        os.replace(path + ".new", path)
        after = server.wait_for(lambda: server.get(session + "/lines?wait_ms=10000"),
                                lambda a: a.status == 200 and a.json()["version"] != before["version"]).json()
        assert after["hosts"][0]["planes"][0]["event_count"] == 250_000
        old = server.get(f"{session}/tiles/0.0.0/30/0?v={before['version']}")
        assert (old.status, old.error_name()) == (409, "VERSION_CHANGED")
        assert count_all(server, session, after, level=33) == (1, 250_000)
        server.wait_for(lambda: column_files(cache), lambda files: len(files) == 2)
