# Sourced by ./dev: every test, one total at the end.

PASSED=0
FAILED=0
FAILED_NAMES=()
# Modules with threads of their own, and which of their tests use them.
TSAN_MODULES=(base storage xplane engine queue)
declare -A TSAN_FILTER=([base]='Executor*:*Thread*:*Concurren*' [storage]='*Thread*' [xplane]='*Concurren*:*Thread*' [engine]='*' [queue]='*')

# What a failure printed, at once and again before the totals: the end of a long log is what people see first.
show_failure() {  # show_failure LOG LINES
  tail -n "$2" "$1" | tee -a build/test-logs/failures.txt >&2
}

count() {  # count NAME PASSED FAILED
  PASSED=$((PASSED + $2))
  FAILED=$((FAILED + $3))
  if [ "$3" -gt 0 ]; then FAILED_NAMES+=("$1 ($3)"); fi
  printf '    %-28s %5d passed, %d failed\n' "$1" "$2" "$3" >&2
}

# A GoogleTest program: its own XML report is counted, so that a crash in the middle counts as failed.
run_gtest() {  # run_gtest NAME PROGRAM ARGS...
  local name="$1" program="$2" log xml passed=0 failed=1
  shift 2
  log="build/test-logs/$name.log"
  xml="build/test-logs/$name.xml"
  rm -f "$xml"
  local status=0
  "$program" --gtest_output="xml:$ROOT/$xml" "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ -f "$xml" ]; then read -r passed failed < <(python3 tools/count_junit.py "$xml"); fi
  # A program that ended badly without a failed test (a sanitizer report at exit, a crash) is a failure of its own.
  if [ "$status" != 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  grep -hE 'STROBE_NOTICE|NOT TESTED' "$log" >&2 || true
  if [ "$failed" != 0 ]; then show_failure "$log" 60; fi
  count "$name" "$passed" "$failed"
}

test_cpp() {
  say "C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  build_asan
  local program
  for program in build/asan/strobe_*_test; do
    ASAN_OPTIONS=detect_leaks=1:handle_sigbus=0:allow_user_segv_handler=1 UBSAN_OPTIONS=print_stacktrace=1 \
      run_gtest "asan.$(basename "$program")" "$program"
  done
}

test_tsan() {
  say "the concurrent parts under ThreadSanitizer"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  local targets=() module
  for module in "${TSAN_MODULES[@]}"; do
    if compgen -G "src/$module/*_test.cc" >/dev/null; then targets+=("strobe_${module}_test"); fi
  done
  build_tsan "${targets[@]}"
  for module in "${TSAN_MODULES[@]}"; do
    TSAN_OPTIONS=halt_on_error=0:second_deadlock_stack=1:handle_sigbus=0:allow_user_segv_handler=1 \
      run_gtest "tsan.strobe_${module}_test" "build/tsan/strobe_${module}_test" --gtest_filter="${TSAN_FILTER[$module]}"
  done
}

# run_fuzzers SECONDS BUILD FLAGS...: every fuzzer of that build from its seeds and what was kept of earlier crashes.
run_fuzzers() {
  local seconds="$1" build="$2" program name corpus passed=0 failed=0
  shift 2
  mkdir -p build/test-logs
  for program in "$build"/strobe_*_fuzz; do
    name="$(basename "$program")"
    name="${name#strobe_}"
    corpus="build/corpus/$name"
    mkdir -p "$corpus" "tests/fuzz/$name"
    if "$program" "$@" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -max_len=1048576 -print_final_stats=1 \
      -artifact_prefix="build/corpus/crash-$name-" "$corpus" "tests/fuzz/$name" >"build/test-logs/fuzz.$name.log" 2>&1; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      show_failure "build/test-logs/fuzz.$name.log" 40
      say "fuzzer $name found something: build/corpus/crash-$name-*; keep it in tests/fuzz/$name"
    fi
  done
  count "fuzzers ($seconds s each)" "$passed" "$failed"
  [ "$failed" = 0 ]
}

test_fuzz() {
  say "fuzzers, a few seconds each"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  build_asan
  # The test of a change must not depend on luck, so its few seconds always begin alike; ./dev fuzz rolls the dice.
  run_fuzzers "${STROBE_FUZZ_SECONDS:-5}" build/asan -seed=1 || true
}

test_web() {
  say "console: types, lint, unit tests"
  setup_npm
  local status=0
  (cd web && npm run --silent lint) >build/test-logs/web-lint.log 2>&1 || status=1
  if [ "$status" = 0 ]; then count "console lint" 1 0; else show_failure build/test-logs/web-lint.log 30; count "console lint" 0 1; fi
  rm -f build/test-logs/vitest.xml
  (cd web && npx vitest run --reporter=junit --outputFile="$ROOT/build/test-logs/vitest.xml") >build/test-logs/vitest.log 2>&1 </dev/null || true
  count_report "console unit tests" build/test-logs/vitest.xml build/test-logs/vitest.log
  if node tests/browser/acceptance.mjs --check; then count "table of acceptance" 1 0; else count "table of acceptance" 0 1; fi
}

count_report() {  # NAME XML LOG: no report at all is a failure
  local passed=0 failed=1
  if [ -s "$2" ]; then read -r passed failed < <(python3 tools/count_junit.py "$2" || echo 0 1); fi
  if [ "$passed" = 0 ] && [ "$failed" = 0 ]; then failed=1; fi
  if [ "$failed" != 0 ]; then show_failure "$3" 80; fi
  count "$1" "$passed" "$failed"
}

test_python() {
  say "tests with real peers (JAX, protobuf) on the built program"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  build_release
  build_console
  setup_python_venv test
  run_pytest "peers and command line" tests/python tests/cli
}

run_pytest() {  # NAME PATHS...; with the packages of the environment PYTEST_VENV (test)
  local name="$1" xml="build/test-logs/pytest.xml" passed=0 failed=1 paths=() path
  shift
  for path in "$@"; do if [ -e "$path" ]; then paths+=("$path"); fi; done
  rm -f "$xml"
  STROBE_BINARY="$ROOT/build/strobe" "build/venv-${PYTEST_VENV:-test}/bin/python" -m pytest -q -p no:cacheprovider --junitxml="$xml" "${paths[@]}" \
    >build/test-logs/pytest.log 2>&1 </dev/null || true
  if [ -f "$xml" ]; then read -r passed failed < <(python3 tools/count_junit.py "$xml"); fi
  grep -hE 'STROBE_NOTICE|NOT TESTED' build/test-logs/pytest.log >&2 || true
  if [ "$failed" != 0 ]; then show_failure build/test-logs/pytest.log 80; fi
  count "$name" "$passed" "$failed"
}

test_sdk() {
  say "the unmodified SDK of ML Diagnostics"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  build_release
  setup_python_venv test
  setup_python_venv sdk
  setup_node
  PYTEST_VENV=sdk run_pytest "ML Diagnostics SDK" tests/sdk
  (cd tests/access/provider && npm ci --no-audit --no-fund --silent)
  run_pytest "access control" tests/access
}

test_stores() {
  say "buckets: a real S3 server and a GCS emulator"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  build_release
  build_asan
  setup_python_venv stores
  local xml="build/test-logs/stores.xml" passed=0 failed=1
  rm -f "$xml"
  STROBE_BINARY="$ROOT/build/strobe" STROBE_STORAGE_TEST="$ROOT/build/asan/strobe_storage_test" build/venv-stores/bin/python -m pytest -q -p no:cacheprovider \
    --junitxml="$xml" tests/stores >build/test-logs/stores.log 2>&1 </dev/null || true
  if [ -f "$xml" ]; then read -r passed failed < <(python3 tools/count_junit.py "$xml"); fi
  if [ "$failed" != 0 ]; then show_failure build/test-logs/stores.log 80; fi
  count "buckets" "$passed" "$failed"
}

test_browser() {
  say "the whole way in a real browser"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  build_release
  build_console
  setup_npm
  setup_python_venv test
  tests/python/setup_xprof_page.sh "$ROOT/build/xprof-page"
  rm -f build/test-logs/browser.xml
  STROBE_BINARY="$ROOT/build/strobe" node --test --test-concurrency=1 --test-reporter=junit --test-reporter-destination="$ROOT/build/test-logs/browser.xml" \
    --test-reporter=spec --test-reporter-destination=stdout web/dev/flows.mjs web/dev/tool-flows.mjs web/src/timeline/timeline.flows.mjs tests/browser/*.test.mjs >build/test-logs/browser.log 2>&1 </dev/null || true
  count_report "browser" build/test-logs/browser.xml build/test-logs/browser.log
}

test_parity() {
  say "every answer beside XProf's recorded one"
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_PYTHON[@]}"
  build_release
  build_console
  rm -f build/test-logs/parity.xml
  python3 tests/parity/run.py --binary build/strobe --junit build/test-logs/parity.xml >build/test-logs/parity.log 2>&1 </dev/null || true
  if grep -h 'NOT TESTED' build/test-logs/parity.log >&2; then return 0; fi
  grep -E '^(  |parity:)' build/test-logs/parity.log >&2 || true
  count_report "parity (tools)" build/test-logs/parity.xml build/test-logs/parity.log
}

test_layers() {
  say "layers and house rules"
  local status=0
  python3 tests/layers/check_layers.py >build/test-logs/layers.log 2>&1 || status=$?
  if [ "$status" = 0 ]; then count "layers" "$(grep -c '^ok' build/test-logs/layers.log)" 0; else
    show_failure build/test-logs/layers.log 200
    count "layers" "$(grep -c '^ok' build/test-logs/layers.log || true)" "$(grep -c '^not ok' build/test-logs/layers.log || true)"
  fi
}

command_test() {
  local parts=("$@") part started=$SECONDS part_started
  [ ${#parts[@]} -gt 0 ] || parts=(layers cpp tsan fuzz web python sdk stores parity browser)
  mkdir -p build/test-logs
  rm -f build/test-logs/failures.txt
  setup_packages "${PACKAGES_BUILD[@]}" "${PACKAGES_TEST[@]}"
  if [ ! -d "${STROBE_CORPUS:-$ROOT/../shared/data}" ]; then
    say "NOTICE: the corpus of real profiles is absent (../shared/data or \$STROBE_CORPUS); tests that need it are skipped"
  fi
  for part in "${parts[@]}"; do
    declare -F "test_$part" >/dev/null || die "no tests are called '$part'"
    part_started=$SECONDS
    "test_$part"
    say "$part: $((SECONDS - part_started)) s"
  done
  say "took $((SECONDS - started)) s"
  if [ -s build/test-logs/failures.txt ]; then cat build/test-logs/failures.txt >&2; fi
  if [ ${#FAILED_NAMES[@]} -gt 0 ]; then printf 'failed: %s\n' "${FAILED_NAMES[*]}" >&2; fi
  printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
  [ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]
}
