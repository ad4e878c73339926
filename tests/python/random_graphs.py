# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs around one convolution, each with its own NumPy evaluation (reference.py): no result of the library is
compared with another result of the library."""

import collections

import numpy as np

import octavo as cudnn
import reference
from helpers import DTYPE, Buffer, channels_last, filled, row_major

COUNT = collections.Counter()
FLOAT, INT32 = cudnn.data_type.FLOAT, cudnn.data_type.INT32


def random_stride(rng, dim):
    """NHWC, NCHW, or any order of the axes, with gaps at times."""
    kind = rng.integers(4)
    if kind == 0:
        return channels_last(dim)
    if kind == 1:
        return row_major(dim)
    stride, running = [0] * len(dim), int(rng.integers(1, 3))
    for i in rng.permutation(len(dim)):
        stride[i] = running
        running = running * max(dim[i], 1) + int(rng.integers(0, 3)) * (kind == 3)
    return stride


class Geometry:
    def __init__(self, rng):
        spatial = int(rng.choice([1, 2, 2, 2, 3]))
        self.groups = int(rng.choice([1, 1, 1, 2, 3, 5]))
        cg, kg = int(rng.integers(1, 8)), int(rng.integers(1, 8))
        if rng.random() < 0.15:
            cg, self.groups = 1, int(rng.integers(1, 20))  # depthwise, with a multiplier at times
        n = int(rng.integers(1, 4))
        top = {1: 24, 2: 11, 3: 6}[spatial]
        while True:
            size = rng.integers(1, top, spatial)
            filt = rng.integers(1, 5, spatial)
            self.pre, self.post = (list(map(int, rng.integers(0, 4, spatial))) for _ in range(2))
            if rng.random() < 0.05:
                self.pre[0] += 6  # padding larger than the filter
            self.stride = list(map(int, rng.integers(1, 4, spatial)))
            self.dilation = list(map(int, rng.choice([1, 1, 1, 2, 3], spatial)))
            if all(
                s + a + b >= d * (f - 1) + 1
                for s, a, b, d, f in zip(size, self.pre, self.post, self.dilation, filt)
            ):  # fmt: skip
                break
        self.x = [n, cg * self.groups, *map(int, size)]
        self.w = [kg * self.groups, cg, *map(int, filt)]
        out = [
            reference.output_size(*v) for v in zip(self.x[2:], self.pre, self.post, self.w[2:], self.stride, self.dilation)
        ]  # fmt: skip
        self.y = [n, self.w[0], *out]
        self.flip = bool(rng.integers(2))

    @property
    def spatial(self):
        return len(self.x) - 2

    def keywords(self, rng):
        mode = cudnn.convolution_mode.CONVOLUTION if self.flip else cudnn.convolution_mode.CROSS_CORRELATION
        rest = dict(stride=self.stride, dilation=self.dilation, convolution_mode=mode)
        if self.pre == self.post and rng.integers(2):
            return dict(padding=self.pre, **rest)
        return dict(pre_padding=self.pre, post_padding=self.post, **rest)

    def args(self):
        return self.pre, self.post, self.stride, self.dilation, self.flip

    def __repr__(self):
        return f"x{self.x} w{self.w} pre{self.pre} post{self.post} s{self.stride} d{self.dilation} g{self.groups} flip={self.flip}"


def exact_result(op, geometry, a, b, dtype=np.int64):
    if op == "conv_fprop":
        return reference.fprop(a, b, *geometry.args(), dtype=dtype)
    if op == "conv_dgrad":
        return reference.dgrad(a, b, geometry.x, *geometry.args(), dtype=dtype)
    return reference.wgrad(a, b, geometry.w, *geometry.args(), dtype=dtype)


def operand_dims(op, g):
    """(first, second, result) dims in Python's order of operands."""
    return {"conv_fprop": (g.x, g.w, g.y), "conv_dgrad": (g.y, g.w, g.x), "conv_wgrad": (g.x, g.y, g.w)}[op]


