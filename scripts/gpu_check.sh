#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Builds and checks the CUDA engines on a machine with a GPU, within six minutes. Needs CMake, ninja or make, a C++20 compiler, NVRTC; no
# test framework, no network. Logs go to $OUT (default: build-gpu/results). Exit status 0: everything was right.
#   scripts/gpu_check.sh [random problems, default 1500]
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build-gpu}
out=${OUT:-$build/results}
random=${1:-1500}
mkdir -p "$out" "$build"
export OCTAVO_CACHE_DIR=${OCTAVO_CACHE_DIR:-$build/cache}
failed=()
begin=$SECONDS

step() {  # name, seconds, command...
  local name=$1 limit=$2
  shift 2
  local start=$SECONDS
  if timeout "$limit" "$@" >"$out/$name.txt" 2>&1; then
    echo "PASS $name ($((SECONDS - start)) s)"
  else
    echo "FAIL $name (status $?, $((SECONDS - start)) s): $out/$name.txt"
    tail -n 25 "$out/$name.txt"
    failed+=("$name")
  fi
}

generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
nvidia-smi >"$out/nvidia-smi.txt" 2>&1
step configure 60 cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DOCTAVO_BUILD_TESTS=OFF -DOCTAVO_BUILD_GPU_CHECK=ON \
  -DOCTAVO_WITH_ONEDNN=OFF -DOCTAVO_WERROR=OFF
step build 240 cmake --build "$build" -j "$(nproc)" --target gpu_check
step build_tools 120 cmake --build "$build" -j "$(nproc)"
check=$build/tests/gpu/gpu_check
if [ ! -x "$check" ]; then
  echo "gpu_check.sh: nothing was built"
  exit 1
fi
smoke=("--cases" "$root/tests/gpu/smoke.txt")
[ -f "$root/cases/smoke.txt" ] && smoke+=("--cases" "$root/cases/smoke.txt")
step features 60 "$check" --features
cat "$out/features.txt"
step smoke 120 "$check" "${smoke[@]}" --every-spec
tail -n 8 "$out/smoke.txt"
step modes 100 "$check" --modes --engine cuda_simt
tail -n 4 "$out/modes.txt"
step random 150 "$check" --random "$random" --seed "${SEED:-1}"
tail -n 8 "$out/random.txt"
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck; do
    step "$tool" 100 compute-sanitizer --tool "$tool" --error-exitcode 9 "$check" --cases "$root/tests/gpu/smoke.txt" --threads 2
    tail -n 2 "$out/$tool.txt"
  done
else
  echo "compute-sanitizer is not installed: memory, race and synchronisation checks did not run"
  failed+=("sanitizer missing")
fi
step time 60 "$check" --time "$root/tests/gpu/timed.txt"
cat "$out/time.txt"
if [ -x "$build/tools/octavo/octavo" ] && "$build/tools/octavo/octavo" verify --help >/dev/null 2>&1; then
  step octavo_verify 60 "$build/tools/octavo/octavo" verify --device cuda --random 100
fi
echo "$((SECONDS - begin)) s in all"
if [ ${#failed[@]} -gt 0 ]; then
  echo "gpu_check.sh: FAILED: ${failed[*]}"
  exit 1
fi
echo "gpu_check.sh: all right"
