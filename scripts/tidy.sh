#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# clang-tidy on the files that changed since a commit (default HEAD~1; at most 6 of them) and on a share of all files that
# moves on from day to day. `scripts/tidy.sh all` looks at everything.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
apt_packages clang-tidy || { echo "clang-tidy is not there"; exit 1; }
# Files of one instruction set are full of intrinsics that clang's checks know nothing about.
list() { grep -vE '_(avx2|avx512|avx512_vnni|avx512_bf16|amx|neon_dotprod)\.cpp$' || true; }
mapfile -t every < <(git ls-files 'src/*.cpp' 'engines/*.cpp' 'tools/*.cpp' | list)
files=() today=()
if [ "${1:-}" = all ]; then
  files=("${every[@]}")
else
  mapfile -t files < <(git diff --name-only --diff-filter=d "${1:-HEAD~1}" -- 'src/*.cpp' 'engines/*.cpp' 'tools/*.cpp' 2>/dev/null | list | head -6)
  share=$((${#every[@]} / 48 + 1)) day=$(($(date +%s) / 86400))
  for ((i = 0; i < share; ++i)); do today+=("${every[$(((day * share + i) % ${#every[@]}))]}"); done
fi
# Clang would take GCC's precompiled header for one of its own; the header behind it will do.
mkdir -p build/tidy
sed -E 's/-Winvalid-pch//g; s/-include [^ ]*cmake_pch\.hxx//g' build/compile_commands.json >build/tidy/compile_commands.json
complaints() { # log, files...
  local log=$1
  shift
  [ $# -eq 0 ] || printf '%s\0' "$@" | sort -zu | xargs -0 -n 1 -P "$JOBS" clang-tidy -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option 2>/dev/null |
    grep -E '(warning|error):' | grep -v third_party | sed "s|$ROOT/||" | sort -u >"$log" || true
  [ $# -gt 0 ] || : >"$log"
  cat "$log"
}
# What a change touches must be clean; the day's share of the rest is shown, so that debt is seen where it is.
complaints build/tidy.log "${files[@]}"
echo "clang-tidy: ${#files[@]} files, $(wc -l <build/tidy.log) complaints"
if [ ${#today[@]} -gt 0 ]; then
  complaints build/tidy-share.log "${today[@]}"
  echo "clang-tidy, today's share of all files: ${#today[@]} files, $(wc -l <build/tidy-share.log) complaints (reported only)"
fi
[ ! -s build/tidy.log ]
