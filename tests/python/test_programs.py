# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole programs in the manner of cudnn-frontend users: fusions before and after convolutions, reductions, statistics,
gradients. Each is checked against NumPy or PyTorch in double precision, with a bound from the types involved."""

import numpy as np
import pytest

import octavo as cudnn
import reference
from conftest import torch
from helpers import channels_last

DT = cudnn.data_type
ADDING = cudnn.reduction_mode.ADD


def nhwc(rng, *shape, dtype=np.float16, low=-1.0, high=1.0):
    n, c, *rest = shape
    values = rng.uniform(low, high, (n, *rest, c)).astype(dtype)
    return np.moveaxis(values, -1, 1)


def empty_like_nhwc(shape, dtype):
    n, c, *rest = shape
    return np.moveaxis(np.full((n, *rest, c), np.nan if np.dtype(dtype).kind == "f" else 77, dtype), -1, 1)


def double_conv(x, w, pad, stride, dilation):
    return reference.fprop(x, w, pad, pad, stride, dilation, dtype=np.float64)


def close(got, want, length, scale, out_eps):
    """|got - want| within the sum's error (length additions of float32) and the output's rounding."""
    bound = (length + 4) * 2.0**-24 * scale + out_eps * np.abs(want) + 2.0**-25
    assert np.isfinite(got.astype(np.float64)).all()
    assert np.abs(want).max() > 0
    worst = np.max(np.abs(got.astype(np.float64) - want) - bound)
    assert worst <= 0, f"off by {worst} beyond the bound"


def test_conv_bias_relu_through_jit(rng):
    """jit, clipped ReLU, pre/post padding keywords, a pack keyed by uid."""
    handle = cudnn.create_handle("cpu")

    @cudnn.jit(heur_modes=[cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    def make(handle, x, w, b):
        with cudnn.graph(handle) as (g, _):
            X, W = g.tensor_like(x), g.tensor_like(w)
            B = g.tensor(name="bias", dim=b.shape, stride=channels_last(b.shape), data_type=DT.HALF)
            conv = g.conv_fprop(image=X, weight=W, pre_padding=[0, 1], post_padding=[0, 1], stride=[3, 3], dilation=[1, 1])
            bias = g.bias(name="bias", input=conv, bias=B)
            Y = g.relu(bias, lower_clip=0.5, upper_clip=0.55)
            Y.set_output(True)
        return g, [X, W, B, Y]

    x, w, b = nhwc(rng, 2, 16, 20, 20), nhwc(rng, 16, 16, 3, 3), nhwc(rng, 1, 16, 1, 1)
    g, uids = make(handle, x, w, b)
    pre = double_conv(x, w, [0, 1], [3, 3], [1, 1]) + b.astype(np.float64)
    y = empty_like_nhwc(pre.shape, np.float16)
    g.execute(dict(zip(uids, (x, w, b, y))), np.empty(g.get_workspace_size(), np.uint8), handle=handle)
    got = y.astype(np.float64)
    assert got.min() >= 0.5 and got.max() <= np.float64(np.float16(0.55))
    want = np.clip(pre, 0.5, 0.55)
    close(y, want, 144, double_conv(np.abs(x), np.abs(w), [0, 1], [3, 3], [1, 1]) + 1, 2.0**-11)
    assert np.count_nonzero(got == 0.5) > 100 and np.count_nonzero(got > 0.5) > 100
    cudnn.destroy_handle(handle)


def test_conv_relu_with_odd_channels_and_a_flat_filter(rng):
    x, w = nhwc(rng, 2, 40, 15, 20), nhwc(rng, 54, 40, 3, 4)
    g = cudnn.pygraph(io_data_type=DT.HALF, intermediate_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    X, W = g.tensor_like(x), g.tensor_like(w)
    Y = g.relu(g.conv_fprop(X, W, padding=[0, 1], stride=[2, 3], dilation=[1, 1])).set_output(True)
    g.build([cudnn.heur_mode.A])
    want = np.maximum(double_conv(x, w, [0, 1], [2, 3], [1, 1]), 0)
    y = empty_like_nhwc(want.shape, np.float16)
    g.execute({X: x, W: w, Y: y}, np.empty(g.get_workspace_size(), np.uint8))
    close(y, want, 480, double_conv(np.abs(x), np.abs(w), [0, 1], [2, 3], [1, 1]), 2.0**-11)


def test_conv3d_bias_leaky_relu(rng):
    x, w, b = nhwc(rng, 1, 8, 12, 14, 16), nhwc(rng, 12, 8, 3, 3, 3), nhwc(rng, 1, 12, 1, 1, 1)
    g = cudnn.pygraph(io_data_type=DT.HALF, intermediate_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    X, W, B = g.tensor_like(x), g.tensor_like(w), g.tensor_like(b)
    t = g.conv_fprop(X, W, padding=[0, 1, 2], stride=[2, 3, 4], dilation=[1, 1, 1])
    Y = g.leaky_relu(g.bias(t, B), negative_slope=0.05).set_output(True)
    pre = double_conv(x, w, [0, 1, 2], [2, 3, 4], [1, 1, 1]) + b
    want = np.where(pre > 0, pre, np.float64(np.float32(0.05)) * pre)
    y = empty_like_nhwc(want.shape, np.float16)
    g.execute({X: x, W: w, B: b, Y: y})
    close(y, want, 216, double_conv(np.abs(x), np.abs(w), [0, 1, 2], [2, 3, 4], [1, 1, 1]) + 1, 2.0**-11)


def test_leaky_relu_backward_alone(rng):
    """A graph with no convolution at all."""
    dy, x = (nhwc(rng, 4, 16, 8, 8, dtype=np.float32) for _ in range(2))
    g = cudnn.pygraph(io_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    DY, X = g.tensor_like(dy), g.tensor_like(x)
    DX = g.leaky_relu_backward(loss=DY, input=X, negative_slope=0.2).set_output(True)
    out = empty_like_nhwc(x.shape, np.float32)
    g.execute({DY: dy, X: x, DX: out})
    assert np.array_equal(out, np.where(x > 0, dy, np.float32(0.2) * dy))


def test_int8_through_identity(rng):
    x = rng.integers(-128, 128, (2, 32, 32, 64)).astype(np.int8).transpose(0, 3, 1, 2)
    w = rng.integers(-128, 128, (4, 3, 3, 64)).astype(np.int8).transpose(0, 3, 1, 2)
    g = cudnn.pygraph(io_data_type=DT.INT8, intermediate_data_type=DT.INT32, compute_data_type=DT.INT32)
    X, W = g.tensor_like(x), g.tensor_like(w)
    conv = g.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y = g.identity(conv).set_output(True).set_data_type(DT.INT32)
    y = empty_like_nhwc((2, 4, 32, 32), np.int32)
    g.execute({X: x, W: w, Y: y})
    assert np.array_equal(y, reference.fprop(x, w, [1, 1], [1, 1], [1, 1], [1, 1]))


def test_prologue_conv_and_statistics(rng):
    """scale + bias + relu before the convolution; Y is stored, and its statistics follow."""
    x, w = nhwc(rng, 2, 16, 12, 12), nhwc(rng, 24, 16, 3, 3)
    s, b = nhwc(rng, 1, 16, 1, 1), nhwc(rng, 1, 16, 1, 1)
    g = cudnn.pygraph(io_data_type=DT.HALF, intermediate_data_type=DT.HALF, compute_data_type=DT.FLOAT)
    X, W, S, B = (g.tensor_like(v) for v in (x, w, s, b))
    scaled = g.scale(X, S)
    biased = g.bias(scaled, B)
    active = g.relu(biased)
    Y = g.conv_fprop(active, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y.set_output(True)
    SUM, SQ = g.genstats(Y, compute_data_type=DT.FLOAT)
    for t in (SUM, SQ):
        t.set_output(True).set_data_type(DT.FLOAT)
    y, total, squares = empty_like_nhwc((2, 24, 12, 12), np.float16), *(np.full((1, 24, 1, 1), np.nan, np.float32) for _ in "ab")
    g.execute({X: x, W: w, S: s, B: b, Y: y, SUM: total, SQ: squares})
    a = np.maximum(x.astype(np.float32) * s.astype(np.float32) + b.astype(np.float32), 0)
    want = double_conv(a, w, [1, 1], [1, 1], [1, 1])
    # The virtual operand is HALF: it may be rounded to half or kept, so that rounding is allowed for.
    scale = double_conv(np.abs(a), np.abs(w), [1, 1], [1, 1], [1, 1])
    bound = 2.0**-10 * scale + 2.0**-11 * np.abs(want) + 2.0**-24 * 150 * scale
    assert (np.abs(y - want) <= bound).all() and np.abs(want).max() > 1
    stored = y.astype(np.float64)
    for got, of in ((total, stored), (squares, stored**2)):
        exact = of.sum((0, 2, 3)).reshape(1, 24, 1, 1)
        room = 288 * 2.0**-24 * np.abs(of).sum((0, 2, 3)).reshape(1, 24, 1, 1)
        # Statistics of Y before or after its rounding to half.
        room = room + 2.0**-10 * np.abs(of).sum((0, 2, 3)).reshape(1, 24, 1, 1)
        assert (np.abs(got - exact) <= room).all()


def test_reduction_over_channels(rng):
    x, w = nhwc(rng, 2, 8, 9, 9), nhwc(rng, 6, 8, 3, 3)
    handle = cudnn.create_handle("cpu")
    with cudnn.graph(handle) as (g, _):
        X, W = g.tensor_like(x), g.tensor_like(w)
        conv = g.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
        Y = g.reduction(conv, mode=ADDING)
        Y.set_output(True).set_dim([2, 1, 9, 9]).set_stride([81, 1, 9, 1]).set_data_type(DT.FLOAT)
    g.build([cudnn.heur_mode.A, cudnn.heur_mode.B])
    y = np.full((2, 1, 9, 9), np.nan, np.float32)
    g.execute({X: x, W: w, Y: y}, np.empty(g.get_workspace_size(), np.uint8))
    full = double_conv(x, w, [1, 1], [1, 1], [1, 1])
    scale = double_conv(np.abs(x), np.abs(w), [1, 1], [1, 1], [1, 1]).sum(1, keepdims=True)
    close(y, full.sum(1, keepdims=True), 72 + 6, scale, 2.0**-24)
    cudnn.destroy_handle(handle)


@pytest.mark.parametrize("mode", ["ADD", "MUL", "MIN", "MAX", "AMAX", "AVG", "NORM1", "NORM2"])
def test_every_reduction_of_an_exact_result(mode, rng):
    x = rng.integers(-2, 3, (2, 3, 4, 5)).astype(np.float32)
    w = rng.integers(-1, 2, (4, 3, 1, 1)).astype(np.float32)
    g = cudnn.pygraph(io_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    X, W = g.tensor_like(x), g.tensor_like(w)
    t = g.conv_fprop(X, W, padding=[0, 0], stride=[1, 1], dilation=[1, 1])
    Y = g.reduction(t, cudnn.reduction_mode[mode]).set_output(True).set_dim([1, 4, 1, 1])
    y = np.full((1, 4, 1, 1), np.nan, np.float32)
    g.execute({X: x, W: w, Y: y})
    v = double_conv(x, w, [0, 0], [1, 1], [1, 1])
    axes = (0, 2, 3)
    want = {
        "ADD": v.sum(axes), "MUL": v.prod(axes), "MIN": v.min(axes), "MAX": v.max(axes), "AMAX": np.abs(v).max(axes),
        "AVG": v.mean(axes), "NORM1": np.abs(v).sum(axes), "NORM2": np.sqrt((v**2).sum(axes)),
    }[mode]  # fmt: skip
    exact = mode not in ("AVG", "NORM2", "MUL")
    got = y.reshape(-1)
    assert np.array_equal(got, want) if exact else np.allclose(got, want, rtol=2.0**-20, atol=0)
    assert mode == "MUL" or np.abs(want).max() > 0


def test_wgrad_and_dgrad_with_fusions(rng):
    """scale-bias-relu before a weight gradient; a data gradient with ReLU's gradient behind it."""
    x, dy = nhwc(rng, 2, 8, 7, 7, dtype=np.float32), nhwc(rng, 2, 5, 7, 7, dtype=np.float32)
    s, b = nhwc(rng, 1, 8, 1, 1, dtype=np.float32), nhwc(rng, 1, 8, 1, 1, dtype=np.float32)
    g = cudnn.pygraph(io_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    X, DY, S, B = (g.tensor_like(v) for v in (x, dy, s, b))
    a = g.relu(g.bias(g.scale(X, S), B))
    DW = g.conv_wgrad(image=a, loss=DY, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    DW.set_output(True).set_dim([5, 8, 3, 3])
    dw = empty_like_nhwc((5, 8, 3, 3), np.float32)
    g.execute({X: x, DY: dy, S: s, B: b, DW: dw})
    act = np.maximum(x * s + b, 0)
    geometry = ([1, 1], [1, 1], [1, 1], [1, 1])
    want = reference.wgrad(act, dy, (5, 8, 3, 3), *geometry, dtype=np.float64)
    close(dw, want, 98, reference.wgrad(np.abs(act), np.abs(dy), (5, 8, 3, 3), *geometry, dtype=np.float64), 2.0**-23)

    w = nhwc(rng, 5, 8, 3, 3, dtype=np.float32)
    g = cudnn.pygraph(io_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    DY, W, X = (g.tensor_like(v) for v in (dy, w, x))
    t = g.conv_dgrad(loss=DY, filter=W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    t.set_dim([2, 8, 7, 7])
    DX = g.relu_backward(loss=t, input=X).set_output(True)
    dx = empty_like_nhwc((2, 8, 7, 7), np.float32)
    g.execute({DY: dy, W: w, X: x, DX: dx})
    full = reference.dgrad(dy, w, (2, 8, 7, 7), *geometry, dtype=np.float64)
    close(dx, np.where(x > 0, full, 0), 45, reference.dgrad(np.abs(dy), np.abs(w), (2, 8, 7, 7), *geometry, dtype=np.float64), 2.0**-23)


def test_two_convolutions_in_one_graph(rng):
    """It does not fuse; it runs all the same. The intermediate type is the graph's."""
    x = rng.integers(-3, 4, (1, 4, 6, 6)).astype(np.int8)
    w1, w2 = rng.integers(-2, 3, (3, 4, 3, 3)).astype(np.int8), rng.integers(-2, 3, (5, 3, 1, 1)).astype(np.int8)
    g = cudnn.pygraph(io_data_type=DT.INT8, intermediate_data_type=DT.INT8, compute_data_type=DT.INT32)
    X, W1, W2 = (g.tensor_like(v) for v in (x, w1, w2))
    mid = g.conv_fprop(X, W1, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y = g.conv_fprop(mid, W2, padding=[0, 0], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(DT.INT32)
    y = empty_like_nhwc((1, 5, 6, 6), np.int32)
    g.execute({X: x, W1: w1, W2: w2, Y: y})
    first = reference.saturate(reference.fprop(x, w1, [1, 1], [1, 1], [1, 1], [1, 1]), np.int8)
    assert np.array_equal(y, reference.fprop(first, w2, [0, 0], [0, 0], [1, 1], [1, 1]))


def test_an_int8_graph_that_sets_no_other_type_scales_in_float(rng):
    """Neither compute nor intermediate type is given (1.32 programs): a real scale is not cut to a whole number."""
    x = rng.integers(-128, 128, (1, 8, 5, 5)).astype(np.int8)
    w = rng.integers(-128, 128, (4, 8, 3, 3)).astype(np.int8)
    g = cudnn.pygraph(io_data_type=DT.INT8)
    X, W = g.tensor_like(x), g.tensor_like(w)
    S = g.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=DT.FLOAT)
    t = g.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y = g.scale(t, S).set_output(True)
    y = empty_like_nhwc((1, 4, 5, 5), np.int8)
    g.execute({X: x, W: w, S: np.array([0.001], np.float32), Y: y})
    acc = reference.fprop(x, w, [1, 1], [1, 1], [1, 1], [1, 1]).astype(np.float32)
    assert np.array_equal(y, reference.saturate(acc * np.float32(0.001), np.int8)) and np.abs(y).max() > 1


@pytest.mark.torch
def test_fuzzer_like_programs_against_torch(rng):
    """fprop, dgrad, wgrad in fp16, bf16, fp32; groups, strides, dilations, bias and ReLU; channels last."""
    functional = torch.nn.functional
    seen = 0
    for i in range(150):
        spatial = int(rng.choice([2, 2, 3]))
        name = str(rng.choice(["float16", "bfloat16", "float32"]))
        dtype = getattr(torch, name)
        groups = int(rng.choice([1, 1, 1, 2, 4, 8]))
        c, k = (int(v) * groups for v in rng.integers(1, 5, 2))
        filt = [int(v) for v in rng.integers(1, 4, spatial)]
        size = [int(v) for v in rng.integers(5, 10, spatial)]
        pad, stride, dilation = ([int(v) for v in rng.integers(lo, hi, spatial)] for lo, hi in ((0, 3), (1, 4), (1, 3)))
        if any(s + 2 * p < d * (f - 1) + 1 for s, p, d, f in zip(size, pad, dilation, filt)):
            continue
        layout = torch.channels_last if spatial == 2 else torch.channels_last_3d
        generator = torch.Generator().manual_seed(i)

        def make(shape, dtype=dtype, generator=generator, layout=layout):
            return torch.randint(-3, 4, shape, generator=generator).to(dtype).to(memory_format=layout)

        x, w = make((2, c, *size)), make((k, c // groups, *filt))
        conv = getattr(functional, f"conv{spatial}d")
        kw = dict(padding=pad, stride=stride, dilation=dilation)
        xd, wd = x.double().requires_grad_(), w.double().requires_grad_()
        yd = conv(xd, wd, groups=groups, **kw)
        dy = make(tuple(yd.shape))
        yd.backward(dy.double())
        op = ("conv_fprop", "conv_dgrad", "conv_wgrad")[i % 3]
        g = cudnn.pygraph(io_data_type=dtype, intermediate_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
        a, b, want = {"conv_fprop": (x, w, yd.detach()), "conv_dgrad": (dy, w, xd.grad), "conv_wgrad": (x, dy, wd.grad)}[op]
        A, B = g.tensor_like(a), g.tensor_like(b)
        t = getattr(g, op)(A, B, **kw)
        t.set_dim(list(want.shape))
        pack = {A: a, B: b}
        if op == "conv_fprop" and i % 2:
            bias = make((1, k, *[1] * spatial))
            t = g.relu(g.bias(t, g.tensor_like(bias)))
            pack[g.nodes[-2].inputs["IN_1"]] = bias
            want = functional.relu(want + bias.double())
        t.set_output(True)
        out = torch.full(tuple(want.shape), float("nan"), dtype=dtype).to(memory_format=layout)
        t.set_stride(list(out.stride()))
        g.build([cudnn.heur_mode.A])
        pack[t] = out
        g.execute(pack, torch.full((g.get_workspace_size(),), 255, dtype=torch.uint8))
        assert torch.equal(out, want.to(dtype)), (i, op, name)
        seen += bool(want.abs().max() > 0)
    assert seen > 100
