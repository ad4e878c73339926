# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""cuDNN's fastest fp16 plan (PyTorch's benchmark mode, channels last) for layers of one set: one JSON object a line."""
import csv
import json
import statistics
import sys

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = True
torch.backends.cudnn.benchmark_limit = 0
LAUNCHES, ROUNDS = 20, 25


def main(path, wanted):
    for row in csv.DictReader(open(path)):
        if row["set"] != wanted or row["groups"] != "1":
            continue
        n, c, h, w, k, r, s, stride = (int(row[f]) for f in ("n", "c", "h", "w", "k", "r", "s", "stride"))
        pad = tuple(int(p) for p in row["pad"].split("x"))
        x = torch.randint(-3, 4, (n, c, h, w), device="cuda").half().to(memory_format=torch.channels_last)
        f = torch.randint(-3, 4, (k, c, r, s), device="cuda").half().to(memory_format=torch.channels_last)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream), torch.no_grad():
            for _ in range(3):
                y = F.conv2d(x, f, stride=stride, padding=pad)
            stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(LAUNCHES):
                    y = F.conv2d(x, f, stride=stride, padding=pad)
            times = []
            for i in range(ROUNDS + 2):
                a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                a.record(stream)
                graph.replay()
                b.record(stream)
                b.synchronize()
                if i >= 2:
                    times.append(a.elapsed_time(b) / LAUNCHES * 1e3)
        print(json.dumps({"set": wanted, "problem": row["name"], "candidate": "cudnn %d" % torch.backends.cudnn.version(), "peer": True,
                          "type": "f16", "us": statistics.median(times), "us_min": min(times)}), flush=True)
        del x, f, y, graph


main(sys.argv[1], sys.argv[2])
