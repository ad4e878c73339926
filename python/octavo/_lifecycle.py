# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The lifecycle of pygraph: lowering, plans, queries, filters, text."""

import math
from typing import Any, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

from . import _octavo
from ._base import GraphBase
from ._buffers import constant_address
from ._enums import (
    NodeType, behavior_note, build_plan_policy, data_type, heur_mode, knob_type, member, numerical_note, tensor_reordering,
)  # fmt: skip
from ._errors import make_error
from ._handle import check_handle
from ._node import Node
from ._tensor import tensor, text, whole

Self = TypeVar("Self", bound="Lifecycle")
# Stages, in order. A step that needs an earlier one takes it.
_DEFINED, _VALIDATED, _LOWERED, _PLANNED, _SUPPORTED, _BUILT = range(6)
_FLOATS = (data_type.FLOAT, data_type.DOUBLE, data_type.HALF, data_type.BFLOAT16, data_type.FP8_E4M3, data_type.FP8_E5M2)
# Modes whose result is whole for whole operands: an integer graph without a compute type may take them in INT32.
_WHOLE = {
    "ADD", "MUL", "SUB", "MAX", "MIN", "NEG", "ABS", "IDENTITY", "RELU_FWD", "ADD_SQUARE", "MOD", "GEN_INDEX",
    "BINARY_SELECT", "CMP_EQ", "CMP_NEQ", "CMP_GT", "CMP_GE", "CMP_LT", "CMP_LE", "LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT",
}  # fmt: skip


class knob:
    """One tunable of one engine: min_value, min_value + stride, ..., max_value."""

    def __init__(self, type: knob_type, max_value: int, min_value: int, stride: int) -> None:
        self.type, self.max_value, self.min_value, self.stride = knob_type(type), max_value, min_value, stride

    def __repr__(self) -> str:
        return f"knob(type={self.type}, max_value={self.max_value}, min_value={self.min_value}, stride={self.stride})"


