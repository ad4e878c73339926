# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""From validate() to execute(): steps, plans, filters, text, handles, threads."""

import json
import threading

import numpy as np
import pytest

import octavo as cudnn
import reference
from helpers import conv

DT = cudnn.data_type
A = cudnn.heur_mode.A


def problem(seed=0, out=DT.INT32):
    rng = np.random.default_rng(seed)
    x = rng.integers(-128, 128, (2, 6, 6, 8)).astype(np.int8).transpose(0, 3, 1, 2)
    w = rng.integers(-128, 128, (5, 3, 3, 8)).astype(np.int8).transpose(0, 3, 1, 2)
    graph, X, W, Y = conv(x, w, out=out, io=DT.INT8)
    expected = reference.fprop(x, w, [1, 1], [1, 1], [1, 1], [1, 1])
    return graph, (X, W, Y), (x, w), expected


def output(expected, dtype=np.int32):
    n, k, p, q = expected.shape
    return np.full((n, p, q, k), 0x5A, dtype).transpose(0, 3, 1, 2)


def run(graph, tensors, inputs, expected, **kw):
    y = output(expected)
    graph.execute(dict(zip(tensors, (*inputs, y))), **kw)
    return y


def test_step_by_step():
    graph, tensors, inputs, expected = problem()
    graph.validate()
    graph.validate()
    graph.build_operation_graph()
    graph.build_operation_graph()
    assert graph.get_execution_plan_count() == 0
    graph.create_execution_plans([A, cudnn.heur_mode.FALLBACK])
    count = graph.get_execution_plan_count()
    assert count >= 1 and len(graph.plans) == count
    with pytest.raises(RuntimeError):
        graph.create_execution_plans([A])
    graph.check_support()
    graph.build_plans(cudnn.build_plan_policy.HEURISTICS_CHOICE)
    graph.build([A])
    graph.build()
    size = graph.get_workspace_size()
    assert size >= 0 and graph.selected_engine in graph.plans
    assert np.array_equal(run(graph, tensors, inputs, expected, workspace=np.empty(size, np.uint8)), expected)


@pytest.mark.parametrize("how", ["build", "build mode", "build_plans", "nothing"])
def test_short_ways(how):
    graph, tensors, inputs, expected = problem()
    if how == "build":
        graph.build()
    elif how == "build mode":
        graph.build(A)
    elif how == "build_plans":
        graph.build_plans()
    assert np.array_equal(run(graph, tensors, inputs, expected), expected)


def test_every_plan_gives_the_same_bits():
    graph, tensors, inputs, expected = problem()
    graph.create_execution_plans([A, cudnn.heur_mode.B, cudnn.heur_mode.FALLBACK])
    graph.check_support()
    graph.build_plans(cudnn.build_plan_policy.ALL)
    best = graph.get_selected_plan_index()
    for index in range(graph.get_execution_plan_count()):
        y = output(expected)
        size = graph.get_workspace_size_plan_at_index(index)
        graph.execute_plan_at_index(dict(zip(tensors, (*inputs, y))), np.empty(size, np.uint8), index)
        assert np.array_equal(y, expected), graph.get_plan_name_at_index(index)
        assert isinstance(graph.get_behavior_notes_for_plan_at_index(index), list)
        graph.get_numeric_notes_for_plan_at_index(index)
    assert best == graph.get_selected_plan_index()
    last = graph.get_execution_plan_count() - 1
    assert graph.build_plan_at_index(last) is graph and graph.get_selected_plan_index() == last
    assert np.array_equal(run(graph, tensors, inputs, expected), expected)
    assert graph.select_plan(0).get_selected_plan_index() == 0


def test_bad_plan_indices():
    graph, *_ = problem()
    graph.build([A])
    count = graph.get_execution_plan_count()
    for index in (-1, count, 10**6):
        for error in (IndexError, RuntimeError):
            with pytest.raises(error, match=f"Plan index {index} is invalid"):
                graph.build_plan_at_index(index)
        with pytest.raises(IndexError):
            graph.get_plan_name_at_index(index)
        with pytest.raises(IndexError):
            graph.get_workspace_size_plan_at_index(index)
    with pytest.raises(TypeError):
        graph.build_plan_at_index("0")


