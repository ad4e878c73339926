# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Public bug reports about interfaces, binding and errors, through the Python API, on every plan that the graph has.
(The arithmetic cases run engine by engine in tests/oracle.)"""

import numpy as np
import pytest

import octavo as cudnn
import reference
from conftest import torch
from helpers import Buffer, channels_last, filled, row_major

DT = cudnn.data_type
ANY = (ValueError, RuntimeError, cudnn.cudnnGraphNotSupportedError)
I8, U8, I32, F32 = (np.dtype(t) for t in (np.int8, np.uint8, np.int32, np.float32))


def run_every_plan(graph, pack, outputs):
    """Executes each plan on prefilled outputs and yields (plan name); every output must be written and equal each time."""
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.B, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans(cudnn.build_plan_policy.ALL)
    count = graph.get_execution_plan_count()
    assert count >= 1
    for index in range(count):
        for out in outputs:
            out.view(np.uint8)[...] = 0x5A
        graph.execute_plan_at_index(pack, np.full(graph.get_workspace_size_plan_at_index(index), 0xFF, np.uint8), index)
        yield graph.get_plan_name_at_index(index)


def requantised(x, w, x_zero, w_zeros, scale, y_zero, out, relu=False):
    """int8 convolution, per-channel zero points, one rounding, one saturation."""
    graph = cudnn.pygraph(compute_data_type=DT.INT32, intermediate_data_type=DT.FLOAT)
    X, W = graph.tensor_like(x), graph.tensor_like(w)
    zeros = {}
    pack = {X: x, W: w}
    if isinstance(w_zeros, list):
        z = graph.tensor(dim=[1, len(w_zeros), 1, 1], stride=[len(w_zeros), 1, 1, 1], data_type=DT.INT32)
        pack[z] = np.array(w_zeros, np.int32)
        zeros = dict(w_zero_points=z)
    elif w_zeros:
        zeros = dict(w_zero_point=w_zeros)
    lists = dict(padding=[0, 0], stride=[1, 1], dilation=[1, 1])
    t = graph.conv_fprop(X, W, x_zero_point=x_zero, **zeros, **lists)
    if scale is not None:
        s = graph.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=DT.FLOAT)
        pack[s] = np.array([scale], np.float32)
        t = graph.scale(t, s, compute_data_type=DT.FLOAT)
    if relu:
        t = graph.relu(t, compute_data_type=DT.FLOAT)
    if y_zero:
        t = graph.identity(t, compute_data_type=DT.FLOAT).set_data_type(DT.INT32)
        z = graph.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=DT.INT32)
        pack[z] = np.array([y_zero], np.int32)
        t = graph.add(t, z, compute_data_type=DT.INT32)
    t.set_output(True).set_data_type(out)
    y = np.empty(t.get_dim(), {DT.INT8: I8, DT.UINT8: U8, DT.INT32: I32, DT.FLOAT: F32}[out])
    t.set_stride(row_major(list(y.shape)))
    pack[t] = y
    for _ in run_every_plan(graph, pack, [y]):
        yield y.copy()


def test_A04_per_channel_filter_zero_points():
    x, w = np.full((1, 1, 3, 3), 130, np.uint8), np.full((2, 1, 2, 2), 100, np.uint8)
    for acc in requantised(x, w, 128, [5, 90], None, 0, DT.INT32):
        assert (acc[0, 0] == 760).all() and (acc[0, 1] == 80).all()
    for y in requantised(x, w, 128, [5, 90], 0.05 * 0.02 / 0.1, 128, DT.UINT8):
        assert (y[0, 0] == 136).all() and (y[0, 1] == 129).all()


def test_A06_unsigned_output_and_relu_with_a_zero_point():
    x = np.array([3, 9, 30, 14, 4, 22, 11, 7, 5], np.int8).reshape(1, 1, 3, 3)
    w = np.array([17, 21, -59, -4, -10, -31, 2, -3, 59], np.int8).reshape(1, 1, 3, 3)
    assert int(reference.fprop(x, w, [0, 0], [0, 0], [1, 1], [1, 1]).item()) == -2012
    for want, zero, out, relu in ((-63, 0, DT.INT8, False), (0, 0, DT.UINT8, False), (65, 128, DT.UINT8, False), (0, 0, DT.INT8, True),
                                  (128, 128, DT.UINT8, True)):  # fmt: skip
        results = [int(y.item()) for y in requantised(x, w, 0, 0, 1 / 32, zero, out, relu)]
        assert results and set(results) == {want}, (want, zero, out, relu, results)


def test_A11_int8_to_int32_float_and_int8():
    x, w = np.full((1, 3, 3, 3), 127, np.int8), np.full((1, 3, 3, 3), 127, np.int8)
    for out, want in ((DT.INT32, 435483), (DT.FLOAT, 435483.0), (DT.INT8, 127)):
        results = [y.item() for y in requantised(x, w, 0, 0, None, 0, out)]
        assert results and set(results) == {want}
    # No output type at all: with no io_data_type there is nothing to inherit, and that is said.
    graph = cudnn.pygraph(compute_data_type=DT.INT32)
    X, W = graph.tensor_like(x), graph.tensor_like(w)
    graph.conv_fprop(X, W, padding=[0, 0], stride=[1, 1], dilation=[1, 1]).set_output(True)
    with pytest.raises(ANY, match="data.type"):
        graph.build([cudnn.heur_mode.A])


LAYOUTS = ["nchw", "nhwc", "nc4", "nc32"]
EPILOGUES = ["none", "bias", "bias+relu", "scale+bias+add+relu"]


def declared(graph, values, layout, dtype):
    """A tensor in a layout, and its storage: NC/v-HW-v has cuDNN's dims and strides, counted in vectors."""
    n, c, h, w = values.shape
    if layout in ("nchw", "nhwc"):
        stride = row_major([n, c, h, w]) if layout == "nchw" else channels_last([n, c, h, w])
        buffer = filled(values, stride, values.dtype)
        return graph.tensor(dim=[n, c, h, w], stride=stride, data_type=dtype), buffer.array
    v = int(layout[2:])
    blocks = c // v
    storage = np.ascontiguousarray(values.reshape(n, blocks, v, h, w).transpose(0, 1, 3, 4, 2))
    t = graph.tensor(dim=[n, blocks, h, w], stride=[blocks * h * w, h * w, w, 1], data_type=dtype)
    return t.set_vector_count_and_dimension(v, 1), storage


