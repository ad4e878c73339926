#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# libFuzzer on everything that parses, for so many seconds each (default 20), in the build of the job asan. What crashes is left in
# build-asan/fuzz/crash-*.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
seconds=${1:-20}
needed_packages g++ cmake ninja-build python3 libgtest-dev clang libclang-rt-14-dev
programs=(fuzz_problem fuzz_json fuzz_binary)
build_preset asan "${programs[@]}"
out=build-asan/fuzz
for name in "${programs[@]}"; do
  what=${name#fuzz_}
  mkdir -p "$out/corpus/$what"
  "build-asan/tests/fuzz/$name" "$out/corpus/$what" "tests/fuzz/seeds/$what" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -max_len=8192 -artifact_prefix="$out/crash-$what-" -print_final_stats=1 >"$out/$name.log" 2>&1 ||
    { echo "$name found something:"; grep -E 'ERROR|SUMMARY|Test unit' "$out/$name.log" | head; tail -25 "$out/$name.log"; exit 1; }
  echo "$name: $(grep number_of_executed_units "$out/$name.log" | grep -oE '[0-9]+$') inputs, nothing found"
done
