#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# libFuzzer on everything that parses, for so many seconds each (default 20). What crashes is left in build-fuzz/crash-*.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
seconds=${1:-20}
needed_packages g++ cmake ninja-build clang libclang-rt-14-dev
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake --preset fuzz "${launcher[@]}" >/dev/null
ninja -C build-fuzz -j "$JOBS" fuzz_seed fuzz_problem fuzz_graph_text fuzz_graph_binary >build-fuzz/build.log 2>&1 ||
  { grep -E -A5 'error|FAILED' build-fuzz/build.log | head -40; exit 1; }
find_program() { find build-fuzz -name "$1" -type f -perm -u+x | head -1; }
"$(find_program fuzz_seed)" build-fuzz/seeds
for name in problem graph_text graph_binary; do
  mkdir -p "build-fuzz/corpus/$name"
  "$(find_program fuzz_$name)" "build-fuzz/corpus/$name" "build-fuzz/seeds/$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -max_len=8192 -artifact_prefix="build-fuzz/crash-$name-" -print_final_stats=1 >"build-fuzz/$name.log" 2>&1 ||
    { echo "fuzzer $name found something:"; grep -E 'ERROR|SUMMARY|Test unit' "build-fuzz/$name.log" | head; tail -25 "build-fuzz/$name.log"; exit 1; }
  echo "fuzz $name: $(grep -E 'number_of_executed_units' "build-fuzz/$name.log" | grep -oE '[0-9]+$') inputs, nothing found"
done
