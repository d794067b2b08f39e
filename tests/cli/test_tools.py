"""Every tool from the command line and over HTTP: on files, on a server, in each form; and the invariants of a session."""

import csv
import io
import json
import os
import urllib.parse

import pytest

import program

# XProf's own command line's codes.
EXIT_INTERNAL, EXIT_USAGE, EXIT_PATH, EXIT_INVALID = 1, 2, 3, 4


def sample_sessions():
    found = []
    for folder, _, files in sorted(os.walk(program.SAMPLES)):
        if any(".xplane.pb" in name for name in files):
            found.append(folder)
    assert len(found) >= 3
    return found


SESSION = sample_sessions()[0]


@pytest.fixture(scope="module")
def tools():
    listed = program.run("tools", "--format", "json").json()["tools"]
    assert len({tool["id"] for tool in listed}) == len(listed)
    return listed


@pytest.fixture(scope="module")
def served(samples_server):
    """[(session summary, {tool id: entry of the session's tools})]"""
    sessions = samples_server.json("/api/v1/sessions")["sessions"]
    return [(session, {tool["id"]: tool for tool in samples_server.json(
        f"/api/v1/sessions/{session['id']}/tools")["tools"]}) for session in sessions]


def ask(server, session, tool, **query):
    path = f"/api/v1/sessions/{session['id']}/tools/{urllib.parse.quote(tool)}"
    return server.json(path + ("?" + urllib.parse.urlencode(query) if query else ""))


def test_every_tool_has_a_question_help_and_an_answer(tools, samples_server, served):
    for tool in tools:
        assert tool["title"] and tool["question"].endswith("?"), tool["id"]
        if tool["listed"]:
            assert tool["question"] in program.run("help", tool["id"]).text().replace("\n", " "), tool
        for option in tool["options"]:
            assert option["description"], (tool["id"], option["name"])
            if option["choices"] and option["default"]:
                assert option["default"] in option["choices"], (tool["id"], option["name"])
    for session, entries in served:
        for tool in tools:
            entry = entries[tool["id"]]
            if not entry["applies"]:
                assert entry["reason"] and entry["hint"], entry
                continue
            path = f"/api/v1/sessions/{session['id']}/tools/{urllib.parse.quote(tool['id'])}"
            answer = samples_server.get(path)
            if answer.status != 200:  # some need to be told what to look at
                error = json.loads(answer.body)["error"]
                assert answer.status in (400, 404) and error["hint"], (tool["id"], error)
                continue
            check_answer(json.loads(answer.body))


def check_answer(answer):
    for table in answer["tables"]:
        assert len(table["rows"]) == len(table["row_ids"]) == len(table["subjects"])
        ids = [column["id"] for column in table["columns"]]
        assert len(set(ids)) == len(ids), (answer["tool"], ids)
        for row in table["rows"]:
            assert len(row) == len(ids)
            for cell, column in zip(row, table["columns"]):
                value = cell["value"] if isinstance(cell, dict) else cell
                kinds = {"string": str, "number": (int, float), "boolean": bool}[column["type"]]
                assert value is None or isinstance(value, kinds), (answer["tool"], column, value)


def test_the_command_answers_as_the_server_does(tools, samples_server, served):
    session = next(s for s, _ in served if os.path.samefile(os.path.join(s["root"], s["path"]), SESSION))
    address = samples_server.url + "/" + session["run"] + "/" + session["name"]
    for tool in ("hlo_stats", "overview_page", "op_profile"):
        if tool not in [t["id"] for t in tools]:
            continue
        local = program.run(tool, SESSION, "--format", "json", "--limit", "20").json()
        remote = program.run(tool, address, "--format", "json", "--limit", "20").json()
        direct = ask(samples_server, session, tool, limit=20)
        for answer in (local, remote):
            for key in ("tables", "document", "text", "notices", "hosts", "options"):
                assert answer[key] == direct[key], (tool, key)
        xprof = [program.run(tool, place, "--format", "xprof").out for place in (SESSION, address)]
        assert xprof[0] == xprof[1]
        json.loads(xprof[0])


def test_forms_of_a_table():
    table = program.run("hlo_stats", SESSION, "--format", "json", "--limit", "10000").json()["tables"][0]
    rows = list(csv.reader(io.StringIO(program.run("hlo_stats", SESSION, "--format", "csv").text())))
    assert rows[0] == [column["id"] for column in table["columns"]]
    assert len(rows) == 1 + table["total_row_count"]
    if table["rows"]:
        sort = next(c["id"] for c in table["columns"] if c["type"] == "number" and "self" in c["id"])
        picked = program.run("hlo_stats", SESSION, "--format", "csv", f"--sort=-{sort}", "--columns", sort,
                             "--limit", "3").text().split()
        place = [column["id"] for column in table["columns"]].index(sort)
        wanted = sorted((row[place] for row in table["rows"]), reverse=True)[:3]
        assert [float(value) for value in picked[1:]] == wanted
    markdown = program.run("hlo_stats", SESSION, "--format", "md", "--limit", "2").text()
    assert "|---" in markdown or not table["columns"]
    assert program.run("hlo_stats", SESSION, "--limit", "2").text()