def test_queries_before_build_say_what_to_do():
    graph, *_ = problem()
    for call in (graph.get_workspace_size, graph.get_behavior_notes, graph.get_plan_name, lambda: graph.get_plan_name_at_index(0)):
        with pytest.raises(RuntimeError, match=r"Call build\(\) first"):
            call()


def test_engines_and_knobs():
    graph, tensors, inputs, expected = problem()
    graph.validate()
    graph.build_operation_graph()
    count = graph.get_engine_count()
    assert count >= 1
    knobs = [k for engine in range(count) for k in graph.get_knobs_for_engine(engine)]
    assert any(k.type is cudnn.knob_type.KERNEL_CFG and k.stride >= 1 and k.max_value >= k.min_value for k in knobs)
    engine, knob = next(
        (e, k) for e in range(count) for k in graph.get_knobs_for_engine(e) if k.type is cudnn.knob_type.KERNEL_CFG
    )  # fmt: skip
    assert graph.create_execution_plan(engine, {knob.type: knob.min_value}) is graph
    graph.check_support()
    graph.build_plan_at_index(graph.get_execution_plan_count() - 1)
    assert graph.get_engine_and_knobs_at_index(graph.get_execution_plan_count() - 1)[0] == engine
    assert np.array_equal(run(graph, tensors, inputs, expected), expected)


def test_filters_chain_and_are_kept_until_plans_exist():
    graph, tensors, inputs, expected = problem()
    names = None
    probe, *_ = problem()
    probe.build([A, cudnn.heur_mode.FALLBACK])
    first = probe.selected_engine
    assert graph.deselect_engines([first]) is graph
    assert graph.deselect_numeric_notes([cudnn.numerical_note.NONDETERMINISTIC]) is graph
    assert graph.deselect_behavior_notes([cudnn.behavior_note.CUBLASLT_DEPENDENCY]) is graph
    if len(probe.plans) > 1:
        graph.build([A, cudnn.heur_mode.FALLBACK])
        assert graph.selected_engine != first
        names = graph.plans
        assert first in names, "filtered plans still count and keep their index"
        assert np.array_equal(run(graph, tensors, inputs, expected), expected)
    none, *_ = problem()
    none.deselect_engines(cudnn._octavo.engine_names())
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="No execution plans support the graph"):
        none.build([A])


def test_workspace_limit():
    probe, *_ = problem()
    probe.build_plans(cudnn.build_plan_policy.ALL)
    sizes = [probe.get_workspace_size_plan_at_index(i) for i in range(probe.get_execution_plan_count())]
    graph, tensors, inputs, expected = problem()
    graph.create_execution_plans([A, cudnn.heur_mode.FALLBACK])
    assert graph.deselect_workspace_greater_than(min(sizes)) is graph
    graph.check_support()
    graph.build_plans()
    assert graph.get_workspace_size() == min(sizes)
    assert np.array_equal(run(graph, tensors, inputs, expected, workspace=np.empty(min(sizes), np.uint8)), expected)
    if min(sizes) > 0:
        graph, *_ = problem()
        graph.deselect_workspace_greater_than(min(sizes) - 1)
        with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="workspace"):
            graph.build([A, cudnn.heur_mode.FALLBACK])


# ---- late changes


def test_setters_work_until_plans_exist():
    graph, tensors, inputs, expected = problem(out=None)
    X, W, Y = tensors
    graph.validate()
    assert Y.get_data_type() is DT.INT8
    Y.set_data_type(DT.INT32)  # after validate()
    graph.build_operation_graph()
    Y.set_stride([180, 36, 6, 1])  # after build_operation_graph()
    Z = graph.neg(Y)
    Z.set_output(True).set_data_type(DT.INT32)
    graph.build([A])
    y, z = np.full(expected.shape, 0x5A, np.int32), np.full(expected.shape, 0x5A, np.int32)
    graph.execute({X: inputs[0], W: inputs[1], Y: y, Z: z})
    assert np.array_equal(y, expected) and np.array_equal(z, -expected)


