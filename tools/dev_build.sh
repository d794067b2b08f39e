# Sourced by ./dev: configure and build.

# configure DIR ARGS...: runs CMake only when the folder is new or the arguments changed.
configure() {
  local dir="$1" stamp
  shift
  stamp="$dir/strobe-configure.stamp"
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$*" ]; then
    say "configuring $dir"
    mkdir -p "$dir"
    cmake -S . -B "$dir" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 \
      -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
      -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-19 "$@" >"$dir/configure.log" 2>&1 ||
      { tail -n 30 "$dir/configure.log" >&2; die "CMake failed"; }
    echo "$*" >"$stamp"
  fi
}

# ninja_build DIR TARGETS...: progress as ninja prints it; quiet when there is nothing to do.
ninja_build() {
  local dir="$1"
  shift
  NINJA_STATUS='[%f/%t %es] ' ninja -C "$dir" -j "$JOBS" "$@" >&2 || die "the build in $dir failed"
}

build_release() {
  configure build/release -DCMAKE_BUILD_TYPE=Release
  ninja_build build/release strobe
  ln -sfn release/strobe build/strobe
}

build_console() {
  local stamp="$ROOT/build/console.stamp" want
  want="$(find web -name node_modules -prune -o -type f -not -path 'web/dev/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum)"
  if [ ! -f build/console/index.html ] || [ "$(cat "$stamp" 2>/dev/null)" != "$want" ]; then
    setup_npm
    say "building the console"
    (cd web && npm run --silent build >"$ROOT/build/console.log" 2>&1) || { tail -n 30 build/console.log >&2; die "the console did not build"; }
    echo "$want" >"$stamp"
  fi
}

# The same console with its gallery of parts, for the pictures of the tests.
build_gallery() {
  local stamp="$ROOT/build/gallery.stamp" want
  want="$(cat build/console.stamp)"
  if [ ! -f build/console-gallery/index.html ] || [ "$(cat "$stamp" 2>/dev/null)" != "$want" ]; then
    (cd web && npm run --silent build:gallery >"$ROOT/build/gallery.log" 2>&1) || { tail -n 30 build/gallery.log >&2; die "the gallery did not build"; }
    echo "$want" >"$stamp"
  fi
}

# Tests and fuzzers of one build: both want the sanitizers, and the counters of coverage cost the tests little.
build_asan() {
  configure build/asan -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DSTROBE_FUZZ=ON -DSTROBE_SANITIZE=address,undefined
  ninja_build build/asan
}

build_tsan() {
  configure build/tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTROBE_SANITIZE=thread
  ninja_build build/tsan "$@"
}

# For long runs: optimised further.
build_fuzz() {
  configure build/fuzz -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTROBE_FUZZ=ON -DSTROBE_SANITIZE=address,undefined
  ninja_build build/fuzz fuzzers
}
