"""A forward proxy that stands in for Google's addresses: it ends TLS with a certificate of its own and hands every
request to a server of ours. What a user sets up once with any proxy; here it also writes down what was asked.

    with CloudProxy(folder, "127.0.0.1", 8080) as proxy:
        environment = {**os.environ, **proxy.environment}
    proxy.seen     # [("POST", "hypercomputecluster.googleapis.com", "/v1alpha/...")]
"""

import http.client
import http.server
import os
import socket
import ssl
import subprocess
import threading
import urllib.parse

NAMES = ("hypercomputecluster.googleapis.com", "staging-hypercomputecluster.sandbox.googleapis.com",
         "logging.googleapis.com")
HOP_BY_HOP = {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer",
              "transfer-encoding", "upgrade"}


def make_certificates(folder):
    """(the authority's certificate, the servers' certificate with its key)"""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    os.makedirs(folder, exist_ok=True)
    names = ",".join("DNS:" + name for name in NAMES) + ",IP:127.0.0.1"
    # What RFC 5280 asks of a certificate, which Python checks from 3.13 on.
    with open(os.path.join(folder, "extensions"), "w", encoding="ascii") as file:
        file.write(f"subjectAltName={names}\nbasicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature,keyEncipherment\n"
                   "extendedKeyUsage=serverAuth\nsubjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
            "-subj", "/CN=test authority", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=proxy")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
            "server.pem", "-days", "2", "-extfile", "extensions")
    return tuple(os.path.join(folder, name) for name in ("ca.pem", "server.pem", "server.key"))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tls_name = None

    def do_CONNECT(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        try:
            self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        except (ssl.SSLError, OSError):
            self.close_connection = True
            return
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb")
        self.tls_name = self.path.rsplit(":", 1)[0]
        self.close_connection = False

    def forward(self):
        if self.tls_name is None:  # the metadata server and the like: nobody is there
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.tls_name, self.path))
        upstream = http.client.HTTPConnection(*self.server.upstream, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
        upstream.request(self.command, self.path, body or None, headers)
        answer = upstream.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP | {"content-length", "date", "server"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
        upstream.close()

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = forward

    def log_message(self, *_):
        pass


class Tunnel(http.server.BaseHTTPRequestHandler):
    def do_CONNECT(self):
        self.server.seen.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.flush()
        with socket.create_connection(self.server.upstream, timeout=60) as upstream:
            upstream.settimeout(None)
            back = threading.Thread(target=self.copy, args=(upstream, self.connection), daemon=True)
            back.start()
            self.copy(self.connection, upstream)
            back.join(60)
        self.close_connection = True

    def do_GET(self):  # the metadata server and the like: nobody is there
        self.send_error(404)

    @staticmethod
    def copy(source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class TunnelProxy:
    """A forward proxy that leads every name to one server and looks into nothing: the server's own TLS is what the
    client meets, as when the names lead there by DNS. `seen` are the names that were asked for."""

    def __init__(self, authority, host, port):
        self.authority = authority
        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tunnel)
        self.httpd.daemon_threads = True
        self.httpd.upstream = (host, port)
        self.httpd.seen = self.seen = []

    @property
    def environment(self):
        address = f"http://127.0.0.1:{self.httpd.server_address[1]}"
        return {"HTTPS_PROXY": address, "https_proxy": address, "NO_PROXY": "127.0.0.1,localhost",
                "REQUESTS_CA_BUNDLE": self.authority, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": self.authority}

    def __enter__(self):
        threading.Thread(target=self.httpd.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.httpd.shutdown()
        self.httpd.server_close()


class CloudProxy:
    def __init__(self, folder, host, port):
        os.makedirs(folder, exist_ok=True)
        self.authority, certificate, key = make_certificates(folder)
        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.httpd.daemon_threads = True
        self.httpd.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.httpd.tls.load_cert_chain(certificate, key)
        self.httpd.upstream = (host, port)
        self.httpd.seen = self.seen = []
        self.thread = threading.Thread(target=self.httpd.serve_forever, daemon=True)

    @property
    def environment(self):
        address = f"http://127.0.0.1:{self.httpd.server_address[1]}"
        return {"HTTPS_PROXY": address, "HTTP_PROXY": address, "NO_PROXY": "127.0.0.1,localhost",
                "REQUESTS_CA_BUNDLE": self.authority}

    def paths(self, host="hypercomputecluster.googleapis.com"):
        return [(method, urllib.parse.urlsplit(path).path.rsplit("/", 2)[-2:]) for method, name, path in self.seen
                if name == host]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.httpd.shutdown()
        self.httpd.server_close()