def test_frozen_once_plans_exist():
    graph, (X, W, Y), _, _ = problem()
    graph.build([A])
    for change in (
        lambda: Y.set_output(False), lambda: Y.set_data_type(DT.INT8), lambda: X.set_dim([1]), lambda: X.set_stride([1]),
        lambda: X.set_uid(9), lambda: graph.relu(Y), lambda: graph.tensor(dim=[1]), lambda: W.set_alignment(1),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="frozen"):
            change()
    assert Y.get_data_type() is DT.INT32


# ---- variant packs


def test_keys_are_tensors_uids_and_names():
    graph, (X, W, Y), (x, w), expected = problem()
    Y.set_name("result")
    graph.build([A])
    for pack in (
        lambda y: {X: x, W: w, Y: y},
        lambda y: {X.get_uid(): x, W.get_uid(): w, Y.get_uid(): y},
        lambda y: {np.int64(X.get_uid()): x, W: w, "result": y},
        lambda y: {X: x, W: w, Y: y, None: x, 12345: x},
    ):
        y = output(expected)
        graph.execute(pack(y))
        assert np.array_equal(y, expected)
    y = output(expected)
    graph.execute([w, y, x], tensor_uids=[W.get_uid(), Y.get_uid(), X.get_uid()])
    assert np.array_equal(y, expected)
    y = output(expected)
    graph.execute((x, w, y))  # in the order of the uids
    assert np.array_equal(y, expected)
    with pytest.raises(KeyError, match="'nobody'.*'result'"):
        graph.execute({X: x, W: w, "nobody": y})
    with pytest.raises(ValueError, match="Duplicate tensor uid"):
        graph.execute([x, w, y], tensor_uids=[1, 1, 3])
    with pytest.raises(ValueError, match="2 buffers"):
        graph.execute([x, w])
    with pytest.raises(TypeError):
        graph.execute({X: x, W: w, 1.5: y})
    with pytest.raises(TypeError):
        graph.execute(5)
    with pytest.raises(KeyError, match="another graph"):
        graph.execute({problem()[1][0]: x, W: w, Y: y})


def test_missing_buffers_are_named():
    graph, (X, W, Y), (x, w), expected = problem()
    graph.build([A])
    with pytest.raises(ValueError, match=str(Y.get_uid())):
        graph.execute({X: x, W: w})


def test_arrays_as_operands_are_remembered():
    _, _, (x, w), expected = problem()
    graph = cudnn.pygraph(compute_data_type=DT.INT32)
    Y = graph.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y.set_output(True).set_data_type(DT.INT32)
    y = output(expected)
    graph.execute({Y: y})
    assert np.array_equal(y, expected)


def test_raw_addresses_and_private_paths():
    graph, (X, W, Y), (x, w), expected = problem()
    graph.build([A])
    y = output(expected)
    graph.execute({X: x.ctypes.data, W: w.ctypes.data, Y: y.ctypes.data}, 0 if not graph.get_workspace_size() else None)
    assert np.array_equal(y, expected)
    scratch = np.empty(graph.get_workspace_size() + 1, np.uint8)
    y[...] = 0
    uids = graph._get_variant_pack_uids_sorted()
    assert uids == sorted(t.get_uid() for t in (X, W, Y))
    graph._prepare_variant_pack_template()
    by_uid = {X.get_uid(): x, W.get_uid(): w, Y.get_uid(): y}
    graph._execute_with_raw_ptrs([by_uid[u].ctypes.data for u in uids], scratch.ctypes.data)
    assert np.array_equal(y, expected)
    y[...] = 0
    graph._execute_with_ptrs({u: a.ctypes.data for u, a in by_uid.items()}, scratch.ctypes.data)
    assert np.array_equal(y, expected)
    y[...] = 0
    graph._execute({X: x, W: w, Y: y}, scratch)
    assert np.array_equal(y, expected)


