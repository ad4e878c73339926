# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of issue-style bars from the raw JSON lines of mma_bench and cudnn_half.py, as markdown on standard output."""
import json
import math
import sys

rows, device = [], {}
for path in sys.argv[1:]:
    for line in open(path):
        if line.startswith("{"):
            d = json.loads(line)
            if "device" in d:
                device = d
            elif "candidate" in d:
                rows.append(d)


def good(d):
    return d.get("wrong", 0) == 0


def pick(set_, type_, peer, keep=lambda c: True, key="us"):
    best = {}
    for d in rows:
        if d.get("set") == set_ and d["type"] == type_ and d["peer"] == peer and good(d) and keep(d["candidate"]) and "us" in d:
            if d["problem"] not in best or d[key] < best[d["problem"]][key]:
                best[d["problem"]] = d
    return best


def geomean(v):
    return math.exp(sum(map(math.log, v)) / len(v)) if v else float("nan")


def ratio(title, ours, peers, key="us"):
    common = [p for p in ours if p in peers]
    if not common:
        return
    r = geomean([ours[p][key] / peers[p][key] for p in common])
    one = common[0]
    detail = "%d layers" % len(common) if len(common) > 1 else "%.2f us (%s) / %.2f us (%s)" % (ours[one][key], ours[one]["candidate"], peers[one][key], peers[one]["candidate"])
    print("| %s | %.3f | %s |" % (title, r, detail))


print("Device: %s\n" % json.dumps(device))
wrong = [d for d in rows if d.get("wrong", 0) not in (0,)]
print("%d rows, %d wrong%s\n" % (len(rows), len(wrong), "" if not wrong else ": " + "; ".join("%s %s (%d)" % (d["problem"], d["candidate"], d["wrong"]) for d in wrong[:20])))
print("| work | ours / peer | |\n|---|---|---|")
il = lambda c: "nc32" in c and "channel" not in c
nhwc = lambda c: "nc32" not in c and "channel" not in c
for key, name in (("us", "warm"), ("us_cold", "cold")):
    ratio("stated NC/32HW32 (%s)" % name, pick("stated", "s8", False, il, key), pick("stated", "s8", True, il, key), key)
    ratio("stated NC/32HW32 per channel + bias + ReLU (%s)" % name, pick("stated", "s8", False, lambda c: "nc32 channel" in c, key), pick("stated", "s8", True, il, key), key)
    ratio("stated NHWC (%s)" % name, pick("stated", "s8", False, nhwc, key), pick("stated", "s8", True, nhwc, key), key)
    ratio("N=80 NC/32HW32, 163 KB (%s)" % name, pick("orin", "s8", False, lambda c: c.startswith("halo163") and il(c), key), pick("orin", "s8", True, il, key), key)
    ratio("ResNet-50 N=32 s8 NHWC (%s)" % name, pick("resnet50-b32", "s8", False, nhwc, key), pick("resnet50-b32", "s8", True, nhwc, key), key)
ratio("ResNet-50 N=32 fp16", pick("resnet50-b32", "f16", False), pick("resnet50-b32", "f16", True))
for d in pick("orin", "s8", False, lambda c: c.startswith("halo163") and il(c)).values():
    print("\nN=80: %.1f TOPS = %.1f%% of the mma.sync rate (%.1f)" % (d["tops"], 100 * d["tops"] / device["mma_s8_tops"], device["mma_s8_tops"]))
for set_, type_ in (("resnet50-b32", "s8"), ("resnet50-b32", "f16")):
    ours, peers = pick(set_, type_, False), pick(set_, type_, True)
    if ours:
        print("\n| %s %s | ours us | | peer us | | ratio |\n|---|---|---|---|---|---|" % (set_, type_))
        for p, d in ours.items():
            q = peers.get(p)
            print("| %s | %.2f | %s | %s | %s | %s |" % (p, d["us"], d["candidate"], "%.2f" % q["us"] if q else "", q["candidate"] if q else "", "%.2f" % (d["us"] / q["us"]) if q else ""))
for set_ in ("stated", "orin"):
    print("\n| %s: every configuration | us | min | cold | TOPS | regs | wrong |\n|---|---|---|---|---|---|---|" % set_)
    for d in sorted((d for d in rows if d.get("set") == set_), key=lambda d: d["us"]):
        print("| %s | %.2f | %.2f | %.2f | %.0f | %d | %d |" % (d["candidate"], d["us"], d["us_min"], d["us_cold"], d["tops"], d["registers"], d["wrong"]))
