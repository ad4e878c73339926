# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Element types: between data_type, NumPy, ml_dtypes and PyTorch. PyTorch is never imported from here."""

from typing import Any, Dict, Optional

import numpy as np

from ._enums import data_type

# The spelling that numpy, ml_dtypes and torch dtypes print (torch's without its "torch." prefix).
_BY_NAME: Dict[str, data_type] = {
    "float32": data_type.FLOAT,
    "float": data_type.FLOAT,
    "float64": data_type.DOUBLE,
    "double": data_type.DOUBLE,
    "float16": data_type.HALF,
    "half": data_type.HALF,
    "bfloat16": data_type.BFLOAT16,
    "int8": data_type.INT8,
    "uint8": data_type.UINT8,
    "int32": data_type.INT32,
    "int": data_type.INT32,
    "int64": data_type.INT64,
    "long": data_type.INT64,
    "bool": data_type.BOOLEAN,
    "float8_e4m3fn": data_type.FP8_E4M3,
    "float8_e5m2": data_type.FP8_E5M2,
    "float8_e8m0fnu": data_type.FP8_E8M0,
}

_TORCH_NAME = {
    data_type.FLOAT: "float32",
    data_type.DOUBLE: "float64",
    data_type.HALF: "float16",
    data_type.BFLOAT16: "bfloat16",
    data_type.INT8: "int8",
    data_type.UINT8: "uint8",
    data_type.INT32: "int32",
    data_type.INT64: "int64",
    data_type.BOOLEAN: "bool",
    data_type.FP8_E4M3: "float8_e4m3fn",
    data_type.FP8_E5M2: "float8_e5m2",
    data_type.INT8x4: "int8",
    data_type.INT8x32: "int8",
    data_type.UINT8x4: "uint8",
}

_NUMPY_NAMES = {
    data_type.FLOAT: "float32",
    data_type.DOUBLE: "float64",
    data_type.HALF: "float16",
    data_type.INT8: "int8",
    data_type.UINT8: "uint8",
    data_type.INT32: "int32",
    data_type.INT64: "int64",
    data_type.BOOLEAN: "bool",
    data_type.INT8x4: "int8",
    data_type.INT8x32: "int8",
    data_type.UINT8x4: "uint8",
}

# DLPack type codes: (code, bits) of dlpack.h.
_BY_DLPACK = {
    (0, 8): data_type.INT8,
    (0, 32): data_type.INT32,
    (0, 64): data_type.INT64,
    (1, 8): data_type.UINT8,
    (2, 16): data_type.HALF,
    (2, 32): data_type.FLOAT,
    (2, 64): data_type.DOUBLE,
    (4, 16): data_type.BFLOAT16,
    (6, 8): data_type.BOOLEAN,
    (10, 8): data_type.FP8_E4M3,
    (12, 8): data_type.FP8_E5M2,
    (14, 8): data_type.FP8_E8M0,
}
_DLPACK_KINDS = {0: "int", 1: "uint", 2: "float", 3: "opaque", 4: "bfloat", 5: "complex", 6: "bool"}


def from_name(name: str) -> Optional[data_type]:
    """data_type of a dtype's printed name, or None when there is none (uint16, complex64, ...)."""
    return _BY_NAME.get(name[6:] if name.startswith("torch.") else name)


def from_dlpack(code: int, bits: int, lanes: int) -> Optional[data_type]:
    return _BY_DLPACK.get((code, bits)) if lanes == 1 else None


def dlpack_name(code: int, bits: int, lanes: int) -> str:
    name = f"{_DLPACK_KINDS.get(code, f'dlpack type code {code} ')}{bits}"
    return name if lanes == 1 else f"{name}x{lanes}"


def to_data_type(value: Any) -> data_type:
    """Accepts a data_type, a torch dtype, a NumPy or ml_dtypes dtype (or scalar type), or None (NOT_SET)."""
    if isinstance(value, data_type):
        return value
    if value is None:
        return data_type.NOT_SET
    found: Optional[data_type] = None
    module = type(value).__module__
    if module == "torch" or module.startswith("torch."):
        found = from_name(str(value))
    elif isinstance(value, np.dtype):
        found = from_name(value.name)
    elif isinstance(value, type):
        try:
            found = from_name(np.dtype(value).name)
        except TypeError:
            found = None
    if found is None:
        raise TypeError(
            f"{value!r} is not a data type that a tensor can have; pass a member of octavo.data_type, "
            "or a torch or NumPy dtype with the same meaning."
        )
    return found


def numpy_dtype(value: data_type) -> Any:
    """The NumPy dtype of a data_type; bfloat16 and fp8 need the ml_dtypes package."""
    name = _NUMPY_NAMES.get(value)
    if name is not None:
        return np.dtype(name)
    if value in (data_type.BFLOAT16, data_type.FP8_E4M3, data_type.FP8_E5M2):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, _TORCH_NAME[value]))
    raise TypeError(f"NumPy has no type for {value}.")


def torch_dtype(value: data_type) -> Any:
    import torch

    name = _TORCH_NAME.get(value)
    if name is None:
        raise TypeError(f"PyTorch has no type for {value}.")
    return getattr(torch, name)
