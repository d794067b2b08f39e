#!/bin/sh
# Runs the job of one sample; called by make.sh inside a mount and host name space of its own:
#
#   unshare --mount --uts capture_one.sh SAMPLE PYTHON RESULT_DIR
#
# The job sees the hosts trainer-0 and trainer-1, its own folder as /opt/job and an empty
# environment. The profile and the planted facts are copied to RESULT_DIR.
set -eu

sample=$1
python=$2
result=$3
jobs=$(cd "$(dirname "$0")" && pwd)/jobs

hostname trainer-0
mount -t tmpfs tmpfs /opt
mkdir /opt/job
cp "$jobs"/*.py /opt/job
printf '127.0.0.1 localhost trainer-0 trainer-1\n' >/opt/hosts
mount --bind /opt/hosts /etc/hosts
cd /opt/job

flags=
run() {
  env -i PATH=/usr/bin:/bin HOME=/opt/job LANG=C.UTF-8 JAX_PLATFORMS=cpu XLA_FLAGS="$flags" \
    PYTHONDONTWRITEBYTECODE=1 TF_CPP_MIN_LOG_LEVEL=2 "$@"
}

case $sample in
  input-stall) run "$python" input_stall.py log facts-0.json ;;
  four-devices)
    flags=--xla_force_host_platform_device_count=4
    run "$python" four_devices.py log facts-0.json
    ;;
  two-hosts)
    port=$("$python" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
    run "$python" two_hosts.py log facts-0.json 0 "127.0.0.1:$port" &
    first=$!
    run unshare --uts sh -c 'hostname trainer-1 && exec "$@"' sh \
      "$python" two_hosts.py log facts-1.json 1 "127.0.0.1:$port"
    wait $first
    ;;
  recompile) run "$python" recompile.py log facts-0.json ;;
  trace-only) run "$python" threads.py log facts-0.json ;;
  idle) run "$python" idle.py log facts-0.json ;;
  *)
    echo "capture_one.sh: no sample is called $sample" >&2
    exit 1
    ;;
esac
cp -r log facts-*.json "$result"
