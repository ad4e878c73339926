# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""What convolution programs of cudnn-frontend 1.23 and 1.32 see when they build a graph: names, uids, types, call forms."""

import enum

import numpy as np
import pytest

import octavo as cudnn

DT = cudnn.data_type
LISTS = dict(padding=[1, 1], stride=[1, 1], dilation=[1, 1])


def graph(**kw):
    kw.setdefault("io_data_type", DT.HALF)
    return cudnn.pygraph(**kw)


def operands(g, n=4, c=8, k=16):
    return (
        g.tensor(dim=[n, c, 5, 5], stride=[c * 25, 1, c * 5, c], name="x"),
        g.tensor(dim=[k, c, 3, 3], stride=[c * 9, 1, c * 3, c]),
    )


# ---- module level


def test_enums_are_enum_classes_with_the_integers_of_1_32():
    assert issubclass(DT, enum.Enum)
    ints = dict(
        NOT_SET=0, FLOAT=1, DOUBLE=2, HALF=3, INT8=4, INT32=5, INT8x4=6, UINT8=7, UINT8x4=8, INT8x32=9, BFLOAT16=10, INT64=11,
        BOOLEAN=12, FP8_E4M3=14, FP8_E5M2=15, FAST_FLOAT_FOR_FP8=16, FP8_E8M0=17, FP8_E5M3=18, FP4_E2M1=19, INT4=20,
    )  # fmt: skip
    assert {m.name: int(m) for m in DT} == ints
    assert repr(DT.HALF) == "data_type.HALF" and DT(3) is DT.HALF
    assert [int(m) for m in cudnn.heur_mode] == [0, 1, 2, 3]
    assert int(cudnn.convolution_mode.CONVOLUTION) == 1 and int(cudnn.convolution_mode.CROSS_CORRELATION) == 2
    assert cudnn._compiled_module.convolution_mode is cudnn.convolution_mode
    assert int(cudnn.knob_type.TILE_CGA) == 32 and int(cudnn.knob_type.WARPS_N) == 1009
    assert cudnn.is_frontend_knob_type(cudnn.knob_type.PACK_GQA) and not cudnn.is_frontend_knob_type(cudnn.knob_type.TILEK)
    assert int(cudnn.build_plan_policy.ALL) == 1 and int(cudnn.reduction_mode.AMAX) == 5
    assert int(cudnn.behavior_note.SUPPORTS_CUDA_GRAPH_NATIVE_API) == 4 and int(cudnn.numerical_note.NONDETERMINISTIC) == 5
    assert int(cudnn.tensor_reordering.F8_128x4) == 3 and int(cudnn.scalar_type.COMPILE_TIME_CONST) == 1
    assert int(cudnn.reshape_mode.LOGICAL) == 2 and int(cudnn.norm_forward_phase.TRAINING) == 2
    assert int(cudnn.cuda_graph_retention.NONE) == 1


def test_python_enums_are_the_native_enums():
    """Every name and integer as the C++ library prints it: a graph with each pointwise mode says so in its JSON."""
    import json

    for mode in cudnn.pointwise_mode:
        if mode.value == 0:
            continue
        native = cudnn._octavo.Graph()
        t = cudnn._octavo.Tensor()
        t.dim, t.stride = [1, 1, 2, 2], [4, 4, 2, 1]
        x = native.tensor(t)
        native.pointwise(int(mode), [x, x, x][: 1 + (mode.name == "ADD")], 0, "", None, None, None, None, None)
        assert f'"{mode.name}"' in native.to_json(), mode
    for dtype in DT:
        native = cudnn._octavo.Graph()
        t = cudnn._octavo.Tensor()
        t.dim, t.stride, t.data_type = [1, 1, 2, 2], [4, 4, 2, 1], int(dtype)
        expected = "null" if dtype is DT.NOT_SET else f'"{dtype.name}"'
        assert f'"data_type":{expected}' in json.dumps(json.loads(t.to_json()), separators=(",", ":")), dtype


def test_versions_pass_the_gates_of_programs():
    assert cudnn.backend_version() >= 91200
    major, minor, patch = map(int, cudnn.backend_version_string().split("."))
    assert major * 10000 + minor * 100 + patch == cudnn.backend_version()
    assert cudnn.__version__


