# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Binding checks: a buffer that carries its type must be what the graph declared. And every kind of buffer works."""

import numpy as np
import pytest

import octavo as cudnn
import reference
from conftest import torch
from helpers import conv

DT = cudnn.data_type
RNG = np.random.default_rng(5)
X = RNG.integers(-128, 128, (2, 8, 6, 6)).astype(np.int8)
W = RNG.integers(-128, 128, (4, 8, 3, 3)).astype(np.int8)
EXPECTED = reference.fprop(X, W, [1, 1], [1, 1], [1, 1], [1, 1])


def built(out=DT.INT32, **kw):
    graph, x, w, y = conv(X, W, out=out, io=DT.INT8, **kw)
    y.set_stride([144, 36, 6, 1])
    graph.build([cudnn.heur_mode.A])
    return graph, x, w, y


def fresh(dtype=np.int32):
    return np.full(EXPECTED.shape, 0x5A, dtype)


class DLPackOnly:
    """An object that knows nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kw):
        return self.array.__dlpack__(**kw)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class ArrayInterface:
    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


KINDS = {
    "numpy": lambda a: a,
    "dlpack": DLPackOnly,
    "array interface": ArrayInterface,
    "address": lambda a: a.ctypes.data,
    "numpy int address": lambda a: np.uint64(a.ctypes.data),
    "torch": lambda a: torch.from_numpy(a),
}


@pytest.mark.parametrize("kind", [k if k != "torch" else pytest.param(k, marks=pytest.mark.torch) for k in KINDS])
def test_every_kind_of_buffer(kind):
    graph, x, w, y = built()
    out = fresh()
    wrap = KINDS[kind]
    graph.execute({x: wrap(X), w: wrap(W), y: wrap(out)})
    assert np.array_equal(out, EXPECTED)


@pytest.mark.torch
def test_torch_needs_no_copy_and_ignores_autograd():
    xs, ws = torch.from_numpy(X).float().requires_grad_(), torch.nn.Parameter(torch.from_numpy(W).float())
    graph = cudnn.pygraph(io_data_type=torch.float32, compute_data_type=torch.float32)
    a, b = graph.tensor_like(xs), graph.tensor_like(ws)
    c = graph.conv_fprop(a, b, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True)
    graph.build([cudnn.heur_mode.A])
    out = torch.full(tuple(EXPECTED.shape), float("nan")).to(memory_format=torch.channels_last)
    graph.execute({a: xs, b: ws, c: out})
    assert torch.equal(out.double(), torch.from_numpy(EXPECTED).double())


@pytest.mark.torch
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"])
def test_torch_float_types(name):
    dtype = getattr(torch, name)
    generator = torch.Generator().manual_seed(1)
    x = torch.randint(-2, 3, (2, 4, 5, 5), generator=generator).double().to(dtype)
    w = torch.randint(-1, 2, (3, 4, 3, 3), generator=generator).double().to(dtype)
    compute = DT.DOUBLE if name == "float64" else DT.FLOAT
    out = dtype if "float8" not in name else torch.float32
    graph = cudnn.pygraph(io_data_type=dtype, intermediate_data_type=compute, compute_data_type=compute)
    a, b = graph.tensor_like(x), graph.tensor_like(w)
    c = graph.conv_fprop(a, b, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(out)
    graph.build([cudnn.heur_mode.A])
    y = torch.empty_strided((2, 3, 5, 5), c.get_stride(), dtype=out)
    graph.execute({a: x, b: w, c: y}, torch.empty(graph.get_workspace_size(), dtype=torch.uint8))
    expected = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
    assert torch.equal(y.double(), expected) and expected.abs().max() > 0


def test_ml_dtypes_arrays():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        x = RNG.integers(-2, 3, (1, 3, 4, 4)).astype(dtype)
        w = RNG.integers(-1, 2, (2, 3, 3, 3)).astype(dtype)
        graph = cudnn.pygraph(compute_data_type=DT.FLOAT)
        a, b = graph.tensor_like(x), graph.tensor_like(w)
        c = graph.conv_fprop(a, b, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(DT.FLOAT)
        c.set_stride([32, 16, 4, 1])
        y = np.full((1, 2, 4, 4), np.nan, np.float32)
        graph.execute({a: x, b: w, c: y})
        want = reference.fprop(x.astype(np.float64), w.astype(np.float64), [1, 1], [1, 1], [1, 1], [1, 1], dtype=np.float64)
        assert np.array_equal(y, want)


# ---- what must be refused


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32, np.int64, np.float16, np.bool_])
def test_another_type_is_refused(dtype, arrays):
    graph, x, w, y = built()
    out = fresh(dtype)
    before = out.copy()
    with pytest.raises(ValueError) as error:
        graph.execute({x: arrays(X), w: arrays(W), y: arrays(out)})
    actual = {"int8": "INT8", "uint8": "UINT8", "float32": "FLOAT", "int64": "INT64", "float16": "HALF", "bool": "BOOLEAN"}
    for word in ("conv_fprop.0::Y", "INT32", actual[np.dtype(dtype).name], "set_data_type"):
        assert word in str(error.value), (word, str(error.value))
    assert np.array_equal(out, before)


@pytest.mark.parametrize("dtype", [np.uint16, np.complex64, ">i4"])
def test_types_without_a_name_are_refused(dtype):
    graph, x, w, y = built()
    with pytest.raises(ValueError, match="which no data_type names"):
        graph.execute({x: X, w: W, y: np.zeros(EXPECTED.shape, dtype)})


def test_raw_bits_of_bfloat16_are_refused():
    graph, x, w, y = built(out=DT.BFLOAT16)
    with pytest.raises(ValueError, match="BFLOAT16.*uint16"):
        graph.execute({x: X, w: W, y: np.zeros(EXPECTED.shape, np.uint16)})


@pytest.mark.parametrize(
    "bad, match",
    [
        (lambda: np.zeros((2, 4, 6, 5), np.int32), "6"),
        (lambda: np.zeros((2, 4, 6), np.int32), "dim"),
        (lambda: np.zeros((2, 4, 6, 7), np.int32)[..., :6], "stride"),
        (lambda: np.zeros((2, 6, 6, 4), np.int32).transpose(0, 3, 1, 2), "stride"),
        (lambda: np.zeros(287, np.int32), "287|size|bytes|dim"),
        (lambda: np.zeros((2, 4, 6, 6), np.int32)[:, :, ::-1], "stride"),
        (lambda: np.zeros((4, 2, 6, 6), np.int32), "dim|shape"),
        (lambda: np.zeros((2, 6, 4, 6), np.int32), "dim|shape"),
    ],
)  # fmt: skip
def test_another_shape_or_layout_is_refused(bad, match, arrays):
    graph, x, w, y = built()
    out = bad()
    if "torch" in type(arrays(X)).__module__ and out.ndim == 4 and out.strides[2] < 0:
        with pytest.raises(ValueError, match="negative"):  # PyTorch has no negative strides
            arrays(out)
        return
    with pytest.raises(ValueError, match=match) as error:
        graph.execute({x: arrays(X), w: arrays(W), y: arrays(out)})
    assert "conv_fprop.0::Y" in str(error.value)


def test_equal_memory_under_other_names_is_accepted():
    """The axes in memory order, leaving out ones; and flat storage."""
    graph, x, w, y = conv(X, W, out=DT.INT32, io=DT.INT8)  # y: channels last
    bias = graph.tensor(dim=[1, 4, 1, 1], stride=[4, 1, 4, 4], data_type=DT.INT32)
    z = graph.bias(y, bias, compute_data_type=DT.INT32).set_output(True).set_data_type(DT.INT32)
    y.set_output(False).set_data_type(DT.INT32)
    graph.build([cudnn.heur_mode.A])
    values = np.arange(4, dtype=np.int32)
    for out in (np.zeros((2, 6, 6, 4), np.int32), np.zeros(288, np.int32), np.zeros(500, np.int32)):
        graph.execute({x: X, w: W, bias: values, z: out})
        got = out.reshape(-1)[:288].reshape(2, 6, 6, 4).transpose(0, 3, 1, 2)
        assert np.array_equal(got, EXPECTED + values.reshape(1, 4, 1, 1))
    with pytest.raises(ValueError):
        graph.execute({x: X, w: W, bias: np.arange(5, dtype=np.int32)[:3], z: out})


def test_equal_dims_mean_equal_axes():
    """A cube: NCHW and NHWC walk the memory alike, and only the axes' names tell them apart."""
    x = RNG.integers(-9, 10, (2, 4, 4, 4)).astype(np.int8)
    w = np.ones((1, 4, 1, 1), np.int8)
    graph = cudnn.pygraph(io_data_type=DT.INT8, compute_data_type=DT.INT32)
    a = graph.tensor(dim=[2, 4, 4, 4], stride=[64, 1, 16, 4])
    b = graph.tensor_like(w)
    c = graph.conv_fprop(a, b, padding=[0, 0], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(DT.INT32)
    graph.build([cudnn.heur_mode.A])
    y = np.zeros((2, 1, 4, 4), np.int32)
    with pytest.raises(ValueError, match="stride"):
        graph.execute({a: x, b: w, c: y})
    nhwc = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    graph.execute({a: nhwc, b: w, c: y})
    assert np.array_equal(y, x.astype(np.int32).sum(1, keepdims=True))


def test_null_and_read_only_and_non_buffers():
    graph, x, w, y = built()
    out = fresh()
    with pytest.raises(ValueError, match="null"):
        graph.execute({x: 0, w: W, y: out})
    frozen = fresh()
    frozen.setflags(write=False)
    with pytest.raises(ValueError, match="read.only"):
        graph.execute({x: X, w: W, y: frozen})
    read_only_input = X.copy()
    read_only_input.setflags(write=False)
    graph.execute({x: read_only_input, w: W, y: out})
    assert np.array_equal(out, EXPECTED)
    for bad in (None, 1.5, "text", object(), [1, 2]):
        with pytest.raises(ValueError, match="__dlpack__"):
            graph.execute({x: bad, w: W, y: out})


def shifted(values, by):
    """A copy of an array at an address that is `by` bytes past a multiple of 64."""
    storage = np.zeros(values.nbytes + 192, np.uint8)
    start = (-storage.ctypes.data) % 64 + by
    view = storage[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view


def test_alignment_is_checked():
    """Without set_alignment() an element's own alignment is enough; what is declared is held to."""
    graph, x, w, y = built()
    out = fresh()
    graph.execute({x: shifted(X, 3), w: shifted(W, 1), y: out})
    assert np.array_equal(out, EXPECTED)
    with pytest.raises(ValueError, match="conv_fprop.0::Y.*alignment of 4"):
        graph.execute({x: X, w: W, y: shifted(out, 2)})
    graph, x, w, y = conv(X, W, out=DT.INT32, io=DT.INT8)
    y.set_stride([144, 36, 6, 1])
    x.set_alignment(32)
    graph.build([cudnn.heur_mode.A])
    with pytest.raises(ValueError, match="alignment of 32 bytes.*set_alignment"):
        graph.execute({x: shifted(X, 16), w: W, y: out})
    out[...] = 0
    graph.execute({x: shifted(X, 32), w: W, y: out})
    assert np.array_equal(out, EXPECTED)


@pytest.mark.torch
def test_torch_layouts_that_are_no_memory():
    graph, x, w, y = built()
    with pytest.raises(ValueError, match="sparse"):
        graph.execute({x: torch.from_numpy(X).to_sparse(), w: W, y: fresh()})
    with pytest.raises(ValueError, match="meta"):
        graph.execute({x: torch.empty(X.shape, dtype=torch.int8, device="meta"), w: W, y: fresh()})


class FakeCuda:
    """What CuPy's arrays look like; the address is never followed."""

    __cuda_array_interface__ = {"shape": X.shape, "typestr": "|i1", "data": (1 << 40, False), "version": 3, "strides": None}

    class device:
        id = 0


def test_gpu_memory_on_a_cpu_handle_is_refused():
    graph, x, w, y = built()
    with pytest.raises(ValueError, match="CPU|cpu|host"):
        graph.execute({x: FakeCuda(), w: W, y: fresh()})


def test_check_bindings_alone():
    graph, x, w, y = built()
    out = fresh()
    graph.check_bindings({x: X, w: W, y: out})
    assert (out == 0x5A).all()
    with pytest.raises(ValueError):
        graph.check_bindings({x: X, w: W, y: fresh(np.int8)})


# ---- by-value scalars


@pytest.mark.parametrize("how", ["owned", "number", "array", "torch"])
def test_scalars_by_value(how):
    graph = cudnn.pygraph(compute_data_type=DT.INT32, intermediate_data_type=DT.FLOAT)
    x, w = graph.tensor_like(X), graph.tensor_like(W)
    y = graph.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    if how == "owned":
        s = graph.tensor_scalar(0.5, cudnn.scalar_type.COMPILE_TIME_CONST)
    else:
        s = graph.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=DT.FLOAT, is_pass_by_value=True)
    z = graph.mul(y, s, compute_data_type=DT.FLOAT).set_output(True).set_data_type(DT.FLOAT).set_stride([144, 36, 6, 1])
    out = fresh(np.float32)
    pack = {x: X, w: W, z: out}
    if how == "number":
        pack[s] = 0.5
    elif how == "array":
        pack[s] = np.array([0.5], np.float32)
    elif how == "torch":
        if torch is None:
            pytest.skip("PyTorch is not installed: not observed")
        pack[s] = torch.tensor([0.5])
    graph.execute(pack)
    assert np.array_equal(out, (EXPECTED * np.float32(0.5)).astype(np.float32))
