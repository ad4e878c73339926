# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The private path under which cudnn-frontend programs reach what its package does not export."""

from ._enums import (  # noqa: F401
    attention_implementation,
    behavior_note,
    build_plan_policy,
    convolution_mode,
    cuda_graph_retention,
    data_type,
    diagonal_alignment,
    heur_mode,
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
from ._errors import cudnnGraphNotSupportedError, get_last_error_string  # noqa: F401
from ._handle import create_handle, destroy_handle, get_stream, set_stream  # noqa: F401
from ._lifecycle import knob  # noqa: F401
from ._octavo import DeviceProperties as device_properties  # noqa: F401
from ._octavo import KernelCache as kernel_cache  # noqa: F401
from ._pygraph import pygraph  # noqa: F401
from ._pygraph import pygraph as backend_graph  # noqa: F401
from ._tensor import tensor  # noqa: F401
