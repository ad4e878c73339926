# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""What the parts of pygraph share: the graph's types and its state."""

from typing import Any, Dict, List, Optional, Tuple

from . import _octavo
from ._dtypes import to_data_type
from ._enums import data_type
from ._handle import Handle
from ._node import Node
from ._tensor import tensor as Tensor

_INTEGERS = (data_type.INT8, data_type.UINT8, data_type.INT8x4, data_type.UINT8x4, data_type.INT8x32, data_type.INT32)


class GraphContext:
    """The types that tensors and operations inherit. intermediate and compute follow io_data_type where they were not
    given, but never into a type that loses: integers sum and stay in INT32, small floats sum in FLOAT."""

    def __init__(self, io: Any, intermediate: Any, compute: Any) -> None:
        self.io_data_type = to_data_type(io)
        self.compute_given = compute is not None
        if intermediate is not None:
            self.intermediate_data_type = to_data_type(intermediate)
        elif self.io_data_type in _INTEGERS:
            self.intermediate_data_type = data_type.INT32
        elif self.io_data_type is not data_type.NOT_SET:
            self.intermediate_data_type = self.io_data_type
        else:
            self.intermediate_data_type = data_type.FLOAT
        if compute is not None:
            self.compute_data_type = to_data_type(compute)
        elif self.io_data_type in _INTEGERS:
            self.compute_data_type = data_type.INT32
        elif self.io_data_type is data_type.DOUBLE:
            self.compute_data_type = data_type.DOUBLE
        else:
            self.compute_data_type = data_type.FLOAT

    def __repr__(self) -> str:
        return (
            f"GraphContext(io_data_type={self.io_data_type}, intermediate_data_type={self.intermediate_data_type}, "
            f"compute_data_type={self.compute_data_type})"
        )


class GraphBase:
    """State of a pygraph, and the methods that its parts call across files."""

    name: str
    context: GraphContext
    _handle: Optional[Handle]
    _settings: Dict[str, Any]
    _nodes: List[Node]
    _tensors: List[Tensor]
    _by_uid: Dict[int, Tensor]
    _bindings: Dict[int, Tuple[Tensor, Any]]  # arrays that were given as operands
    _native: Optional[_octavo.Graph]
    _stage: int
    _adopted: bool

    def _mutate(self, what: str) -> None:
        raise NotImplementedError

    def _claim_uid(self, t: Tensor, uid: int) -> None:
        raise NotImplementedError

    def _new_tensor(self, name: str) -> Tensor:
        raise NotImplementedError

    def _node_name(self, op: str, name: str) -> str:
        raise NotImplementedError

    def tensor_like(self, template: Any, name: str = "", is_virtual: bool = False) -> Tensor:
        raise NotImplementedError
