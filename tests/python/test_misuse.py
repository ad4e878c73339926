# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that go wrong: each ends in an error that names the tensor or attribute and the value, or in the right numbers.
Expected numbers are sums written out here."""

import copy
import pickle

import numpy as np
import octavo as cudnn
import pytest

DT = cudnn.data_type
A = [cudnn.heur_mode.A]


def convolution(c=4, k=4, size=6, pad=1, **settings):
    graph = cudnn.pygraph(io_data_type=DT.FLOAT, **settings)
    x = graph.tensor(name="X", dim=[1, c, size, size], stride=[c * size * size, 1, size * c, c])
    w = graph.tensor(name="W", dim=[k, c, 3, 3], stride=[9 * c, 1, 3 * c, c])
    y = graph.conv_fprop(x, w, padding=[pad, pad], stride=[1, 1], dilation=[1, 1]).set_output(True).set_name("Y")
    return graph, x, w, y


def last(n, c, h, w, value=0.0):
    return np.full((n, h, w, c), value, np.float32)


# ---- values that no 64-bit integer, enumeration or name holds


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda g, x: x.set_uid(2**63), ["uid", "'X'", "64 bits"]),
        (lambda g, x: x.set_dim([2**64, 1, 1, 1]), ["dim", str(2**64), "64 bits"]),
        (lambda g, x: x.set_alignment(2**70), ["alignment", "'X'"]),
        (lambda g, x: x.set_reordering_type(9), ["reordering_type", "'X'", "9", "INT8x32"]),
        (lambda g, x: x.set_name("\ud800"), ["name", "UTF-8"]),
        (lambda g, x: g.relu(x, negative_slope="a"), ["relu()", "negative_slope", "'a'"]),
        (lambda g, x: g.gen_index(x, 1.0), ["gen_index()", "axis", "1.0"]),
        (lambda g, x: g.reduction(x, 99), ["reduction()", "99", "NORM2"]),
        (lambda g, x: g.conv_fprop(x, x, [0, 0], [2**63, 1], [1, 1]), ["stride", "64 bits"]),
        (lambda g, x: g.conv_fprop(x, x, [0, 0], [1, 1], [1, 1], x_zero_point=2**40), ["x_zero_point", "32 bits"]),
        (lambda g, x: g.conv_fprop(x, x, [0, 0], [1, 1], [1, 1], w_zero_point=1.5), ["w_zero_point", "1.5"]),
        (lambda g, x: g.conv_fprop(x, x, [0, 0], [1, 1], [1, 1], convolution_mode=7), ["convolution_mode", "CROSS_CORRELATION"]),
        (lambda g, x: g.build(["A"]), ["heur_mode", "'A'", "FALLBACK"]),
        (lambda g, x: g.build_plans("x"), ["policy", "'x'", "HEURISTICS_CHOICE"]),
        (lambda g, x: g.deselect_engines([5]), ["engine name", "5"]),
        (lambda g, x: g.deselect_workspace_greater_than("a"), ["workspace_limit", "'a'"]),
        (lambda g, x: g.select_behavior_notes([99]), ["99", "behavior_note", "RUNTIME_COMPILATION"]),
        (lambda g, x: g.tensor_scalar(1, 5), ["scalar_type", "5", "COMPILE_TIME_CONST"]),
        (lambda g, x: g.deserialize('{"name":"\ud800"}'), ["JSON", "UTF-8"]),
    ],
)
def test_the_error_names_attribute_and_value(call, words):
    graph, x, _w, _y = convolution()
    with pytest.raises((TypeError, ValueError)) as error:
        call(graph, x)
    assert all(word in str(error.value) for word in words), error.value
    assert "incompatible function arguments" not in str(error.value)


def test_one_engine_name_is_not_taken_for_its_letters():
    graph, *_ = convolution()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    graph.deselect_engines("cpu_reference")
    graph.build()
    assert "cpu_reference" not in graph.get_plan_name()


# ---- scalars


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**100])
def test_scalars_that_are_no_int64(value):
    graph, x, w, y = convolution(c=1, k=1, size=3)
    z = graph.add(y, graph.tensor_scalar(value, cudnn.scalar_type.RUNTIME_PARAM)).set_output(True)
    out, mid = last(1, 1, 3, 3, 7), last(1, 1, 3, 3, 7)
    graph.build(A)
    graph.execute({x: last(1, 1, 3, 3), w: last(1, 1, 3, 3), y: mid, z: out})
    assert np.array_equal(out, np.full_like(out, np.float32(value)), equal_nan=True)


@pytest.mark.parametrize("value, dtype", [(0.5, DT.INT32), (300, DT.INT8), (float("nan"), DT.INT32), (2**40, DT.INT32)])
def test_a_scalar_must_fit_its_type(value, dtype):
    graph, x, w, y = convolution()
    s = graph.tensor_scalar(value, cudnn.scalar_type.RUNTIME_PARAM, name="factor").set_data_type(dtype)
    graph.mul(y, s).set_output(True)
    with pytest.raises(ValueError, match=rf"'factor' is {dtype.name} and its value is .*set_data_type"):
        graph.validate()


def test_an_int_for_a_by_value_tensor_is_a_host_address():
    graph, x, w, y = convolution(c=1, k=1, size=3)
    s = graph.tensor(name="s", dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], is_pass_by_value=True)
    z = graph.mul(y, s).set_output(True)
    graph.build(A)
    value, mid, out = np.array([3], np.float32), last(1, 1, 3, 3), last(1, 1, 3, 3)
    pack = {x: last(1, 1, 3, 3, 1), w: last(1, 1, 3, 3, 1), y: mid, z: out, s: value.ctypes.data}
    graph.execute(pack)
    assert out[0, 1, 1, 0] == 27 and out[0, 0, 0, 0] == 12
    with pytest.raises(ValueError, match="'s'.*int 3, which would be an address.*float"):
        graph.execute({**pack, s: 3})


@pytest.mark.parametrize("address", [-5, 2**70])
def test_no_address(address):
    graph, x, w, y = convolution()
    graph.build(A)
    with pytest.raises(ValueError, match=r"Tensor 'X' .*is no address"):
        graph.execute({x: address, w: last(4, 4, 3, 3), y: last(1, 4, 6, 6)})


def test_an_array_without_dims_is_one_element():
    graph, x, w, y = convolution(c=1, k=1, size=3)
    factor = np.array(3, np.float32)
    s = graph.tensor_like(factor)
    z = graph.mul(y, s).set_output(True)
    mid, out = last(1, 1, 3, 3), last(1, 1, 3, 3)
    graph.execute({x: last(1, 1, 3, 3, 1), w: last(1, 1, 3, 3, 1), y: mid, z: out, s: factor})
    assert out[0, 1, 1, 0] == 27


def test_a_negated_view_of_torch_is_refused():
    torch = pytest.importorskip("torch")
    graph, x, w, y = convolution()
    graph.build(A)
    with pytest.raises(ValueError, match=r"Tensor 'X'.*resolve_neg"):
        graph.execute({x: torch._neg_view(torch.zeros(1, 6, 6, 4)), w: last(4, 4, 3, 3), y: last(1, 4, 6, 6)})


# ---- buffers that meet


def test_overlapping_outputs_and_workspace_are_refused():
    graph, x, w, y = convolution()
    z = graph.relu(y).set_output(True).set_name("Z")
    graph.build(A)
    pack = {x: last(1, 4, 6, 6, 1), w: last(4, 4, 3, 3, 1)}
    shared = np.zeros(500, np.float32)
    with pytest.raises(ValueError, match="'Y'.*overlaps Tensor 'Z'.*another output"):
        graph.execute({**pack, y: shared[:144], z: shared[100:244]})
    size = graph.get_workspace_size()
    assert size > 0
    memory = np.zeros(size + 4096, np.uint8)
    inside = memory[256 : 256 + 4 * 144].view(np.float32)
    with pytest.raises(ValueError, match="workspace.*overlaps.*'Y'"):
        graph.execute({**pack, y: inside, z: last(1, 4, 6, 6)}, memory)


@pytest.mark.parametrize("shift", [0, 3, 4])
def test_channel_slices_of_one_buffer(shift):
    """As in a concatenation: x and y interleave. They share bytes unless the slices are apart."""
    big = np.zeros((1, 6, 6, 8), np.float32)
    graph = cudnn.pygraph(io_data_type=DT.FLOAT)
    x = graph.tensor(name="X", dim=[1, 4, 6, 6], stride=[288, 1, 48, 8])
    w = graph.tensor(name="W", dim=[4, 4, 3, 3], stride=[36, 1, 12, 4])
    y = graph.conv_fprop(x, w, [1, 1], [1, 1], [1, 1]).set_output(True).set_name("Y").set_stride([288, 1, 48, 8])
    graph.build(A)
    big[..., :4] = 1
    pack = {x: big[..., :4], w: last(4, 4, 3, 3, 1), y: big[..., shift : shift + 4]}
    if shift < 4:
        with pytest.raises(ValueError, match="'Y'.*overlaps Tensor 'X'.*convolution reads"):
            graph.execute(pack)
    else:
        graph.execute(pack)
        assert (big[..., :4] == 1).all() and big[0, 2, 2, 5] == 36 and big[0, 0, 0, 7] == 16


@pytest.mark.parametrize("shift", [0, 1])
def test_a_residual_may_be_the_output_itself_only(shift):
    graph, x, w, y = convolution()
    y.set_output(False)
    r = graph.tensor(name="R", dim=[1, 4, 6, 6], stride=[144, 1, 24, 4])
    z = graph.add(y, r).set_output(True).set_name("Z")
    graph.build(A)
    memory = np.full(145, 2, np.float32)
    pack = {x: last(1, 4, 6, 6, 1), w: last(4, 4, 3, 3, 1), r: memory[:144], z: memory[shift : shift + 144]}
    if shift:
        with pytest.raises(ValueError, match="'Z'.*overlaps Tensor 'R'"):
            graph.execute(pack)
    else:
        graph.execute(pack)
        assert memory[4 * (6 * 2 + 2)] == 38 and memory[0] == 18 and memory[144] == 2


def test_buffers_are_checked_under_override_shapes():
    graph, x, w, y = convolution(is_override_shape_enabled=True)
    graph.build(A)
    shapes, strides = [[1, 4, 60, 60], [1, 4, 60, 60]], [[14400, 1, 240, 4]] * 2
    small = {x: last(1, 4, 6, 6, 1), w: last(4, 4, 3, 3, 1), y: last(1, 4, 6, 6)}
    uids = [x.get_uid(), y.get_uid()]
    with pytest.raises(ValueError, match="'X'.*57600 bytes.*576 bytes"):
        graph.execute(small, None, override_uids=uids, override_shapes=shapes, override_strides=strides)
    out = last(1, 4, 60, 60, 7)
    big = {**small, x: last(1, 4, 60, 60, 1), y: out}
    graph.execute(big, None, override_uids=uids, override_shapes=shapes, override_strides=strides)
    assert out[0, 30, 30, 0] == 36 and out[0, 59, 59, 3] == 16


# ---- copies


def test_copies_and_pickles():
    handle = cudnn.create_handle("cpu")
    for twin in (copy.copy(handle), copy.deepcopy({"h": handle})["h"]):
        assert twin is handle
        del twin
    for thing in (handle, *convolution()[:2]):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(thing)
    assert cudnn.get_stream(handle) == 0  # alive: no copy took it down
    cudnn.destroy_handle(handle)


# ---- inf and NaN outside the window


@pytest.mark.parametrize("kind", ["filter", "image"])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
@pytest.mark.parametrize("dtype", [DT.FLOAT, DT.BFLOAT16])
def test_no_plan_spreads_nan_over_padding(dtype, layout, kind):
    """A NaN tap meets only padding in the first row and column; an inf pixel is outside most windows. On every plan."""
    c, k, size, reach = 3, 5, 9, 3

    def strides(n, ch, h):
        return [ch * h * h, h * h, h, 1] if layout == "nchw" else [ch * h * h, 1, h * ch, ch]

    def made(dim, stride, values):
        """Values in the layout; bf16 as the upper halves of f32."""
        flat = np.zeros(int(np.prod(dim)), np.float32)
        np.lib.stride_tricks.as_strided(flat, dim, [4 * s for s in stride])[...] = values
        return flat if dtype is DT.FLOAT else (flat.view(np.uint32) >> 16).astype(np.uint16)

    graph = cudnn.pygraph(io_data_type=dtype)
    x = graph.tensor(name="X", dim=[1, c, size, size], stride=strides(1, c, size))
    w = graph.tensor(name="W", dim=[k, c, reach, reach], stride=strides(k, c, reach))
    y = graph.conv_fprop(x, w, [1, 1], [1, 1], [1, 1]).set_output(True).set_data_type(DT.FLOAT)
    y.set_dim([1, k, size, size]).set_stride(strides(1, k, size))
    xs, ws = np.ones((1, c, size, size), np.float32), np.ones((k, c, reach, reach), np.float32)
    nan = np.zeros((1, k, size, size), bool)
    if kind == "filter":
        ws[0, 0, 0, 0] = np.nan
        nan[0, 0, 1:, 1:] = True
    else:
        xs[0, 1, 4, 4] = np.nan
        nan[0, :, 3:6, 3:6] = True
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    a, b = made([1, c, size, size], strides(1, c, size), xs), made([k, c, reach, reach], strides(k, c, reach), ws)
    for i in range(graph.get_execution_plan_count()):
        graph.build_plan_at_index(i)
        out = np.full(k * size * size, 7, np.float32)
        graph.execute_plan_at_index({x: a.ctypes.data, w: b.ctypes.data, y: out}, None, i)
        got = np.lib.stride_tricks.as_strided(out, [1, k, size, size], [4 * s for s in strides(1, k, size)])
        assert np.array_equal(np.isnan(got), nan), graph.get_plan_name_at_index(i)
