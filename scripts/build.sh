#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# build/ with tests, program and Python module, warnings as errors; the package and the program go into .venv.
# `quick`: of the tests only those that compile in seconds.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
needed_packages g++ cmake ninja-build python3 python3-venv python3-dev libgtest-dev
apt_packages ccache libdnnl-dev || true
python_environment demo test
folders=all
[ "${1:-}" = quick ] && folders=unit
build_package -DOCTAVO_BUILD_TESTS=ON -DOCTAVO_TEST_FOLDERS=$folders
