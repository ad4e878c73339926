#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Format and what a glance at the tree can tell. `scripts/check_style.sh --fix` formats.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
apt_packages clang-format || true
mapfile -t files < <(git ls-files '*.cpp' '*.h' '*.cuh' '*.cu' | grep -v '^third_party/')
if [ "${1:-}" = --fix ]; then
  clang-format -i "${files[@]}"
else
  clang-format --dry-run -Werror "${files[@]}" 2>&1 | grep -E 'error' | cut -d: -f1 | sort | uniq -c >/tmp/octavo-format.$$ || true
  if [ -s /tmp/octavo-format.$$ ]; then
    echo "not formatted (lines, file); scripts/check_style.sh --fix does it:"
    cat /tmp/octavo-format.$$
    rm -f /tmp/octavo-format.$$
    exit 1
  fi
  rm -f /tmp/octavo-format.$$
fi
python3 scripts/check_style.py
