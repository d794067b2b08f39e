"""The C++ suites of src/storage against the real servers: every ObjectStore keeps the same promises."""

import os
import pathlib
import subprocess
import xml.etree.ElementTree

import pytest

import servers

PROGRAM = os.environ.get("STROBE_STORAGE_TEST", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "asan" / "strobe_storage_test"))
LIMIT_S = 600


def run_suite(environment, pattern, folder):
    report = folder / "report.xml"
    done = subprocess.run([PROGRAM, f"--gtest_filter={pattern}", f"--gtest_output=xml:{report}"], capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, **environment, "no_proxy": "127.0.0.1", "ASAN_OPTIONS": "handle_sigbus=0:allow_user_segv_handler=1"}, check=False)
    cases = list(xml.etree.ElementTree.parse(report).iter("testcase")) if report.exists() else []
    ran = [case for case in cases if case.find("skipped") is None and case.get("status") == "run"]
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    return ran


@pytest.mark.parametrize("kind", ["s3", "gcs"])
def test_every_promise_holds_on_the_real_server(kind, request, tmp_path):
    assert os.access(PROGRAM, os.X_OK), f"{PROGRAM} is missing; ./dev test builds it"
    server = request.getfixturevalue(kind)
    assert len(run_suite(server.environment, f"Stores/Conformance.*/{kind}", tmp_path)) >= 12


@pytest.mark.parametrize("kind", ["s3", "gcs"])
def test_every_promise_holds_with_faults_on_the_way(kind, request, tmp_path):
    server = request.getfixturevalue(kind)
    assert len(run_suite(server.environment, f"Stores/Conformance.*/faulty_{kind}", tmp_path)) >= 12


def test_without_a_server_the_suite_says_so(tmp_path):
    done = subprocess.run([PROGRAM, "--gtest_filter=Stores/Conformance.WhatIsWrittenIsRead/s3"], capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={k: v for k, v in os.environ.items() if not k.startswith(("STROBE_TEST_", "AWS_"))})
    assert "NOT TESTED" in done.stdout


def test_a_wrong_secret_is_refused_and_never_shown(s3, tmp_path):
    import program
    environment = {**s3.environment, "AWS_SECRET_ACCESS_KEY": "not-the-secret"}
    done = subprocess.run([program.BINARY, "ls", f"s3://{servers.BUCKET}/x"], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **environment, "HOME": str(tmp_path), "no_proxy": "127.0.0.1"})
    assert done.returncode == 1
    assert "CREDENTIALS_REJECTED" in done.stderr
    assert "not-the-secret" not in done.stderr + done.stdout