class Epilogue:
    """A chain of pointwise operations, on the graph and on NumPy values at once."""

    def __init__(self, rng, graph, result, value, whole):
        self.rng, self.graph, self.t, self.v, self.whole = rng, graph, result, value, whole
        self.bound = []
        self.names = []
        # A product or a sum of float32 values is rounded to float32, as each single operation of the library is.
        self.compute = INT32 if whole else FLOAT
        self.np = np.int64 if whole else np.float32

    def operand(self, values, dtype):
        dim = list(values.shape)
        stride = random_stride(self.rng, dim)
        buffer = filled(values, stride, dtype[1])
        t = self.graph.tensor(dim=dim, stride=stride, data_type=dtype[0])
        self.bound.append((t, buffer))
        return t

    def values(self, per_channel, low, high):
        shape = [1, self.v.shape[1], *[1] * (self.v.ndim - 2)] if per_channel else list(self.v.shape)
        if self.rng.random() < 0.2:
            shape = [1] * self.v.ndim
        if self.whole:
            return self.rng.integers(low, high + 1, shape).astype(np.int32), DTYPE["s32"]
        real = (self.rng.integers(low * 8, high * 8 + 1, shape) / 8 * self.rng.choice([1, 0.1, 0.013])).astype(np.float32)
        return real, DTYPE["f32"]

    def step(self, name):
        self.names.append(name)
        kw = dict(compute_data_type=self.compute)
        if not self.whole:
            self.v = self.v.astype(np.float32)
        if name in ("bias", "add", "sub", "scale", "max", "min"):
            values, dtype = self.values(name in ("bias", "scale"), -40, 40)
            other = self.operand(values, dtype)
            wide = values.astype(self.np)
            if name == "bias":
                self.t, self.v = self.graph.bias(self.t, other, **kw), self.v + wide
            elif name == "scale":
                self.t, self.v = self.graph.scale(self.t, other, **kw), self.v * wide
            elif name == "add":
                self.t, self.v = self.graph.add(self.t, other, **kw), self.v + wide
            elif name == "sub":
                self.t, self.v = self.graph.sub(self.t, other, **kw), self.v - wide
            elif name == "max":
                self.t, self.v = self.graph.max(self.t, other, **kw), np.maximum(self.v, wide)
            else:
                self.t, self.v = self.graph.min(self.t, other, **kw), np.minimum(self.v, wide)
            self.v = np.broadcast_to(self.v, np.broadcast_shapes(self.v.shape, wide.shape))
        elif name == "relu":
            self.t, self.v = self.graph.relu(self.t, **kw), np.maximum(self.v, self.np(0))
        elif name == "clip":
            low, high = float(self.rng.integers(-50, 0)), float(self.rng.integers(1, 90))
            self.t = self.graph.relu(self.t, lower_clip=low, upper_clip=high, **kw)
            self.v = np.clip(self.v, self.np(low), self.np(high))
        elif name == "leaky":
            self.t = self.graph.leaky_relu(self.t, 0.125, **kw)
            self.v = np.where(self.v < 0, self.np(0.125) * self.v, self.v)
        elif name == "neg":
            self.t, self.v = self.graph.neg(self.t, **kw), -self.v
        elif name == "abs":
            self.t, self.v = self.graph.abs(self.t, **kw), np.abs(self.v)
        elif name == "identity":
            self.t = self.graph.identity(self.t, **kw)
        if self.whole:
            self.v = self.v.astype(np.int64).astype(np.int32).astype(np.int64)  # INT32 wraps
        else:
            self.v = self.v.astype(np.float32)


WHOLE_STEPS = ["bias", "add", "sub", "scale", "max", "min", "relu", "neg", "abs", "identity"]
REAL_STEPS = [*WHOLE_STEPS, "clip", "leaky"]


