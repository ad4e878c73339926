# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers: what an array says of itself, and whether that is what the graph declared.

Accepted: NumPy and PyTorch arrays, anything with __cuda_array_interface__ or __dlpack__, and bare int addresses, which
carry no type and are taken on trust.
"""

import functools
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _octavo
from ._dtypes import dlpack_name, from_dlpack, from_name, numpy_dtype
from ._enums import data_type
from ._errors import make_error
from ._infer import row_major
from ._tensor import tensor

UNKNOWN, HOST, CUDA, HOST_CUDA = range(4)  # BoundBuffer::Space
_VECTOR_TYPES = {
    data_type.INT8x4: (data_type.INT8, 4),
    data_type.UINT8x4: (data_type.UINT8, 4),
    data_type.INT8x32: (data_type.INT8, 32),
}
_DLPACK_SPACE = {1: HOST, 2: CUDA, 3: HOST_CUDA, 13: HOST_CUDA}

# uid, address, type, dim, stride, space, ordinal, bytes, read_only: what the native execute() takes
NativeBuffer = Tuple[int, int, int, List[int], List[int], int, int, int, bool]


class Seen:
    """What a buffer says of itself."""

    __slots__ = ("address", "data_type", "type_name", "shape", "strides", "item", "space", "ordinal", "read_only", "keep")

    def __init__(self) -> None:
        self.address = 0
        self.data_type: Optional[data_type] = None
        self.type_name = ""
        self.shape: List[int] = []
        self.strides: List[int] = []  # in elements
        self.item = 1  # bytes of an element
        self.space = UNKNOWN
        self.ordinal = -1
        self.read_only = False
        self.keep: Any = None

    @property
    def on_host(self) -> bool:
        return self.space == HOST

    def span(self) -> int:
        """Bytes from the address to the end of the last element."""
        last = 0
        for extent, step in zip(self.shape, self.strides):
            if extent == 0:
                return 0
            if step > 0:
                last += (extent - 1) * step
        return (last + 1) * self.item


def _kind(value: Any) -> str:
    module = type(value).__module__.split(".")[0]
    return f"{module}.{type(value).__name__}" if module != "builtins" else type(value).__name__


@functools.lru_cache(maxsize=256)
def _dtype_facts(dtype: Any) -> Tuple[str, Optional[data_type], int]:
    """Name, data_type and bytes of a NumPy or PyTorch dtype."""
    if isinstance(dtype, np.dtype):
        if not dtype.isnative:
            return f"{dtype.name} (byte-swapped)", None, dtype.itemsize
        return dtype.name, from_name(dtype.name), dtype.itemsize
    return str(dtype), from_name(str(dtype)), dtype.itemsize


def _element_strides(byte_strides: Optional[Sequence[int]], shape: Sequence[int], item: int, who: str) -> List[int]:
    if byte_strides is None:
        return row_major(shape)
    strides = [s // item for s in byte_strides]
    if [s * item for s in strides] != list(byte_strides):
        raise make_error(
            "INVALID_VARIANT_PACK",
            f"{who}: byte strides {tuple(byte_strides)} are not whole multiples of the {item}-byte element; pass a copy.",
        )
    return strides


def _of_interface(seen: Seen, interface: Any, who: str) -> None:
    """The array interface of NumPy, and of CUDA."""
    address, read_only = interface["data"]
    seen.address, seen.read_only = int(address or 0), bool(read_only)
    seen.type_name, seen.data_type, seen.item = _dtype_facts(np.dtype(interface["typestr"]))
    seen.shape = list(interface["shape"])
    seen.strides = _element_strides(interface.get("strides"), seen.shape, seen.item, who)


def _of_numpy(seen: Seen, array: Any, who: str, stream: Optional[int]) -> None:
    seen.address = array.ctypes.data
    seen.read_only = not array.flags.writeable
    seen.type_name, seen.data_type, seen.item = _dtype_facts(array.dtype)
    seen.shape = list(array.shape)
    # Strides of empty arrays are of no consequence and may be anything.
    if array.size == 0:
        seen.strides = row_major(seen.shape)
    else:
        seen.strides = _element_strides(array.strides, seen.shape, max(seen.item, 1), who)
    seen.space = HOST


def _of_torch(seen: Seen, t: Any, who: str, stream: Optional[int]) -> None:
    if t.layout is not sys.modules["torch"].strided:
        raise make_error("INVALID_VARIANT_PACK", f"{who}: a {t.layout} tensor has no strides; pass a dense (strided) one.")
    device = t.device
    if device.type not in ("cpu", "cuda"):
        raise make_error("INVALID_VARIANT_PACK", f"{who}: a tensor on device '{device}' cannot be used; move it to the CPU or a GPU.")
    if t.is_neg():
        raise make_error(
            "INVALID_VARIANT_PACK",
            f"{who}: the torch tensor is a view whose memory holds the negated values (is_neg()); pass resolve_neg() of it.",
        )
    seen.address = t.data_ptr()
    seen.type_name, seen.data_type, seen.item = _dtype_facts(t.dtype)
    seen.shape, seen.strides = list(t.shape), list(t.stride())
    if device.type == "cuda":
        seen.space, seen.ordinal = CUDA, device.index or 0
    else:
        seen.space = HOST


def _of_cuda_interface(seen: Seen, value: Any, who: str, stream: Optional[int]) -> None:
    _of_interface(seen, value.__cuda_array_interface__, who)
    seen.ordinal = int(getattr(getattr(value, "device", None), "id", -1))
    seen.space = CUDA if seen.ordinal >= 0 else UNKNOWN


def _of_array_interface(seen: Seen, value: Any, who: str, stream: Optional[int]) -> None:
    _of_interface(seen, value.__array_interface__, who)
    seen.space = HOST


def _of_address(seen: Seen, value: Any, who: str, stream: Optional[int]) -> None:
    seen.address = int(value.data_ptr())


def _of_dlpack(seen: Seen, value: Any, who: str, stream: Optional[int]) -> None:
    device = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (1, 0)
    if int(device[0]) == 2 and stream is not None:
        value = value.__dlpack__(stream=stream)
    address, code, bits, lanes, shape, strides, kind, ordinal = _octavo.describe_dlpack(value)
    seen.address, seen.shape, seen.strides = address, list(shape), list(strides)
    seen.data_type, seen.type_name = from_dlpack(code, bits, lanes), dlpack_name(code, bits, lanes)
    seen.item = max(bits * lanes // 8, 1)
    seen.space = _DLPACK_SPACE.get(kind, UNKNOWN)
    seen.ordinal = ordinal if seen.space == CUDA else -1
    seen.keep = value


Reader = Callable[[Seen, Any, str, Optional[int]], None]


def _reader(value: Any) -> Optional[Reader]:
    if isinstance(value, np.ndarray):
        return _of_numpy
    if type(value).__module__.split(".")[0] == "torch" and hasattr(value, "data_ptr"):
        return _of_torch
    if hasattr(value, "__cuda_array_interface__"):
        return _of_cuda_interface
    if hasattr(value, "__dlpack__"):
        return _of_dlpack
    if hasattr(value, "__array_interface__"):
        return _of_array_interface
    if hasattr(value, "data_ptr"):
        return _of_address
    return None


_READERS: Dict[type, Reader] = {np.ndarray: _of_numpy}


def describe(value: Any, who: str, stream: Optional[int] = None) -> Seen:
    """Reads a buffer's address, type, shape, strides and device. ``who`` opens the error messages."""
    seen = Seen()
    seen.keep = value
    reader = _READERS.get(type(value))
    if reader is None:
        reader = _reader(value)
        if reader is None:
            raise make_error(
                "INVALID_VARIANT_PACK",
                f"{who}: Object does not have the __dlpack__() method: a {_kind(value)} is no buffer; pass a NumPy or PyTorch "
                "array, an object with __dlpack__, or an address.",
            )
        if reader is _of_torch:  # one reader for the type; other objects may change what they offer
            _READERS[type(value)] = reader
    reader(seen, value, who, stream)
    return seen


