"""Tables as Parquet, read by pyarrow, against the CSV and the JSON of the same question."""

import csv
import io
import json
import math
import os

import pyarrow.parquet
import pytest

import program

ROW_GROUP_ROWS = 65536
WHOLE_UNITS = ("count", "bytes", "ps")


def address(session, tool, form, more=""):
    return f"/api/v1/sessions/{session['id']}/tools/{tool}?format={form}{more}"


def read(server, target):
    answer = server.get(target)
    assert answer.status == 200, answer.body
    assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
    return answer, pyarrow.parquet.ParquetFile(io.BytesIO(answer.body))


def text_of(value):
    """A value as the CSV of the server has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def same(cell, value):
    if value is None or isinstance(value, (str, bool)):
        # Bytes of a name that are no UTF-8 stay in CSV and JSON what they are.
        return cell == text_of(value) or "\ufffd" in str(value)
    return math.isclose(float(cell), value, rel_tol=0, abs_tol=0) or (math.isinf(value) and cell in ("inf", "-inf"))


def check_table(server, session, tool, table):
    more = f"&table={table['id']}"
    rows = list(csv.reader(io.StringIO(server.get(address(session, tool, "csv", more)).body.decode("utf-8", "replace"), newline="")))
    _, file = read(server, address(session, tool, "parquet", more))
    made = file.read()
    assert made.column_names == rows[0] == [column["id"] for column in table["columns"]]
    assert made.num_rows == len(rows) - 1 == table["total_row_count"]
    for column, field in zip(table["columns"], made.schema):
        values = made.column(field.name).to_pylist()
        known = {"string": "string", "boolean": "bool", "number": "double"}[column["type"]]
        if column["type"] == "number" and column["unit"] in WHOLE_UNITS and all(
                value is None or float(value).is_integer() for value in values if not isinstance(value, str)):
            known = "int64"
        assert str(field.type) in (known, "string"), (tool, column, field.type)
        at = rows[0].index(field.name)
        for row, value in zip(rows[1:], values):
            assert same(row[at], value), (tool, field.name, row[at], value)
    return made.num_rows


def test_every_table_of_every_tool_equals_its_csv(samples_server):
    tables = rows = 0
    for session in samples_server.json("/api/v1/sessions")["sessions"]:
        for tool in samples_server.json(f"/api/v1/sessions/{session['id']}/tools")["tools"]:
            answer = samples_server.get(f"/api/v1/sessions/{session['id']}/tools/{tool['id']}")
            if not tool["applies"] or answer.status != 200:
                continue
            for table in answer.json()["tables"]:
                # Names of columns may stand twice in XProf's tables; pyarrow reads them, but not by name.
                ids = [column["id"] for column in table["columns"]]
                if not table["id"] or len(set(ids)) != len(ids):
                    continue
                rows += check_table(samples_server, session, tool["id"], table)
                tables += 1
    assert tables > 20 and rows > 200, (tables, rows)


def test_real_tables_are_whole_and_in_bounded_groups(corpus, serve):
    server = serve(os.path.join(corpus, "sessions", "gpu-v100-multi-worker"), "--no-cache")
    session = server.json("/api/v1/sessions")["sessions"][0]
    for table in server.json(f"/api/v1/sessions/{session['id']}/tools/framework_op_stats?limit=1")["tables"]:
        assert check_table(server, session, "framework_op_stats", table) > 400
    answer, file = read(server, address(session, "framework_op_stats", "parquet"))
    assert answer.headers["Content-Disposition"].endswith('.parquet"')
    for at in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(at)
        assert group.num_rows <= ROW_GROUP_ROWS
        assert all(group.column(c).compression == "ZSTD" for c in range(group.num_columns))


def test_what_is_chosen_is_what_is_in_the_file(corpus, serve):
    server = serve(os.path.join(corpus, "sessions", "gpu-v100-multi-worker"), "--no-cache")
    session = server.json("/api/v1/sessions")["sessions"][0]
    answer, file = read(server, address(session, "framework_op_stats", "parquet", "&columns=operation,occurrences&sort=-occurrences&limit=3"))
    made = file.read()
    assert made.column_names == ["operation", "occurrences"]
    counts = made.column("occurrences").to_pylist()
    assert counts == sorted(counts, reverse=True) and len(counts) == 3
    metadata = {key.decode(): value.decode() for key, value in file.metadata.metadata.items() if key.startswith(b"strobe.")}
    assert metadata["strobe.tool"] == "framework_op_stats" and metadata["strobe.session"] == session["id"]
    assert [one["id"] for one in json.loads(metadata["strobe.columns"])] == made.column_names
    none = read(server, address(session, "framework_op_stats", "parquet", "&q=no-op-is-called-this"))[1].read()
    assert none.num_rows == 0 and "operation" in none.column_names


def test_two_sessions_side_by_side(samples_server):
    sessions = [one["id"] for one in samples_server.json("/api/v1/sessions")["sessions"]][:2]
    if len(sessions) < 2:
        pytest.fail("samples hold fewer than two sessions")
    target = f"/api/v1/compare?sessions={','.join(sessions)}&tool=framework_op_stats&format="
    answer = samples_server.get(target + "csv")
    assert answer.status == 200, answer.body
    rows = list(csv.reader(io.StringIO(answer.body.decode(), newline="")))
    made = read(samples_server, target + "parquet")[1].read()
    assert made.column_names == rows[0] and made.num_rows == len(rows) - 1 > 0
    for at in range(made.num_columns):
        for row, value in zip(rows[1:], made.column(at).to_pylist()):
            assert same(row[at], value), (rows[0][at], row[at], value)