def run_integer_case(seed):
    """One integer graph: exact in every output type. Returns a description; raises AssertionError where it is wrong."""
    rng = np.random.default_rng(seed)
    op = str(rng.choice(["conv_fprop", "conv_fprop", "conv_dgrad", "conv_wgrad"]))
    g = Geometry(rng)
    first, second, result_dim = operand_dims(op, g)
    types = [DTYPE[str(rng.choice(["s8", "s8", "u8"]))] for _ in range(2)]
    lo_hi = [(np.iinfo(t[1]).min, np.iinfo(t[1]).max) for t in types]
    a, b = (rng.integers(lo, hi + 1, dim) for (lo, hi), dim in zip(lo_hi, (first, second)))
    whole = bool(rng.integers(2))
    graph = cudnn.pygraph(intermediate_data_type=INT32 if whole else FLOAT, compute_data_type=INT32)
    strides = [random_stride(rng, dim) for dim in (first, second)]
    buffers = [filled(v, s, t[1]) for v, s, t in zip((a, b), strides, types)]
    A, B = (graph.tensor(dim=d, stride=s, data_type=t[0]) for d, s, t in zip((first, second), strides, types))
    raw = getattr(graph, op)(A, B, **g.keywords(rng))
    if op != "conv_fprop" or rng.integers(2):
        raw.set_dim(result_dim)
    acc = exact_result(op, g, a, b)
    assert list(acc.shape) == result_dim
    epilogue = Epilogue(rng, graph, raw, acc, whole)
    for name in rng.choice(WHOLE_STEPS if whole else REAL_STEPS, int(rng.integers(0, 4))):
        epilogue.step(str(name))
    outputs = []
    if epilogue.names and rng.random() < 0.15:  # the accumulator is stored beside the epilogue's result
        outputs.append((raw, acc, DTYPE["s32"]))
    out_type = DTYPE[str(rng.choice(["s32", "s8", "u8", "f32"]))]
    outputs.append((epilogue.t, epilogue.v, out_type))
    pack, expected = {A: buffers[0].array, B: buffers[1].array}, []
    for t, value, dtype in outputs:
        t.set_output(True).set_data_type(dtype[0])
        stride = random_stride(rng, result_dim)
        t.set_stride(stride)
        buffer = Buffer(result_dim, stride, dtype[1])
        pack[t] = buffer.array
        want = reference.saturate(value, dtype[1]) if dtype[1].kind in "iu" else value.astype(np.float32)
        expected.append((t, buffer, want))
    for t, buffer in epilogue.bound:
        pack[t] = buffer.array
    text = f"seed {seed}: {op} {g} {types[0][0].name}x{types[1][0].name} {'+'.join(epilogue.names)} -> {out_type[0].name}"
    try:
        graph.build([cudnn.heur_mode.A])
        graph.execute(pack)
    except Exception as error:
        raise AssertionError(f"{text}: {error!r}") from error
    for t, buffer, want in expected:
        got = buffer.array
        assert np.array_equal(got, want), f"{text}: {np.count_nonzero(got != want)} of {got.size} differ"
        buffer.check()
    for buffer, value in zip(buffers, (a, b)):
        assert np.array_equal(buffer.array, value), f"{text}: an input was written"
    COUNT["graphs"] += 1
    COUNT[op] += 1
    COUNT["integer"] += 1
    COUNT["grouped"] += g.groups > 1
    COUNT[f"{g.spatial}-D"] += 1
    COUNT["with epilogue"] += bool(epilogue.names)
    COUNT["result not zero"] += bool(np.any(acc))
    return text


EPS = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}