def _without_ones(dim: Sequence[int], stride: Sequence[int]) -> List[Tuple[int, int]]:
    return sorted((s, d) for d, s in zip(dim, stride) if d != 1)


def same_elements(dim: Sequence[int], stride: Sequence[int], seen: Seen) -> bool:
    """Whether a buffer's axes, in any order and leaving out axes of length 1, are the declared ones (the native library has
    the same rule for bound buffers). A one-dimensional packed buffer that is long enough serves anything: it is storage."""
    if 0 in dim or 0 in seen.shape:
        return 0 in dim
    if _without_ones(dim, stride) == _without_ones(seen.shape, seen.strides):
        return True
    if len(seen.shape) == 1 and (seen.strides[0] == 1 or seen.shape[0] == 1) and all(s >= 0 for s in stride):
        return seen.shape[0] >= 1 + sum((d - 1) * s for d, s in zip(dim, stride))
    return False


def _vector_view(t: tensor, dim: List[int], stride: List[int], dtype: data_type) -> Tuple[List[int], List[int]]:
    """The axes of a vectorised tensor in elements: the blocks and their lanes (cuDNN counts dims and strides in vectors)."""
    count, axis = t.get_vector_count(), t.get_vector_dimension()
    if count <= 1 and dtype in _VECTOR_TYPES:
        count, axis = _VECTOR_TYPES[dtype][1], 1
    if count <= 1:
        return dim, stride
    return [*dim, count], [*(s * count for s in stride), 1]