def undeclared(storage, layout):
    if layout in ("nchw", "nhwc"):
        return storage
    n, blocks, h, w, v = storage.shape
    return storage.transpose(0, 1, 4, 2, 3).reshape(n, blocks * v, h, w)


@pytest.mark.parametrize("out", ["INT8", "INT32", "FLOAT"])
@pytest.mark.parametrize("epilogue", EPILOGUES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_A14_every_layout_with_every_epilogue(layout, epilogue, out, rng):
    """The whole matrix is exact: no cell is refused, and none is lost when ReLU is taken out."""
    n, c, k = 2, 32, 32
    x = rng.integers(-128, 128, (n, c, 14, 14)).astype(np.int8)
    w = rng.integers(-128, 128, (k, c, 3, 3)).astype(np.int8)
    want = reference.fprop(x, w, [1, 1], [1, 1], [1, 1], [1, 1])
    graph = cudnn.pygraph(intermediate_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    X, xs = declared(graph, x, layout, DT.INT8)
    W, ws = declared(graph, w, layout, DT.INT8)
    t = graph.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1], compute_data_type=DT.INT32)
    pack = {X: xs, W: ws}
    value = want.astype(np.float32)
    parts = epilogue.split("+") if epilogue != "none" else []
    vector = 1 if layout in ("nchw", "nhwc") else int(layout[2:])

    def per_channel(values):
        if vector == 1:
            p = graph.tensor(dim=[1, k, 1, 1], stride=[k, 1, 1, 1], data_type=DT.FLOAT)
        else:
            p = graph.tensor(dim=[1, k // vector, 1, 1], stride=[k // vector, 1, 1, 1], data_type=DT.FLOAT)
            p.set_vector_count_and_dimension(vector, 1)
        pack[p] = values
        return p

    for part in parts:
        if part == "scale":
            scale = (rng.integers(1, 64, k) / 4096).astype(np.float32)
            t, value = graph.scale(t, per_channel(scale)), value * scale.reshape(1, k, 1, 1)
        elif part == "bias":
            bias = (rng.integers(-400, 400, k) / 4).astype(np.float32)
            t, value = graph.bias(t, per_channel(bias)), value + bias.reshape(1, k, 1, 1)
        elif part == "add":
            side = rng.integers(-128, 128, want.shape).astype(np.int8)
            side_t, side_s = declared(graph, side, layout, DT.INT8)
            pack[side_t] = side_s
            t, value = graph.add(t, side_t), value + side.astype(np.float32)
        else:
            t, value = graph.relu(t), np.maximum(value, np.float32(0))
    dtype = {"INT8": I8, "INT32": I32, "FLOAT": F32}[out]
    t.set_output(True).set_data_type(DT[out])
    if vector == 1:
        stride = row_major(list(want.shape)) if layout == "nchw" else channels_last(list(want.shape))
        t.set_stride(stride)
        ys = Buffer(list(want.shape), stride, dtype).array
    else:
        t.set_dim([n, k // vector, 14, 14]).set_stride([k // vector * 196, 196, 14, 1]).set_vector_count_and_dimension(vector, 1)
        ys = np.full((n, k // vector, 14, 14, vector), 0, dtype)
    pack[t] = ys
    if not parts and out == "INT32":
        value = want
    final = reference.saturate(value, dtype) if dtype != F32 else value.astype(np.float32)
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans(cudnn.build_plan_policy.ALL)
    for index in range(graph.get_execution_plan_count()):
        ys[...] = 77
        graph.execute_plan_at_index(pack, None, index)
        assert np.array_equal(undeclared(ys, layout), final), graph.get_plan_name_at_index(index)


def one_conv(op, a, b, out_dim, *, strides=(None, None, None), lists=None, dtype=DT.FLOAT, out=F32):
    """Runs one convolution on every plan; yields copies of the result."""
    graph = cudnn.pygraph(io_data_type=dtype, compute_data_type=DT.DOUBLE if dtype is DT.DOUBLE else DT.FLOAT)
    tensors = []
    for value, stride in zip((a, b), strides):
        dim = list(value.shape)
        tensors.append(graph.tensor(dim=dim, stride=stride or [s // value.itemsize for s in value.strides]))
        tensors[-1].set_alignment(value.itemsize)
    lists = lists or dict(padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y = getattr(graph, op)(*tensors, **lists).set_output(True).set_dim(out_dim)
    if strides[2]:
        Y.set_stride(strides[2])
    y = Buffer(out_dim, Y.get_stride(), out)
    for name in run_every_plan(graph, {tensors[0]: a, tensors[1]: b, Y: y.array}, [y.raw[y.start : y.end]]):
        y.check()
        yield name, y.array.copy()


@pytest.mark.parametrize("x_shape, k", [((1, 1, 100, 100), 64), ((3, 5, 1, 1), 4), ((1, 7, 1, 1), 1), ((1, 1, 1, 1), 1)])
def test_A15_strides_that_do_not_tell_the_layout(x_shape, k, rng):
    """C = 1, or H = W = 1, or N = 1: both packed layouts have the same memory, whatever strides are written down."""
    x = rng.integers(-3, 4, x_shape).astype(np.float32)
    w = rng.integers(-3, 4, (k, x_shape[1], 3, 3)).astype(np.float32)
    y = reference.fprop(x, w, [1, 1], [1, 1], [1, 1], [1, 1]).astype(np.float32)
    dy = rng.integers(-3, 4, y.shape).astype(np.float32)
    wants = {
        "conv_fprop": (x, w, y),
        "conv_dgrad": (dy, w, reference.dgrad(dy, w, x.shape, [1, 1], [1, 1], [1, 1], [1, 1])),
        "conv_wgrad": (x, dy, reference.wgrad(x, dy, w.shape, [1, 1], [1, 1], [1, 1], [1, 1])),
    }
    for op, (a, b, want) in wants.items():
        for layout_a in (row_major, channels_last):
            for layout_b in (row_major, channels_last):
                stored = [filled(v, layout(list(v.shape)), F32) for v, layout in ((a, layout_a), (b, layout_b))]
                strides = (layout_a(list(a.shape)), layout_b(list(b.shape)), None)
                seen = 0
                for name, got in one_conv(op, stored[0].array, stored[1].array, list(want.shape), strides=strides):
                    assert np.array_equal(got, want), (op, name, layout_a.__name__, layout_b.__name__)
                    seen += 1
                assert seen


def test_A16_expanded_and_sliced_operands(rng):
    one = np.lib.stride_tricks.as_strided(np.ones(1, np.float64), (1, 1, 2), (8, 8, 0))
    x = np.ones((1, 1, 3))
    lists = dict(padding=[0], stride=[1], dilation=[1])
    for name, y in one_conv("conv_fprop", x, one, [1, 1, 2], lists=lists, dtype=DT.DOUBLE, out=np.dtype(np.float64)):
        assert y.tolist() == [[[2, 2]]], name
    dy = np.lib.stride_tricks.as_strided(np.full(1, 3.0, np.float32), (2, 4, 5, 5), (0, 0, 0, 0))
    big = rng.integers(-3, 4, (4, 3, 5, 5)).astype(np.float32)
    w = big[:, :, ::2, ::2]
    image = rng.integers(-3, 4, (2, 3, 5, 5)).astype(np.float32)
    geometry = ([1, 1], [1, 1], [1, 1], [1, 1])
    for op, a, b, want in (
        ("conv_fprop", image, w, reference.fprop(image, w, *geometry)),
        ("conv_dgrad", dy, w, reference.dgrad(dy, w, image.shape, *geometry)),
        ("conv_wgrad", image, dy, reference.wgrad(image, dy, w.shape, *geometry)),
    ):
        seen = 0
        for name, got in one_conv(op, a, b, list(want.shape)):
            assert np.array_equal(got, want), (op, name)
            seen += 1
        assert seen


@pytest.mark.parametrize("dtype", [np.int8, np.float16])
def test_A17_views_at_odd_offsets(dtype, rng):
    """The same plan, run with aligned buffers and with views into the middle of others."""
    kind = DT.INT8 if dtype == np.int8 else DT.HALF
    out, out_kind = (np.dtype(np.int32), DT.INT32) if dtype == np.int8 else (np.dtype(np.float16), DT.HALF)
    x, w = rng.integers(-3, 4, (2, 3, 5, 5)).astype(dtype), rng.integers(-3, 4, (3, 4, 3, 3, 3)).astype(dtype)
    bias = rng.integers(-3, 4, (3, 4)).astype(np.float32)
    graph = cudnn.pygraph(io_data_type=kind, intermediate_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
    X = graph.tensor(dim=[1, 3, 5, 5], stride=[75, 25, 5, 1]).set_alignment(x.itemsize)
    W = graph.tensor(dim=[4, 3, 3, 3], stride=[27, 9, 3, 1]).set_alignment(x.itemsize)
    B = graph.tensor(dim=[1, 4, 1, 1], stride=[4, 1, 1, 1], data_type=DT.FLOAT).set_alignment(4)
    compute = DT.INT32 if dtype == np.int8 else DT.FLOAT
    t = graph.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1], compute_data_type=compute)
    Y = graph.bias(t, B).set_output(True).set_data_type(out_kind).set_stride([100, 25, 5, 1]).set_alignment(out.itemsize)
    ys = np.zeros((3, 1, 4, 5, 5), out)
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.build_plans(cudnn.build_plan_policy.ALL)
    for index in range(graph.get_execution_plan_count()):
        for i in range(2):
            scratch = np.empty(graph.get_workspace_size_plan_at_index(index) + 64, np.uint8)
            want = reference.fprop(x[i : i + 1], w[i], [1, 1], [1, 1], [1, 1], [1, 1]) + bias[i].reshape(1, 4, 1, 1)
            for offset in (0, 1, 3):  # of the workspace as well
                ys[...] = 77
                pack = {X: x[i : i + 1], W: w[i], B: bias[i], Y: ys[i]}
                graph.execute_plan_at_index(pack, scratch[offset:], index)
                assert np.array_equal(ys[i], want), (graph.get_plan_name_at_index(index), i, offset)


@pytest.mark.parametrize("layout", [row_major, channels_last])
@pytest.mark.parametrize("kind", ["INT8", "HALF", "FLOAT", "DOUBLE"])
def test_A24_empty_batches(kind, layout):
    dtype = {"INT8": I8, "HALF": np.dtype(np.float16), "FLOAT": F32, "DOUBLE": np.dtype(np.float64)}[kind]
    out, out_kind = (I32, DT.INT32) if kind == "INT8" else (dtype, DT[kind])
    compute = {"INT8": DT.INT32, "DOUBLE": DT.DOUBLE}.get(kind, DT.FLOAT)
    x_dim, w_dim, y_dim = [0, 3, 8, 8], [4, 3, 3, 3], [0, 4, 6, 6]
    for op, first, second, result in (
        ("conv_fprop", x_dim, w_dim, y_dim), ("conv_dgrad", y_dim, w_dim, x_dim), ("conv_wgrad", x_dim, y_dim, w_dim),
    ):  # fmt: skip
        graph = cudnn.pygraph(io_data_type=DT[kind], compute_data_type=compute)
        A, B = (graph.tensor(dim=d, stride=layout(d)) for d in (first, second))
        Y = getattr(graph, op)(A, B, padding=[0, 0], stride=[1, 1], dilation=[1, 1]).set_output(True).set_dim(result)
        Y.set_data_type(out_kind).set_stride(layout(result))
        a, b = (np.ones(d, dtype) for d in (first, second))
        a, b = (filled(v, layout(d), dtype).array for v, d in ((a, first), (b, second)))
        y = filled(np.full(result, 77, out), layout(result), out)
        for name in run_every_plan(graph, {A: a, B: b, Y: y.array}, []):
            assert (y.array == 0).all(), (op, name)
            y.array[...] = 77
            y.check()


def test_A33_plans_have_no_hidden_state(rng):
    """Plan A, then fifty others and reused workspaces, then plan A again with other weights: the bits of a fresh plan."""

    def plan_a():
        graph = cudnn.pygraph(intermediate_data_type=DT.FLOAT, compute_data_type=DT.FLOAT)
        X, xs = declared(graph, x, "nc4", DT.INT8)
        W, ws = declared(graph, w, "nc4", DT.INT8)
        t = graph.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1], compute_data_type=DT.INT32)
        side, ss = declared(graph, residual, "nc4", DT.INT8)
        t = graph.relu(graph.add(t, side)).set_output(True).set_data_type(DT.INT8)
        t.set_dim([8, 16, 28, 28]).set_stride([16 * 784, 784, 28, 1]).set_vector_count_and_dimension(4, 1)
        graph.build([cudnn.heur_mode.A])
        return graph, (X, W, side, t), (xs, ws, ss)

    x = rng.integers(-20, 21, (8, 64, 28, 28)).astype(np.int8)
    w = rng.integers(-2, 3, (64, 64, 3, 3)).astype(np.int8)
    residual = rng.integers(-128, 128, (8, 64, 28, 28)).astype(np.int8)
    graph, tensors, (xs, ws, ss) = plan_a()
    uids = [t.get_uid() for t in tensors]
    workspace = np.full(graph.get_workspace_size(), 0xFF, np.uint8)

    def run(which, pack, ws_now):
        y = np.full((8, 16, 28, 28, 4), 77, np.int8)
        workspace[...] = 0xFF
        which.execute(dict(zip(pack, (xs, ws_now, ss, y))), workspace)
        return y

    first = run(graph, tensors, ws)
    want = np.maximum(reference.fprop(x, w, [1, 1], [1, 1], [1, 1], [1, 1]) + residual, 0)
    assert np.array_equal(undeclared(first, "nc4"), reference.saturate(want, np.int8))
    blob = graph.serialize(as_bytes=True)
    for i in range(50):
        size, kind = 4 + i % 7, ("INT8", "HALF", "FLOAT")[i % 3]
        dtype = {"INT8": np.int8, "HALF": np.float16, "FLOAT": np.float32}[kind]
        image, filt = rng.integers(-2, 3, (1, 4, size, size)).astype(dtype), rng.integers(-2, 3, (4, 4, 3, 3)).astype(dtype)
        other = cudnn.pygraph(compute_data_type=DT.INT32 if kind == "INT8" else DT.FLOAT)
        Y = other.conv_fprop(image, filt, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True)
        Y.set_data_type(DT.FLOAT).set_stride(row_major(Y.get_dim()))
        y = np.full(Y.get_dim(), np.nan, np.float32)
        other.build([cudnn.heur_mode.A])
        other.execute({Y: y}, workspace if workspace.size >= other.get_workspace_size() else None)
        assert np.array_equal(y, reference.fprop(image, filt, [1, 1], [1, 1], [1, 1], [1, 1]))
    assert np.array_equal(run(graph, tensors, ws), first)
    other_weights = np.roll(ws, 5, axis=0).copy()
    fresh, fresh_tensors, _ = plan_a()
    expected = run(fresh, fresh_tensors, other_weights)
    assert np.array_equal(run(graph, tensors, other_weights), expected) and not np.array_equal(expected, first)
    again = cudnn.pygraph()
    again.deserialize(blob)
    assert np.array_equal(run(again, uids, ws), first)


def test_A34_keys_hold_padding_and_dilation():
    """Two problems with tensors of the same shapes, built one after the other: each gets its own plan."""
    x = (9 * np.arange(9).reshape(9, 1) + np.arange(9)).astype(np.int8).reshape(1, 1, 9, 9)
    w = np.ones((1, 1, 3, 3), np.int8)

    def run(pad, dilation, relu=False, scale=None, flip=False, weights=w):
        graph = cudnn.pygraph(compute_data_type=DT.INT32, intermediate_data_type=DT.FLOAT)
        mode = cudnn.convolution_mode.CONVOLUTION if flip else cudnn.convolution_mode.CROSS_CORRELATION
        X, W = graph.tensor_like(x), graph.tensor_like(weights)
        t = graph.conv_fprop(X, W, padding=[pad] * 2, stride=[1, 1], dilation=[dilation] * 2, convolution_mode=mode)
        if scale:
            t = graph.mul(t, graph.tensor_scalar(scale, cudnn.scalar_type.COMPILE_TIME_CONST), compute_data_type=DT.FLOAT)
        if relu:
            t = graph.relu(t, compute_data_type=DT.FLOAT)
        t.set_output(True).set_data_type(DT.INT32).set_stride([81, 81, 9, 1])
        y = np.full((1, 1, 9, 9), 0x5A, np.int32)
        graph.execute({X: x, W: weights, t: y})
        return y[0, 0]

    for _ in range(2):
        one, two = run(1, 1), run(2, 2)
        assert (one[0, 0], one[0, 4], one[4, 4]) == (20, 51, 360) and (two[0, 0], two[0, 4], two[4, 4]) == (40, 78, 360)
        assert np.array_equal(run(1, 1, scale=2.0), 2 * one)
        assert np.array_equal(run(1, 1, scale=-1.0), -one) and (run(1, 1, scale=-1.0, relu=True) == 0).all()
        ramp = np.arange(9, dtype=np.int8).reshape(1, 1, 3, 3)
        straight, flipped = run(1, 1, weights=ramp), run(1, 1, weights=ramp, flip=True)
        geometry = ([1, 1], [1, 1], [1, 1], [1, 1])
        assert np.array_equal(straight, reference.fprop(x, ramp, *geometry)[0, 0])
        assert np.array_equal(flipped, reference.fprop(x, ramp, *geometry, True)[0, 0])


def conv_arguments(x=(1, 4, 8, 8), w=(4, 4, 3, 3), padding=(1, 1), stride=(1, 1), dilation=(1, 1), bias=None):
    graph = cudnn.pygraph(io_data_type=DT.FLOAT)
    X, W = graph.tensor(dim=list(x), name="image"), graph.tensor(dim=list(w), name="filter")
    t = graph.conv_fprop(X, W, padding=list(padding), stride=list(stride), dilation=list(dilation))
    if bias:
        t = graph.bias(t, graph.tensor(dim=[1, bias, 1, 1], name="bias"))
    t.set_output(True)
    graph.build([cudnn.heur_mode.A])


@pytest.mark.parametrize(
    "kw, words",
    [
        (dict(x=(1, 4, 8, 8), w=(5, 2, 3, 3)), ["5", "2"]),
        (dict(w=(4, 0, 3, 3)), ["0"]),
        (dict(stride=(0, 1)), ["stride", "0"]),
        (dict(dilation=(1, 0)), ["dilation", "0"]),
        (dict(x=(1, 4, 2, 8), padding=(0, 1)), ["2", "3"]),
        (dict(bias=5), ["5", "4"]),
        (dict(x=(1, 6, 8, 8)), ["6", "4"]),
        (dict(w=(4, -(2**63), 3, 3)), ["-9223372036854775808"]),
    ],
    ids=list("abcdefgh"),
)  # fmt: skip
def test_A36_bad_arguments_are_typed_errors(kw, words):
    with pytest.raises(ANY) as error:
        conv_arguments(**kw)
    for word in words:
        assert word in str(error.value), (word, str(error.value))


@pytest.mark.torch
def test_A16_through_torch():
    w = torch.ones(1, dtype=torch.float64).expand(1, 1, 2)
    x = torch.ones(1, 1, 3, dtype=torch.float64)
    graph = cudnn.pygraph(io_data_type=torch.float64, compute_data_type=torch.float64)
    X, W = graph.tensor_like(x), graph.tensor_like(w)
    Y = graph.conv_fprop(X, W, padding=[0], stride=[1], dilation=[1]).set_output(True)
    y = torch.zeros(1, 1, 2, dtype=torch.float64)
    graph.execute({X: x, W: w, Y: y})
    assert y.tolist() == [[[2.0, 2.0]]]
