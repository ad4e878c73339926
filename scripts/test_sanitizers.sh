#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# The host tests under a sanitizer, every test, the random ones at reduced scale. Argument: asan (with UBSan) or tsan.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
kind=${1:?asan or tsan}
needed_packages g++ cmake ninja-build python3 libgtest-dev clang libclang-rt-14-dev
folders=(unit graph oracle native cuda_host)
build_preset "$kind" "${folders[@]/#/test_}" fake_cuda fake_nvrtc
export OCTAVO_TEST_SCALE=${OCTAVO_TEST_SCALE:-0.03} OCTAVO_NUM_THREADS=${OCTAVO_NUM_THREADS:-4}
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
python3 scripts/run_tests.py "build-$kind" "${folders[@]}" --jobs "$JOBS"
