#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# What is missing here (PyTorch) is counted as not observed, unless OCTAVO_REQUIRE_TORCH=1.
# pytest (package, README, docs, command line, page) and mypy. `quick`: without the tests marked slow and without a browser.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
export OCTAVO_REQUIRE_INSTALL=1 OCTAVO_BUILD_DIR=$ROOT/build
select=()
if [ "${1:-}" = quick ]; then
  select=(-m "not slow")
else
  # The Python side's share of the random graphs.
  export OCTAVO_RANDOM_GRAPHS=${OCTAVO_RANDOM_GRAPHS:-5000}
  apt_packages chromium && export OCTAVO_REQUIRE_BROWSER=1
fi
.venv/bin/python scripts/docs.py --check .venv/bin/octavo
.venv/bin/python -m pytest -q -p no:cacheprovider "${select[@]}" tests/python
.venv/bin/python -m mypy -p octavo