def test_handles_serve_ints_and_objects():
    handle = cudnn.create_handle("cpu")
    assert isinstance(handle, int) and isinstance(handle, cudnn.Handle) and handle.ordinal is None
    cudnn.set_stream(handle=handle, stream=0)
    assert cudnn.get_stream(int(handle)) == 0
    assert cudnn.pygraph(handle=int(handle)).handle == handle
    cudnn.destroy_handle(int(handle))
    with pytest.raises(RuntimeError, match="not a live handle"):
        cudnn.destroy_handle(handle)
    with pytest.raises(RuntimeError, match="not a live handle"):
        cudnn.pygraph(handle=handle)
    with pytest.raises(RuntimeError):
        cudnn.pygraph(handle=12345)
    with pytest.raises(TypeError):
        cudnn.set_stream("handle", 0)


def test_a_cpu_handle_takes_no_stream():
    handle = cudnn.create_handle("cpu")
    with pytest.raises(RuntimeError, match="stream"):
        cudnn.set_stream(handle, 4096)
    cudnn.destroy_handle(handle)


# ---- names, uids


def test_names_and_uids_at_creation():
    g = graph()
    x, w = operands(g)
    y = g.conv_fprop(x, w, **LISTS)
    z = g.relu(g.bias(y, g.tensor(dim=[1, 16, 1, 1], stride=[16, 1, 16, 16])))
    s = g.genstats(z, compute_data_type=DT.FLOAT)
    assert [t.get_name() for t in (x, w, y, z, *s)] == [
        "x", "tensor_1", "conv_fprop.0::Y", "relu.0::OUT_0", "genstats.0::SUM", "genstats.0::SQ_SUM",
    ]  # fmt: skip
    assert (x.get_uid(), w.get_uid(), y.get_uid()) == (1, 2, 3)
    assert g.conv_fprop(x, w, **LISTS).get_name() == "conv_fprop.1::Y"
    assert g.add(y, y, name="sum").get_name() == "sum::OUT_0"
    assert [node.name for node in g.nodes][:3] == ["conv_fprop.0", "bias.0", "relu.0"]
    assert g.find_tensor("x") is x and g.find_tensor(3) is y and g.find_tensor("nothing") is None
    assert g.get_node("relu.0").outputs["OUT_0"] is z
    assert g.tensors["conv_fprop.0::Y"] is y


def test_uids_of_users_win_and_duplicates_are_refused_at_once():
    g = graph()
    a = g.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1])
    b = g.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], uid=1)
    assert b.get_uid() == 1 and a.get_uid() != 1
    for error in (ValueError, RuntimeError):
        with pytest.raises(error, match="uid 1 .*already assigned"):
            g.tensor(dim=[1], stride=[1], uid=1)
        with pytest.raises(error, match="uid 1 .*already assigned"):
            a.set_uid(1)
    c = g.tensor(dim=[1], stride=[1], uid=77)
    assert c.get_uid() == 77 and g.find_tensor(77) is c
    seen = g.tensor(dim=[1], stride=[1])
    taken = seen.get_uid()
    with pytest.raises(ValueError):  # the program may hold this uid already
        c.set_uid(taken)
    assert g.tensor(dim=[1], stride=[1], uid=0).get_uid() == 0


def test_two_tensors_of_one_name():
    g = graph()
    a, b = (g.tensor(dim=[1], stride=[1], name="same") for _ in range(2))
    assert a is not b and a != b and len({a, b}) == 2
    with pytest.raises(ValueError, match="same"):
        g.find_tensor("same")


# ---- types


def test_types_are_inherited():
    g = graph(io_data_type=DT.INT8, intermediate_data_type=DT.FLOAT, compute_data_type=DT.INT32)
    x, w = operands(g)
    y = g.conv_fprop(x, w, **LISTS)
    assert x.get_data_type() is DT.INT8 and y.get_data_type() is DT.FLOAT
    y.set_output(True)
    assert y.get_data_type() is DT.INT8
    g.validate()
    assert y.get_data_type() is DT.INT8


@pytest.mark.parametrize(
    "io, intermediate, compute",
    [
        (None, "FLOAT", "FLOAT"), ("HALF", "HALF", "FLOAT"), ("BFLOAT16", "BFLOAT16", "FLOAT"), ("DOUBLE", "DOUBLE", "DOUBLE"),
        ("FLOAT", "FLOAT", "FLOAT"), ("INT8", "INT32", "INT32"), ("UINT8", "INT32", "INT32"), ("FP8_E4M3", "FP8_E4M3", "FLOAT"),
    ],
)  # fmt: skip
def test_defaults_follow_io_data_type_but_never_lose(io, intermediate, compute):
    context = cudnn.pygraph(io_data_type=None if io is None else DT[io]).context
    assert context.intermediate_data_type is DT[intermediate] and context.compute_data_type is DT[compute]


