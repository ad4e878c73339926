#!/bin/bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Regenerates the GPU figures of docs/benchmarks in one call on a machine with an NVIDIA GPU and nvcc. CUTLASS's headers come from
# the PyPI package nvidia-cutlass: installed, or as a wheel in .whl/. Raw JSON and markdown go to $OUT (default bench/out).
# Usage: bench/h200.sh [all|stated|orin|resnet|half|profile ...]
# Measured on an H200 machine with 16 cores: build, stated, orin, resnet, half and cuDNN together 110 s; profile about 60 s more.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-bench/out}
build=${BENCH_BUILD:-/tmp/octavo-bench}
layers=${LAYERS:-bench/layers.csv}
mkdir -p "$out" "$build"
export PATH=/usr/local/cuda/bin:$PATH
begin=$(date +%s)
note() { echo "[$(($(date +%s) - begin)) s] $*"; }

cutlass=${CUTLASS_INCLUDE:-}
if [ -z "$cutlass" ] && ls .whl/nvidia_cutlass*.whl >/dev/null 2>&1; then
  [ -d "$build/cutlass" ] || python3 -m zipfile -e .whl/nvidia_cutlass*.whl "$build/cutlass"
  cutlass=$build/cutlass/cutlass_library/source/include
fi
[ -n "$cutlass" ] || cutlass=$(python3 -c 'import cutlass_library, os; print(os.path.dirname(cutlass_library.__file__) + "/source/include")')

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,power.limit --format=csv
note build
for f in bench/cuda/cutlass_*.cu; do
  nvcc -std=c++17 -O3 -w --expt-relaxed-constexpr -gencode arch=compute_80,code=sm_90 -I"$cutlass" -c "$f" -o "$build/$(basename "$f" .cu).o" &
done
nvcc -std=c++20 -O3 -arch=sm_90 -c bench/cuda/bench_device.cu -o "$build/bench_device.o" &
nvcc -std=c++20 -O1 -x cu -arch=sm_90 -I. -Ikernels -c bench/cuda/mma_bench.cpp -o "$build/mma_bench.o" &
wait
nvcc -o "$build/mma_bench" "$build"/*.o -lnvrtc || exit 1
bench() { # file, seconds, arguments
  local file=$1 limit=$2
  shift 2
  timeout "$limit" "$build/mma_bench" kernels "$layers" "$@" >"$out/$file" 2>"$out/$file.err" || note "$file: exit $?"
  head -c 1500 "$out/$file.err"
}
for work in ${*:-all}; do
  # compute_80: the kernels are compiled to PTX of sm_80, so no newer instruction can be in them.
  case $work in all | stated) note stated && bench stated.jsonl 150 --work stated --arch compute_80 ;; esac
  case $work in all | orin) note orin && bench orin.jsonl 120 --work orin --arch compute_80 ;; esac
  case $work in all | resnet) note resnet && bench resnet.jsonl 150 --work resnet ;; esac
  case $work in all | half)
    note half
    bench half.jsonl 150 --work half
    note "cuDNN half"
    timeout 100 python3 bench/cuda/cudnn_half.py "$layers" resnet50-b32 >"$out/cudnn_half.jsonl" 2>"$out/cudnn_half.err" || tail -3 "$out/cudnn_half.err"
    ;;
  esac
  case $work in all | profile)
    if command -v ncu >/dev/null; then
      note profile
      : >"$out/ncu.txt"
      number=0
      for c in "halo k128 w2x2 g2 t4 st5 res nc32" "halo k64 w4x1 g2 t4 st4 res nc32"; do
        number=$((number + 1))
        echo "== $c" >>"$out/ncu.txt"
        timeout 60 ncu --clock-control none --set full -c 1 -s 6 -k regex:octavo_kernel -f -o "$build/profile$number" \
          "$build/mma_bench" kernels "$layers" --work stated --only "$c" --rounds 1 >>"$out/ncu.txt" 2>&1
        ncu -i "$build/profile$number.ncu-rep" --page details --print-details all >>"$out/ncu.txt" 2>&1
        ncu -i "$build/profile$number.ncu-rep" --page source --csv >"$out/ncu_source$number.csv" 2>&1
      done
    fi ;;
  esac
done
find "$out" -name '*.err' -empty -delete
python3 bench/cuda/report.py "$out"/*.jsonl | tee "$out/report.md"
note done
