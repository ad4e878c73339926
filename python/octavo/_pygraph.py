# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""pygraph: tensors and operations as plain Python objects, lowered to the native graph by validate().

Everything stays changeable until plans exist: a change after validate() drops the native graph, and the next step of the
lifecycle lowers again.
"""

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _octavo
from ._base import GraphContext
from ._buffers import describe
from ._dtypes import to_data_type
from ._enums import data_type as DataType
from ._enums import scalar_type as ScalarType
from ._enums import member, tensor_reordering
from ._errors import make_error
from ._execution import Execution
from ._foreign_ops import ForeignOps
from ._handle import Handle, check_handle, default_handle
from ._infer import row_major
from ._lifecycle import Lifecycle
from ._node import Node
from ._ops import ConvolutionOps, PointwiseOps
from ._ops_base import is_number
from ._tensor import int_list, text, whole
from ._tensor import tensor as Tensor

class pygraph(ConvolutionOps, PointwiseOps, ForeignOps, Lifecycle, Execution):
    def __init__(
        self, name: str = "test_graph", io_data_type: Any = None, intermediate_data_type: Any = None,
        compute_data_type: Any = None, handle: Optional[int] = None, sm_count: Optional[int] = None,
        sm_version: Optional[int] = None, kernel_cache: Optional[_octavo.KernelCache] = None,
        device_property: Optional[_octavo.DeviceProperties] = None, is_dynamic_shape_enabled: bool = False,
        is_override_shape_enabled: bool = False, cuda_graph_retention: Any = None, *,
        is_cuda_graph_replay_expected: bool = False,
    ) -> None:  # fmt: skip
        self.name = name
        self.context = GraphContext(io_data_type, intermediate_data_type, compute_data_type)
        self._handle: Optional[Handle] = None
        if handle is not None:
            self._handle = check_handle(handle)
        elif device_property is None:
            self._handle = default_handle()
        self._settings: Dict[str, Any] = dict(
            sm_count=sm_count, sm_version=sm_version, kernel_cache=kernel_cache, device_properties=device_property,
            dynamic_shape_enabled=is_dynamic_shape_enabled or kernel_cache is not None,
            override_shape_enabled=is_override_shape_enabled, cuda_graph_retention=cuda_graph_retention,
        )  # fmt: skip
        self.is_cuda_graph_replay_expected = is_cuda_graph_replay_expected
        self._nodes: List[Node] = []
        self._tensors: List[Tensor] = []
        self._by_uid: Dict[int, Tensor] = {}
        self._next_uid = 1
        self._op_counts: Dict[str, int] = {}
        self._bindings: Dict[int, Tuple[Tensor, Any]] = {}
        self._reset_lifecycle()

    # ---- tensors
    def tensor(
        self, dim: Sequence[int], stride: Optional[Sequence[int]] = None, data_type: Any = None, is_virtual: bool = False,
        is_pass_by_value: bool = False, ragged_offset: Optional[Tensor] = None, reordering_type: Any = None, name: str = "",
        uid: Optional[int] = None, ragged_offset_multiplier: int = 1, alignment_value: Optional[int] = None,
    ) -> Tensor:  # fmt: skip
        """dim in the order N,C,spatial (a filter: K,C/g,spatial), whatever the layout in memory; stride in elements
        (default: row-major)."""
        dims = int_list(dim, "dim")
        strides = row_major(dims) if stride is None else int_list(stride, "stride")
        dtype = None if data_type is None else to_data_type(data_type)
        text(name, "name")
        if uid is not None and uid != -1 and uid in self._by_uid and self._by_uid[uid]._uid_assigned:
            raise make_error("INVALID_VALUE", _duplicate(uid, name, self._by_uid[uid]))
        self._mutate("tensor()")
        t = self._new_tensor(name or f"tensor_{len(self._tensors)}")
        t._dim, t._stride, t._data_type = dims, strides, dtype
        t._is_virtual, t._is_pass_by_value = bool(is_virtual), bool(is_pass_by_value)
        t._ragged_offset, t._ragged_multiplier = ragged_offset, whole(ragged_offset_multiplier, "ragged_offset_multiplier")
        if reordering_type is not None:
            t._reordering = member(tensor_reordering, reordering_type, f"reordering_type of tensor '{t._name}'")
        if alignment_value is not None:
            t._alignment = whole(alignment_value, f"alignment_value of tensor '{t._name}'")
        if uid is not None and uid != -1:
            t.set_uid(uid)
        return t

    def tensor_like(self, template: Any, name: str = "", is_virtual: bool = False) -> Tensor:
        """Like a tensor of a graph (a fresh uid), or like an array: its dims, strides and type. On a GPU handle an array
        in CPU memory becomes a by-value tensor, as in 1.23."""
        if isinstance(template, Tensor):
            t = self.tensor(
                template.get_dim(), template.get_stride(), name=name, is_virtual=is_virtual or template._is_virtual,
                is_pass_by_value=template._is_pass_by_value, reordering_type=template._reordering,
                alignment_value=template._alignment,
            )  # fmt: skip
            own = template._data_type
            t._data_type = own if own is not None or template.owner is self else template.get_data_type()
            t._vector, t._value, t._compile_time = template._vector, template._value, template._compile_time
            return t
        seen = describe(template, "tensor_like()")
        if seen.data_type is None:
            raise TypeError(f"tensor_like() got an array of {seen.type_name}, which no data_type names.")
        # An array without dims is one element, as a tensor with one dim is.
        t = self.tensor(seen.shape or [1], seen.strides or [1], seen.data_type, is_virtual, name=name)
        if seen.on_host and self._handle is not None and self._handle.is_cuda:
            t._is_pass_by_value = True
        return t

    def tensor_scalar(self, value: Union[int, float], scalar_type: ScalarType, name: str = "") -> Tensor:
        """A FLOAT scalar that the graph owns (set_data_type() changes the type)."""
        if not is_number(value):
            raise TypeError(f"tensor_scalar() takes a number, not {type(value).__name__}.")
        kind = member(ScalarType, scalar_type, "tensor_scalar(): scalar_type")
        text(name, "name")
        self._mutate("tensor_scalar()")
        t = self._new_tensor(name or f"scalar_{len(self._tensors)}")
        t._dim, t._stride, t._data_type = [1, 1, 1, 1], [1, 1, 1, 1], DataType.FLOAT
        t._is_pass_by_value, t._value, t._compile_time = True, value, kind is ScalarType.COMPILE_TIME_CONST
        return t

    def __reduce__(self) -> Any:
        raise TypeError("a graph can be neither copied nor pickled; serialize() gives its bytes, and deserialize() takes them.")

    def _new_tensor(self, name: str) -> Tensor:
        while self._next_uid in self._by_uid:
            self._next_uid += 1
        t = Tensor(self, self._next_uid, name)
        self._by_uid[self._next_uid] = t
        self._next_uid += 1
        self._tensors.append(t)
        return t

    def _claim_uid(self, t: Tensor, uid: int) -> None:
        """Gives a tensor the uid that its user wants; an automatic uid makes way."""
        holder = self._by_uid.get(uid)
        if holder is t:
            return
        if holder is not None and (holder._uid_assigned or holder._uid_read):
            raise make_error("INVALID_VALUE", _duplicate(uid, t._name, holder))
        if self._by_uid.get(t._uid) is t:
            del self._by_uid[t._uid]
        self._by_uid[uid] = t
        if holder is not None:
            while self._next_uid in self._by_uid:
                self._next_uid += 1
            holder._uid = self._next_uid
            self._by_uid[self._next_uid] = holder
            self._next_uid += 1

    def _node_name(self, op: str, name: str) -> str:
        if name:
            return name
        count = self._op_counts.get(op, 0)
        self._op_counts[op] = count + 1
        return f"{op}.{count}"

    # ---- inspection
    @property
    def handle(self) -> Optional[Handle]:
        return self._handle

    @property
    def nodes(self) -> List[Node]:
        return list(self._nodes)

    @property
    def tensors(self) -> Dict[str, Tensor]:
        return {t._name: t for t in self._tensors}

    def find_tensor(self, name_or_uid: Union[str, int]) -> Optional[Tensor]:
        """None where there is no such tensor; ValueError where two share the name."""
        if not isinstance(name_or_uid, str):
            return self._by_uid.get(name_or_uid)
        found = [t for t in self._tensors if t._name == name_or_uid]
        if len(found) > 1:
            uids = ", ".join(str(t._uid) for t in found)
            raise ValueError(f"the name '{name_or_uid}' means {len(found)} tensors (uids {uids}); use the uid.")
        return found[0] if found else None

    def get_node(self, name: str) -> Optional[Node]:
        return next((node for node in self._nodes if node.name == name), None)

    def get_inputs(self) -> List[Tensor]:
        """The tensors to bind that no operation makes."""
        return [t for t in self._tensors if t._producer is None and not t._is_virtual and t._value is None]

    def get_outputs(self) -> List[Tensor]:
        return [t for t in self._tensors if t._producer is not None and not t._is_virtual]

    def inspect(self) -> Dict[str, Any]:
        def text(value: Any) -> Any:
            return value.name if hasattr(value, "name") and hasattr(value, "value") else value

        return {
            "name": self.name,
            "context": {
                "io_data_type": self.context.io_data_type.name,
                "intermediate_data_type": self.context.intermediate_data_type.name,
                "compute_data_type": self.context.compute_data_type.name,
            },
            "nodes": [
                {
                    "name": node.name,
                    "type": node.type.name if node.type.name != "OTHER" else node.op.upper(),
                    "inputs": {port: t._name for port, t in node.inputs.items()},
                    "outputs": {port: t._name for port, t in node.outputs.items()},
                    "params": {key: text(value) for key, value in node.params.items()},
                }
                for node in self._nodes
            ],
            "tensors": {t._name: t.describe() for t in self._tensors},
        }

    def __repr__(self) -> str:
        """JSON: of the native graph once there is one, else of what was written down so far."""
        return self._native.to_json() if self._native is not None else json.dumps(self.inspect())


def _duplicate(uid: int, name: str, holder: Tensor) -> str:
    return f"uid {uid} for tensor named {name or '(unnamed)'} has been already assigned to another tensor, '{holder._name}'."
