#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Measures every row of the CPU table and writes docs/benchmarks/cpu-<machine>.md with its JSON beside it.
#   bench/cpu_table.sh [PROGRAM]        all of it; SECONDS_EACH=0.5 is the time for each layer, all sides together
#   ONLY='stated|s8' bench/cpu_table.sh only the runs whose name matches; the others keep the figures they have
# As root it runs at real-time priority, so that other work on the machine disturbs less.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
set -euo pipefail
octavo=${1:-.venv/bin/octavo}
python=.venv/bin/python
[ -x "$python" ] || python=python3
[ -x "$octavo" ] || { echo "cpu_table.sh: $octavo is not there; run ./demo first" >&2; exit 2; }
each=${SECONDS_EACH:-0.5}
machine=$("$python" bench/cpu_table.py --machine "$octavo")
out=docs/benchmarks/cpu-$machine
mkdir -p "$out"
front=()
[ "$(id -u)" = 0 ] && command -v chrt >/dev/null && chrt -f 10 true 2>/dev/null && front=(chrt -f 10)

bench() { # name, arguments of octavo bench
  local name=$1
  shift
  [[ $name =~ ${ONLY:-.} ]] || return 0
  echo "== $name"
  # What is wrong or did not run is in the JSON and the table; it does not end the measurement.
  "${front[@]}" "$octavo" bench "$@" --seconds "$each" --json "$out/$name.json" | tail -n +1 >"$out/$name.log" || true
  tail -n 1 "$out/$name.log"
}

layers=(--layers bench/layers.csv)
srb=(--epilogue scale+bias+relu)
line() { echo "$1 n=10 c=128 size=72x120 k=128 filter=3x3 pad=1x1 $2"; }
nhwc="x=s8:nhwc w=s8:nhwc y=s8:nhwc"

for threads in 1 2; do
  bench "stated-s8-t$threads" "${layers[@]}" --filter seed/fprop2d "${srb[@]}" --threads $threads --peers onednn
done
bench "stated-s8-avx2" "${layers[@]}" --filter seed/fprop2d "${srb[@]}" --threads 1 --isa avx2 --peers onednn
bench "layers-s8" "${layers[@]}" "${srb[@]}" --threads 2 --peers onednn
for type in bf16 f32; do
  bench "layers-$type-fprop" "${layers[@]}" --types $type --threads 2 --peers onednn
  for direction in dgrad wgrad; do
    bench "layers-$type-$direction" "${layers[@]}" --types $type --direction $direction --threads 2 --peers onednn
  done
done
bench "own-nc32-s8" "$(line fprop 'x=s8:nc32 w=s8:nc32 y=s8:nc32')" "${srb[@]}" --threads 2 --name nc32-s8 --against "$(line fprop "$nhwc")"
bench "own-nc32-u8-zp" "$(line fprop 'x=u8:nc32 w=s8:nc32 y=u8:nc32 zx=131')" "${srb[@]}" --threads 2 --name nc32-u8-zero-points \
  --against "$(line fprop "$nhwc")"
bench "own-nchw-s8" "$(line fprop 'x=s8:nchw w=s8:nchw y=s8:nchw')" "${srb[@]}" --threads 2 --name nchw-s8 --against "$(line fprop "$nhwc")"
bench "own-dgrad-s8" "$(line dgrad "x=s8:nhwc w=s8:nhwc y=s8:nhwc")" --threads 2 --name dgrad-s8 --against "$(line fprop "$nhwc")"
bench "own-wgrad-s8" "$(line wgrad "x=s8:nhwc w=s32:nhwc y=s8:nhwc")" --threads 2 --name wgrad-s8 --against "$(line fprop "$nhwc")"
bench "overhead" "fprop c=1 size=5x5 k=1 filter=3x3 x=s8:nhwc w=s8:nhwc y=s8:nhwc" --threads 1 --name int8-5x5
"$python" bench/cpu_table.py "$out" >"$out.md"
echo "written: $out.md"
