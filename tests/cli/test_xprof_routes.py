"""XProf's own routes over HTTP, against answers that XProf 2.24.2 gave for the same sessions."""

import csv
import glob
import gzip
import json
import os
import shutil
import urllib.parse

import pytest

import program

PREFIXES = ["", "/data/plugin/profile"]
ROUTES = ("runs", "run_tools", "hosts")


@pytest.fixture(scope="module")
def recorded(corpus):
    """{session: [(request, status, content type, answer)]} of the routes that are served."""
    goldens = os.path.join(corpus, "xprof_goldens", "2.24.2")
    found = {}
    with open(os.path.join(goldens, "MANIFEST.tsv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["tool"] not in ROUTES or row["file"] == "-":
                continue
            with gzip.open(os.path.join(goldens, row["file"])) as answer:
                body = json.load(answer)
            request = row["request"]
            if row["run"]:
                request += ("&" if "?" in request else "?") + "run=" + urllib.parse.quote(
                    row["run"])
            found.setdefault(row["session"], []).append(
                (request, int(row["status"]), row["content_type"], body))
    return found


def compare(server, rows):
    for request, status, content_type, body in rows:
        request = request.removeprefix("/data/plugin/profile")  # some were recorded with it
        for prefix in PREFIXES:
            answer = server.get(prefix + request, Accept_Encoding="gzip")
            assert answer.status == status, request
            assert answer.headers["Content-Type"].split(";")[0] == content_type
            assert answer.headers["Content-Encoding"] == "gzip", "XProf's answers always are"
            found = json.loads(gzip.decompress(answer.body))
            assert found == body, request


def test_every_recorded_session(recorded, corpus, serve):
    compared = 0
    for session, rows in sorted(recorded.items()):
        folder = os.path.join(corpus, "sessions", session)
        if not os.path.isdir(folder):
            continue  # made by a tool of the reference, not kept
        server = serve(folder, "--no-cache", "--log-level", "error")
        compare(server, rows)
        server.close()
        compared += len(rows)
    assert compared > 100


def test_requests_without_a_session(recorded, samples_server):
    compare(samples_server, recorded["_server"])


def test_config_and_version(corpus, samples_server):
    path = os.path.join(corpus, "xprof_goldens/2.24.2/_server/config.json.gz")
    with gzip.open(path) as file:
        wanted = json.load(file)
    for prefix in PREFIXES:
        answer = samples_server.get(prefix + "/config", Accept_Encoding="gzip")
        assert json.loads(gzip.decompress(answer.body)) == wanted
        answer = samples_server.get(prefix + "/version", Accept_Encoding="gzip")
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert gzip.decompress(answer.body) == b"2.24.2"  # six bytes, as recorded


def test_runs_of_all_samples(samples_server):
    answer = samples_server.get("/runs", Accept_Encoding="gzip")
    runs = json.loads(gzip.decompress(answer.body))
    wanted = []
    for folder, folders, _ in os.walk(program.SAMPLES):
        if folder.endswith("plugins/profile"):
            run = os.path.relpath(folder, program.SAMPLES)[:-len("/plugins/profile")]
            wanted += [f"{run}/{session}" for session in folders]
    assert sorted(runs) == sorted(wanted)
    for run in runs:
        hosts = json.loads(gzip.decompress(samples_server.get(
            f"/hosts?run={run}&tag=trace_viewer@", Accept_Encoding="gzip").body))
        (folder,) = [os.path.join(program.SAMPLES, r.rsplit("/", 1)[0], "plugins/profile",
                                  r.rsplit("/", 1)[1]) for r in [run]]
        names = {name.split(".", 1)[0] for name in os.listdir(folder) if ".xplane.pb" in name}
        if names:
            assert {h["hostname"] for h in hosts} - {"ALL_HOSTS"} == names


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("path,status,text", [
    ("/data", 500, b"'NoneType' object has no attribute 'rstrip'"),
    ("/data?run=a&tag=overview_page", 404, b"No xplane file found for run: a, tool: overview_page"),
    ("/data_csv?run=a&tag=hlo_stats", 500, b"No xplane file found for run: a, tool: hlo_stats"),
    ("/module_list?run=a", 200, b""),
    ("/generate_cache", 405, b"Method Not Allowed")])
def test_refusals_are_worded_as_xprofs(prefix, path, status, text, samples_server):
    answer = samples_server.get(prefix + path)
    assert answer.status == status
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert gzip.decompress(answer.body) == text


@pytest.mark.parametrize("escape", ["/etc", "..", "../..", "/", "%2e%2e/%2e%2e"])
def test_session_path_does_not_leave_the_roots(escape, samples_server):
    for key in ("session_path", "run_path"):
        answer = samples_server.get(f"/runs?{key}={escape}", Accept_Encoding="identity")
        body = answer.body
        if answer.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        assert json.loads(body) == []


def test_session_path_opens_what_is_in_no_list(corpus, serve, tmp_path):
    """A folder of profiles that no walk takes for a session, inside the root: as if it were listed."""
    [source] = glob.glob(os.path.join(
        corpus, "sessions/gpu-1080ti-julia/plugins/profile/2025_02_05_11_05_24"))
    listed = tmp_path / "logs/plugins/profile/r"
    loose = tmp_path / "logs/elsewhere/r"
    shutil.copytree(source, listed)
    shutil.copytree(source, loose)
    server = serve(str(tmp_path / "logs"), "--no-cache", "--log-level", "error")
    assert json.loads(gzip.decompress(server.get("/runs", Accept_Encoding="gzip").body)) == ["r"]
    for tag in ("overview_page", "kernel_stats", "framework_op_stats"):
        wanted = server.get(f"/data?run=r&tag={tag}", Accept_Encoding="gzip")
        assert wanted.status == 200
        for query in (f"session_path={loose}", f"run_path={loose.parent}"):
            found = server.get(f"/data?run=r&tag={tag}&{query}", Accept_Encoding="gzip")
            assert found.status == 200, query
            assert gzip.decompress(found.body) == gzip.decompress(wanted.body)
    tools = server.get(f"/run_tools?run=r&session_path={loose}", Accept_Encoding="gzip")
    assert "kernel_stats" in json.loads(gzip.decompress(tools.body))
    outside = server.get(f"/data?run=x&tag=overview_page&session_path={tmp_path}/x")
    assert outside.status == 403
    assert outside.json()["error"]["name"] == "PATH_OUTSIDE_ROOTS"
