# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Tensors of a graph: what the user set, what is inherited, and what follows from the operations."""

import json
from operator import index as _as_int
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _octavo
from ._dtypes import to_data_type
from ._enums import data_type as DataType
from ._enums import member, tensor_reordering
from ._errors import make_error
from ._infer import infer_dim, infer_stride

if TYPE_CHECKING:
    from ._node import Node
    from ._base import GraphBase


def int_list(values: Any, what: str) -> List[int]:
    """Lists, tuples, torch.Size, NumPy arrays of whole numbers; anything else is a TypeError that names ``what``."""
    try:
        ints = [_as_int(v) for v in values]
    except TypeError:
        raise TypeError(f"{what} is {values!r}; it must be a list of ints.") from None
    if any(not -(2**63) <= v < 2**63 for v in ints):
        raise make_error("INVALID_VALUE", f"{what} is {ints}; every value must fit in 64 bits.")
    return ints


def whole(value: Any, what: str, bits: int = 64) -> int:
    """An int of so many bits; the errors name ``what``."""
    try:
        number = _as_int(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}; it must be an int.") from None
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise make_error("INVALID_VALUE", f"{what} is {number}; it must fit in {bits} bits.")
    return number


def text(value: Any, what: str) -> str:
    """A str that UTF-8 can hold (no lone surrogates)."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {value!r}; it must be a str.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise make_error("INVALID_VALUE", f"{what} is {value!r}, which UTF-8 cannot hold; pass valid text.") from None
    return value


def _attribute(getter: Any, setter: Any) -> Any:
    return property(getter, setter)


class tensor:
    """A tensor of a graph. Made by pygraph.tensor(), tensor_like(), tensor_scalar() and the operations.

    Setters return the tensor. They work until plans exist; equality and hash are by identity.
    """

    def __init__(self, owner: "Optional[GraphBase]" = None, uid: int = 0, name: str = "") -> None:
        self.owner = owner
        self._name = name
        self._data_type: Optional[DataType] = None  # None: inherited from the graph
        self._dim: Optional[List[int]] = None
        self._stride: Optional[List[int]] = None
        self._is_virtual = False
        self._is_pass_by_value = False
        self._value: Union[None, int, float] = None
        self._compile_time = False
        self._uid = uid
        self._uid_assigned = False  # by the user
        self._uid_read = False
        self._reordering = tensor_reordering.NONE
        self._alignment = 16
        self._vector: Tuple[int, int] = (1, -1)
        self._ragged_offset: Optional[tensor] = None
        self._ragged_multiplier = 1
        self._constant: Any = None
        self._producer: "Optional[Node]" = None
        self._port = ""
        self._native: Optional[_octavo.Tensor] = None  # after the graph was lowered

    def _touch(self, setter: str) -> None:
        if self.owner is not None:
            self.owner._mutate(f"{setter} on tensor '{self._name}'")

    # ---- names and ids
    def get_name(self) -> str:
        return self._name

    def set_name(self, name: str) -> "tensor":
        value = text(name, "name")
        self._touch("set_name")
        self._name = value
        return self

    def get_uid(self) -> int:
        self._uid_read = True
        return self._uid

    def has_uid(self) -> bool:
        return True

    def set_uid(self, uid: int) -> "tensor":
        uid = whole(uid, f"uid of tensor '{self._name}'")
        self._touch("set_uid")
        if self.owner is not None:
            self.owner._claim_uid(self, uid)
        self._uid, self._uid_assigned = uid, True
        return self

    # ---- type
    def get_data_type(self) -> DataType:
        """The type that was set, else the one the tensor inherits: the graph's io_data_type, or its
        intermediate_data_type while the tensor is virtual."""
        if self._data_type is not None:
            return self._data_type
        if self._native is not None:
            resolved = DataType(self._native.data_type)
            if resolved is not DataType.NOT_SET:
                return resolved
        if self.owner is None:
            return DataType.NOT_SET
        context = self.owner.context
        return context.intermediate_data_type if self._is_virtual else context.io_data_type

    def set_data_type(self, data_type: Any) -> "tensor":
        value = to_data_type(data_type)
        self._touch("set_data_type")
        self._data_type = value
        return self

    # ---- shape
    def get_dim(self) -> List[int]:
        if self._dim is not None:
            return list(self._dim)
        if self._native is not None and self._native.dim:
            return list(self._native.dim)
        if self._producer is not None:
            return infer_dim(self._producer, self._port)
        return []

    def set_dim(self, dim: Sequence[int]) -> "tensor":
        value = int_list(dim, "dim")
        self._touch("set_dim")
        self._dim = value
        return self

    def get_stride(self) -> List[int]:
        if self._stride is not None:
            return list(self._stride)
        if self._native is not None and self._native.stride:
            return list(self._native.stride)
        if self._producer is not None:
            return infer_stride(self._producer, self.get_dim())
        return []

    def set_stride(self, stride: Sequence[int]) -> "tensor":
        value = int_list(stride, "stride")
        self._touch("set_stride")
        self._stride = value
        return self

    # ---- role
    def get_is_virtual(self) -> bool:
        return self._is_virtual

    def set_is_virtual(self, is_virtual: bool) -> "tensor":
        self._touch("set_is_virtual")
        self._is_virtual = bool(is_virtual)
        return self

    def set_output(self, is_output: bool) -> "tensor":
        self._touch("set_output")
        self._is_virtual = not is_output
        return self

    def get_is_pass_by_value(self) -> bool:
        return self._is_pass_by_value

    def set_is_pass_by_value(self, is_pass_by_value: bool) -> "tensor":
        self._touch("set_is_pass_by_value")
        self._is_pass_by_value = bool(is_pass_by_value)
        return self

    def get_has_compile_time_constant(self) -> bool:
        return self._compile_time

    def set_constant(self, data: Any) -> "tensor":
        """Extension: declares the filter of a convolution constant. ``data`` (a CPU array or tensor in this tensor's
        layout) is read when plans are built; nothing needs to be bound to the tensor at execute. None takes it back."""
        self._touch("set_constant")
        self._constant = data
        return self

    # ---- layout details
    def get_reordering_type(self) -> tensor_reordering:
        return self._reordering

    def set_reordering_type(self, reordering_type: tensor_reordering) -> "tensor":
        value = member(tensor_reordering, reordering_type, f"reordering_type of tensor '{self._name}'")
        self._touch("set_reordering_type")
        self._reordering = value
        return self

    def get_alignment(self) -> int:
        return self._alignment

    def set_alignment(self, alignment: int) -> "tensor":
        value = whole(alignment, f"alignment of tensor '{self._name}'")
        self._touch("set_alignment")
        self._alignment = value
        return self

    set_alignment_value = set_alignment

    def get_vector_count(self) -> int:
        return self._vector[0]

    def get_vector_dimension(self) -> int:
        return self._vector[1]

    def set_vector_count_and_dimension(self, vector_count: int, vector_dimension: int) -> "tensor":
        what = f"of tensor '{self._name}'"
        value = (whole(vector_count, f"vector_count {what}"), whole(vector_dimension, f"vector_dimension {what}"))
        self._touch("set_vector_count_and_dimension")
        self._vector = value
        return self

    def set_ragged_offset(self, ragged_offset: "Optional[tensor]") -> "tensor":
        self._touch("set_ragged_offset")
        self._ragged_offset = ragged_offset
        return self

    def get_ragged_offset_multiplier(self) -> int:
        return self._ragged_multiplier

    def set_ragged_offset_multiplier(self, multiplier: int) -> "tensor":
        value = whole(multiplier, f"ragged_offset_multiplier of tensor '{self._name}'")
        self._touch("set_ragged_offset_multiplier")
        self._ragged_multiplier = value
        return self

    def validate(self) -> None:
        for what, value in (("dims", self.get_dim()), ("strides", self.get_stride())):
            if not value:
                raise make_error("ATTRIBUTE_NOT_SET", f"Tensor '{self._name}' {what} not set.")

    # ---- the same as attributes
    name = _attribute(get_name, set_name)
    uid = _attribute(get_uid, set_uid)
    data_type = _attribute(get_data_type, set_data_type)
    dim = _attribute(get_dim, set_dim)
    stride = _attribute(get_stride, set_stride)
    is_virtual = _attribute(get_is_virtual, set_is_virtual)
    is_pass_by_value = _attribute(get_is_pass_by_value, set_is_pass_by_value)
    reordering_type = _attribute(get_reordering_type, set_reordering_type)
    alignment_value = _attribute(get_alignment, set_alignment)
    ragged_offset_multiplier = _attribute(get_ragged_offset_multiplier, set_ragged_offset_multiplier)

    @property
    def pass_by_value(self) -> Union[None, int, float]:
        """The value of a scalar that the graph owns, else None."""
        return self._value

    @property
    def ragged_offset(self) -> "Optional[tensor]":
        return self._ragged_offset

    @property
    def uid_assigned(self) -> bool:
        return self._uid_assigned

    @property
    def dim_assigned(self) -> bool:
        return self._dim is not None

    @property
    def stride_assigned(self) -> bool:
        return self._stride is not None

    def describe(self) -> Dict[str, Any]:
        return {
            "name": self._name,
            "data_type": None if self.get_data_type().value == 0 else self.get_data_type().name,
            "dim": self.get_dim(),
            "stride": self.get_stride(),
            "is_virtual": self._is_virtual,
            "is_pass_by_value": self._is_pass_by_value,
            "pass_by_value": self._value,
            "reordering_type": self._reordering.name,
            "uid": self._uid,
        }

    def __repr__(self) -> str:
        return json.dumps(self.describe())

    def __reduce__(self) -> Any:
        raise TypeError(
            f"tensor '{self._name}' can be neither copied nor pickled: it belongs to its graph; use tensor_like(), or the "
            "graph's serialize() and deserialize()."
        )


Tensor = tensor
