#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# The C++ tests of build/. `quick`: of what scripts/build.sh quick has built, and a tenth of the random problems.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
[ "${1:-}" = quick ] && export OCTAVO_TEST_SCALE=${OCTAVO_TEST_SCALE:-0.1}
# The kernels have a job of their own, which sees to it that there is a compiler for them.
ctest --test-dir build -E "^compile_check$" -j "$JOBS" --output-on-failure --timeout 900 >build/ctest.log 2>&1 || { grep -vE '^ *[0-9]+/[0-9]+ Test .* Passed|^ +Start' build/ctest.log | tail -80; exit 1; }
grep -E 'tests passed|Total Test time' build/ctest.log
