#!/usr/bin/env python3
"""Kills a server again and again at random points under load, and looks that nothing acknowledged was lost.

    kill_server.py --binary build/strobe [--kills 200] [--seed N] [--database sqlite|postgres|both]

Several writers create, change and delete runs over HTTP, with access control, and note what was acknowledged. After
each SIGKILL the server starts on the same catalogue, and every run is compared: an acknowledged change is there; one
that was under way is there wholly or not at all, together with its operation and its audit record. Every tenth time
PostgreSQL (one of the test's own) is killed beside the server. Exit code 0 when all held.
"""

import argparse
import http.client
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from postgres_server import PostgresServer  # noqa: E402  (needs the path above)

PARENT = "/v1alpha/projects/p/locations/l/machineLearningRuns"
WRITERS = 4
ABSENT = "absent"
POSTGRES_EVERY = 10


class Sqlite:
    """A catalogue as a file."""

    name = "sqlite"

    def __init__(self, folder):
        self.catalog = os.path.join(folder, "catalog.db")

    def kill(self, _):
        pass

    def start(self):
        pass

    def number(self, sql):
        connection = sqlite3.connect(self.catalog)
        try:
            return connection.execute(sql).fetchone()[0]
        finally:
            connection.close()


class Postgres:
    """A catalogue in a PostgreSQL of our own."""

    name = "postgres"

    def __init__(self, server):
        self.server = server
        self.catalog = server.new_database()
        self.killed = False
        self.kills = 0

    def kill(self, number):
        if number % POSTGRES_EVERY == POSTGRES_EVERY - 1:
            self.server.kill()
            self.killed = True
            self.kills += 1

    def start(self):
        if self.killed:
            self.server.start()
        self.killed = False

    def number(self, sql):
        return int(self.server.rows(self.catalog, sql)[0][0])


def command(binary, catalog, *arguments):
    done = subprocess.run([binary, *arguments, "--catalog", catalog], capture_output=True, text=True, check=False,
                          timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{arguments} failed: {done.stderr}")
    return done.stdout.strip()


def make_token(binary, catalog):
    command(binary, catalog, "service-accounts", "create", "writer")
    command(binary, catalog, "roles", "grant", "service:writer", "editor", "--project", "p")
    return command(binary, catalog, "tokens", "create", "--subject", "service:writer").split()[-1]


def start(binary, folder, catalog):
    process = subprocess.Popen([binary, "serve", folder, "--listen", "127.0.0.1:0", "--access", "--no-cache",
                                "--catalog", catalog, "--log-level", "error"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    line = process.stdout.readline().decode()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    if not found:
        raise SystemExit(f"the server did not start: {line!r}")
    return process, int(found[1])


class Writer(threading.Thread):
    """Changes runs of its own, one request at a time. `states` holds, by run, what may be there now."""

    def __init__(self, number, seed, states, token):
        super().__init__()
        self.headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        self.number, self.states = number, states
        self.random = random.Random(seed)
        self.port = None
        self.acknowledged = 0
        self.faults = []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while True:
            run = f"w{self.number}-{self.random.randrange(20)}"
            before = self.states.get(run, [ABSENT])[0]
            value = f"{self.random.getrandbits(48):012x}"
            if before == ABSENT:
                request = ("POST", f"{PARENT}?machineLearningRunId={run}", {"displayName": value, "labels": {"v": value}})
            elif self.random.random() < 0.2:
                request, value = ("DELETE", f"{PARENT}/{run}?force=true", None), ABSENT
            else:
                request = ("PATCH", f"{PARENT}/{run}?updateMask=displayName,labels",
                           {"displayName": value, "labels": {"v": value}})
            self.states[run] = [before, value]
            try:
                body = None if request[2] is None else json.dumps(request[2])
                connection.request(request[0], request[1], body, self.headers)
                response = connection.getresponse()
                answer = json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                return  # killed: either is allowed
            if response.status == 503:
                return  # the database is gone beside us: either is allowed
            if response.status != 200 or not answer["done"]:
                self.faults.append(f"{request} was answered {response.status} {answer}")
                return
            self.states[run] = [value]
            self.acknowledged += 1


def get(port, target, token):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", target, headers={"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(f"{target} was answered {response.status} {response.read()}")
    return json.loads(response.read())


def check(port, states, token, database):
    """Every run is as acknowledged, or as the one change under way makes it; sets what is there."""
    there, page_token = {}, ""
    while True:
        page = get(port, f"{PARENT}?pageSize=1000&pageToken={page_token}", token)
        for run in page.get("machineLearningRuns", []):
            there[run["name"].rsplit("/", 1)[1]] = run
        page_token = page.get("nextPageToken", "")
        if not page_token:
            break
    faults = []
    for run in set(there) | set(states):
        found = there[run]["displayName"] if run in there else ABSENT
        if found not in states.get(run, [ABSENT]):
            faults.append(f"{run} is {found}, allowed {states.get(run)}")
        if run in there and there[run]["labels"]["v"] != there[run]["displayName"]:
            faults.append(f"{run} is half changed: {there[run]}")
        states[run] = [found]
    # Each change makes one operation and one record, in one transaction with it.
    operations = database.number("SELECT count(*) FROM operations")
    records = database.number("SELECT count(*) FROM audit_records WHERE outcome = 'DONE' AND action LIKE 'ml%'")
    if operations != records:
        faults.append(f"{operations} operations have {records} audit records")
    return faults


def prove(database, options, folder):
    """Kills until all kills are done or something was lost; returns whether all held."""
    chance = random.Random(options.seed)
    states, acknowledged, faults, kill = {}, 0, [], 0
    logs = os.path.join(folder, "logs")
    os.makedirs(logs, exist_ok=True)
    token = make_token(options.binary, database.catalog)
    for kill in range(options.kills + 1):
        process, port = start(options.binary, logs, database.catalog)
        faults += check(port, states, token, database)
        if faults or kill == options.kills:
            process.send_signal(signal.SIGTERM)
            process.wait()
            break
        writers = [Writer(n, chance.getrandbits(64), states, token) for n in range(WRITERS)]
        for writer in writers:
            writer.port = port
            writer.start()
        time.sleep(chance.uniform(0.01, 0.4))  # the random point
        database.kill(kill)
        process.kill()
        process.wait()
        for writer in writers:
            writer.join()
            acknowledged += writer.acknowledged
            faults += writer.faults
        database.start()
    verdict = command(options.binary, database.catalog, "audit", "verify")
    beside = f" ({database.kills} of them with the database)" if database.name == "postgres" else ""
    print(f"kill: {database.name}, seed {options.seed}, {kill} kills{beside}, {acknowledged} acknowledged changes, "
          f"{len(faults)} lost or half made. {verdict}")
    for fault in faults[:20]:
        print("  " + fault)
    if acknowledged < options.kills:
        print("  the writers hardly wrote: this proves nothing")
    return not faults and acknowledged >= options.kills


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--database", choices=("sqlite", "postgres", "both"), default="both")
    options = parser.parse_args()
    held = True
    with tempfile.TemporaryDirectory() as folder:
        if options.database != "postgres":
            held &= prove(Sqlite(folder), options, folder)
        if options.database != "sqlite" and PostgresServer.missing():
            print(f"NOT TESTED: kills on PostgreSQL: {PostgresServer.missing()}")
            held &= options.database == "both"
        elif options.database != "sqlite":
            with PostgresServer() as server:
                held &= prove(Postgres(server), options, folder)
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
