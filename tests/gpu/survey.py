# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""96 INT8 graphs through `import octavo as cudnn`: is the first plan right? Then the reported program on device tensors.

The graphs: four kinds (conv -> s32; conv, identity -> s32; conv, scale -> s8; conv -> f32), two layouts, twelve shapes (N2, 28x28,
3x3). Oracle: PyTorch's float64 convolution on the CPU, exact for these sums. Usage: survey.py [cuda|cpu]. Exit status 0: all right.
"""

import sys

import torch

import octavo as cudnn

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda"
# C, K, groups, stride
SHAPES = [
    (1, 1, 1, 1), (3, 16, 1, 1), (4, 4, 1, 1), (16, 16, 1, 1), (17, 33, 1, 1), (32, 32, 1, 1), (128, 128, 1, 1),
    (32, 32, 2, 1), (48, 96, 3, 1), (32, 32, 32, 1), (32, 64, 1, 2), (17, 33, 1, 2),
]  # fmt: skip
KINDS = ["conv -> s32", "conv, identity -> s32", "conv, scale -> s8", "conv -> f32"]
TYPES = {"s32": torch.int32, "s8": torch.int8, "f32": torch.float32}


def memory(tensor, layout):
    order = torch.channels_last if layout == "NHWC" else torch.contiguous_format
    return tensor.contiguous(memory_format=order)


def run(kind, layout, shape, handle):
    c, k, groups, stride = shape
    x = memory(torch.randint(-128, 128, (2, c, 28, 28), dtype=torch.int8), layout)
    w = memory(torch.randint(-128, 128, (k, c // groups, 3, 3), dtype=torch.int8), layout)
    exact = torch.nn.functional.conv2d(x.double(), w.double(), padding=1, stride=stride, groups=groups)
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.INT8, compute_data_type=cudnn.data_type.INT32, handle=handle)
    X = graph.tensor(name="X", dim=list(x.shape), stride=list(x.stride()))
    W = graph.tensor(name="W", dim=list(w.shape), stride=list(w.stride()))
    Y = graph.conv_fprop(image=X, weight=W, padding=[1, 1], stride=[stride] * 2, dilation=[1, 1])
    out = kind.split("-> ")[1]
    scale, buffers = 1 / 512, {}
    if "identity" in kind:
        Y.set_data_type(cudnn.data_type.INT32)
        Y = graph.identity(Y, compute_data_type=cudnn.data_type.INT32)
    if "scale" in kind:
        Y.set_data_type(cudnn.data_type.INT32)
        S = graph.tensor(name="S", dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=cudnn.data_type.FLOAT)
        buffers[S] = torch.full((1, 1, 1, 1), scale).to(DEVICE)
        Y = graph.scale(Y, S, compute_data_type=cudnn.data_type.FLOAT)
        exact = (exact.float() * scale).round().clamp(-128, 127).double()
    y = memory(torch.full(exact.shape, 85, dtype=TYPES[out]), layout).to(DEVICE)
    Y.set_name("Y").set_output(True).set_data_type({"s32": cudnn.data_type.INT32, "s8": cudnn.data_type.INT8, "f32": cudnn.data_type.FLOAT}[out])
    Y.set_dim(list(y.shape)).set_stride(list(y.stride()))
    graph.build([cudnn.heur_mode.A])
    buffers.update({X: x.to(DEVICE), W: w.to(DEVICE), Y: y})
    graph.execute(buffers, torch.empty(max(1, graph.get_workspace_size()), dtype=torch.uint8, device=DEVICE), handle=handle)
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return torch.equal(y.cpu().double(), exact), graph.get_plan_name_at_index(0)


def reported_program(handle):
    """X, W int8 through io_data_type=INT8; Y's type never set, an int32 buffer bound; then with the one call added."""
    x = torch.full((1, 1, 5, 5), 100, dtype=torch.int8, device=DEVICE)
    w = torch.full((1, 1, 3, 3), -100, dtype=torch.int8, device=DEVICE)
    y = torch.zeros((1, 1, 3, 3), dtype=torch.int32, device=DEVICE)
    for mended in (False, True):
        graph = cudnn.pygraph(io_data_type=cudnn.data_type.INT8, compute_data_type=cudnn.data_type.INT32, handle=handle)
        X = graph.tensor(name="X", dim=[1, 1, 5, 5], stride=[25, 1, 5, 1])
        W = graph.tensor(name="W", dim=[1, 1, 3, 3], stride=[9, 1, 3, 1])
        Y = graph.conv_fprop(image=X, weight=W, padding=[0, 0], stride=[1, 1], dilation=[1, 1])
        Y.set_name("Y").set_output(True)
        if mended:
            Y.set_data_type(cudnn.data_type.INT32)
        graph.build([cudnn.heur_mode.A])
        workspace = torch.empty(max(1, graph.get_workspace_size()), dtype=torch.uint8, device=DEVICE)
        try:
            graph.execute({X: x, W: w, Y: y}, workspace, handle=handle)
        except Exception as error:
            words = all(word in str(error) for word in ("Y", "INT8", "io_data_type", "INT32", "set_data_type"))
            print("unmended:", error)
            if mended or not words:
                return False
            continue
        if not mended:
            print("unmended: no error")
            return False
    return bool((y.cpu() == -90000).all())


def main():
    torch.manual_seed(1)
    handle = cudnn.create_handle()
    right, plans = 0, {}
    for kind in KINDS:
        for layout in ("NHWC", "NCHW"):
            bad = []
            for shape in SHAPES:
                try:
                    ok, plan = run(kind, layout, shape, handle)
                except Exception as error:
                    ok, plan = False, f"{type(error).__name__}: {error}"
                right += ok
                plans[plan.split(":")[0][:40]] = plans.get(plan.split(":")[0][:40], 0) + 1
                if not ok:
                    bad.append((shape, plan))
            print(f"{kind:22s} {layout}: {len(SHAPES) - len(bad)} of {len(SHAPES)} right", *bad[:2])
    print(f"{right} of 96 right on the first plan", plans)
    reported = reported_program(handle)
    print("the reported program:", "right" if reported else "WRONG")
    return 0 if right == 96 and reported else 1


if __name__ == "__main__":
    sys.exit(main())