def run_float_case(seed, to_type):
    """One floating-point graph against float64. ``to_type`` maps a name to (data_type, dtype) or None. Half of the cases
    use small whole numbers, for which the sum is exact; the others a bound from the length of the sum."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(["f16", "f32", "f32", "f64", "bf16"]))
    kind = to_type(name)
    if kind is None:
        name, kind = "f32", DTYPE["f32"]
    op = str(rng.choice(["conv_fprop", "conv_dgrad", "conv_wgrad"]))
    g = Geometry(rng)
    first, second, result_dim = operand_dims(op, g)
    small = bool(rng.integers(2))
    if small:
        a, b = (rng.integers(-4, 5, dim).astype(kind[1]) for dim in (first, second))
    else:
        a, b = (rng.standard_normal(dim).astype(kind[1]) for dim in (first, second))
    strides = [random_stride(rng, dim) for dim in (first, second)]
    buffers = [filled(v, s, kind[1]) for v, s in zip((a, b), strides)]
    compute = cudnn.data_type.DOUBLE if name == "f64" else FLOAT
    graph = cudnn.pygraph(io_data_type=kind[0], intermediate_data_type=compute, compute_data_type=compute)
    A, B = (graph.tensor(dim=d, stride=s) for d, s in zip((first, second), strides))
    Y = getattr(graph, op)(A, B, **g.keywords(rng))
    Y.set_output(True).set_dim(result_dim)
    stride = random_stride(rng, result_dim)
    out_name = "f32" if name in ("f16", "bf16") and rng.integers(2) else name
    out_kind = DTYPE["f32"] if out_name == "f32" else kind
    Y.set_stride(stride).set_data_type(out_kind[0])
    out = Buffer(result_dim, stride, out_kind[1])
    text = f"seed {seed}: {op} {g} {name} -> {out_name}"
    try:
        graph.build([cudnn.heur_mode.A])
        graph.execute({A: buffers[0].array, B: buffers[1].array, Y: out.array})
    except Exception as error:
        raise AssertionError(f"{text}: {error!r}") from error
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    want = exact_result(op, g, a64, b64, np.float64)
    got = out.array.astype(np.float64)
    if small and np.abs(want).max(initial=0) < (256 if out_name == "bf16" else 2048):
        assert np.array_equal(got, want), f"{text}: {np.count_nonzero(got != want)} of {got.size} differ"
        COUNT["float, exact"] += 1
    else:
        scale = exact_result(op, g, np.abs(a64), np.abs(b64), np.float64)
        length = {"conv_fprop": np.prod(g.w[1:]), "conv_dgrad": g.w[0] // g.groups * np.prod(g.w[2:]),
                  "conv_wgrad": g.x[0] * np.prod(g.y[2:])}[op]  # fmt: skip
        unit = EPS["f64" if name == "f64" else "f32"]
        subnormal = 2.0**-25 if out_name == "f16" else 0
        bound = (length + 1) * unit * scale + EPS[out_name] * np.abs(want) * 1.001 + subnormal
        assert (np.abs(got - want) <= bound).all(), f"{text}: off by {np.max(np.abs(got - want) - bound)} beyond the bound"
        COUNT["float, bounded"] += 1
    out.check()
    COUNT["graphs"] += 1
    COUNT[op] += 1
    return text


def run_adjoint_case(seed):
    """<fprop(x, w), dy> == <x, dgrad(dy, w)> == <w, wgrad(x, dy)>, exactly, for integers."""
    rng = np.random.default_rng(seed)
    g = Geometry(rng)
    x, w, dy = (rng.integers(-3, 4, dim).astype(np.int8) for dim in (g.x, g.w, g.y))
    products = []
    for op, a, b, other in (("conv_fprop", x, w, dy), ("conv_dgrad", dy, w, x), ("conv_wgrad", x, dy, w)):
        graph = cudnn.pygraph(io_data_type=cudnn.data_type.INT8, compute_data_type=INT32)
        stored = []
        for v in (a, b):
            stride = random_stride(rng, list(v.shape))
            stored.append((graph.tensor(dim=list(v.shape), stride=stride), filled(v, stride, np.dtype(np.int8))))
        Y = getattr(graph, op)(stored[0][0], stored[1][0], **g.keywords(rng))
        Y.set_output(True).set_data_type(INT32).set_dim(operand_dims(op, g)[2])
        out = np.full(operand_dims(op, g)[2], 0x5A5A5A5A, np.int32)
        Y.set_stride(row_major(list(out.shape)))
        graph.build([cudnn.heur_mode.A])
        graph.execute({t: buffer.array for t, buffer in stored} | {Y: out})
        products.append(int(np.sum(out.astype(np.int64) * other)))
    assert products[0] == products[1] == products[2], f"seed {seed}: {g}: {products}"
    COUNT["graphs"] += 3
    COUNT["adjoint identities"] += 1
    return products[0]
