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
if [ "${1:-}" = all ]; then
  files=("${every[@]}")
else
  mapfile -t files < <(git diff --name-only --diff-filter=d "${1:-HEAD~1}" -- 'src/*.cpp' 'engines/*.cpp' 'tools/*.cpp' 2>/dev/null | list | head -6)
  share=$((${#every[@]} / 48 + 1)) day=$(($(date +%s) / 86400))
  for ((i = 0; i < share; ++i)); do files+=("${every[$(((day * share + i) % ${#every[@]}))]}"); done
fi
printf '%s\0' "${files[@]}" | sort -zu | xargs -0 -n 1 -P "$JOBS" clang-tidy -p build --quiet 2>/dev/null |
  grep -E '(warning|error):' | grep -v third_party | sed "s|$ROOT/||" | sort -u >build/tidy.log || true
cat build/tidy.log
echo "clang-tidy: ${#files[@]} files, $(wc -l <build/tidy.log) complaints"
[ ! -s build/tidy.log ]
