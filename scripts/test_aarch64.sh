#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Cross build for 64-bit Arm, and the C++ tests under qemu-user, the random ones at reduced scale. For rightness only.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
needed_packages g++ cmake ninja-build python3 g++-aarch64-linux-gnu qemu-user googletest
folders=(unit graph oracle native cuda_host)
build_preset aarch64 "${folders[@]/#/test_}" fake_cuda fake_nvrtc
export OCTAVO_TEST_SCALE=${OCTAVO_TEST_SCALE:-0.01} OCTAVO_FAKE_COMPILER=aarch64-linux-gnu-g++
# qemu-user 7.2 itself aborts now and then in a child forked from a process with threads.
echo "left out under qemu: ParallelFor.WorksInAForkedChild"
python3 scripts/run_tests.py build-aarch64 "${folders[@]}" --jobs "$JOBS" --filter "*-ParallelFor.WorksInAForkedChild" -- qemu-aarch64 -L /usr/aarch64-linux-gnu
