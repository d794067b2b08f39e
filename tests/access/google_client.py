"""Google's own client library, unchanged, with a key file of ours: google_client.py KEY_FILE SERVER. Prints "ok"."""

import sys

import google.auth.transport.requests
import requests
from google.oauth2 import service_account

key_file, server = sys.argv[1:]
credentials = service_account.Credentials.from_service_account_file(
    key_file, scopes=["https://www.googleapis.com/auth/cloud-platform"])
session = google.auth.transport.requests.AuthorizedSession(credentials)
runs = server + "/v1alpha/projects/default/locations/local/machineLearningRuns"
assert session.get(runs, timeout=30).status_code == 200
first = credentials.token
credentials.refresh(google.auth.transport.requests.Request())
assert credentials.token != first
made = session.post(runs + "?machineLearningRunId=r1", json={"displayName": "x"}, timeout=30)
assert made.status_code == 200, made.text
assert session.get(runs.replace("/default/", "/other/"), timeout=30).status_code == 404
# The SDK's self-hosted dialect knows user and password only.
basic = requests.get(server.replace("//", f"//x:{credentials.token}@") + "/v1/machineLearningRuns", timeout=30)
assert basic.status_code == 200, basic.text
assert requests.get(server + "/v1/machineLearningRuns", timeout=30).status_code == 401
print("ok")