def test_a_short_workspace_is_refused():
    graph, tensors, inputs, expected = problem()
    graph.build_plans(cudnn.build_plan_policy.ALL)
    sizes = [graph.get_workspace_size_plan_at_index(i) for i in range(graph.get_execution_plan_count())]
    for index, size in enumerate(sizes):
        if size > 0:
            pack = dict(zip(tensors, (*inputs, output(expected))))
            with pytest.raises(ValueError, match=f"requires {size}"):
                graph.execute_plan_at_index(pack, np.empty(size - 1, np.uint8), index)


def test_overrides_are_honoured():
    x = np.arange(-50, 50, dtype=np.int8).reshape(1, 1, 10, 10)
    w = np.ones((1, 1, 3, 3), np.int8)
    graph = cudnn.pygraph(compute_data_type=DT.INT32, is_override_shape_enabled=True)
    X, W = graph.tensor_like(x), graph.tensor_like(w)
    Y = graph.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(DT.INT32)
    graph.build([A])
    small = np.ascontiguousarray(x[:, :, :4, :6])
    y = np.full((1, 1, 4, 6), 0x5A, np.int32)
    shapes = dict(override_uids=[X.get_uid(), Y.get_uid()], override_shapes=[[1, 1, 4, 6], [1, 1, 4, 6]],
                  override_strides=[[24, 24, 6, 1], [24, 24, 6, 1]])  # fmt: skip
    graph.execute({X: small, W: w, Y: y}, **shapes)
    assert np.array_equal(y, reference.fprop(small, w, [1, 1], [1, 1], [1, 1], [1, 1]))
    y[...] = 0x5A
    graph.execute_plan_at_index({X: small, W: w, Y: y}, None, 0, **shapes)
    assert np.array_equal(y, reference.fprop(small, w, [1, 1], [1, 1], [1, 1], [1, 1]))


# ---- text and bytes


def test_serialise_and_back():
    graph, (X, W, Y), (x, w), expected = problem()
    graph.build([A])
    as_list, as_bytes = graph.serialize(), graph.serialize(as_bytes=True)
    assert isinstance(as_list, list) and isinstance(as_bytes, bytes) and bytes(as_list) == as_bytes
    handle = cudnn.create_handle("cpu")
    for data, first in ((as_list, ()), (as_bytes, (handle,)), (bytearray(as_bytes), ()), (memoryview(as_bytes), (handle,))):
        again = cudnn.pygraph()
        again.deserialize(*first, data)
        y = output(expected)
        again.execute({X.get_uid(): x, W.get_uid(): w, Y.get_uid(): y}, np.empty(again.get_workspace_size(), np.uint8))
        assert np.array_equal(y, expected)
        known = again.query_tensor_attributes_of_uid(Y.get_uid())
        assert known.get_dim() == Y.get_dim() and known.get_data_type() is DT.INT32 and known.get_stride() == Y.get_stride()
        assert again.find_tensor(X.get_uid()).get_dim() == X.get_dim()
        with pytest.raises(ValueError, match="INT32"):  # a deserialised graph checks what is bound to it as well
            again.execute({X.get_uid(): x, W.get_uid(): w, Y.get_uid(): output(expected, np.int64)})
    cudnn.destroy_handle(handle)


def test_json_and_back():
    graph, (X, W, Y), (x, w), expected = problem()
    graph.validate()
    text = repr(graph)
    assert json.loads(text)["json_version"] == "2.0"
    again = cudnn.pygraph()
    again.deserialize(text)
    again.build([A])
    y = output(expected)
    again.execute({1: x, 2: w, 3: y})
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("data", [b"", b"garbage", [1, 2, 3], "{", "[]", '{"json_version":"7.0"}', bytes(range(256)) * 40])
def test_garbage_is_refused_not_crashed_on(data):
    with pytest.raises((cudnn.cudnnGraphNotSupportedError, RuntimeError, ValueError)):
        cudnn.pygraph().deserialize(data)


@pytest.mark.parametrize("data", [[1000], [-1], 3.5, None])
def test_wrong_types_to_deserialize(data):
    with pytest.raises(TypeError):
        cudnn.pygraph().deserialize(data)