def test_an_explicit_not_set_is_kept_and_refused():
    g = cudnn.pygraph(io_data_type=DT.NOT_SET, intermediate_data_type=DT.NOT_SET, compute_data_type=DT.NOT_SET)
    x = g.tensor(dim=[1, 1, 3, 3], stride=[9, 9, 3, 1])
    w = g.tensor(dim=[1, 1, 1, 1], stride=[1, 1, 1, 1])
    g.conv_fprop(x, w, padding=[0, 0], stride=[1, 1], dilation=[1, 1]).set_output(True)
    with pytest.raises(Exception, match="data.type"):
        g.build([cudnn.heur_mode.A])


def test_dtypes_of_numpy_and_strings():
    g = graph()
    assert g.tensor(dim=[1], stride=[1], data_type=np.float32).get_data_type() is DT.FLOAT
    assert g.tensor(dim=[1], stride=[1], data_type=np.dtype("int8")).get_data_type() is DT.INT8
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert g.tensor(dim=[1], stride=[1], data_type=ml_dtypes.bfloat16).get_data_type() is DT.BFLOAT16
    assert g.tensor(dim=[1], stride=[1], data_type=np.dtype(ml_dtypes.float8_e4m3fn)).get_data_type() is DT.FP8_E4M3
    for bad in (np.uint16, "float", 3, np.complex64):
        with pytest.raises(TypeError, match="data type"):
            g.tensor(dim=[1], stride=[1], data_type=bad)


@pytest.mark.torch
def test_dtypes_of_torch():
    import torch

    g = cudnn.pygraph(io_data_type=torch.bfloat16, compute_data_type=torch.float32)
    assert g.context.io_data_type is DT.BFLOAT16 and g.context.compute_data_type is DT.FLOAT
    pairs = {"float8_e4m3fn": DT.FP8_E4M3, "float8_e5m2": DT.FP8_E5M2, "half": DT.HALF, "double": DT.DOUBLE, "int8": DT.INT8,
             "uint8": DT.UINT8, "int32": DT.INT32, "int64": DT.INT64, "bool": DT.BOOLEAN}  # fmt: skip
    for name, expected in pairs.items():
        assert g.tensor(dim=[1], stride=[1], data_type=getattr(torch, name)).get_data_type() is expected
    with pytest.raises(TypeError):
        cudnn.pygraph(io_data_type=torch.complex64)


# ---- call forms of convolutions


