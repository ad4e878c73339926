# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""One operation of a graph, as pygraph.nodes shows it."""

from typing import TYPE_CHECKING, Any, Dict, List, Optional

from ._enums import NodeType, data_type

if TYPE_CHECKING:
    from ._tensor import tensor


class Node:
    __slots__ = ("type", "op", "name", "inputs", "outputs", "params", "compute_data_type", "out_dims")

    def __init__(
        self,
        type: NodeType,
        op: str,
        name: str,
        inputs: "Dict[str, tensor]",
        params: Dict[str, Any],
        compute_data_type: Optional[data_type],
        out_dims: Optional[List[int]] = None,
    ) -> None:
        self.type = type
        self.op = op  # the method that made it: "relu", "conv_fprop"
        self.name = name
        self.inputs = inputs
        self.outputs: "Dict[str, tensor]" = {}
        self.params = params
        self.compute_data_type = compute_data_type  # None: the graph's
        self.out_dims = out_dims

    def __repr__(self) -> str:
        return f"Node('{self.name}', {self.type.name})"
