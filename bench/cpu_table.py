#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/benchmarks from the JSON files that bench/cpu_table.sh wrote into a folder.

    python bench/cpu_table.py FOLDER             prints the page
    python bench/cpu_table.py --machine PROGRAM  prints a name for this machine's files
"""

import json
import math
import pathlib
import re
import subprocess
import sys


def geomean(values):
    values = [v for v in values if v and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def machine(program):
    text = subprocess.run([program, "doctor", "--quick"], check=True, capture_output=True, text=True).stdout
    name = re.search(r"^processor +(.*)$", text, re.M).group(1)
    name = re.sub(r"\((R|TM)\)|processor|CPU|@.*?GHz", " ", name, flags=re.I)
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def load(folder, name):
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else []


def ratios(rows, peer):
    return [r["peers"][peer]["ratio"] for r in rows if r.get("peers", {}).get(peer, {}).get("ratio")]


def number(value):
    return "not measured" if value is None else f"{value:.2f}"


def verdict(value, bar, stretch):
    if value is None:
        return "–"
    return "stretch" if value >= stretch else "met" if value >= bar else "short"


def depthwise(rows):
    return [r for r in rows if "groups=" in r["problem"] and r["name"].startswith("dw")]


def grouped(rows):
    return [r for r in rows if r["set"].startswith("resnext")]


def bars(folder, amx):
    """Label, measured, bar, stretch; the bars differ between machines with AMX and without."""
    s8 = load(folder, "layers-s8")
    pick = lambda a, b: a if amx else b
    for threads in (1, 2):
        value = geomean(ratios(load(folder, f"stated-s8-t{threads}"), "onednn"))
        yield f"stated convolution, s8, scale + bias + ReLU, {threads} thread{'s' * (threads > 1)}", value, *pick((1.15, 1.35), (1.40, 1.60))
    yield "layers.csv s8, 2 threads, geomean", geomean(ratios(s8, "onednn")), *pick((1.0, 1.3), (1.15, 1.4))
    yield "layers.csv s8, 2 threads, worst layer", min(ratios(s8, "onednn"), default=None), *pick((0.7, 0.9), (0.85, 0.95))
    yield "its depthwise layers, geomean", geomean(ratios(depthwise(s8), "onednn")), *pick((1.5, 3.0), (2.0, 4.0))
    yield "its grouped layers, geomean", geomean(ratios(grouped(s8), "onednn")), *pick((1.5, 4.0), (1.3, 2.0))
    floats = {
        "bf16-fprop": pick((1.0, 1.3), (0.92, 1.05)),
        "f32-fprop": pick((0.85, 1.0), (0.9, 1.05)),
        "f32-dgrad": pick((0.85, 1.0), (1.0, 1.2)),
        "f32-wgrad": pick((0.85, 1.0), (1.0, 1.2)),
        "bf16-dgrad": pick((1.0, 1.2), (0.92, 1.05)),
        "bf16-wgrad": pick((1.3, 1.8), (1.1, 1.3)),
    }
    for name, (bar, stretch) in floats.items():
        yield f"layers.csv {name.replace('-', ' ')}, 2 threads, geomean", geomean(ratios(load(folder, f"layers-{name}"), "onednn")), bar, stretch
    yield "stated convolution, s8, AVX2 on both, 1 thread", geomean(ratios(load(folder, "stated-s8-avx2"), "onednn")), 1.0, 1.5
    own = {
        "own-nc32-s8": ("NC/32HW32 s8 against own NHWC s8", 0.92, 1.0),
        "own-nc32-u8-zp": ("NC/32HW32 u8 with zero point and per-channel scale against own NHWC s8", 0.92, 1.0),
        "own-nchw-s8": ("NCHW s8 against own NHWC s8", *pick((0.7, 0.9), (0.75, 0.9))),
        "own-dgrad-s8": ("s8 dgrad of the stated convolution against own fprop", 0.7, 1.0),
        "own-wgrad-s8": ("s8 wgrad of the stated convolution against own fprop", 0.7, 1.0),
    }
    for name, (label, bar, stretch) in own.items():
        yield label, geomean(ratios(load(folder, name), "own")), bar, stretch


def layer_rows(rows, peer):
    yield f"| set | layer | plan | µs | Gop/s | share | {peer} µs | ratio | quiet |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        if "error" in r:
            yield f"| {r['set']} | {r['name']} | did not run: {r['error']} | | | | | | |"
            continue
        p = r["peers"].get(peer, {})
        theirs = f"{p['median_us']:.1f}{'' if p['right'] else ' (wrong)'} | {p['ratio']:.2f}" if "median_us" in p else "– | –"
        plan = f"{r['engine']} {r['config']}" + ("" if r["right"] else " **WRONG**")
        yield f"| {r['set']} | {r['name']} | {plan} | {r['median_us']:.1f} | {r['gops']:.0f} | {100 * r['share']:.0f}% | {theirs} | {r['clean']}/{r['iterations']} |"


def page(folder):
    files = sorted(folder.glob("*.json"))
    rows = [row for f in files for row in json.loads(f.read_text())]
    if not rows:
        sys.exit(f"{folder} holds no figures")
    first = rows[0]
    amx = "no AMX" not in first["machine"] and "AMX" in first["machine"]
    print(f"# CPU: {first['machine']}\n")
    print(f"Measured on {', '.join(sorted({r['date'] for r in rows}))} by `bench/cpu_table.sh`; class {'A (AMX)' if amx else 'B (no AMX)'}. ")
    versions = sorted({p["version"] for r in rows for n, p in r.get("peers", {}).items() if n == "onednn" and "version" in p})
    print(f"Peer: oneDNN {', '.join(versions)}, its own layouts, filters packed beforehand. Every ratio is peer time / our time, the")
    print("median over pairs of calls made in turn in one process; above 1 ours is faster. Raw figures are in the folder beside this page.\n")
    wrong = [f"{r['set']}/{r['name']}" for r in rows if not r["right"]]
    peers_wrong = sum(not p.get("right", True) for r in rows for n, p in r.get("peers", {}).items() if n == "onednn" and "median_us" in p)
    noisy = sum(r.get("clean", 3) < 3 for r in rows)
    print(f"{len(rows)} rows; ours wrong or not run: {', '.join(wrong) or 'none'}; oneDNN wrong in {peers_wrong}; {noisy} rows had no quiet moment.\n")
    ceilings = {r["ceiling"]["loop"]: r["ceiling"]["gops"] for r in sorted(rows, key=lambda r: r["threads"]) if "ceiling" in r}
    print("Ceilings measured in these runs, Gop/s: " + "; ".join(f"{k} {v:.0f}" for k, v in ceilings.items()) + ".\n")
    print("| work | measured | bar | stretch | |\n|---|---|---|---|---|")
    for label, value, bar, stretch in bars(folder, amx):
        print(f"| {label} | {number(value)} | {bar:.2f} | {stretch:.2f} | {verdict(value, bar, stretch)} |")
    overhead = load(folder, "overhead")
    if overhead and "median_us" in overhead[0]:
        us = overhead[0]["median_us"]
        print(f"| 5x5 convolution, C = K = 1: one call | {us:.2f} µs | 2 µs | | {'met' if us <= 2 else 'short'} |")
    plans = [r["plan_ms"] for r in load(folder, "layers-s8") if "plan_ms" in r]
    if plans:
        print(f"| building a plan (filter packed), layers.csv s8: median; slowest | {sorted(plans)[len(plans) // 2]:.2f}; {max(plans):.2f} ms | 5 ms | | |")
    for f in files:
        group = json.loads(f.read_text())
        peer = "own" if f.stem.startswith("own") else "onednn"
        print(f"\n## {f.stem}\n\n`{group[0]['command']}`\n")
        print("\n".join(layer_rows(group, peer)))


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--machine":
        print(machine(sys.argv[2]))
    elif len(sys.argv) == 2:
        page(pathlib.Path(sys.argv[1]))
    else:
        sys.exit(__doc__)


main()