FORMS = {
    "keywords": ((), dict(padding=[1, 2], stride=[2, 1], dilation=[1, 1])),
    "tuples": ((), dict(padding=(1, 2), stride=(2, 1), dilation=(1, 1))),
    "arrays": ((), dict(padding=np.array([1, 2]), stride=np.array([2, 1]), dilation=np.array([1, 1]))),
    "pre and post": ((), dict(pre_padding=[1, 2], post_padding=[1, 2], stride=[2, 1], dilation=[1, 1])),
    "three positional": (([1, 2], [2, 1], [1, 1]), {}),
    "four positional": (([1, 2], [1, 2], [2, 1], [1, 1]), {}),
    "1.32 positional": ((None, [1, 2], [1, 2], [2, 1], [1, 1]), {}),
    "one positional": (([1, 2],), dict(stride=[2, 1], dilation=[1, 1])),
    "two positional": (([1, 2], [2, 1]), dict(dilation=[1, 1])),
    "two positional, pre and post": (([1, 2], [1, 2]), dict(stride=[2, 1], dilation=[1, 1])),
    "mode, type, name": (
        ([1, 2], [2, 1], [1, 1], cudnn.convolution_mode.CROSS_CORRELATION, DT.FLOAT, "conv"), {},
    ),
    "name, type": (([1, 2], [2, 1], [1, 1], cudnn.convolution_mode.CROSS_CORRELATION, "conv", DT.FLOAT), {}),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", ["conv_fprop", "conv_dgrad", "conv_wgrad"])
def test_every_form_of_a_convolution(op, form):
    args, kw = FORMS[form]
    g = graph()
    x, w = operands(g)
    second = w if op != "conv_wgrad" else g.tensor(dim=[4, 16, 3, 7], stride=[336, 1, 112, 16])
    y = getattr(g, op)(x, second, *args, **kw)
    node = g.nodes[-1]
    got = {key: node.params[key] for key in ("pre_padding", "post_padding", "stride", "dilation")}
    assert got == dict(pre_padding=[1, 2], post_padding=[1, 2], stride=[2, 1], dilation=[1, 1])
    assert node.params["convolution_mode"] is cudnn.convolution_mode.CROSS_CORRELATION
    if "type" in form:
        assert node.compute_data_type is DT.FLOAT and node.name == "conv"
    if op == "conv_fprop":
        assert y.get_dim() == [4, 16, 3, 7]
        y.set_output(True)
        g.validate()
        assert y.get_dim() == [4, 16, 3, 7]


def test_operand_keywords_of_both_lines():
    g = graph()
    x, w = operands(g)
    y = g.conv_fprop(image=x, weight=w, **LISTS)
    assert g.conv_dgrad(loss=y, filter=w, **LISTS).get_dim() == [4, 8, 5, 5]
    assert g.conv_wgrad(image=x, loss=y, out_dims=[16, 8, 3, 3], **LISTS).get_dim() == [16, 8, 3, 3]


@pytest.mark.parametrize(
    "kw, match",
    [
        (dict(groups=2, **LISTS), "groups = X.C / W.C"),
        (dict(padding=[1, 1], pre_padding=[1, 1], stride=[1, 1], dilation=[1, 1]), "not both"),
        (dict(padding=1, stride=[1, 1], dilation=[1, 1]), "padding is 1"),
        (dict(padding=[1, 1], stride=2, dilation=[1, 1]), "stride is 2"),
        (dict(padding=[1.5, 1], stride=[1, 1], dilation=[1, 1]), "list of ints"),
        (dict(bogus=1, **LISTS), "bogus"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_type_errors(kw, match):
    g = graph()
    x, w = operands(g)
    with pytest.raises(TypeError, match=match):
        g.conv_fprop(x, w, **kw)


def test_numbers_and_none_are_no_operands():
    g = graph()
    x, w = operands(g)
    for bad in (1, 2.5, None):
        with pytest.raises(TypeError, match="tensor"):
            g.add(x, bad)
        with pytest.raises(TypeError, match="tensor"):
            g.conv_fprop(bad, w, **LISTS)
    other = graph()
    with pytest.raises(ValueError, match="another graph"):
        other.relu(x)


# ---- pointwise


BINARY = {
    "add": ("a", "b"), "mul": ("a", "b"), "sub": ("a", "b"), "div": ("a", "b"), "add_square": ("a", "b"),
    "logical_and": ("a", "b"), "logical_or": ("a", "b"), "bias": ("input", "bias"), "scale": ("input", "scale"),
    "max": ("input0", "input1"), "min": ("input0", "input1"), "mod": ("input0", "input1"), "pow": ("input0", "input1"),
    "cmp_eq": ("input", "comparison"), "cmp_neq": ("input", "comparison"), "cmp_gt": ("input", "comparison"),
    "cmp_ge": ("input", "comparison"), "cmp_lt": ("input", "comparison"), "cmp_le": ("input", "comparison"),
    "relu_backward": ("loss", "input"), "tanh_backward": ("loss", "input"), "sigmoid_backward": ("loss", "input"),
    "elu_backward": ("loss", "input"), "gelu_backward": ("loss", "input"), "softplus_backward": ("loss", "input"),
    "gelu_approx_tanh_backward": ("loss", "input"), "swish_backward": ("loss", "input"),
}  # fmt: skip
UNARY = (
    "tanh elu gelu gelu_approx_tanh sigmoid softplus erf identity exp log neg abs ceil floor rsqrt reciprocal sin cos tan "
    "sqrt logical_not relu swish"
).split()


@pytest.mark.parametrize("op", [*BINARY, *UNARY])
def test_pointwise_call_forms(op):
    g = graph()
    t = g.tensor(dim=[2, 3, 4, 4], stride=[48, 1, 12, 3], data_type=DT.FLOAT)
    values = (t, t) if op in BINARY else (t,)
    keywords = dict(zip(BINARY.get(op, ("input",)), values))
    method = getattr(g, op)
    for out in (
        method(*values),
        method(**keywords),
        method(*values, compute_data_type=DT.FLOAT, name="n0"),
        method(*values, DT.FLOAT, "n1"),
        method(*values, "n2", DT.FLOAT),
    ):  # fmt: skip
        assert out.get_dim() == [2, 3, 4, 4] and out.get_is_virtual()
    assert [node.name for node in g.nodes[-3:]] == ["n0", "n1", "n2"]
    assert all(node.compute_data_type is DT.FLOAT for node in g.nodes[-3:])
    with pytest.raises(TypeError):
        method(*values, object())


def test_other_pointwise_forms():
    g = graph()
    t = g.tensor(dim=[2, 3, 4, 4], stride=[48, 1, 12, 3], data_type=DT.FLOAT)
    g.relu(t, 0.1, 0.0, 6.0)
    assert {k: v for k, v in g.nodes[-1].params.items() if k != "mode"} == dict(slope=0.1, lower_clip=0.0, upper_clip=6.0)
    g.relu(t, None, 0.5, 0.55, "r", DT.FLOAT)
    assert g.nodes[-1].params["upper_clip"] == 0.55 and g.nodes[-1].name == "r"
    g.relu(t, lower_clip=0.5)
    assert g.nodes[-1].params["lower_clip"] == 0.5
    g.leaky_relu(t, 0.01, DT.FLOAT, "l")
    g.leaky_relu(input=t, negative_slope=0.01)
    assert g.nodes[-1].params["slope"] == 0.01
    g.leaky_relu_backward(t, t, 0.01)
    g.swish(t, 1.5, DT.FLOAT, "s")
    assert g.nodes[-1].params["swish_beta"] == 1.5
    g.swish_backward(t, t, DT.FLOAT, 2.0, "sb")
    assert g.nodes[-1].params["swish_beta"] == 2.0 and g.nodes[-1].name == "sb"
    g.gen_index(t, 1, DT.INT32, "i")
    assert g.nodes[-1].params["axis"] == 1
    g.gen_index(input=t, axis=2)
    g.binary_select(t, t, t, DT.FLOAT, "b")
    g.binary_select(input0=t, input1=t, mask=t)
    g.reduction(t, cudnn.reduction_mode.ADD, DT.FLOAT, "red")
    g.reduction(input=t, mode=cudnn.reduction_mode.MAX, compute_data_type=DT.FLOAT, name="red2")
    assert [n.name for n in g.nodes[-2:]] == ["red", "red2"]
    assert len(g.genstats(t, DT.FLOAT, "gs")) == 2


# ---- tensors


def test_tensor_setters_chain_and_getters_answer():
    g = graph()
    t = g.tensor(dim=[1, 8, 2, 2], stride=[32, 4, 2, 1])
    assert t.get_alignment() == 16 and t.get_vector_count() == 1 and t.get_vector_dimension() == -1
    assert (
        t.set_name("n").set_data_type(DT.INT8).set_dim([1, 2, 2, 2]).set_stride([8, 4, 2, 1]).set_alignment(4)
        .set_vector_count_and_dimension(4, 1).set_is_virtual(False).set_is_pass_by_value(False).set_uid(9).set_output(True)
        .set_reordering_type(cudnn.tensor_reordering.NONE).set_ragged_offset(None).set_alignment_value(8)
    ) is t  # fmt: skip
    assert (t.name, t.uid, t.dim, t.stride, t.data_type) == ("n", 9, [1, 2, 2, 2], [8, 4, 2, 1], DT.INT8)
    assert t.get_vector_count() == 4 and t.get_vector_dimension() == 1 and t.get_alignment() == 8
    assert not t.get_is_virtual() and not t.get_has_compile_time_constant()
    assert isinstance(t, cudnn.tensor) and isinstance(t, cudnn.Tensor)
    assert t == t and hash(t) == hash(t)
    for call in (lambda: t.set_dim([1.5]), lambda: t.set_stride("ab"), lambda: t.set_uid("x"), lambda: t.set_name(3)):
        with pytest.raises(TypeError):
            call()


def test_stride_is_optional_and_row_major():
    assert graph().tensor(dim=[2, 3, 4]).get_stride() == [12, 4, 1]


def test_tensor_like():
    g = graph()
    x, _ = operands(g)
    like = g.tensor_like(x, "copy")
    assert like.get_dim() == x.get_dim() and like.get_stride() == x.get_stride() and like.get_name() == "copy"
    assert like.get_uid() != x.get_uid() and like.get_data_type() is DT.HALF
    a = np.zeros((2, 4, 4, 3), np.int32).transpose(0, 3, 1, 2)
    t = g.tensor_like(a)
    assert t.get_dim() == [2, 3, 4, 4] and t.get_stride() == [48, 1, 12, 3] and t.get_data_type() is DT.INT32
    assert not t.get_is_pass_by_value()
    with pytest.raises(TypeError, match="uint16"):
        g.tensor_like(np.zeros(3, np.uint16))
    with pytest.raises(ValueError, match="__dlpack__"):
        g.tensor_like([1, 2, 3])


def test_tensor_scalar():
    g = graph()
    for value in (2, 2.5):
        s = g.tensor_scalar(value, cudnn.scalar_type.COMPILE_TIME_CONST)
        assert s.get_data_type() is DT.FLOAT and s.get_is_pass_by_value() and s.get_has_compile_time_constant()
        assert s.pass_by_value == value
    assert not g.tensor_scalar(1.0, cudnn.scalar_type.RUNTIME_PARAM).get_has_compile_time_constant()


# ---- inference


def test_inference_agrees_with_the_native_library(rng):
    """Dims and strides before validate() (worked out in Python) and after it (worked out in C++)."""
    from random_graphs import Geometry, random_stride

    for _ in range(200):
        geometry = Geometry(rng)
        g = graph(io_data_type=DT.FLOAT)
        x, w = (g.tensor(dim=d, stride=random_stride(rng, d)) for d in (geometry.x, geometry.w))
        y = g.conv_fprop(x, w, **geometry.keywords(rng))
        bias_dim = [1, geometry.y[1], *[1] * geometry.spatial]
        z = g.bias(y, g.tensor(dim=bias_dim, stride=random_stride(rng, bias_dim)))
        r = g.add(z, g.tensor(dim=geometry.y, stride=random_stride(rng, geometry.y)))
        out = g.relu(r).set_output(True)
        before = [(t.get_dim(), t.get_stride()) for t in (y, z, r, out)]
        assert before[0][0] == geometry.y
        g.validate()
        assert [(t.get_dim(), t.get_stride()) for t in (y, z, r, out)] == before, geometry


def test_default_output_is_channels_last_also_for_nchw_inputs():
    g = graph()
    x = g.tensor(dim=[2, 3, 6, 6], stride=[108, 36, 6, 1])
    w = g.tensor(dim=[4, 3, 3, 3], stride=[27, 9, 3, 1])
    y = g.conv_fprop(x, w, **LISTS).set_output(True)
    assert y.get_stride() == [144, 1, 24, 4]
    g.validate()
    assert y.get_stride() == [144, 1, 24, 4]


def test_the_last_operand_decides_the_layout_of_pointwise():
    g = graph()
    nhwc = g.tensor(dim=[2, 3, 4, 4], stride=[48, 1, 12, 3])
    nchw = g.tensor(dim=[2, 3, 4, 4], stride=[48, 16, 4, 1])
    a, b = g.add(nhwc, nchw).set_output(True), g.add(nchw, nhwc).set_output(True)
    g.validate()
    assert a.get_stride() == [48, 16, 4, 1] and b.get_stride() == [48, 1, 12, 3]


def test_wgrad_and_reduction_need_dims():
    g = graph()
    x, w = operands(g)
    y = g.conv_fprop(x, w, **LISTS)
    for result in (g.conv_wgrad(x, y, **LISTS), g.reduction(y, cudnn.reduction_mode.ADD)):
        assert result.get_dim() == []
        with pytest.raises(ValueError, match="dims not set"):
            g.validate()
        result.set_dim([16, 8, 3, 3] if "wgrad" in result.get_name() else [4, 1, 5, 5]).set_output(True)
    g.validate()


def test_inspect_and_repr():
    import json

    g = graph()
    x, w = operands(g)
    g.conv_fprop(x, w, **LISTS).set_output(True)
    shown = g.inspect()
    assert shown["nodes"][0]["name"] == "conv_fprop.0" and shown["context"]["io_data_type"] == "HALF"
    assert json.loads(repr(g))["nodes"][0]["type"] == "CONV_FPROP"
    g.validate()
    text = json.loads(repr(g))
    assert text["json_version"] == "2.0" and isinstance(text["tensors"], list)
    assert json.loads(repr(x))["dim"] == [4, 8, 5, 5]
