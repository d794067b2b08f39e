"""Puts and takes objects without Strobe's own clients: by curl's signature for S3, by plain HTTP for the emulator."""

import subprocess
import urllib.parse
import urllib.request

import servers


def _s3(server, *arguments):
    done = subprocess.run(["curl", "-sS", "--fail-with-body", "--noproxy", "*", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                           f"{servers.ACCESS_KEY}:{servers.SECRET_KEY}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", *arguments],
                          capture_output=True, check=False)
    assert done.returncode == 0, (arguments, done.stdout[-500:], done.stderr[-500:])
    return done.stdout


def _gcs(server, path, method="GET", body=None):
    request = urllib.request.Request(server.endpoint + path, data=body, method=method, headers={"content-type": "application/octet-stream"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        return answer.read()


def put(server, key, source):
    if isinstance(server, servers.S3Server):
        _s3(server, "-T", str(source), f"{server.endpoint}/{servers.BUCKET}/{urllib.parse.quote(key)}")
    else:
        with open(source, "rb") as file:
            _gcs(server, f"/upload/storage/v1/b/{servers.BUCKET}/o?uploadType=media&name={urllib.parse.quote(key, safe='')}", "POST", file.read())


def get(server, key):
    if isinstance(server, servers.S3Server):
        return _s3(server, f"{server.endpoint}/{servers.BUCKET}/{urllib.parse.quote(key)}")
    return _gcs(server, f"/storage/v1/b/{servers.BUCKET}/o/{urllib.parse.quote(key, safe='')}?alt=media")


def delete(server, key):
    if isinstance(server, servers.S3Server):
        _s3(server, "-X", "DELETE", f"{server.endpoint}/{servers.BUCKET}/{urllib.parse.quote(key)}")
    else:
        _gcs(server, f"/storage/v1/b/{servers.BUCKET}/o/{urllib.parse.quote(key, safe='')}", "DELETE")
