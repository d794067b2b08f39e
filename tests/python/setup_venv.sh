#!/bin/sh
# Creates (or leaves alone) a Python environment with exactly the pinned packages of one set.
#
#   tests/python/setup_venv.sh build/venv-test          # jax on CPU, grpcio, protobuf, pytest
#   tests/python/setup_venv.sh build/venv-peers peers   # xprof and xprof-rs
#   tests/python/setup_venv.sh build/venv-sdk sdk       # the ML Diagnostics SDK
#   tests/python/setup_venv.sh build/venv-stores stores # an S3 server and a GCS emulator
#
# A stamp inside DIR holds a hash of what it was made from; while that fits, nothing happens
# and the script ends within milliseconds. Two callers at once wait for each other.
# STROBE_PYTHON names the interpreter; otherwise the first fitting one of the system is taken.
# Limits: Python 3.11 to 3.14 on x86-64 or arm64 Linux; needs about 850 MB on the disk.
set -eu

die() {
  printf 'setup_venv: %s\n' "$1" >&2
  exit 1
}

case ${1-} in
  '' | -*) die 'usage: setup_venv.sh DIR [test|peers|sdk|stores]' ;;
esac
target=$1
set_name=${2-test}
case $set_name in
  test | peers | sdk | stores) ;;
  *) die "unknown package set '$set_name': expected test, peers, sdk or stores" ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
requirements=$here/requirements-$set_name.txt
[ -f "$requirements" ] || die "$requirements is missing"

stamp=$target/.strobe-stamp
layout=1 # raised when this script starts to make environments differently
wanted=$layout-$(sha256sum <"$requirements" | cut -d' ' -f1)-${STROBE_PYTHON-auto}

is_current() {
  # The interpreter is a link out of the environment: a system upgrade can leave it dangling.
  [ -x "$target/bin/python" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]
}

is_current && exit 0

mkdir -p "$(dirname "$target")"
exec 9>"$target.lock"
if ! flock -n 9; then
  echo "Python packages ($set_name): another set-up is running, waiting for it ..."
  flock 9
fi
is_current && exit 0

fits() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' \
    >/dev/null 2>&1
}

find_python() {
  if [ -n "${STROBE_PYTHON-}" ]; then
    fits "$STROBE_PYTHON" ||
      die "STROBE_PYTHON=$STROBE_PYTHON is not a Python 3.11 to 3.14 with venv"
    echo "$STROBE_PYTHON"
    return
  fi
  for candidate in /usr/bin/python3 python3 python3.11 python3.13 python3.12 python3.14; do
    if fits "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  die 'no Python 3.11 to 3.14 with venv found; on Debian: apt-get install python3-venv'
}

python=$(find_python) || exit 1
if [ -e "$target" ]; then
  # Never delete what is not an environment: a wrong argument must not cost a folder.
  [ -f "$target/pyvenv.cfg" ] || [ -z "$(ls -A "$target" 2>/dev/null)" ] ||
    die "$target exists and is not a Python environment; remove it or name another folder"
  rm -rf "$target"
fi

log=$target.log
work() {
  "$python" -m venv "$target" &&
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$target/bin/python" -m pip install --no-input --no-deps \
      --only-binary :all: --no-compile --progress-bar off -r "$requirements" &&
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$target/bin/python" -m pip check
}

latest_step() {
  grep -E '^(Collecting|Installing)' "$log" 2>/dev/null | tail -n 1 | cut -c1-90 | tr -d '\n'
}

# Progress: a line that is rewritten on a terminal, a fresh one every 20 s elsewhere.
began=$(date +%s)
work 9>&- >"$log" 2>&1 &
worker=$!
trap 'kill $worker 2>/dev/null || true; rm -f "$stamp"; exit 130' INT TERM
seconds_shown=0
echo "Python packages ($set_name): installing into $target (about a minute, once) ..."
while kill -0 $worker 2>/dev/null; do
  sleep 1
  passed=$(($(date +%s) - began))
  if [ -t 1 ]; then
    printf '\r  %s s: %s\033[K' "$passed" "$(latest_step)"
  elif [ $((passed - seconds_shown)) -ge 20 ]; then
    seconds_shown=$passed
    echo "  $passed s: $(latest_step)"
  fi
done
[ -t 1 ] && printf '\r\033[K'
if ! wait $worker; then
  tail -n 20 "$log" >&2
  die "installing failed (see $log); is the package index reachable?"
fi
printf '%s' "$wanted" >"$stamp"
rm -f "$log"
echo "Python packages ($set_name): ready after $(($(date +%s) - began)) s"
