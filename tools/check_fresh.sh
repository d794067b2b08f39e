#!/usr/bin/env bash
# `./dev check fresh [12|13] [--run-only] [--ccache]`: lays a minimal Debian tree, clones the committed repository into it and does what a newcomer
# does: `./dev run` (twice, the second within 5 s) and `./dev test`. Package-source settings and certificates are those of this machine,
# copied in for the run; --ccache lends it this machine's compiler cache, which makes the check quick and says nothing about the time of a
# cold build. Needs root and debootstrap. Everything lies in build/fresh and is removed by `./dev clean`.
set -euo pipefail
ROOT="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
cd "$ROOT"
source tools/dev_setup.sh

RELEASES=()
RUN_ONLY=0
LEND_CCACHE=0
for argument in "$@"; do
  case "$argument" in
    12) RELEASES+=(bookworm) ;;
    13) RELEASES+=(trixie) ;;
    --run-only) RUN_ONLY=1 ;;
    --ccache) LEND_CCACHE=1 ;;
    *) die "check fresh: unknown argument $argument" ;;
  esac
done
[ ${#RELEASES[@]} -gt 0 ] || RELEASES=(bookworm trixie)
[ "$(id -u)" = 0 ] || die "check fresh needs root (debootstrap and chroot)"
setup_packages debootstrap

# The machine's package mirror, from its own apt settings.
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort | uniq -c | sort -rn | awk '{print $2}' | grep -v security | head -n 1; }

copy_in() {  # copy_in TREE PATH: a file or folder of this machine, if it is there
  [ -e "$2" ] || return 0
  mkdir -p "$1$(dirname "$2")"
  cp -rL "$2" "$1$(dirname "$2")/"
}

lay_tree() {  # lay_tree RELEASE TREE
  local release="$1" tree="$2"
  if [ ! -f "$tree/.laid" ]; then
    say "laying a minimal $release tree"
    rm -rf "$tree"
    mkdir -p "$tree"
    debootstrap --variant=minbase --include=ca-certificates,git "$release" "$tree" "$(mirror)" >"build/fresh/$release.debootstrap.log" 2>&1 ||
      { tail -n 20 "build/fresh/$release.debootstrap.log" >&2; die "debootstrap failed"; }
    touch "$tree/.laid"
  fi
  rm -rf "$tree"/etc/apt/sources.list "$tree"/etc/apt/sources.list.d/*
  local source
  for source in /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list; do
    if [ -f "$source" ] && grep -q bookworm "$source"; then
      mkdir -p "$tree$(dirname "$source")"
      sed "s/bookworm/$release/g" "$source" >"$tree$source"
    fi
  done
  cp -f /etc/apt/apt.conf.d/99* "$tree/etc/apt/apt.conf.d/" 2>/dev/null || true
  copy_in "$tree" /etc/apt/auth.conf.d
  copy_in "$tree" /etc/pip.conf
  copy_in "$tree" "$HOME"/.config/pip
  copy_in "$tree" /etc/npmrc
  copy_in "$tree" "$HOME"/.npmrc
  copy_in "$tree" /etc/resolv.conf
  copy_in "$tree" /etc/hosts
  local variable
  for variable in SSL_CERT_FILE NODE_EXTRA_CA_CERTS PIP_CERT; do
    if [ -n "${!variable:-}" ]; then copy_in "$tree" "${!variable}"; fi
  done
  # Local package folders that pip is told of, if any.
  local folder
  for folder in $(sed -n 's/^find-links *= *//p' "$HOME"/.config/pip/pip.conf /etc/pip.conf 2>/dev/null); do mkdir -p "$tree$folder"; done
}

enter() {  # enter TREE COMMAND: inside the tree, with this machine's client settings but a clean environment otherwise
  local tree="$1"
  shift
  local keep=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI="${CI:-}") variable
  for variable in SSL_CERT_FILE NODE_EXTRA_CA_CERTS PIP_CERT PIP_DEFAULT_TIMEOUT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE; do
    if [ -n "${!variable:-}" ]; then keep+=("$variable=${!variable}"); fi
  done
  chroot "$tree" env -i "${keep[@]}" bash -c "$*"
}

