#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# The host tests under a sanitizer, at reduced scale. Argument: asan (with UBSan) or tsan.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
kind=${1:?asan or tsan}
needed_packages g++ cmake ninja-build libgtest-dev
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake --preset "$kind" "${launcher[@]}" >/dev/null
ninja -C "build-$kind" -j "$JOBS" >"build-$kind/build.log" 2>&1 || { grep -E -A5 'error|FAILED' "build-$kind/build.log" | head -40; exit 1; }
export OCTAVO_TEST_SCALE=${OCTAVO_TEST_SCALE:-0.03} OCTAVO_NUM_THREADS=${OCTAVO_NUM_THREADS:-4}
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
ctest --test-dir "build-$kind" -j "$JOBS" --output-on-failure --timeout 600 >"build-$kind/ctest.log" 2>&1 ||
  { grep -vE '^ *[0-9]+/[0-9]+ Test .* Passed|^ +Start' "build-$kind/ctest.log" | tail -80; exit 1; }
grep -E 'tests passed|Total Test time' "build-$kind/ctest.log"
