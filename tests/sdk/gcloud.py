"""Speaks to a server exactly as `gcloud alpha mldiagnostics` does: which requests, in which order, with which query
names, how operations are asked again, what is printed where. Only the standard library; nothing of Google's.

    client = Gcloud("http://127.0.0.1:8080/", project="p1", location="us-central1", token_file="token")
    done = client("machine-learning-run", "create", "r1", display_name="llama", gcs_path="/logs")
    done.err       # the lines that gcloud writes to standard error
    done.resource  # what it prints; None where it prints nothing
    client.requests   # [("POST", "/v1alpha/projects/p1/...?alt=json&machineLearningRunId=r1"), ...]

The endpoint override and the token file are gcloud's own properties: api_endpoint_overrides/hypercomputecluster
(CLOUDSDK_API_ENDPOINT_OVERRIDES_HYPERCOMPUTECLUSTER) and auth/access_token_file (CLOUDSDK_AUTH_ACCESS_TOKEN_FILE).
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

# gcloud's waits: a second first, then two, growing by 1.4 to twenty, half an hour in all. Tests ask sooner, in the same
# manner.
FIRST_WAIT_S, NEXT_WAIT_S, GROWTH, LONGEST_WAIT_S, ALL_S = 1.0, 2.0, 1.4, 20.0, 1800.0
PAGE_SIZE = 100


class GcloudError(Exception):
    """What gcloud ends with: an HTTP error, or an operation's."""

    def __init__(self, code, status, message, details=()):
        super().__init__(f"{code} {status}: {message}")
        self.code, self.status, self.details = code, status, list(details)


class Done:
    def __init__(self, resource, lines):
        self.resource, self.err = resource, lines