def _checked_address(value: int, who: str) -> int:
    if not 0 <= value < 2**64:
        raise make_error("INVALID_VARIANT_PACK", f"{who} is bound to the int {value}, which is no address; pass 0 to 2^64 - 1.")
    return value


def bind(t: tensor, value: Any, stream: Optional[int]) -> Tuple[NativeBuffer, Any]:
    """A buffer for the native execute(), and what must stay alive until it returns.

    The native library checks type, size, strides, device and alignment. What it cannot see is checked here: types without
    a data_type.
    """
    uid = t._uid
    dtype = t.get_data_type()
    if t._is_pass_by_value and isinstance(value, (float, np.generic)):
        value = np.full((1,), value, numpy_dtype(dtype))
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        address = _checked_address(int(value), f"Tensor '{t._name}' (uid {uid})")
        if t._is_pass_by_value and 0 < address < 4096:
            raise make_error(
                "INVALID_VARIANT_PACK",
                f"Tensor '{t._name}' (uid {uid}) is passed by value and bound to the int {address}, which would be an address "
                f"in host memory; pass float({address}) or an array for the value.",
            )
        return (uid, address, 0, [], [], UNKNOWN, -1, -1, False), None
    seen = describe(value, f"Tensor '{t._name}' (uid {uid})", stream)
    if not seen.type_name:  # only an address
        return (uid, seen.address, 0, [], [], UNKNOWN, -1, -1, False), seen.keep
    if seen.data_type is None:
        raise make_error(
            "INVALID_VARIANT_PACK",
            f"Tensor '{t._name}' (uid {uid}) is {dtype.name}, and the {_kind(seen.keep)} bound to it holds {seen.type_name}, which "
            f"no data_type names; pass a buffer of {dtype.name} (a view of raw bits is never taken silently).",
        )
    element = _VECTOR_TYPES.get(dtype, (dtype, 1))[0]
    kind = int(dtype) if seen.data_type is element else int(seen.data_type)
    buffer = (uid, seen.address, kind, seen.shape, seen.strides, seen.space, seen.ordinal, seen.span(), seen.read_only)
    return buffer, seen.keep


def workspace_address(value: Any, needed: int, stream: Optional[int]) -> Tuple[int, Any]:
    """Address of a workspace, and what must stay alive. A buffer that is too small is an error."""
    if value is None:
        return 0, None
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return _checked_address(int(value), "The workspace"), None
    seen = describe(value, "The workspace", stream)
    if seen.type_name and seen.span() < needed:
        raise make_error(
            "INVALID_VARIANT_PACK",
            f"The workspace holds {seen.span()} bytes, and the plan requires {needed}; ask get_workspace_size().",
        )
    return seen.address, seen.keep


def constant_address(t: tensor) -> int:
    """Address of the data of a tensor that was declared constant, after the checks that a bound buffer gets."""
    seen = describe(t._constant, f"The constant data of tensor '{t._name}'")
    dtype = t.get_data_type()
    element = _VECTOR_TYPES.get(dtype, (dtype, 1))[0]
    if seen.space != HOST:
        raise make_error("INVALID_VALUE", f"The constant data of tensor '{t._name}' must be in CPU memory.")
    if seen.data_type is not element:
        raise make_error(
            "INVALID_VALUE",
            f"The constant data of tensor '{t._name}' holds {seen.type_name}, and the tensor is {dtype.name}.",
        )
    dims, strides = _vector_view(t, t.get_dim(), t.get_stride(), dtype)
    if not same_elements(dims, strides, seen):
        raise make_error(
            "INVALID_VALUE",
            f"The constant data of tensor '{t._name}' has shape {seen.shape} and strides {seen.strides}; the tensor is "
            f"declared with dim {t.get_dim()} and stride {t.get_stride()}.",
        )
    t._constant = seen.keep if seen.keep is not None else t._constant
    return seen.address
