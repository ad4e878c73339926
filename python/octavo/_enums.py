# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The enumerations of the cudnn-frontend convolution interface, with the integers of version 1.32.

``int(member)`` works; ``repr`` is ``data_type.HALF``; ``enum_class(3)`` gives the member back.
"""

import enum
from typing import Any, Type, TypeVar


class _Enum(enum.Enum):
    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __str__ = __repr__


_Member = TypeVar("_Member", bound=_Enum)


def member(kind: Type[_Member], value: Any, what: str) -> _Member:
    """A member of an enumeration, from itself or its integer (another enumeration's member with the same name counts too);
    the error names ``what`` and the valid spellings."""
    if isinstance(value, kind):
        return value
    if isinstance(value, enum.Enum):
        if type(value).__name__ == kind.__name__ and value.name in kind.__members__:
            return kind[value.name]
    elif not isinstance(value, (str, float)):
        try:
            return kind(value)
        except ValueError:
            pass
    names = ", ".join(kind.__members__)
    raise ValueError(f"{what} is {value!r}; it must be a member of octavo.{kind.__name__}: {names}.")


class data_type(_Enum):
    NOT_SET = 0
    FLOAT = 1
    DOUBLE = 2
    HALF = 3
    INT8 = 4
    INT32 = 5
    INT8x4 = 6
    UINT8 = 7
    UINT8x4 = 8
    INT8x32 = 9
    BFLOAT16 = 10
    INT64 = 11
    BOOLEAN = 12
    FP8_E4M3 = 14
    FP8_E5M2 = 15
    FAST_FLOAT_FOR_FP8 = 16
    FP8_E8M0 = 17
    FP8_E5M3 = 18
    FP4_E2M1 = 19
    INT4 = 20


class convolution_mode(_Enum):
    NOT_SET = 0
    CONVOLUTION = 1
    CROSS_CORRELATION = 2


class heur_mode(_Enum):
    A = 0
    B = 1
    FALLBACK = 2
    OPENSOURCE = 3


class build_plan_policy(_Enum):
    HEURISTICS_CHOICE = 0
    ALL = 1


class pointwise_mode(_Enum):
    NOT_SET = 0
    ADD = 1
    MUL = 2
    SQRT = 3
    MAX = 4
    MIN = 5
    RELU_FWD = 6
    TANH_FWD = 7
    SIGMOID_FWD = 8
    ELU_FWD = 9
    GELU_FWD = 10
    SOFTPLUS_FWD = 11
    SWISH_FWD = 12
    RELU_BWD = 13
    TANH_BWD = 14
    SIGMOID_BWD = 15
    ELU_BWD = 16
    GELU_BWD = 17
    SOFTPLUS_BWD = 18
    SWISH_BWD = 19
    ERF = 20
    IDENTITY = 21
    GELU_APPROX_TANH_BWD = 22
    GELU_APPROX_TANH_FWD = 23
    GEN_INDEX = 24
    BINARY_SELECT = 25
    EXP = 26
    LOG = 27
    NEG = 28
    MOD = 29
    POW = 30
    ABS = 31
    CEIL = 32
    COS = 33
    FLOOR = 34
    RSQRT = 35
    SIN = 36
    LOGICAL_NOT = 37
    TAN = 38
    SUB = 39
    ADD_SQUARE = 40
    DIV = 41
    CMP_EQ = 42
    CMP_NEQ = 43
    CMP_GT = 44
    CMP_GE = 45
    CMP_LT = 46
    CMP_LE = 47
    LOGICAL_AND = 48
    LOGICAL_OR = 49
    RECIPROCAL = 50


class reduction_mode(_Enum):
    NOT_SET = 0
    ADD = 1
    MUL = 2
    MIN = 3
    MAX = 4
    AMAX = 5
    AVG = 6
    NORM1 = 7
    NORM2 = 8
    MUL_NO_ZEROS = 9


class norm_forward_phase(_Enum):
    NOT_SET = 0
    INFERENCE = 1
    TRAINING = 2


class tensor_reordering(_Enum):
    NONE = 0
    INT8x32 = 1
    F16x16 = 2
    F8_128x4 = 3


class scalar_type(_Enum):
    RUNTIME_PARAM = 0
    COMPILE_TIME_CONST = 1


class reshape_mode(_Enum):
    NOT_SET = 0
    VIEW_ONLY = 1
    LOGICAL = 2


class behavior_note(_Enum):
    NOT_SET = 0
    RUNTIME_COMPILATION = 1
    REQUIRES_FILTER_INT8x32_REORDER = 2
    REQUIRES_BIAS_INT8x32_REORDER = 3
    SUPPORTS_CUDA_GRAPH_NATIVE_API = 4
    CUBLASLT_DEPENDENCY = 5


class numerical_note(_Enum):
    NOT_SET = 0
    TENSOR_CORE = 1
    DOWN_CONVERT_INPUTS = 2
    REDUCED_PRECISION_REDUCTION = 3
    FFT = 4
    NONDETERMINISTIC = 5
    WINOGRAD = 6
    WINOGRAD_TILE_4x4 = 7
    WINOGRAD_TILE_6x6 = 8
    WINOGRAD_TILE_13x13 = 9
    STRICT_NAN_PROP = 10


class cuda_graph_retention(_Enum):
    PER_GRAPH = 0
    NONE = 1


class diagonal_alignment(_Enum):
    TOP_LEFT = 0
    BOTTOM_RIGHT = 1


class moe_grouped_matmul_mode(_Enum):
    NONE = 1
    GATHER = 2
    SCATTER = 3
    COMBINE = 4


class attention_implementation(_Enum):
    AUTO = 0
    COMPOSITE = 1
    UNIFIED = 2


class knob_type(_Enum):
    NOT_SET = 0
    SWIZZLE = 1
    TILE_SIZE = 2
    EDGE = 3
    MULTIPLY = 4
    SPLIT_K_BUF = 5
    TILEK = 6
    STAGES = 7
    REDUCTION_MODE = 8
    SPLIT_K_SLC = 9
    IDX_MODE = 10
    SPECFILT = 11
    KERNEL_CFG = 12
    WORKSPACE = 13
    TILE_CGA_M = 14
    TILE_CGA_N = 15
    BLOCK_SIZE = 16
    OCCUPANCY = 17
    ARRAY_SIZE_PER_THREAD = 18
    SPLIT_COLS = 19
    TILE_ROWS = 20
    TILE_COLS = 21
    LOAD_SIZE = 22
    CTA_COUNT = 23
    STREAM_K = 24
    SPLIT_P_SLC = 25
    TILE_M = 26
    TILE_N = 27
    WARP_SPEC_CFG = 28
    SWAP_AB = 29
    INPUT_TMA_ENABLE = 30
    OUTPUT_TMA_ENABLE = 31
    TILE_CGA = 32
    SCHED_POLICY = 1000
    PACK_GQA = 1001
    SPLIT_KV = 1002
    PIPELINE_ARCH = 1003
    MMA_TILE_M = 1004
    MMA_TILE_N = 1005
    MMA_TILE_K = 1006
    CTA_GROUP = 1007
    WARPS_M = 1008
    WARPS_N = 1009


FRONTEND_KNOB_TYPE_BASE = 1000


def is_frontend_knob_type(knob: knob_type) -> bool:
    return int(knob) >= FRONTEND_KNOB_TYPE_BASE


class NodeType(_Enum):
    CONV_FPROP = "CONV_FPROP"
    CONV_DGRAD = "CONV_DGRAD"
    CONV_WGRAD = "CONV_WGRAD"
    POINTWISE = "POINTWISE"
    REDUCTION = "REDUCTION"
    GENSTATS = "GENSTATS"
    OTHER = "OTHER"