class Gcloud:
    def __init__(self, endpoint, project, location, token_file=None, hurry=20.0):
        self.base = endpoint.rstrip("/") + "/v1alpha/"
        self.parent = f"projects/{project}/locations/{location}"
        self.token = None
        if token_file:
            with open(token_file, encoding="utf-8") as file:
                self.token = file.read().strip()
        self.hurry = hurry
        self.requests = []

    def __call__(self, group, command, *arguments, **flags):
        return getattr(self, f"{group}_{command}".replace("-", "_"))(*arguments, **flags)

    # ---- requests

    def send(self, method, name, query=None, body=None):
        pairs = [("alt", "json"), *((k, v) for k, v in (query or {}).items() if v is not None)]
        url = self.base + name + "?" + urllib.parse.urlencode(pairs)
        self.requests.append((method, url[len(self.base) - len("/v1alpha/"):]))
        request = urllib.request.Request(url, method=method)
        request.add_header("accept", "application/json")
        request.add_header("user-agent", "google-cloud-sdk gcloud/578.0.0 command/gcloud.alpha.mldiagnostics")
        if self.token:
            request.add_header("authorization", "Bearer " + self.token)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, data, timeout=60) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            said = json.loads(error.read())["error"]
            raise GcloudError(error.code, said["status"], said["message"], said.get("details", ())) from None

    def wait(self, operation, lines):
        """Asks until it is done; a first answer that is done already is not asked again."""
        assert operation["name"].startswith(self.parent + "/operations/"), operation["name"]
        lines.append(f"Waiting for operation [{operation['name']}] to complete...")
        pause, begin = FIRST_WAIT_S, time.monotonic()
        while not operation.get("done"):
            assert time.monotonic() - begin < ALL_S
            time.sleep(pause / self.hurry)
            pause = NEXT_WAIT_S if pause == FIRST_WAIT_S else min(pause * GROWTH, LONGEST_WAIT_S)
            operation = self.send("GET", operation["name"])
        if "error" in operation:
            raise GcloudError(operation["error"]["code"], "OPERATION", operation["error"]["message"])
        lines[-1] += "done."
        return operation

    def pages(self, parent, collection, query=None):
        """Every page is followed; filters and orders stay with gcloud."""
        token = None
        while True:
            page = self.send("GET", f"{parent}/{collection}",
                             {"pageSize": PAGE_SIZE, "pageToken": token, **(query or {})})
            yield from page.get(collection, [])
            token = page.get("nextPageToken")
            if not token:
                return

    def run_name(self, run):
        return run if "/" in run else f"{self.parent}/machineLearningRuns/{run}"

    # ---- machine-learning-run

    @staticmethod
    def run_body(name, display_name=None, run_group="", gcs_path=None, labels=None, tools=("xprof",),
                 configs_software=None, configs_hardware=None, orchestrator=None, run_phase="active", etag=None,
                 workload=None):
        body = {"name": name, "runGroup": run_group, "tools": [{tool: {}} for tool in tools],
                "runPhase": run_phase.upper()}
        configs = {k: v for k, v in (("softwareConfigs", configs_software), ("hardwareConfigs", configs_hardware)) if v}
        for key, value in (("displayName", display_name), ("labels", labels), ("configs", configs), ("etag", etag),
                           ("artifacts", gcs_path and {"gcsPath": gcs_path}),
                           ("orchestrator", orchestrator and orchestrator.upper()),
                           ("workloadDetails", workload and {"gke": workload})):
            if value:
                body[key] = value
        return body

    def machine_learning_run_create(self, run=None, **flags):
        run = run or str(uuid.uuid4())
        name = self.run_name(run)
        lines = []
        operation = self.send("POST", f"{self.parent}/machineLearningRuns", {"machineLearningRunId": run},
                              self.run_body(name, **flags))
        lines.append(f"Create request issued for: [{run}]")
        self.wait(operation, lines)
        self.send("GET", name)
        lines.append(f"Created machine_learning_run [{run}].")
        return Done(None, lines)

    def machine_learning_run_update(self, run, **flags):
        name = self.run_name(run)
        operation = self.send("PATCH", name, {"updateMask": "*"}, self.run_body(name, **flags))
        lines = [f"Request issued for: [{run}]"]
        self.wait(operation, lines)
        resource = self.send("GET", name)
        lines.append(f"Updated machine_learning_run [{run}].")
        return Done(resource, lines)

    def machine_learning_run_describe(self, run):
        return Done(self.send("GET", self.run_name(run)), [])

    def machine_learning_run_list(self):
        return Done(list(self.pages(self.parent, "machineLearningRuns")), [])

    def machine_learning_run_delete(self, run, force=False):
        operation = self.send("DELETE", self.run_name(run), {"force": "True" if force else None})
        lines = [f"Delete request issued for: [{run}]"]
        self.wait(operation, lines)
        lines.append(f"Deleted machine_learning_run [{run}].")
        return Done(None, lines)

    def machine_learning_run_start_continuous_profiling(self, machine_learning_run, targets, host_tracer_level="info",
                                                        device_tracer_level="enabled",
                                                        python_tracer_level="disabled"):
        name = self.run_name(machine_learning_run)
        body = {"profilerTargets": [f"{name}/profilerTargets/{target}" for target in targets],
                "hostTracerLevel": f"HOST_TRACER_LEVEL_{host_tracer_level.upper()}",
                "deviceTracerLevel": f"DEVICE_TRACER_LEVEL_{device_tracer_level.upper()}",
                "pythonTracerLevel": f"PYTHON_TRACER_LEVEL_{python_tracer_level.upper()}",
                "requestId": str(uuid.uuid4())}
        lines = []
        self.wait(self.send("POST", name + ":startContinuousProfiling", None, body), lines)
        return Done(self.send("GET", name), lines)

    def machine_learning_run_stop_continuous_profiling(self, machine_learning_run):
        name = self.run_name(machine_learning_run)
        lines = []
        self.wait(self.send("POST", name + ":stopContinuousProfiling", None, {"requestId": str(uuid.uuid4())}), lines)
        return Done(self.send("GET", name), lines)

    # ---- profiler-target, profiler-session

    def profiler_target_list(self, machine_learning_run):
        return Done(list(self.pages(self.run_name(machine_learning_run), "profilerTargets")), [])

    def profiler_session_capture(self, session, machine_learning_run, targets, duration=None, kind="on-demand",
                                 host_tracer_level="host-tracer-level-info",
                                 device_tracer_level="device-tracer-level-enabled",
                                 python_tracer_level="python-tracer-level-disabled", is_async=False):
        run = self.run_name(machine_learning_run)
        name = f"{run}/profilerSessions/{session}"
        body = {"name": name, "profilerTargets": [f"{run}/profilerTargets/{target}" for target in targets],
                "kind": "KIND_" + kind.upper().replace("-", "_")}
        if duration:
            body["duration"] = duration
        for field, level in (("hostTracerLevel", host_tracer_level), ("deviceTracerLevel", device_tracer_level),
                             ("pythonTracerLevel", python_tracer_level)):
            body[field] = level.upper().replace("-", "_")
        operation = self.send("POST", run + "/profilerSessions", {"profilerSessionId": session}, body)
        lines = [f"Request issued for: [{session}]"]
        if is_async:
            return Done(operation, lines)
        self.wait(operation, lines)
        return Done(self.send("GET", name), lines)

    def profiler_session_list(self, machine_learning_run):
        return Done(list(self.pages(self.run_name(machine_learning_run), "profilerSessions")), [])

    def profiler_session_describe(self, session, machine_learning_run):
        return Done(self.send("GET", f"{self.run_name(machine_learning_run)}/profilerSessions/{session}"), [])

    # ---- monitored-events

    def monitored_events_list(self, machine_learning_run):
        events = list(self.pages(self.run_name(machine_learning_run), "monitoredEvents"))
        for event in events:
            event.pop("analyzerReports", None)
        return Done(events, [])

    def monitored_events_describe(self, event, machine_learning_run):
        return Done(self.send("GET", f"{self.run_name(machine_learning_run)}/monitoredEvents/{event}"), [])


def basename(name):
    """gcloud's .basename(): what comes after the last slash or backslash."""
    return name.replace("\\", "/").rsplit("/", 1)[-1]