class Lifecycle(GraphBase):
    def _reset_lifecycle(self) -> None:
        self._native: Optional[_octavo.Graph] = None
        self._stage = _DEFINED
        self._adopted = False  # deserialised: there are no Python tensors or nodes behind the native graph
        self._filters: List[Tuple[str, Any]] = []

    def _mutate(self, what: str) -> None:
        if self._stage >= _PLANNED or self._adopted:
            why = "was deserialised" if self._adopted else "has execution plans"
            raise make_error(
                "GRAPH_EXECUTION_FAILED",
                f"{what}: the graph is frozen, because it {why}; change it before create_execution_plans() or build(), "
                "or make another graph.",
            )
        if self._stage > _DEFINED:
            self._native = None
            self._stage = _DEFINED
            for t in self._tensors:
                t._native = None

    # ---- lowering
    def _lower(self) -> _octavo.Graph:
        for node in self._nodes:
            if node.type is NodeType.OTHER:
                raise make_error(
                    "GRAPH_NOT_SUPPORTED",
                    f"Operation {node.op} (node '{node.name}') is not supported: this library computes convolutions with "
                    "pointwise operations, reductions and genstats around them. Take it out of the graph.",
                )
        native = _octavo.Graph()
        context, settings = self.context, self._settings
        native.set_name(self.name if self.name != "test_graph" else "")
        native.set_data_types(
            int(context.io_data_type), int(context.intermediate_data_type), int(context.compute_data_type)
        )
        for key in ("sm_count", "sm_version", "kernel_cache", "device_properties"):
            if settings[key] is not None:
                getattr(native, f"set_{key}")(settings[key])
        if settings["cuda_graph_retention"] is not None:
            native.set_cuda_graph_retention(int(settings["cuda_graph_retention"]))
        native.set_dynamic_shape_enabled(settings["dynamic_shape_enabled"])
        native.set_override_shape_enabled(settings["override_shape_enabled"])
        made: Dict[int, _octavo.Tensor] = {}
        for t in self._tensors:
            if t._producer is None:
                made[id(t)] = native.tensor(self._lower_tensor(t))
        for t in self._tensors:
            if t._ragged_offset is not None and t._producer is None and id(t._ragged_offset) in made:
                made[id(t)].set_ragged_offset(made[id(t._ragged_offset)])
        for node in self._nodes:
            for t, result in zip(node.outputs.values(), self._lower_node(native, node, made)):
                made[id(t)] = result
                self._lower_result(node, t, result)
        for t in self._tensors:
            t._native = made[id(t)]
        return native

    def _lower_tensor(self, t: tensor) -> _octavo.Tensor:
        if t._value is not None:
            rank = len(t.get_dim()) or 1
            dtype = int(t._data_type if t._data_type is not None else data_type.FLOAT)
            native = _octavo.Tensor.scalar(float(t._value), _whole_value(t), dtype, t._compile_time, rank)
        else:
            native = _octavo.Tensor()
            native.is_pass_by_value = t._is_pass_by_value
        self._set_common(t, native)
        return native

    def _lower_result(self, node: Node, t: tensor, native: _octavo.Tensor) -> None:
        if t._dim is None and (node.type is NodeType.CONV_DGRAD or node.out_dims is not None):
            native.dim = t.get_dim()  # the native library leaves DX to the user
        if t._dim is None and node.type in (NodeType.CONV_WGRAD, NodeType.REDUCTION) and node.out_dims is None:
            raise make_error(
                "ATTRIBUTE_NOT_SET",
                f"Tensor '{t._name}' dims not set: the dims of a {node.op} result do not follow from its operands; call set_dim().",
            )
        self._set_common(t, native)

    def _set_common(self, t: tensor, native: _octavo.Tensor) -> None:
        native.name, native.uid = t._name, t._uid
        if t._dim is not None:
            native.dim = t._dim
        if t._stride is not None:
            native.stride = t._stride
        if t._data_type is not None and t._value is None:
            native.data_type = int(t._data_type)
        native.is_virtual = t._is_virtual
        if t._alignment != 16:
            native.alignment = t._alignment
        if t._vector != (1, -1):
            native.set_vector(*t._vector)
        if t._reordering is not tensor_reordering.NONE:
            native.reordering_type = int(t._reordering)
        if t._constant is not None:
            native.set_constant_data(constant_address(t))

    def _compute(self, node: Node) -> int:
        """The node's own compute type, or NOT_SET for the graph's. Where neither was given, an integer graph computes in
        FLOAT as soon as a real number takes part."""
        if node.compute_data_type is not None:
            return int(node.compute_data_type)
        if self.context.compute_given or self.context.compute_data_type is not data_type.INT32:
            return 0
        if node.type is NodeType.POINTWISE:
            taking_part = [*node.inputs.values(), *(t for t in node.outputs.values() if t._data_type is not None)]
            integral = node.params["mode"].name in _WHOLE and not any(key != "mode" for key in node.params)
            if not integral or any(t.get_data_type() in _FLOATS for t in taking_part):
                return int(data_type.FLOAT)
        return 0

    def _lower_node(self, native: _octavo.Graph, node: Node, made: Dict[int, _octavo.Tensor]) -> Sequence[_octavo.Tensor]:
        p, compute = node.params, self._compute(node)
        inputs = [made[id(t)] for t in node.inputs.values()]
        if node.type is NodeType.POINTWISE:
            return [
                native.pointwise(
                    int(p["mode"]), inputs, compute, node.name, p.get("lower_clip"), p.get("upper_clip"), p.get("slope"),
                    p.get("swish_beta"), p.get("axis"),
                )
            ]  # fmt: skip
        if node.type is NodeType.REDUCTION:
            mode = 0 if p["mode"] is None else int(p["mode"])
            return [native.reduction(inputs[0], mode, compute, node.name, p["is_deterministic"])]
        if node.type is NodeType.GENSTATS:
            return native.genstats(inputs[0], compute, node.name)
        return [
            native.convolution(
                node.type.name, inputs[0], inputs[1], p["pre_padding"], p["post_padding"], p["stride"], p["dilation"],
                int(p["convolution_mode"]), compute, node.name, p["x_zero_point"], p["w_zero_point"],
                inputs[2] if len(inputs) > 2 else None,
            )
        ]  # fmt: skip

    # ---- the steps; each one takes those before it
    def validate(self) -> None:
        """Checks and infers. Needs no device; may be called again."""
        if self._stage < _VALIDATED:
            native = self._lower()
            try:
                native.validate()
            except Exception:
                for t in self._tensors:
                    t._native = None
                raise
            self._native, self._stage = native, _VALIDATED

    def build_operation_graph(self) -> None:
        self.validate()
        if self._stage < _LOWERED:
            assert self._native is not None
            self._native.build_operation_graph(0 if self._handle is None else int(self._handle))
            self._stage = _LOWERED

    def create_execution_plans(self, heuristics: Union[None, heur_mode, Sequence[heur_mode]] = None) -> None:
        if self._stage >= _PLANNED:
            raise make_error("GRAPH_EXECUTION_FAILED", "create_execution_plans() was called before; plans are made once.")
        self.build_operation_graph()
        assert self._native is not None
        self._native.create_execution_plans(_modes(heuristics))
        self._stage = _PLANNED
        for name, argument in self._filters:
            getattr(self._native, name)(argument)

    def create_execution_plan(self: Self, engine_id: int, knobs: Optional[Dict[knob_type, int]] = None) -> Self:
        self.build_operation_graph()
        assert self._native is not None
        values = [(int(member(knob_type, key, "a knob")), whole(value, f"knob {key}")) for key, value in (knobs or {}).items()]
        self._native.create_execution_plan(whole(engine_id, "engine_id"), values)
        self._stage = max(self._stage, _PLANNED)
        return self

    def check_support(self) -> None:
        self._need_plans()
        self._plans_native().check_support()
        self._stage = max(self._stage, _SUPPORTED)

    def build_plans(self, policy: build_plan_policy = build_plan_policy.HEURISTICS_CHOICE, *ignored: Any) -> None:
        wanted = int(member(build_plan_policy, policy, "build_plans(): policy"))
        self._need_plans()
        self._plans_native().build_plans(wanted)
        self._stage = _BUILT

    def build_plan_at_index(self: Self, index: int) -> Self:
        self._need_plans()
        self._plans_native().build_plan_at_index(self._index(index))
        self._stage = _BUILT
        return self

    select_plan = build_plan_at_index

    def build(
        self, heuristics: Union[None, heur_mode, Sequence[heur_mode]] = None,
        policy: build_plan_policy = build_plan_policy.HEURISTICS_CHOICE, *ignored: Any,
    ) -> None:  # fmt: skip
        """The whole chain. Does nothing where plans were built already."""
        if self._stage < _BUILT:
            if self._stage < _PLANNED:
                self.create_execution_plans(heuristics)
            self.check_support()
            self.build_plans(policy)

    def _ensure_built(self) -> None:
        if self._stage < _BUILT:
            self.build()

    def _need_plans(self) -> None:
        if self._stage < _PLANNED:
            self.create_execution_plans()

    def _plans_native(self) -> _octavo.Graph:
        if self._native is None or self._stage < _PLANNED:
            raise make_error("GRAPH_EXECUTION_FAILED", "There are no execution plans yet. Call build() first.")
        return self._native

    def _built_native(self) -> _octavo.Graph:
        if self._native is None or self._stage < _BUILT:
            raise make_error("GRAPH_EXECUTION_FAILED", "No execution plan is built yet. Call build() first.")
        return self._native

    def _index(self, index: int) -> int:
        count = self._plans_native().get_execution_plan_count()
        if not isinstance(index, int):
            raise TypeError(f"a plan index is an int, not {type(index).__name__}.")
        if not 0 <= index < count:
            raise make_error(
                "GRAPH_EXECUTION_FAILED", f"Plan index {index} is invalid: this graph has {count} plans, 0 to {count - 1}."
            )
        return index

    # ---- queries
    @property
    def plans(self) -> List[str]:
        return [self.get_plan_name_at_index(i) for i in range(self.get_execution_plan_count())]

    def get_execution_plan_count(self) -> int:
        return 0 if self._native is None else self._native.get_execution_plan_count()

    def get_selected_plan_index(self) -> int:
        return -1 if self._native is None else self._native.get_selected_plan_index()

    @property
    def selected_engine(self) -> Optional[str]:
        return None if self._stage < _BUILT else self._built_native().get_plan_name(-1)

    def backend_plan_entries(self) -> List[Tuple[int, str]]:
        return list(enumerate(self.plans))

    def get_engine_count(self) -> int:
        self.build_operation_graph()
        assert self._native is not None
        return self._native.get_engine_count()

    def get_knobs_for_engine(self, engine_id: int) -> List[knob]:
        self.build_operation_graph()
        assert self._native is not None
        return [knob(knob_type(t), high, low, step) for t, high, low, step in self._native.get_knobs_for_engine(whole(engine_id, "engine_id"))]

    def get_engine_and_knobs_at_index(self, index: int) -> Tuple[int, Dict[knob_type, int]]:
        engine, knobs = self._plans_native().get_engine_and_knobs_at_index(self._index(index))
        return engine, {knob_type(t): value for t, value in knobs}

    def get_workspace_size(
        self, handle: Optional[int] = None, override_uids: Any = None, override_shapes: Any = None, override_strides: Any = None
    ) -> int:
        return self._workspace(self._built_native(), -1, handle, override_uids, override_shapes, override_strides)

    def get_workspace_size_plan_at_index(
        self, index: int, handle: Optional[int] = None, override_uids: Any = None, override_shapes: Any = None,
        override_strides: Any = None,
    ) -> int:  # fmt: skip
        native = self._plans_native()
        return self._workspace(native, self._index(index), handle, override_uids, override_shapes, override_strides)

    def _workspace(self, native: _octavo.Graph, index: int, handle: Any, uids: Any, shapes: Any, strides: Any) -> int:
        if uids is None:
            return native.get_workspace_size(index)
        which = self._handle if handle is None else check_handle(handle)
        return native.get_workspace_size_with_overrides(
            0 if which is None else int(which), index, list(uids), [list(s) for s in shapes or []], [list(s) for s in strides or []]
        )

    def get_plan_name(self) -> str:
        return self._built_native().get_plan_name(-1)

    def get_plan_name_at_index(self, index: int) -> str:
        return self._plans_native().get_plan_name(self._index(index))

    def get_behavior_notes(self) -> List[behavior_note]:
        return [behavior_note(v) for v in self._built_native().get_behavior_notes(-1)]

    def get_behavior_notes_for_plan_at_index(self, index: int) -> List[behavior_note]:
        return [behavior_note(v) for v in self._plans_native().get_behavior_notes(self._index(index))]

    def get_numeric_notes(self) -> List[numerical_note]:
        return [numerical_note(v) for v in self._built_native().get_numeric_notes(-1)]

    def get_numeric_notes_for_plan_at_index(self, index: int) -> List[numerical_note]:
        return [numerical_note(v) for v in self._plans_native().get_numeric_notes(self._index(index))]

    def explain(self) -> str:
        """Extension: what this graph lowers to, and every engine's verdict with its reason."""
        self.validate()
        assert self._native is not None
        return self._native.explain()

    # ---- filters: remembered until plans exist
    def _filter(self: Self, name: str, argument: Any) -> Self:
        if self._native is not None and self._stage >= _PLANNED:
            getattr(self._native, name)(argument)
        else:
            self._filters.append((name, argument))
        return self

    def deselect_workspace_greater_than(self: Self, workspace_limit: int) -> Self:
        return self._filter("deselect_workspace_greater_than", whole(workspace_limit, "workspace_limit"))

    def deselect_shared_mem_greater_than(self: Self, limit: int) -> Self:
        return self._filter("deselect_shared_mem_greater_than", whole(limit, "limit"))

    def deselect_engines(self: Self, engine_names: Sequence[str]) -> Self:
        return self._filter("deselect_engines", [text(name, "an engine name") for name in ([engine_names] if isinstance(engine_names, str) else engine_names)])

    def select_behavior_notes(self: Self, notes: Sequence[behavior_note]) -> Self:
        return self._filter("select_behavior_notes", _notes(behavior_note, notes))

    def deselect_behavior_notes(self: Self, notes: Sequence[behavior_note]) -> Self:
        return self._filter("deselect_behavior_notes", _notes(behavior_note, notes))

    def select_numeric_notes(self: Self, notes: Sequence[numerical_note]) -> Self:
        return self._filter("select_numeric_notes", _notes(numerical_note, notes))

    def deselect_numeric_notes(self: Self, notes: Sequence[numerical_note]) -> Self:
        return self._filter("deselect_numeric_notes", _notes(numerical_note, notes))

    # ---- text and bytes
    def key(self) -> int:
        """Equal for graphs that mean the same."""
        return (self._native if self._native is not None else self._lower()).key()

    def serialize(self, *, as_bytes: bool = False, include_kernels: bool = True) -> Any:
        """The graph with its selected plan: list[int], or bytes."""
        self.build()
        data: bytes = self._built_native().serialize(True)
        return data if as_bytes else list(data)

    def deserialize(self, *args: Any) -> None:
        """deserialize(data) or deserialize(handle, data): bytes or list[int] from serialize() give an executable graph;
        JSON text gives a graph to build."""
        if len(args) not in (1, 2):
            raise TypeError(f"deserialize() takes data, or a handle and data, not {len(args)} arguments.")
        if len(args) == 2:
            self._handle = check_handle(args[0])
        data = args[-1]
        native = _octavo.Graph()
        if self._settings["device_properties"] is not None:
            native.set_device_properties(self._settings["device_properties"])
        if isinstance(data, str):
            native.from_json(text(data, "the JSON text"))
            native.validate()
            stage = _VALIDATED
        else:
            try:
                blob = bytes(data)
            except (TypeError, ValueError):
                raise TypeError("deserialize() takes bytes, a list of ints from 0 to 255, or JSON text.") from None
            native.deserialize(0 if self._handle is None else int(self._handle), blob, False)
            stage = _BUILT
        self._reset_lifecycle()
        self._nodes, self._tensors, self._by_uid, self._bindings = [], [], {}, {}
        for found in native.tensors():
            t = _tensor_of(found)
            t.owner = self
            self._tensors.append(t)
            self._by_uid[t._uid] = t
        self._native, self._stage, self._adopted = native, stage, True

    def query_tensor_attributes_of_uid(self, uid: int) -> tensor:
        """A copy of what the graph knows of one tensor."""
        if self._native is None:
            self.validate()
        assert self._native is not None
        return _tensor_of(self._native.query(whole(uid, "uid")))


