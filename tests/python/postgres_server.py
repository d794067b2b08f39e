"""A PostgreSQL server of a test's own, in a temporary folder, reached by a socket in it.

    with PostgresServer() as server:
        place = server.new_database()      # postgresql:///...
        server.rows(place, "SELECT count(*) FROM runs")
        server.kill()                      # as a power cut of the database alone; start() brings it back

From Debian's postgresql packages, run as the user postgres when the test is root, which PostgreSQL refuses to be.
PostgresServer.missing() says what there is not, or nothing.
"""

import glob
import os
import shutil
import subprocess
import tempfile


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return found[-1] if found else None


class PostgresServer:
    @staticmethod
    def missing():
        return "" if programs() else "PostgreSQL is not installed (Debian's package postgresql)"

    def __init__(self):
        self.databases = 0
        self.folder = tempfile.mkdtemp(prefix="strobe-pg-", dir="/tmp")  # short: a socket's path has 107 bytes

    def __enter__(self):
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.run("initdb", "-D", self.folder + "/data", "-A", "trust", "-U", "strobe", "-E", "UTF8",
                 "--locale=C.UTF-8", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, name, *arguments):
        command = [os.path.join(programs(), name), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        # pg_ctl's child keeps what it was given open: no pipes.
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False, cwd="/",
                                  timeout=120)
            said.seek(0)
            text = said.read().decode(errors="replace")
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {text}")
        return text

    def start(self):
        self.run("pg_ctl", "-D", self.folder + "/data", "-l", self.folder + "/log", "-w", "-o",
                 f"-k {self.folder} -c listen_addresses=", "start")

    def kill(self):
        """Every process of it ends at once, in the middle of what it does."""
        self.run("pg_ctl", "-D", self.folder + "/data", "-m", "immediate", "-w", "stop")

    def new_database(self):
        self.databases += 1
        name = f"test{self.databases}"
        self.run("createdb", "-h", self.folder, "-U", "strobe", name)
        return f"postgresql:///{name}?host={self.folder}&user=strobe"

    def rows(self, place, sql):
        text = self.run("psql", "-d", place, "-At", "-F", "\t", "-c", sql)
        return [line.split("\t") for line in text.splitlines()]
