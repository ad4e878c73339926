#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Cross build for 64-bit Arm, and the quick C++ tests under qemu-user. For rightness only.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
needed_packages g++ cmake ninja-build g++-aarch64-linux-gnu qemu-user googletest
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake --preset aarch64 "${launcher[@]}" >/dev/null
ninja -C build-aarch64 -j "$JOBS" >build-aarch64/build.log 2>&1 || { grep -E -A5 'error|FAILED' build-aarch64/build.log | head -40; exit 1; }
export OCTAVO_TEST_SCALE=${OCTAVO_TEST_SCALE:-0.02}
qemu-aarch64 -L /usr/aarch64-linux-gnu build-aarch64/tools/octavo/octavo doctor --quick | head -5
qemu-aarch64 -L /usr/aarch64-linux-gnu build-aarch64/tools/octavo/octavo verify --random "${AARCH64_RANDOM:-200}" --quiet
# One process a binary, not one a test: starting under qemu is what takes the time.
status=0
for test in build-aarch64/tests/test_*; do
  [ -x "$test" ] && [ ! -d "$test" ] || continue
  log=build-aarch64/$(basename "$test").log
  timeout 600 qemu-aarch64 -L /usr/aarch64-linux-gnu "$test" --gtest_filter="${AARCH64_FILTER:-*-*Sanitizer*:*Fork*}" >"$log" 2>&1 ||
    { status=1; grep -E '\[  FAILED  \]|Failure|error' "$log" | head -20; tail -3 "$log"; }
  echo "$(basename "$test"): $(grep -E '\[  PASSED  \]' "$log" || echo 'did not pass')"
done
exit $status