def _notes(kind: Any, notes: Any) -> List[int]:
    return [int(member(kind, note, "a note")) for note in ([notes] if isinstance(notes, kind) else notes)]


_RANGES = {data_type.INT8: (-128, 127), data_type.UINT8: (0, 255), data_type.INT32: (-(2**31), 2**31 - 1), data_type.BOOLEAN: (0, 1)}


def _whole_value(t: tensor) -> int:
    """The value of a scalar as an int64, 0 where it is none; an integer type must hold it exactly."""
    value = float(t._value) if t._value is not None else 0.0
    number = int(t._value) if t._value is not None and math.isfinite(value) else None
    fits = number is not None and number == t._value and -(2**63) <= number < 2**63
    low, high = _RANGES.get(t.get_data_type(), (-(2**63), 2**63 - 1))
    if t.get_data_type() in (*_RANGES, data_type.INT64) and not (fits and number is not None and low <= number <= high):
        raise make_error(
            "INVALID_VALUE",
            f"Tensor '{t._name}' is {t.get_data_type().name} and its value is {t._value!r}, which that type cannot hold; "
            "call set_data_type(FLOAT) on it or pass another value.",
        )
    return number if fits and number is not None else 0


def _modes(heuristics: Any) -> List[int]:
    if heuristics is None:
        return [int(heur_mode.A), int(heur_mode.FALLBACK)]
    if isinstance(heuristics, heur_mode):
        return [int(heuristics)]
    return [int(member(heur_mode, mode, "a heuristic mode")) for mode in heuristics]


def _tensor_of(native: _octavo.Tensor) -> tensor:
    t = tensor(None, native.uid, native.name)
    t._native = native
    t._dim, t._stride = list(native.dim), list(native.stride)
    t._data_type = data_type(native.data_type)
    t._is_virtual, t._is_pass_by_value = native.is_virtual, native.is_pass_by_value
    t._compile_time = native.has_compile_time_constant
    t._reordering = tensor_reordering(native.reordering_type)
    t._alignment = native.alignment
    t._vector = (native.vector_count, native.vector_dimension)
    t._value = 0 if native.has_value else None  # owned by the native graph; the number is in its JSON
    return t
