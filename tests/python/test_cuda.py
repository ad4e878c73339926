# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""On a machine with a GPU and PyTorch: the reported program on CUDA, PyTorch's current stream, device checks. Elsewhere
these tests are counted as not observed."""

import pytest

import octavo as cudnn
from conftest import not_observed, torch

DT = cudnn.data_type


@pytest.fixture
def handle(request):
    if torch is None or not torch.cuda.is_available():
        not_observed(request.node, "a GPU and PyTorch")
    made = cudnn.create_handle("cuda:0")
    yield made
    cudnn.destroy_handle(made)


def program(handle, mended):
    g = cudnn.pygraph(io_data_type=DT.INT8, compute_data_type=DT.INT32, handle=handle)
    X = g.tensor(name="X", dim=[1, 1, 5, 5], stride=[25, 1, 5, 1])
    W = g.tensor(name="W", dim=[1, 1, 3, 3], stride=[9, 1, 3, 1])
    Y = g.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_name("Y").set_output(True)
    if mended:
        Y.set_data_type(DT.INT32)
    g.build([cudnn.heur_mode.A])
    return g, X, W, Y


def test_the_reported_program(handle):
    x = torch.randint(-128, 128, (1, 1, 5, 5), dtype=torch.int8, device="cuda")
    w = torch.randint(-128, 128, (1, 1, 3, 3), dtype=torch.int8, device="cuda")
    y = torch.full((1, 1, 5, 5), 0x5A, dtype=torch.int32, device="cuda")
    g, X, W, Y = program(handle, mended=False)
    with pytest.raises(ValueError, match="'Y'.*INT8.*io_data_type.*INT32.*set_data_type"):
        g.execute({X: x, W: w, Y: y})
    g, X, W, Y = program(handle, mended=True)
    workspace = torch.empty(g.get_workspace_size(), dtype=torch.uint8, device="cuda")
    g.execute({X: x, W: w, Y: y}, workspace, handle=handle)
    want = torch.nn.functional.conv2d(x.cpu().double(), w.cpu().double(), padding=1)
    assert torch.equal(y.cpu().double(), want) and want.abs().max() > 0


def test_the_current_stream_of_pytorch(handle):
    g, X, W, Y = program(handle, mended=True)
    workspace = torch.empty(g.get_workspace_size(), dtype=torch.uint8, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        big = torch.ones((4096, 4096), device="cuda")
        for _ in range(20):  # the work that x waits for
            big = (big @ big).clamp(0, 1)
        x = big[:5, :5].to(torch.int8).reshape(1, 1, 5, 5).contiguous()
        w = torch.ones((1, 1, 3, 3), dtype=torch.int8, device="cuda")
        y = torch.full((1, 1, 5, 5), 0x5A, dtype=torch.int32, device="cuda")
        g.execute({X: x, W: w, Y: y}, workspace)
        total = y.sum()
    assert cudnn.get_stream(handle) == stream.cuda_stream
    assert total.item() == 9 * 9 + 12 * 6 + 4 * 4


def test_memory_of_another_device_is_refused(handle):
    g, X, W, Y = program(handle, mended=True)
    on_gpu = torch.zeros((1, 1, 5, 5), dtype=torch.int8, device="cuda")
    w, y = torch.zeros((1, 1, 3, 3), dtype=torch.int8, device="cuda"), torch.zeros((1, 1, 5, 5), dtype=torch.int32, device="cuda")
    workspace = torch.empty(g.get_workspace_size() + 1, dtype=torch.uint8, device="cuda")
    g.execute({X: on_gpu, W: w, Y: y}, workspace)
    with pytest.raises(ValueError, match="'X'.*host memory"):
        g.execute({X: on_gpu.cpu(), W: w, Y: y}, workspace)
