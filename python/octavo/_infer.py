# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Dims and strides of results, worked out before the graph is lowered, so that get_dim() answers at once.

The native library infers again, from what the user set; tests hold the two equal. An empty list means: not known.
"""

from typing import TYPE_CHECKING, List, Optional, Sequence

from ._enums import NodeType

if TYPE_CHECKING:
    from ._node import Node
    from ._tensor import tensor

Ints = List[int]


def row_major(dim: Sequence[int]) -> Ints:
    stride, running = [0] * len(dim), 1
    for i in reversed(range(len(dim))):
        stride[i] = running
        running *= max(dim[i], 1)
    return stride


def channels_last(dim: Sequence[int]) -> Ints:
    """N, spatial, C in memory, whatever the rank."""
    if len(dim) < 3:
        return row_major(dim)
    order = [0, *range(2, len(dim)), 1]
    stride, running = [0] * len(dim), 1
    for i in reversed(order):
        stride[i] = running
        running *= max(dim[i], 1)
    return stride


def _convolution_dim(node: "Node") -> Ints:
    p = node.params
    pre, post, stride, dilation = (p.get(key) for key in ("pre_padding", "post_padding", "stride", "dilation"))
    if pre is None or post is None or stride is None or dilation is None:
        return []
    kind = node.type
    first, second = (t.get_dim() for t in list(node.inputs.values())[:2])
    rank = len(first)
    spatial = rank - 2
    if spatial < 1 or len(second) != rank or any(len(v) != spatial for v in (pre, post, stride, dilation)):
        return []
    if min(*stride, *dilation) < 1 or kind is NodeType.CONV_WGRAD:
        return []
    filter_dim = second
    out: Ints = []
    for i in range(spatial):
        reach = dilation[i] * (filter_dim[i + 2] - 1)
        if kind is NodeType.CONV_FPROP:
            out.append(1 + (first[i + 2] + pre[i] + post[i] - reach - 1) // stride[i])
        else:  # the smallest image that gives this loss
            out.append((first[i + 2] - 1) * stride[i] + reach + 1 - pre[i] - post[i])
    # Groups cannot be told from DY and W alone: a grouped DX needs set_dim().
    return [first[0], filter_dim[0 if kind is NodeType.CONV_FPROP else 1], *out]


def _broadcast_dim(inputs: Sequence["tensor"]) -> Ints:
    dims = [t.get_dim() for t in inputs]
    if not dims or any(not d for d in dims):
        return []
    rank = max(len(d) for d in dims)
    out = [1] * rank
    for d in dims:
        for i, extent in enumerate(d, start=rank - len(d)):
            if extent != 1:
                if out[i] not in (1, extent):
                    return []
                out[i] = extent
    return out


def infer_dim(node: "Node", port: str) -> Ints:
    if node.out_dims is not None:
        return list(node.out_dims)
    if node.type in (NodeType.CONV_FPROP, NodeType.CONV_DGRAD):
        return _convolution_dim(node)
    if node.type is NodeType.POINTWISE:
        return _broadcast_dim(list(node.inputs.values()))
    if node.type is NodeType.GENSTATS:
        dim = next(iter(node.inputs.values())).get_dim()
        return [1, dim[1], *[1] * (len(dim) - 2)] if len(dim) > 2 else []
    return []


def infer_stride(node: "Node", dim: Ints) -> Ints:
    if not dim:
        return []
    if node.type is NodeType.POINTWISE:
        like: Optional[Ints] = None
        for t in node.inputs.values():  # the last operand of the result's shape decides the layout
            if t.get_dim() == dim and t.get_stride():
                like = t.get_stride()
        if like is not None:
            return like
    return channels_last(dim)
