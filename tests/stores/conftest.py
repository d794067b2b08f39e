"""Fixtures: one S3 server and one GCS emulator for all tests of this folder."""

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]

import servers  # noqa: E402  (needs the path above)


@pytest.fixture(scope="session")
def s3(tmp_path_factory):
    with servers.S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def gcs(tmp_path_factory):
    with servers.GcsServer(tmp_path_factory.mktemp("gcs")) as server:
        yield server


@pytest.fixture(params=["s3", "gcs"])
def store(request, monkeypatch):
    """Each of the two, with its variables set for the commands that the test runs."""
    server = request.getfixturevalue(request.param)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    server.prefix = os.urandom(4).hex()
    return server
