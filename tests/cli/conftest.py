"""Fixtures of the end-to-end tests: the built program, real profiles, and servers that tests share."""

import os
import sys
import warnings

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import program  # noqa: E402  (needs the path above)


@pytest.fixture(scope="session", autouse=True)
def program_is_there():
    assert os.access(program.BINARY, os.X_OK), f"{program.BINARY} is missing; ./dev build makes it"


@pytest.fixture(scope="session")
def corpus():
    """The folder of real profiles; tests that need it are skipped, loudly, where it is absent."""
    if not os.path.isdir(os.path.join(program.CORPUS, "sessions")):
        notice = f"STROBE_NOTICE: real profiles absent: {program.CORPUS} (set STROBE_CORPUS)"
        warnings.warn(notice, stacklevel=1)
        pytest.skip(notice)
    return program.CORPUS


@pytest.fixture(scope="session")
def samples_server():
    """One server over samples/ for every test that only asks."""
    with program.Server(program.SAMPLES, "--no-cache") as server:
        yield server


@pytest.fixture
def serve():
    """serve(directory, *options) starts a server that ends with the test."""
    servers = []

    def begin(*arguments, **options):
        servers.append(program.Server(*arguments, **options))
        return servers[-1]

    yield begin
    for server in servers:
        server.close()
