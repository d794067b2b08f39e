"""Metrics by gRPC, from real gRPC clients: OTLP, and the logging request of Google's own library."""

import datetime
import json
import os
import re
import socket
import ssl
import struct
import sys

import grpc
import pytest
from google.cloud.logging_v2.types import LogEntry, WriteLogEntriesRequest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))

sys.path.insert(0, HERE)

import program  # noqa: E402  (needs the path above)
from cloud_proxy import make_certificates  # noqa: E402

JSON = {"Content-Type": "application/json"}
RUNS = "/v1alpha/projects/default/locations/local/machineLearningRuns"
AT = "/api/v1/runs/default/local/r1/metrics"


def varint(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(number, value):
    """A text or a message; a float is a fixed64 double, an int a fixed64."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3 | 1) + struct.pack("<q", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(number, key, value):
    return field(number, field(1, key) + field(2, field(1, value)))


@pytest.fixture
def server(tmp_path):
    (tmp_path / "logs").mkdir()
    with program.Server(tmp_path / "logs", "--no-cache", "--catalog", tmp_path / "catalog.db", "--otlp-listen",
                        "127.0.0.1:0") as server:
        server.grpc = f"127.0.0.1:{server.process.stdout.readline().decode().rsplit(' ', 1)[1].strip()}"
        assert server.request("POST", RUNS + "?machineLearningRunId=r1", "{}", JSON).status == 200
        yield server


def send(server, method, message):
    with grpc.insecure_channel(server.grpc) as channel:
        return channel.unary_unary(method, lambda m: m, lambda m: m)(message, timeout=60)


def test_otlp(server):
    point = field(3, 1_795_947_300_000_000_000) + field(4, 0.5) + attribute(7, "node_id", "r1")
    step = field(6, 12)
    metrics = field(2, field(1, "loss") + field(5, field(1, point))) + field(
        2, field(1, "training_step") + field(5, field(1, step)))
    request = field(1, field(1, attribute(1, "service.name", "diagon_sdk_workload")) + field(2, metrics))
    assert send(server, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", request) == b""
    (loss,) = server.json(AT)["metrics"]
    assert (loss["name"], loss["last"], loss["last_step"]) == ("loss", 0.5, 12)
    record = attribute(6, "namespace", "mlrun_configs") + field(5, field(1, '{"userConfigs": {"lr": 0.1}}'))
    logs = field(1, field(1, attribute(1, "host.name", "r1")) + field(2, field(2, record)))
    assert send(server, "/opentelemetry.proto.collector.logs.v1.LogsService/Export", logs) == b""
    assert server.json(AT)["configs"]["user"] == {"lr": "0.1"}


def test_the_logging_request_of_googles_library(server):
    entries = [LogEntry(log_name="projects/default/logs/ml_diagnostics_metric", severity="INFO",
                        timestamp=datetime.datetime(2026, 11, 29, 10, 15, step, tzinfo=datetime.timezone.utc),
                        resource={"type": "generic_node", "labels": {
                            "project_id": "default", "location": "local", "namespace": "loss", "node_id": "r1"}},
                        json_payload={"values": [1.0 / (step + 1)], "step_index": step, "unit": "1"})
               for step in range(3)]
    request = WriteLogEntriesRequest(entries=entries, partial_success=True)
    send(server, "/google.logging.v2.LoggingServiceV2/WriteLogEntries", WriteLogEntriesRequest.serialize(request))
    (series,) = server.json(AT + "/series")["series"]
    assert series["x"] == [0, 1, 2] and series["mean"] == [1.0, 0.5, 1.0 / 3]
    assert server.json(AT)["metrics"][0]["first_unix_ms"] == 1_795_947_300_000


# HTTP and gRPC by TLS on one port: who speaks HTTP/2 alone is gRPC.
def test_grpc_by_the_servers_own_tls(tmp_path):
    (tmp_path / "logs").mkdir()
    authority, certificate, key = make_certificates(str(tmp_path / "certificates"))
    catalog = tmp_path / "catalog.db"

    def strobe(*arguments):
        done = program.run(*arguments, "--catalog", catalog)
        assert done.code == 0, done.err
        return done.text().split()[-1] if done.out else ""

    strobe("service-accounts", "create", "job")
    strobe("roles", "grant", "service:job", "admin", "--project", "*")
    token = strobe("tokens", "create", "--subject", "service:job")
    point = field(3, 1_795_947_300_000_000_000) + field(4, 0.5) + attribute(7, "node_id", "r1")
    metrics = field(2, field(1, "loss") + field(5, field(1, point)))
    request = field(1, field(1, attribute(1, "service.name", "x")) + field(2, metrics))
    export = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
    with open(authority, "rb") as file:
        trust = grpc.ssl_channel_credentials(file.read())
    bearer = (("authorization", "Bearer " + token),)
    with program.Server(tmp_path / "logs", "--no-cache", "--catalog", catalog, "--access", "--tls-cert", certificate,
                        "--tls-key", key, authority=authority) as server:
        headers = {**JSON, "Authorization": "Bearer " + token}
        assert server.request("POST", RUNS + "?machineLearningRunId=r1", "{}", headers).status == 200
        with grpc.secure_channel(f"127.0.0.1:{server.port}", trust) as channel:
            call = channel.unary_unary(export, lambda m: m, lambda m: m)
            assert call(request, timeout=60, metadata=bearer) == b""
            # Many calls share the connection, large ones too; and it lives beside HTTP.
            large = field(1, field(2, b"".join([metrics] * 20_000)))
            for future in [call.future(large if i == 3 else request, timeout=60, metadata=bearer) for i in range(40)]:
                assert future.result() == b""
            (loss,) = json.loads(server.request("GET", AT, None, headers).body)["metrics"]
            assert (loss["name"], loss["last"]) == ("loss", 0.5)
            for given, code in (((), grpc.StatusCode.UNAUTHENTICATED),
                                ((("authorization", "Bearer stb_x_y"),), grpc.StatusCode.UNAUTHENTICATED)):
                with pytest.raises(grpc.RpcError) as refused:
                    call(request, timeout=60, metadata=given)
                assert refused.value.code() == code
        # Who offers both is answered by HTTP/1.1.
        both = ssl.create_default_context(cafile=authority)
        both.set_alpn_protocols(["h2", "http/1.1"])
        with socket.create_connection(("127.0.0.1", server.port)) as raw, \
                both.wrap_socket(raw, server_hostname="127.0.0.1") as spoken:
            assert spoken.selected_alpn_protocol() == "http/1.1"
        # A stranger's authority is not trusted, and a connection that ends in the middle ends here too.
        with grpc.secure_channel(f"127.0.0.1:{server.port}", grpc.ssl_channel_credentials()) as channel:
            with pytest.raises(grpc.RpcError) as refused:
                channel.unary_unary(export, lambda m: m, lambda m: m)(request, timeout=10)
            assert refused.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
        only = ssl.create_default_context(cafile=authority)
        only.set_alpn_protocols(["h2"])
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", server.port)) as raw, \
                    only.wrap_socket(raw, server_hostname="127.0.0.1") as spoken:
                assert spoken.selected_alpn_protocol() == "h2"
                spoken.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        # Only the one that asks is left.
        server.wait_for(lambda: server.request("GET", "/metrics", None, headers).body.decode(),
                        lambda text: re.search(r"^strobe_http_open_connections 1$", text, re.MULTILINE))


def test_what_is_not_taken_says_so(server):
    with pytest.raises(grpc.RpcError) as unknown:
        send(server, "/other.Service/Method", b"")
    assert unknown.value.code() == grpc.StatusCode.UNIMPLEMENTED
    with pytest.raises(grpc.RpcError) as broken:
        send(server, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", b"\x0a\xff")
    assert broken.value.code() == grpc.StatusCode.INVALID_ARGUMENT