def test_rows_lead_to_events(corpus, serve):
    """Every op of a TPU leads to as many events as its row counts. (Times differ: rows have the device's clock.)"""
    server = serve(os.path.join(corpus, "sessions", "tpu-v6e-4-inference"), "--no-cache")
    session = server.json("/api/v1/sessions")["sessions"][0]
    table = ask(server, session, "hlo_stats", limit=200)["tables"][0]
    ids = [column["id"] for column in table["columns"]]
    followed = 0
    for row_id, row, subject in zip(table["row_ids"], table["rows"], table["subjects"]):
        found = server.json(f"/api/v1/sessions/{session['id']}/tools/hlo_stats/rows/{row_id}/events?limit=1")
        assert found["subject"] == subject
        if not found["events"]:
            assert found["reason"]
            continue
        event = server.json(f"/api/v1/sessions/{session['id']}/events/{found['events'][0]['event']}")
        assert event["name"] == found["events"][0]["name"] == subject["op_name"]
        cells = dict(zip(ids, row))
        if cells["rank"] > 0:
            assert cells["occurrences"] == found["total"], subject
            followed += 1
    assert followed > 10


def test_a_session_beside_itself_differs_nowhere(samples_server, served):
    session = served[0][0]["id"]
    made = samples_server.json(f"/api/v1/compare?sessions={session},{session}&tool=framework_op_stats")
    assert made["rows"]
    for row in made["rows"]:
        assert row["row_ids"][0] == row["row_ids"][1]
        assert all(pair[1] in (0, None) for pair in row["absolute"])


def test_permuted_hosts_change_nothing(corpus, serve):
    server = serve(os.path.join(corpus, "sessions", "cpu-jax-two-process"), "--no-cache")
    session = server.json("/api/v1/sessions")["sessions"][0]
    hosts = session["hosts"]
    for tool in ("hlo_stats", "framework_op_stats", "overview_page"):
        one = ask(server, session, tool, hosts=",".join(hosts))
        other = ask(server, session, tool, hosts=",".join(reversed(hosts)))
        rows = [sorted(map(json.dumps, answer["tables"][0]["rows"])) for answer in (one, other)]
        assert rows[0] == rows[1], tool


@pytest.mark.parametrize("arguments,code,name", [
    (("hlo_stats", "/nonexistent"), EXIT_PATH, "LOG_DIRECTORY_NOT_FOUND"),
    (("hlo_stats", SESSION, "--host", "nosuch"), EXIT_INVALID, "HOST_UNKNOWN"),
    (("op_profile", SESSION, "--group_by", "moon"), EXIT_INVALID, "OPTION_INVALID"),
    (("hlo_stats", SESSION, "--option", "typo=1"), EXIT_USAGE, "OPTION_UNKNOWN"),
    (("hlo_stats",), EXIT_USAGE, "USAGE"),
    (("hlo_stats", SESSION, "--format", "xml"), EXIT_USAGE, "USAGE"),
    (("hlo_stats", SESSION, "--sort", "nosuch"), EXIT_INVALID, "COLUMN_UNKNOWN"),
    (("hlo_stats", "http://127.0.0.1:1/x"), EXIT_PATH, "SERVER_UNREACHABLE"),
    (("hlo_stats", "https://127.0.0.1:1/x"), EXIT_PATH, "SERVER_UNREACHABLE"),
    (("hlo_stats", "http://127.0.0.1:99999/x"), EXIT_PATH, "URL_MALFORMED"),
])
def test_exit_codes(arguments, code, name):
    done = program.run(*arguments)
    assert done.code == code, done.err
    assert done.err.decode().startswith("error: " + name + ":"), done.err
    assert not done.out


def test_server_by_address(samples_server):
    tools = program.run("tools", samples_server.url + "/nosuch")
    assert tools.code == EXIT_PATH and b"SESSION_NOT_FOUND" in tools.err
    session = samples_server.json("/api/v1/sessions")["sessions"][0]
    for place in (f"/s/{session['id']}/overview", f"/api/v1/sessions/{session['id']}"):
        assert b"overview_page" in program.run("tools", samples_server.url + place).out
    # A run of one session is named as well by itself; one of several is not.
    by_run = {}
    for one in samples_server.json("/api/v1/sessions?page_size=1000")["sessions"]:
        by_run.setdefault(one["run"], []).append(one)
    alone = next(run for run, sessions in by_run.items() if len(sessions) == 1)
    assert b"overview_page" in program.run("tools", f"{samples_server.url}/{alone}").out
    for run, sessions in by_run.items():
        if len(sessions) > 1:
            assert program.run("tools", f"{samples_server.url}/{run}").code == EXIT_PATH
