# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes: each ends in an exception of the right kind whose text names what is wrong. None crashes, none passes."""

import numpy as np
import pytest

import octavo as cudnn

DT = cudnn.data_type
NotSupported = cudnn.cudnnGraphNotSupportedError


def build(
    x=(2, 32, 8, 8), w=(16, 32, 3, 3), op="conv_fprop", y_dim=None, io=DT.FLOAT, compute=DT.FLOAT, x_stride=None, **kw
):  # fmt: skip
    lists = dict(padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    lists.update(kw)
    lists = {k: v for k, v in lists.items() if v is not None}
    g = cudnn.pygraph(io_data_type=io, intermediate_data_type=DT.FLOAT, compute_data_type=compute)
    X = g.tensor(dim=list(x), stride=x_stride, name="image")
    W = g.tensor(dim=list(w), name="filter")
    Y = getattr(g, op)(X, W, **lists)
    Y.set_output(True)
    if y_dim is not None:
        Y.set_dim(list(y_dim))
    g.build([cudnn.heur_mode.A])
    return g


def test_exception_classes():
    assert issubclass(NotSupported, Exception) and not issubclass(NotSupported, RuntimeError)
    make = cudnn._errors.make_error
    for code in ("ATTRIBUTE_NOT_SET", "SHAPE_DEDUCTION_FAILED", "INVALID_TENSOR_NAME", "INVALID_VARIANT_PACK"):
        assert isinstance(make(code, "m"), ValueError)
    for code in ("GRAPH_NOT_SUPPORTED", "GRAPH_EXECUTION_PLAN_CREATION_FAILED", "HEURISTIC_QUERY_FAILED", "UNSUPPORTED_GRAPH_FORMAT"):
        assert isinstance(make(code, "m"), NotSupported)
    for code in ("CUDNN_BACKEND_API_FAILED", "GRAPH_EXECUTION_FAILED", "INVALID_VALUE", "CUDA_API_FAILED", "HANDLE_ERROR"):
        assert isinstance(make(code, "m"), RuntimeError)
    error = make("GRAPH_EXECUTION_FAILED", "Plan index 7 is invalid.")
    assert isinstance(error, IndexError) and isinstance(error, RuntimeError) and error.code == "GRAPH_EXECUTION_FAILED"
    assert cudnn.get_last_error_string() == "Plan index 7 is invalid."


def test_the_good_graph_builds():
    assert build().get_execution_plan_count() >= 1


ANY = (ValueError, RuntimeError, NotSupported)

ROWS = {
    "padding missing": (dict(padding=None), ValueError, "[Pp]adding not set"),
    "stride missing": (dict(stride=None), ValueError, "strides? not set"),
    "dilation missing": (dict(dilation=None), ValueError, "dilation not set"),
    "empty lists": (dict(padding=[], stride=[], dilation=[]), ValueError, "not set"),
    "channels 32 against 24": (dict(w=(16, 24, 3, 3)), ANY, "32.*24"),
    "K not a multiple of groups": (dict(x=(2, 8, 8, 8), w=(6, 2, 3, 3)), ANY, "K.*6|6.*group"),
    "filter larger than the image": (dict(x=(2, 32, 2, 8), padding=[0, 0]), ANY, "filter|larger|padded"),
    "rank mismatch": (dict(w=(16, 32, 3)), ANY, "rank|dim"),
    "Y of another size": (dict(y_dim=(2, 16, 9, 8)), ANY, "9"),
    "padding too short": (dict(padding=[1]), ANY, "padding"),
    "padding too long": (dict(padding=[1, 1, 1]), ANY, "padding"),
    "stride too short": (dict(stride=[1]), ANY, "stride"),
    "dilation too long": (dict(dilation=[1, 1, 1]), ANY, "dilation"),
    "padding negative": (dict(padding=[-1, 1]), ANY, "padding.*-1|-1.*padding"),
    "stride 0": (dict(stride=[0, 1]), ANY, "stride.*0"),
    "stride negative": (dict(stride=[1, -2]), ANY, "stride.*-2"),
    "dilation 0": (dict(dilation=[1, 0]), ANY, "dilation.*0"),
    "huge values": (dict(padding=[2**62, 1]), ANY, "."),
    "negative dims": (dict(x=(2, 32, -8, 8)), ANY, "-8"),
    "zero channels": (dict(w=(16, 0, 3, 3)), ANY, "0"),
    "rank 2": (dict(x=(2, 32), w=(16, 32), padding=[], stride=[], dilation=[]), ANY, "."),
    "rank 6": (dict(x=(1, 2, 3, 3, 3, 3), w=(1, 2, 1, 1, 1, 1), padding=[0] * 4, stride=[1] * 4, dilation=[1] * 4), ANY, "."),
    "strides of another rank": (dict(x_stride=[1, 2, 3]), ANY, "stride"),
    "negative strides": (dict(x_stride=[2048, 64, -8, 1]), ANY, "stride.*-8|negative"),
    "a type that no convolution has": (dict(io=DT.BOOLEAN), ANY, "BOOLEAN|bool"),
    "complex future type": (dict(io=DT.FP4_E2M1), ANY, "FP4_E2M1"),
    "a compute type that sums nothing": (dict(compute=DT.INT8), ANY, "INT8"),
    "wgrad without dims": (dict(op="conv_wgrad", w=(2, 16, 8, 8)), ValueError, "dims not set"),
    "dgrad that fits nothing": (dict(op="conv_dgrad", x=(2, 16, 8, 8), w=(16, 32, 3, 3), y_dim=(2, 32, 5, 5)), ANY, "5|8"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_mistakes_are_named(row):
    kw, kind, match = ROWS[row]
    with pytest.raises(kind, match=match) as error:
        build(**kw)
    assert len(str(error.value)) > 15, "the message says nothing"


def test_groups_message_quotes_the_numbers():
    with pytest.raises(ANY) as error:
        build(x=(2, 8, 8, 8), w=(6, 2, 3, 3))
    for number in ("8", "2", "6", "4"):  # C, C/g, K, g
        assert number in str(error.value)


def test_pointwise_that_does_not_broadcast():
    g = cudnn.pygraph(io_data_type=DT.FLOAT)
    a, b = g.tensor(dim=[2, 16, 8, 8]), g.tensor(dim=[17])
    g.add(a, b).set_output(True)
    with pytest.raises(ValueError):
        g.validate()


def test_bias_of_k_plus_one():
    g = cudnn.pygraph(io_data_type=DT.FLOAT)
    x, w = g.tensor(dim=[2, 4, 8, 8]), g.tensor(dim=[16, 4, 3, 3])
    y = g.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    bias = g.tensor(dim=[1, 17, 1, 1], name="bias")
    g.bias(y, bias).set_output(True)
    with pytest.raises(ValueError, match="17.*16|16.*17|broadcast"):
        g.validate()


def test_reduction_without_a_mode():
    g = cudnn.pygraph(io_data_type=DT.FLOAT)
    x, w = g.tensor(dim=[2, 4, 8, 8]), g.tensor(dim=[16, 4, 3, 3])
    y = g.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    g.reduction(y).set_output(True).set_dim([1, 16, 1, 1])
    with pytest.raises(ANY, match="mode"):
        g.build([cudnn.heur_mode.A])


def test_an_empty_graph():
    with pytest.raises(ANY):
        cudnn.pygraph(io_data_type=DT.FLOAT).build([cudnn.heur_mode.A])


def test_many_operations():
    """Hundreds of nodes: computed, or refused with a text."""
    g = cudnn.pygraph(io_data_type=DT.FLOAT)
    x, w = g.tensor(dim=[1, 1, 3, 3]), g.tensor(dim=[1, 1, 1, 1])
    t = g.conv_fprop(x, w, padding=[0, 0], stride=[1, 1], dilation=[1, 1])
    for _ in range(60):
        t = g.neg(t)
    t.set_output(True)
    out = np.full((1, 3, 3, 1), np.nan, np.float32)
    image = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    g.execute({x: image, w: np.full((1, 1, 1, 1), 2, np.float32), t: out})
    assert np.array_equal(out.reshape(-1), 2 * np.arange(9))


FOREIGN = sorted(cudnn._foreign_ops._FOREIGN)


@pytest.mark.parametrize("op", FOREIGN)
def test_foreign_operations_are_refused_by_name(op):
    g = cudnn.pygraph(io_data_type=DT.HALF)
    a, b = g.tensor(dim=[2, 4, 8, 8], name="a"), g.tensor(dim=[2, 4, 8, 8], name="b")
    out = getattr(g, op)(a, b, name="foreign", compute_data_type=DT.FLOAT)
    first = out[0] if isinstance(out, list) else out
    first.set_output(True).set_data_type(DT.FLOAT)
    with pytest.raises(NotSupported, match=op):
        g.validate()
    with pytest.raises(NotSupported, match=op):
        g.build([cudnn.heur_mode.A])


def test_foreign_operations_take_their_own_arguments():
    g = cudnn.pygraph(io_data_type=DT.HALF)
    a, b = g.tensor(dim=[1, 4, 4]), g.tensor(dim=[1, 4, 4])
    g.matmul(A=a, B=b, compute_data_type=DT.FLOAT, padding=0.0, name="mm").set_output(True)
    g.concatenate([a, b], axis=1, in_place_index=1)
    g.reshape(a, name="r", reshape_mode=cudnn.reshape_mode.LOGICAL).set_dim([4, 4])
    o, stats = g.sdpa(q=a, k=a, v=b, is_inference=False, attn_scale=0.1, use_causal_mask=True, name="attention")
    g.batchnorm(a, b, b, b, b, 1e-5, 0.1)
    with pytest.raises(NotSupported, match="matmul"):
        g.validate()


def test_the_last_error_is_kept():
    with pytest.raises(ANY) as error:
        build(stride=[0, 1])
    assert cudnn.get_last_error_string() == str(error.value)
