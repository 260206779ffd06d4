# shellcheck shell=bash disable=SC2154
# Sourced by dev: the tests and the checks, each of which adds to `passed` and `failed`.

passed=0
failed=0

# The C++ sources, separated by NUL; works in a clone and in an unpacked archive.
sources() {
  local folder
  for folder in include src tests fuzz bench examples tools node; do
    [ ! -d "$root/$folder" ] || find "$root/$folder" -name '*.h' -print0 -o -name '*.cpp' -print0
  done
}

# one NAME COMMAND...: runs a check and counts it.
one() {
  local name=$1 output
  shift
  if [ -n "$dry_run" ]; then
    say "would run: $*"
  elif output=$("$@" 2>&1); then
    echo "ok      $name"
    passed=$((passed + 1))
  else
    echo "$output" | tail -n 60
    echo "FAILED  $name"
    failed=$((failed + 1))
  fi
}

finish() {
  [ -z "$dry_run" ] || return 0
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

# ctest_counted PRESET CTEST-ARGUMENTS...: runs CTest and counts the single GoogleTest cases.
ctest_counted() {
  local folder=$root/build/$1 results=$root/build/$1/results counts
  shift
  if [ -n "$dry_run" ]; then
    say "would run: ctest --test-dir $folder $*"
    return 0
  fi
  rm -rf "$results"
  mkdir -p "$results"
  ctest --test-dir "$folder" -j "$(jobs_here)" --output-on-failure \
    --output-junit "$results/ctest.junit" "$@" || true
  counts=$(python3 "$root/tools/dev/count_tests.py" "$results") || fail "CTest left no results."
  passed=$((passed + ${counts% *}))
  failed=$((failed + ${counts#* }))
}

check_layers() { one layers python3 "$root/tools/check_layers.py" "$root"; }
check_size() { one size python3 "$root/tools/check_size.py" "$root"; }
check_style() { one style python3 "$root/tools/check_style.py" "$root"; }

formatted() { sources | xargs -0 -r clang-format-22 --dry-run -Werror; }
check_format() { one format formatted; }

# The sources that the last commit or the working tree changed; all of them is a matter of an hour.
changed_sources() {
  { git -C "$root" diff --name-only HEAD~1 2>/dev/null || git -C "$root" diff --name-only HEAD; } |
    grep -E '^src/.*\.cpp$' | while read -r file; do [ ! -f "$root/$file" ] || echo "$root/$file"; done
}
tidy() {
  changed_sources | xargs -r -P "$(jobs_here)" -n 1 clang-tidy-22 --quiet --warnings-as-errors='*' \
    -p "$root/build/clang"
}
check_tidy() {
  configure clang -DTOKAMAK_TESTS=ON
  one tidy tidy
}

# npm_packages [FOLDER]: what its lock file (web's) lists, where that is newer than what is installed.
npm_packages() {
  local folder=$root/${1:-web}
  [ ! "$folder/package-lock.json" -nt "$folder/node_modules/.package-lock.json" ] ||
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm --prefix "$folder" ci --no-audit --no-fund
}
# Types, tests and the build of the packages; the modules of the wasm preset go in if they are there.
web() {
  # The site is checked against the types that the package's build writes.
  npm_packages &&
    npm --prefix "$root/web" run build --workspace tokamak-web &&
    npm --prefix "$root/web" run check &&
    npm --prefix "$root/web" test &&
    npm --prefix "$root/web" run build
}
check_web() { one web web; }

# Types, tests and packages of the addon for Node.js, against the library of the release preset.
node_package() {
  npm_packages || return 1 # TypeScript and the Node of web/ are among them
  configure release -DTOKAMAK_TESTS=ON
  compile release lib/tokamak/tokamak.node bin/tokamak
  ctest --test-dir "$root/build/release" --output-on-failure -L node
}
check_node() { one node node_package; }

# Types and tests of the clients that people use, against the program of the release preset.
clients() {
  npm_packages && npm_packages tests/clients &&
    "$root/web/node_modules/.bin/tsc" -p "$root/tests/clients" || return 1
  configure release -DTOKAMAK_TESTS=ON
  compile release bin/tokamak
  ctest --test-dir "$root/build/release" --output-on-failure -L clients
}
check_clients() { one clients clients; }

# The modules are run where there is a Node to run them, and with the pages in a browser where there is one.
wasm() {
  configure wasm
  npm_packages && npm_packages tests/clients || return 1 # Binaryen is among them; the clients run in a tab as well
  compile wasm
  npm --prefix "$root/web" run build || return 1
  if command -v node >/dev/null; then
    node "$root/tools/wasm_check.mjs" "$root/build/wasm/bin/tokamak_wasm.wasm" || return 1
  fi
  ctest --test-dir "$root/build/wasm" --output-on-failure -LE matrix || return 1
  if command -v chromium >/dev/null || [ -n "${TOKAMAK_REQUIRE_BROWSER:-}" ]; then
    npm --prefix "$root/web" run e2e
  fi
}
check_wasm() { one wasm wasm; }

check_asan() {
  configure asan -DTOKAMAK_TESTS=ON
  compile asan tests_without_device
  ctest_counted asan -LE 'gpu|weights|fuzz'
}

# The code that several threads touch, under the thread sanitizer (tests/threads): a race ends the program that has it.
check_tsan() {
  local folder=$root/build/release/tests part
  configure release -DTOKAMAK_TESTS=ON
  compile release tests_of_threads
  export TSAN_OPTIONS="halt_on_error=1 exitcode=66 suppressions=$root/tests/threads/suppressions.txt"
  one "tsan: threads" env -C "$root" "$folder/threads_tsan_test"
  for part in connections limits models; do
    one "tsan: serve $part" env TOKAMAK_PROGRAM="$folder/tokamak_tsan" TOKAMAK_SOURCE_DIR="$root" \
      python3 "$root/tests/serve/${part}_test.py"
  done
  unset TSAN_OPTIONS
}

# The processor's kernels in NEON, as programs for arm64 that qemu runs.
check_arm64() {
  local -x TOKAMAK_PARITY=smallest GTEST_FILTER='-WorkgroupMemory*'
  setup arm64
  configure arm64 -DTOKAMAK_TESTS=ON
  compile arm64 tests/kernels_test tests/backend_test tests/cpu_parity_test
  ctest_counted arm64 -R '^(kernels|backend|cpu_parity)_test$'
}

# The sources of src/base for Windows, compiled by mingw and linked into a library that nothing runs. Of this
# machine's headers they get fmt's alone.
windows() {
  local folder=$root/build/windows-layer compiler=x86_64-w64-mingw32-g++-posix source
  local -a flags=(-std=c++23 -O1 -Wall -Wextra -Wconversion -Wshadow -Wold-style-cast -Wno-missing-field-initializers -Werror
    -DUNICODE -DNOMINMAX -DWIN32_LEAN_AND_MEAN -D_WIN32_WINNT=0x0A00 -DFMT_HEADER_ONLY
    -I "$root/src" -I "$root/include" -isystem "$folder/include")
  rm -rf "$folder" && mkdir -p "$folder/include" &&
    cp -r "$(pkg-config --variable=includedir fmt)/fmt" "$folder/include" || return 1
  for source in "$root"/src/base/{,system/}*_windows.cpp; do
    echo "$folder/$(basename "$source" .cpp).o $source"
  done | xargs -P "$(jobs_here)" -L 1 "$compiler" "${flags[@]}" -c -o &&
    "$compiler" -shared -static -o "$folder/system.dll" "$folder"/*.o
}
check_windows() {
  setup windows
  one windows windows
}

# The package for Windows under Wine, against the program of the release preset.
wine_package() {
  make_packages windows-x86_64 folder && configure release && compile release bin/tokamak &&
    env TOKAMAK_PACKAGES="$root/build/packages" TOKAMAK_SOURCE_DIR="$root" \
      TOKAMAK_PROGRAM="$root/build/release/bin/tokamak" python3 -B "$root/tests/portable/windows_test.py"
}
check_wine() { one wine wine_package; }

# The folder for macOS: that it links, and what tools/release/macos.py refuses.
macos_package() { make_packages macos-arm64 folder; }
check_macos() { one macos macos_package; }

# Every file of fuzz/corpus through its target, with the sanitizers on.
check_fuzz() {
  configure asan -DTOKAMAK_TESTS=ON
  compile asan tests_without_device
  ctest_counted asan -L fuzz
}

run_checks() {
  local name
  local -a names=("$@")
  [ $# -gt 0 ] || names=(layers size style format tidy web node clients wasm asan fuzz)
  for name in "${names[@]}"; do
    case $name in
      layers | size | style | format | tidy | web | node | clients | wasm | asan | fuzz | tsan | arm64 | windows | wine | macos | package) ;;
      *) usage_error "Unknown check \"$name\"; ./dev --help lists them." ;;
    esac
  done
  setup run test check
  export_vulkan_environment
  for name in "${names[@]}"; do "check_$name"; done
  finish
}

# run_tests [all [K/N]] [REGEX]: the quick tests, or the whole matrix, or a part of it.
run_tests() {
  local folder=$root/build/release whole= shard= regex
  local -a chosen=(-LE matrix)
  if [ "${1:-}" = all ]; then
    whole=yes
    chosen=(-LE quick)
    shift
    if [[ ${1:-} == */* ]]; then
      [[ $1 =~ ^([1-9][0-9]?)/([1-9][0-9]?)$ ]] && [ "${BASH_REMATCH[1]}" -le "${BASH_REMATCH[2]}" ] ||
        usage_error "\"$1\" is no shard; expected K/N with K from 1 to N, such as 1/4."
      shard=$1
      shift
    fi
  fi
  at_most 1 "all, a shard and a regular expression" "$@"
  setup run test
  configure release -DTOKAMAK_TESTS=ON
  compile release
  export_vulkan_environment
  if [ -n "$shard" ] && [ -z "$dry_run" ]; then
    regex=$(python3 "$root/tools/dev/shard.py" "$folder" "$shard")
    chosen=(-R "$regex")
    export GTEST_TOTAL_SHARDS=${shard#*/} GTEST_SHARD_INDEX=$((${shard%/*} - 1))
  fi
  if [ $# -gt 0 ]; then
    chosen+=(-R "$1")
    # CTest calls it a success when there is nothing to run.
    if [ -z "$dry_run" ] && ctest --test-dir "$folder" -N "${chosen[@]}" |
      grep -x "Total Tests: 0" >/dev/null; then
      fail "No test's name matches \"$1\"; ctest --test-dir build/release -N lists them."
    fi
    ctest_counted release "${chosen[@]}"
  else
    ctest_counted release "${chosen[@]}"
    if [ -z "$whole" ]; then
      check_layers
      check_size
      check_style
    fi
  fi
  finish
}

fuzz_targets() { sed -n 's/^tokamak_fuzz(\([a-z_0-9]*\) .*/\1/p' "$root/fuzz/CMakeLists.txt"; }

run_fuzzers() {
  local seconds=${2:-60} name
  local -a names dictionary
  at_most 2 "a target and seconds" "$@"
  mapfile -t names < <(fuzz_targets)
  if [ $# -gt 0 ]; then
    fuzz_targets | grep -xF -- "$1" >/dev/null ||
      usage_error "There is no fuzz target \"$1\"; there are ${names[*]}."
    names=("$1")
  fi
  [[ $seconds =~ ^[1-9][0-9]*$ ]] ||
    usage_error "\"$seconds\" is no number of seconds for ./dev fuzz; expected one from 1."
  setup run test check
  configure fuzz -DTOKAMAK_TESTS=OFF
  compile fuzz fuzz_targets
  for name in "${names[@]}"; do
    if [ -n "$dry_run" ]; then
      say "would run: build/fuzz/fuzz/fuzz_$name for $seconds s"
      continue
    fi
    say "fuzzing $name for $seconds s"
    mkdir -p "$root/build/fuzz/found/$name"
    dictionary=()
    if [ -f "$root/fuzz/${name%%_*}_dictionary.py" ]; then
      python3 "$root/fuzz/${name%%_*}_dictionary.py" > "$root/build/fuzz/$name.dict"
      dictionary=(-dict="$root/build/fuzz/$name.dict")
    fi
    "$root/build/fuzz/fuzz/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
      "${dictionary[@]}" -artifact_prefix="$root/build/fuzz/found/$name/" \
      "$root/build/fuzz/found/$name" "$root/fuzz/corpus/$name"
  done
}