mount_tree() {
  mountpoint -q "$1/proc" || mount -t proc proc "$1/proc"
  mountpoint -q "$1/dev" || mount --bind /dev "$1/dev"
  mountpoint -q "$1/dev/shm" || mount -t tmpfs tmpfs "$1/dev/shm"
  if [ "$LEND_CCACHE" = 1 ]; then
    mkdir -p "$1$HOME/.cache/ccache"
    mountpoint -q "$1$HOME/.cache/ccache" || mount --bind "$(ccache --get-config cache_dir)" "$1$HOME/.cache/ccache"
  fi
}

unmount_tree() {
  local point
  for point in "${HOME#/}"/.cache/ccache dev/shm dev proc; do if mountpoint -q "$1/$point"; then umount -l "$1/$point"; fi; done
}

# Starts `./dev run` in the tree, waits for the address it prints, asks it for the sessions, and stops it. Prints the seconds it took.
run_once() {  # run_once TREE LIMIT_S
  local tree="$1" limit="$2" log="$1/root/run.log" begin=$SECONDS url="" pid
  : >"$log"
  enter "$tree" "cd /srv/strobe && exec ./dev run --port 7300" >"$log" 2>&1 </dev/null &
  pid=$!
  while [ -z "$url" ]; do
    url="$(grep -ao 'http://127\.0\.0\.1:[0-9]*' "$log" | head -n 1 || true)"
    if [ $((SECONDS - begin)) -gt "$limit" ]; then kill "$pid" 2>/dev/null || true; tail -n 30 "$log" >&2; die "./dev run printed no address within $limit s"; fi
    kill -0 "$pid" 2>/dev/null || { tail -n 30 "$log" >&2; die "./dev run ended by itself"; }
    sleep 0.2
  done
  local sessions=""
  for _ in $(seq 1 50); do sessions="$(curl -s "$url/api/v1/sessions" || true)"; if [ -n "$sessions" ]; then break; fi; sleep 0.1; done
  local took=$((SECONDS - begin))
  pkill -TERM -f "^build/strobe serve.*127.0.0.1:${url##*:}" || kill "$pid" || true
  wait "$pid" 2>/dev/null || true
  python3 -c 'import json,sys; answer=json.loads(sys.argv[1]); assert answer["total"] >= 3, answer' "$sessions" || die "the samples are not shown: $sessions"
  echo "$took"
}

check_release() {
  local release="$1" tree="$ROOT/build/fresh/$1" took
  mkdir -p build/fresh
  lay_tree "$release" "$tree"
  mount_tree "$tree"
  trap 'unmount_tree "'"$tree"'"' EXIT
  rm -rf "$tree/srv/strobe" "$tree/srv/shared"
  mkdir -p "$tree/srv"
  git clone -q --no-hardlinks "$ROOT" "$tree/srv/strobe"
  local corpus="${STROBE_CORPUS:-$ROOT/../shared/data}"
  if [ -d "$corpus" ]; then mkdir -p "$tree/srv/shared"; cp -r "$corpus" "$tree/srv/shared/data"; fi
  if [ -d "$corpus/../tools" ]; then cp -r "$corpus/../tools" "$tree/srv/shared/tools"; fi
  say "$release: first ./dev run (installs, builds)"
  took="$(run_once "$tree" 2400)"
  say "$release: the first ./dev run took $took s"
  took="$(run_once "$tree" 60)"
  say "$release: the second ./dev run took $took s"
  [ "$took" -le 5 ] || die "the second ./dev run took $took s, at most 5 are allowed"
  if [ "$RUN_ONLY" = 0 ]; then
    say "$release: ./dev test"
    enter "$tree" "cd /srv/strobe && ./dev test" >"build/fresh/$release.test.log" 2>&1 </dev/null || { tail -n 60 "build/fresh/$release.test.log" >&2; die "$release: ./dev test failed"; }
    tail -n 1 "build/fresh/$release.test.log" >&2
  fi
  unmount_tree "$tree"
  trap - EXIT
}

for release in "${RELEASES[@]}"; do check_release "$release"; done
say "fresh: ${RELEASES[*]} ok"
