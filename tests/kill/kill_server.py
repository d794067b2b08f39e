#!/usr/bin/env python3
"""Kills a server again and again at random points under load, and looks that nothing acknowledged was lost.

    kill_server.py --binary build/strobe [--kills 200] [--seed N] [--catalog postgresql://...]

Several writers create, change and delete runs over HTTP and note what was acknowledged. After each SIGKILL the server
starts on the same catalogue, and every run is compared: an acknowledged change is there; one that was under way is
there wholly or not at all, together with its operation. Exit code 0 when all held.
"""

import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

PARENT = "/v1alpha/projects/p/locations/l/machineLearningRuns"
WRITERS = 4
ABSENT = "absent"


def start(binary, folder, catalog):
    process = subprocess.Popen([binary, "serve", folder, "--listen", "127.0.0.1:0", "--no-cache", "--catalog", catalog,
                                "--log-level", "error"], stdout=subprocess.PIPE)
    line = process.stdout.readline().decode()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    if not found:
        raise SystemExit(f"the server did not start: {line!r}")
    return process, int(found[1])


class Writer(threading.Thread):
    """Changes runs of its own, one request at a time. `states` holds, by run, what may be there now."""

    def __init__(self, number, seed, states):
        super().__init__()
        self.number, self.states = number, states
        self.random = random.Random(seed)
        self.port = None
        self.acknowledged = 0

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
                connection.request(request[0], request[1], body, {"Content-Type": "application/json"})
                response = connection.getresponse()
                answer = json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                return  # killed: either is allowed
            if response.status != 200 or not answer["done"]:
                raise SystemExit(f"{request} was answered {response.status} {answer}")
            self.states[run] = [value]
            self.acknowledged += 1


def get(port, target):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", target)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def check(port, states):
    """Every run is as acknowledged, or as the one change under way makes it; sets what is there."""
    there, token = {}, ""
    while True:
        _, page = get(port, f"{PARENT}?pageSize=1000&pageToken={token}")
        for run in page.get("machineLearningRuns", []):
            there[run["name"].rsplit("/", 1)[1]] = run
        token = page.get("nextPageToken", "")
        if not token:
            break
    faults = []
    for run in set(there) | set(states):
        found = there[run]["displayName"] if run in there else ABSENT
        if found not in states.get(run, [ABSENT]):
            faults.append(f"{run} is {found}, allowed {states.get(run)}")
        if run in there and there[run]["labels"]["v"] != there[run]["displayName"]:
            faults.append(f"{run} is half changed: {there[run]}")
        states[run] = [found]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--catalog", default="")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    states, acknowledged, faults = {}, 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/logs")
        catalog = options.catalog or folder + "/catalog.db"
        for kill in range(options.kills + 1):
            process, port = start(options.binary, folder + "/logs", catalog)
            faults += check(port, states)
            if faults or kill == options.kills:
                process.send_signal(signal.SIGTERM)
                process.wait()
                break
            writers = [Writer(n, chance.getrandbits(64), states) for n in range(WRITERS)]
            for writer in writers:
                writer.port = port
                writer.start()
            time.sleep(chance.uniform(0.01, 0.4))  # the random point
            process.kill()
            process.wait()
            for writer in writers:
                writer.join()
                acknowledged += writer.acknowledged
    print(f"kill: seed {options.seed}, {kill} kills, {acknowledged} acknowledged changes, {len(faults)} lost or half made")
    for fault in faults[:20]:
        print("  " + fault)
    if acknowledged < options.kills:
        print("  the writers hardly wrote: this proves nothing")
    sys.exit(1 if faults or acknowledged < options.kills else 0)


if __name__ == "__main__":
    main()
