#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# clang-tidy on files that changed against a commit (default: HEAD~1), or, with `all`, on every file of build/.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
apt_packages clang-tidy || { echo "clang-tidy is not there"; exit 1; }
if [ "${1:-}" = all ]; then
  mapfile -t files < <(git ls-files 'src/*.cpp' 'engines/*.cpp' 'tools/*.cpp')
else
  mapfile -t files < <(git diff --name-only "${1:-HEAD~1}" -- 'src/*.cpp' 'engines/*.cpp' 'tools/*.cpp' 2>/dev/null | head -"${TIDY_MOST:-12}")
fi
kept=()
for file in "${files[@]}"; do
  # Files of other instruction sets are full of intrinsics that clang's checks know nothing about.
  [[ $file =~ _(avx2|avx512|avx512_vnni|avx512_bf16|amx|neon_dotprod)\.cpp$ ]] || { [ -f "$file" ] && kept+=("$file"); }
done
[ ${#kept[@]} -eq 0 ] && { echo "clang-tidy: no file changed"; exit 0; }
printf '%s\0' "${kept[@]}" | xargs -0 -n 1 -P "$JOBS" clang-tidy -p build --quiet 2>/dev/null | grep -E 'warning:|error:' | sort -u | tee build/tidy.log || true
echo "clang-tidy: ${#kept[@]} files, $(wc -l <build/tidy.log) complaints"
[ ! -s build/tidy.log ]
