# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Octavo: convolutions that are right in every layout and type. ``import octavo as cudnn`` runs convolution programs
written for cudnn-frontend 1.23 and 1.32."""

from typing import Any, Union

from . import _compiled_module, _octavo
from ._base import GraphContext
from ._enums import (
    FRONTEND_KNOB_TYPE_BASE,
    NodeType,
    attention_implementation,
    behavior_note,
    build_plan_policy,
    convolution_mode,
    cuda_graph_retention,
    data_type,
    diagonal_alignment,
    heur_mode,
    is_frontend_knob_type,
    knob_type,
    moe_grouped_matmul_mode,
    norm_forward_phase,
    numerical_note,
    pointwise_mode,
    reduction_mode,
    reshape_mode,
    scalar_type,
    tensor_reordering,
)
from ._errors import (
    GraphInvalidValueError,
    GraphRuntimeError,
    GraphValueError,
    PlanIndexError,
    UnknownTensorError,
    cudnnGraphNotSupportedError,
    get_last_error_string,
)
from ._functional import graph, graph_cache, jit
from ._handle import Handle, create_handle, destroy_handle, get_stream, set_stream
from ._lifecycle import knob
from ._node import Node
from ._octavo import DeviceProperties, KernelCache
from ._pygraph import pygraph
from ._tensor import Tensor, tensor
from .wrapper import Graph

kernel_cache = KernelCache
device_properties = DeviceProperties
_pybind_module = _compiled_module

__version__ = _octavo.version


def backend_version() -> int:
    """The cuDNN version whose conv behaviour this library answers for: programs gate on it."""
    return _octavo.backend_version


def backend_version_string() -> str:
    version = backend_version()
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"


def create_kernel_cache() -> KernelCache:
    return KernelCache()


def create_device_properties(device: Union[int, str]) -> DeviceProperties:
    """Of a device by ordinal, of the JSON that another machine wrote, or (extension) by name: "cpu", "h200"."""
    if isinstance(device, str):
        text = device.strip()
        return DeviceProperties.of_text(text) if text.startswith("{") else DeviceProperties.of_name(text)
    return DeviceProperties.of_device(device)


def explain(g: Any) -> str:
    """What a graph lowers to, and every engine's verdict with its reason."""
    text: str = g.explain()
    return text


__all__ = [
    "DeviceProperties",
    "FRONTEND_KNOB_TYPE_BASE",
    "Graph",
    "GraphContext",
    "GraphInvalidValueError",
    "GraphRuntimeError",
    "GraphValueError",
    "Handle",
    "KernelCache",
    "Node",
    "NodeType",
    "PlanIndexError",
    "Tensor",
    "UnknownTensorError",
    "attention_implementation",
    "backend_version",
    "backend_version_string",
    "behavior_note",
    "build_plan_policy",
    "convolution_mode",
    "create_device_properties",
    "create_handle",
    "create_kernel_cache",
    "cuda_graph_retention",
    "cudnnGraphNotSupportedError",
    "data_type",
    "destroy_handle",
    "device_properties",
    "diagonal_alignment",
    "explain",
    "get_last_error_string",
    "get_stream",
    "graph",
    "graph_cache",
    "heur_mode",
    "is_frontend_knob_type",
    "jit",
    "kernel_cache",
    "knob",
    "knob_type",
    "moe_grouped_matmul_mode",
    "norm_forward_phase",
    "numerical_note",
    "pointwise_mode",
    "pygraph",
    "reduction_mode",
    "reshape_mode",
    "scalar_type",
    "set_stream",
    "tensor",
    "tensor_reordering",
]