def test_every_truncation_of_a_serialised_graph_is_refused(rng):
    graph, *_ = problem()
    blob = graph.serialize(as_bytes=True)
    for cut in sorted({0, 1, *rng.integers(0, len(blob), 60).tolist()}):
        with pytest.raises((cudnn.cudnnGraphNotSupportedError, RuntimeError, ValueError)):
            cudnn.pygraph().deserialize(blob[:cut])


def test_flipped_bytes_never_crash(rng):
    graph, (X, W, Y), (x, w), expected = problem()
    blob = bytearray(graph.serialize(as_bytes=True))
    outcomes = set()
    for _ in range(300):
        changed = bytearray(blob)
        for where in rng.integers(0, len(blob), int(rng.integers(1, 4))):
            changed[where] = int(rng.integers(0, 256))
        try:
            cudnn.pygraph().deserialize(bytes(changed))
            outcomes.add("read")
        except (cudnn.cudnnGraphNotSupportedError, RuntimeError, ValueError):
            outcomes.add("refused")
    assert "refused" in outcomes


def test_keys():
    keys = {}
    for name, kw in {"same": {}, "again": {}, "pad": dict(pad=(2, 2)), "stride": dict(stride=(2, 1)), "dil": dict(dilation=(2, 2)),
                     "flip": dict(convolution_mode=cudnn.convolution_mode.CONVOLUTION)}.items():  # fmt: skip
        x, w = np.zeros((1, 2, 9, 9), np.int8), np.zeros((1, 2, 3, 3), np.int8)
        graph, *_ = conv(x, w, out=DT.INT32, io=DT.INT8, **kw)
        graph.validate()
        keys[name] = graph.key()
    assert keys.pop("again") == keys["same"] and len(set(keys.values())) == len(keys)


# ---- devices


def test_without_a_handle_for_a_named_device():
    properties = cudnn.create_device_properties("cpu")
    again = cudnn.create_device_properties(properties.text)
    assert again.text == properties.text
    _, _, (x, w), expected = problem()
    graph = cudnn.pygraph(compute_data_type=DT.INT32, device_property=again)
    X, W = graph.tensor_like(x), graph.tensor_like(w)
    Y = graph.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(DT.INT32)
    blob = graph.serialize(as_bytes=True)
    with pytest.raises(RuntimeError, match="handle"):
        graph.execute({X: x, W: w, Y: output(expected)})
    loaded = cudnn.pygraph()
    loaded.deserialize(blob)
    y = output(expected)
    loaded.execute({X.get_uid(): x, W.get_uid(): w, Y.get_uid(): y})
    assert np.array_equal(y, expected)
    for bad in ("no such device", "{", 99):
        with pytest.raises((RuntimeError, ValueError, cudnn.cudnnGraphNotSupportedError)):
            cudnn.create_device_properties(bad)


def test_kernel_cache_implies_dynamic_shapes():
    cache = cudnn.create_kernel_cache()
    _, _, (x, w), expected = problem()
    for _ in range(2):
        graph = cudnn.pygraph(compute_data_type=DT.INT32, kernel_cache=cache)
        Y = graph.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(DT.INT32)
        y = output(expected)
        graph.execute({Y: y})
        assert np.array_equal(y, expected)


def test_explain_names_every_engine():
    graph, *_ = problem()
    text = cudnn.explain(graph)
    assert text == graph.explain()
    for engine in cudnn._octavo.engine_names():
        if not engine.startswith("cuda"):
            assert engine in text
    assert "INT8" in text or "s8" in text


def test_autotune_keeps_the_callers_output():
    graph, tensors, inputs, expected = problem()
    graph.build_plans(cudnn.build_plan_policy.ALL)
    y = output(expected)
    before = y.copy()
    graph.autotune(dict(zip(tensors, (*inputs, y))))
    assert np.array_equal(y, before)
    assert np.array_equal(run(graph, tensors, inputs, expected), expected)


