# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of `octavo bench --peers torch`.

Reads one JSON request a line and answers each with one JSON line; tensors come and go as raw files in the folder that
is the first argument. The command line carries this text and runs it with `python3 -c`.
"""

import json
import sys
import time


def hello(request):
    import warnings

    import torch

    warnings.filterwarnings("ignore")  # what is deprecated there is said on stderr, in the middle of a table
    torch.set_num_threads(request["threads"])
    torch.set_grad_enabled(False)
    return {"version": torch.__version__}


class Call:
    """One convolution: tensors in the layout PyTorch likes, and a function without arguments."""

    def __init__(self, request, folder):
        import torch

        self.torch, self.request, self.folder = torch, request, folder
        self.types = {
            "s8": torch.int8,
            "u8": torch.uint8,
            "s32": torch.int32,
            "f16": torch.float16,
            "bf16": torch.bfloat16,
            "f32": torch.float32,
            "f64": torch.float64,
        }
        if len(request["stride"]) != 2:
            raise ValueError("only 2-D convolutions are given to it")
        if request["pre"] != request["post"]:
            raise ValueError("padding before and after differ")
        for tensor in "xwy":
            if request[tensor]["vector"] != 1:
                raise ValueError("it has no vector layouts")
        direction = request["direction"]
        integer = request["x"]["type"] in ("s8", "u8")
        if integer and direction != "fprop":
            raise ValueError("it has no integer gradients")
        self.function = {"fprop": self.quantized if integer else self.forward, "dgrad": self.gradient, "wgrad": self.gradient}[
            direction
        ]()
        self.result = None

    def load(self, name, desc):
        """A dense channels-last tensor with the elements of a file."""
        torch = self.torch
        flat = torch.from_file(f"{self.folder}/{name}", size=desc["span"], dtype=self.types[desc["type"]])
        view = torch.as_strided(flat, desc["dim"], desc["stride"])
        return view.clone(memory_format=torch.contiguous_format).contiguous(memory_format=torch.channels_last)

    def vector(self, name):
        import numpy

        return self.torch.from_numpy(numpy.fromfile(f"{self.folder}/{name}", dtype=numpy.float32))

    def forward(self):
        torch, r = self.torch, self.request
        x, w = self.load("a", r["x"]), self.load("b", r["w"])
        if r["scale"]:  # powers of two: folding them into the filter is exact
            w = (w.double() * self.vector("scale").double().reshape(-1, 1, 1, 1)).to(w.dtype)
            w = w.contiguous(memory_format=torch.channels_last)
        bias = self.vector("bias").to(x.dtype) if r["bias"] else None
        relu = torch.relu_ if r["relu"] else (lambda y: y)
        args = (bias, r["stride"], r["pre"], r["dilation"], r["groups"])
        return lambda: relu(torch.nn.functional.conv2d(x, w, *args))

    def gradient(self):
        torch, r = self.torch, self.request
        dgrad = r["direction"] == "dgrad"
        a, b = self.load("a", r["y"] if dgrad else r["x"]), self.load("b", r["w"] if dgrad else r["y"])
        empty_x = torch.empty(r["x"]["dim"], dtype=a.dtype).to(memory_format=torch.channels_last)
        empty_w = torch.empty(r["w"]["dim"], dtype=a.dtype).to(memory_format=torch.channels_last)
        dy, x, w = (a, empty_x, b) if dgrad else (b, a, empty_w)
        mask = [dgrad, not dgrad, False]
        index = 0 if dgrad else 1
        args = (None, r["stride"], r["pre"], r["dilation"], False, [0, 0], r["groups"], mask)
        return lambda: torch.ops.aten.convolution_backward(dy, x, w, *args)[index]

    def quantized(self):
        """u8 has zero point 0; s8 is the same numbers as u8 with zero point 128, which is what PyTorch's kernels take."""
        torch, r = self.torch, self.request
        if r["y"]["type"] != r["x"]["type"]:
            raise ValueError("its quantised convolution stores the type that it reads")
        x, w = self.load("a", r["x"]), self.load("b", r["w"])
        self.shift = 128 if r["x"]["type"] == "s8" else 0
        unsigned = (x.to(torch.int16) + self.shift).to(torch.uint8).contiguous(memory_format=torch.channels_last)
        qx = torch._make_per_tensor_quantized_tensor(unsigned, 1.0, self.shift)
        k = w.shape[0]
        scale = self.vector("scale").double() if r["scale"] else torch.ones(1, dtype=torch.float64)
        scale = scale.expand(k).contiguous()
        qw = torch._make_per_channel_quantized_tensor(w, scale, torch.zeros(k, dtype=torch.int64), 0)
        bias = self.vector("bias") if r["bias"] else None
        packed = torch.ops.quantized.conv2d_prepack(qw, bias, r["stride"], r["pre"], r["dilation"], r["groups"])
        convolve = torch.ops.quantized.conv2d_relu if r["relu"] else torch.ops.quantized.conv2d
        return lambda: convolve(qx, packed, 1.0, self.shift)

    def run(self):
        start = time.perf_counter()
        self.result = self.function()
        return (time.perf_counter() - start) * 1e6

    def fetch(self):
        torch, r = self.torch, self.request
        desc = r[{"fprop": "y", "dgrad": "x", "wgrad": "w"}[r["direction"]]]
        result = self.result
        if result.is_quantized:
            result = (result.int_repr().to(torch.int16) - self.shift).to(self.types[desc["type"]])
        flat = torch.zeros(desc["span"], dtype=self.types[desc["type"]])
        torch.as_strided(flat, desc["dim"], desc["stride"]).copy_(result)
        with open(f"{self.folder}/out", "wb") as file:
            file.write(flat.view(torch.uint8).numpy().tobytes())


def main():
    folder, call = sys.argv[1], None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "hello":
                answer = hello(request)
            elif request["do"] == "create":
                call = Call(request, folder)
                call.run()
                answer = {}
            elif request["do"] == "run":
                answer = {"us": call.run()}
            else:
                call.fetch()
                answer = {}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


main()
