#!/bin/sh
# Captures the samples anew: samples/make.sh [SAMPLE...]
#
# Every job runs in a mount and host name space of its own (capture_one.sh), so that nothing of
# this machine gets into a profile. Afterwards finish.py copies the profiles here, counts what is
# in them with an independent reader, compares that with what the job planted, looks for paths
# and names of this machine, and writes TRUTH.json and TRUTH.md. A sample that does not show what
# was planted is an error. Needs root or unprivileged user namespaces; about a minute.
# STROBE_PYTHON chooses the Python, and with it the JAX version (see tests/python).
set -eu

samples=$(cd "$(dirname "$0")" && pwd)
repository=$(dirname "$samples")
case $repository/ in
  /opt/*)
    echo 'make.sh: the jobs are given an /opt of their own; clone the repository elsewhere' >&2
    exit 1
    ;;
esac
environment=${STROBE_SAMPLES_VENV-$repository/build/venv-test}
"$repository/tests/python/setup_venv.sh" "$environment"
export PYTHONDONTWRITEBYTECODE=1

result=$(mktemp -d)
trap 'rm -rf "$result"' EXIT
as_root=
[ "$(id -u)" = 0 ] || as_root=--map-root-user
for sample in ${*:-input-stall four-devices two-hosts recompile trace-only idle}; do
  echo "capturing $sample ..."
  mkdir "$result/$sample"
  unshare --mount --uts $as_root "$samples/capture_one.sh" \
    "$sample" "$environment/bin/python" "$result/$sample"
  "$environment/bin/python" "$samples/jobs/finish.py" "$result/$sample" "$samples/$sample"
done