def test_a_constant_filter_is_packed_once():
    graph, (X, W, Y), (x, w), expected = problem()
    held = w.copy(order="K")
    W.set_constant(held)
    graph.build([A])
    y = output(expected)
    graph.execute({X: x, Y: y})
    assert np.array_equal(y, expected)
    held[...] = 0  # no longer looked at
    y[...] = 0x5A
    graph.execute({X: x, Y: y})
    assert np.array_equal(y, expected)
    wrong, (_, W2, _), _, _ = problem()
    W2.set_constant(w.astype(np.int32))
    with pytest.raises(ValueError, match="INT8"):
        wrong.build([A])


def test_eight_threads_share_a_plan():
    graph, (X, W, Y), (x, w), expected = problem()
    graph.build([A])
    inputs = [np.roll(x, i, axis=2) for i in range(8)]
    wants = [reference.fprop(v, w, [1, 1], [1, 1], [1, 1], [1, 1]) for v in inputs]
    bad = []

    def work(i):
        handle = cudnn.create_handle("cpu")
        try:
            for _ in range(100):
                y = output(expected)
                graph.execute({X: inputs[i], W: w, Y: y}, None, handle)
                if not np.array_equal(y, wants[i]):
                    bad.append(i)
        except Exception as error:  # a thread must not swallow it
            bad.append(repr(error))
        finally:
            cudnn.destroy_handle(handle)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad, bad


# ---- graph(), jit(), graph_cache()


def test_jit_and_graph_and_cache():
    _, _, (x, w), expected = problem()
    handle = cudnn.create_handle("cpu")
    made = []

    @cudnn.graph_cache(key_fn=lambda handle, a, b: (a.shape, b.shape))
    @cudnn.jit(heur_modes=[A, cudnn.heur_mode.B])
    def build(handle, a, b):
        made.append(1)
        with cudnn.graph(handle, io_data_type=DT.INT8, compute_data_type=DT.INT32) as (g, _):
            X, W = g.tensor_like(a), g.tensor_like(b)
            Y = g.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1]).set_output(True).set_data_type(DT.INT32)
            return g, [X, W, Y]

    g, uids = build(handle, x, w)
    assert uids == [1, 2, 3] and build(handle, x, w)[0] is g and len(made) == 1
    assert build.__wrapped__.__wrapped__.__name__ == "build"
    y = output(expected)
    g.execute(dict(zip(uids, (x, w, y))), np.empty(g.get_workspace_size(), np.uint8), handle=handle)
    assert np.array_equal(y, expected)
    cudnn.destroy_handle(handle)
    with cudnn.graph(None) as (g, tensors):
        assert g.context.io_data_type is DT.HALF and g.context.compute_data_type is DT.FLOAT and tensors == []


def test_graph_cache_forgets_the_oldest():
    calls = []

    @cudnn.graph_cache(key_fn=lambda v: v, maxsize=2)
    def make(v):
        calls.append(v)
        return v

    for v in (1, 2, 1, 3, 1, 2):
        make(v)
    assert calls == [1, 2, 3, 2]


def test_graph_wrapper(arrays):
    _, _, (x, w), expected = problem()
    x, w = arrays(x), arrays(w)
    with cudnn.Graph(
        compute_data_type=DT.INT32, inputs=["conv::image", "conv::weight"], outputs=["conv::Y"]
    ) as g:  # fmt: skip
        y = g.conv_fprop(x, w, padding=[1, 1], stride=[1, 1], dilation=[1, 1], name="conv")
        y.set_output(True).set_data_type(DT.INT32)
    result = g(x, w)
    assert type(result) is type(x) and np.array_equal(np.asarray(result), expected)
    named = g({"conv::image": x, "conv::weight": w})
    assert np.array_equal(np.asarray(named["conv::Y"]), expected)
    g.set_io_tuples([x, w], ["conv::0", "conv::Y"])
    first, second = g(x, w)
    assert np.array_equal(np.asarray(second), expected)
    for call in (g.validate, g.build, lambda: g.execute({})):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(ValueError):
        g.set_io_tuples("ab", [])
    with pytest.raises(KeyError):
        g({"nothing": x})
    with pytest.raises(ValueError, match="2 inputs"):
        g(x)
