#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# libFuzzer on everything that parses, for so many seconds each (default 20). What crashes is left in build-fuzz/crash-*.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
seconds=${1:-20}
needed_packages g++ cmake ninja-build clang libclang-rt-14-dev
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
mkdir -p build-fuzz
cmake --preset fuzz "${launcher[@]}" >build-fuzz/configure.log 2>&1 || { tail -20 build-fuzz/configure.log; exit 1; }
ninja -C build-fuzz -j "$JOBS" >build-fuzz/build.log 2>&1 || { grep -E -A5 'error|FAILED' build-fuzz/build.log | head -40; exit 1; }
for program in build-fuzz/tests/fuzz/fuzz_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=$(basename "$program") what=${program##*/fuzz_}
  mkdir -p "build-fuzz/corpus/$what"
  "$program" "build-fuzz/corpus/$what" "tests/fuzz/seeds/$what" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -max_len=8192 -artifact_prefix="build-fuzz/crash-$what-" -print_final_stats=1 >"build-fuzz/$name.log" 2>&1 ||
    { echo "$name found something:"; grep -E 'ERROR|SUMMARY|Test unit' "build-fuzz/$name.log" | head; tail -25 "build-fuzz/$name.log"; exit 1; }
  echo "$name: $(grep number_of_executed_units "build-fuzz/$name.log" | grep -oE '[0-9]+$') inputs, nothing found"
done
