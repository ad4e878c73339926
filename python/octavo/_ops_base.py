# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""What the operations of pygraph share: reading arguments in both lines' orders, and adding nodes.

cudnn-frontend 1.23 and 1.32 disagree on the order of positional arguments after the operands (compute_data_type and name
change places), so those are told apart by type.
"""

import numbers
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._base import GraphBase
from ._dtypes import to_data_type
from ._enums import NodeType, convolution_mode, data_type, member, pointwise_mode
from ._node import Node
from ._tensor import int_list, tensor, text, whole


def is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not hasattr(value, "__dlpack__")


def _is_dtype(value: Any) -> bool:
    return isinstance(value, (data_type, np.dtype, type)) or type(value).__name__ == "dtype"  # torch.dtype


def trailing(op: str, args: Sequence[Any], dtype: Any, name: str, numeric: Sequence[str] = ()) -> Tuple[Any, str, Dict[str, float]]:
    """Positional arguments behind the operands, told apart by type: (compute_data_type, name, numbers by name)."""
    values: Dict[str, float] = {}
    wanted = list(numeric)
    for arg in args:
        if isinstance(arg, str):
            name = arg
        elif _is_dtype(arg):
            dtype = arg
        elif wanted and (arg is None or is_number(arg)):
            key = wanted.pop(0)
            if arg is not None:
                values[key] = float(arg)
        elif arg is not None:
            raise TypeError(f"{op}() got {arg!r}, which is neither a compute data type nor a name.")
    return dtype, name, values


def convolution_lists(op: str, args: Sequence[Any], given: Dict[str, Any]) -> Tuple[Dict[str, Any], List[Any]]:
    """The lists of a convolution from positional and keyword arguments; the rest of the positionals behind them.

    Three positional lists are padding, stride, dilation; four are pre_padding, post_padding, stride, dilation; five are
    padding, pre_padding, post_padding, stride, dilation (1.32's order, where None stands for "not given").
    """
    lists: List[Any] = []
    rest = list(args)
    while rest and (rest[0] is None or (hasattr(rest[0], "__iter__") and not isinstance(rest[0], (str, type)))):
        lists.append(rest.pop(0))
    if rest and is_number(rest[0]):
        raise TypeError(f"{op}() takes padding, stride and dilation as lists, one value for each spatial dimension, not {rest[0]!r}.")
    orders = {
        1: ("pre_padding",) if given["post_padding"] is not None else ("padding",),
        2: ("pre_padding", "post_padding") if given["stride"] is not None else ("padding", "stride"),
        3: ("padding", "stride", "dilation"),
        4: ("pre_padding", "post_padding", "stride", "dilation"),
        5: ("padding", "pre_padding", "post_padding", "stride", "dilation"),
    }
    if len(lists) == 3 and given["dilation"] is not None and given["stride"] is None:
        orders[3] = ("pre_padding", "post_padding", "stride")
    if len(lists) > 5:
        raise TypeError(f"{op}() takes at most five lists (padding, pre_padding, post_padding, stride, dilation).")
    out = dict(given)
    for key, value in zip(orders.get(len(lists), ()), lists):
        if value is not None and out[key] is not None:
            raise TypeError(f"{op}() got {key} by position and by keyword.")
        if value is not None:
            out[key] = value
    if out["padding"] is not None and (out["pre_padding"] is not None or out["post_padding"] is not None):
        raise TypeError(f"{op}() takes padding, or pre_padding and post_padding, not both.")
    for key, value in out.items():
        if is_number(value):
            raise TypeError(f"{op}(): {key} is {value!r}; it must be a list with one value for each spatial dimension.")
        # An empty list is what 1.23 takes for "not given"; validate() names what is missing.
        out[key] = int_list(value, key) if value is not None and len(value) else None
    if out["padding"] is not None:
        out["pre_padding"] = out["post_padding"] = out["padding"]
    return out, rest


class OpsBase(GraphBase):
    def _convolution(
        self, op: str, ports: Tuple[str, str], out_port: str, a: Any, b: Any, args: Sequence[Any], given: Dict[str, Any],
        mode: Any, compute: Any, name: str, out_dims: Any, zero_points: Dict[str, Any], unknown: Dict[str, Any],
    ) -> tensor:  # fmt: skip
        if "groups" in unknown:
            raise TypeError(
                f"{op}() got an unexpected keyword argument 'groups': groups follow from the shapes, "
                "groups = X.C / W.C (give W the dims [K, C / groups, ...])."
            )
        if unknown:
            raise TypeError(f"{op}() got an unexpected keyword argument {next(iter(unknown))!r}")
        lists, rest = convolution_lists(op, args, given)
        if rest and (isinstance(rest[0], convolution_mode) or type(rest[0]).__name__ == "convolution_mode"):
            mode = rest.pop(0)
        compute, name, _ = trailing(op, rest, compute, name)
        params: Dict[str, Any] = {key: lists[key] for key in ("pre_padding", "post_padding", "stride", "dilation")}
        params["convolution_mode"] = member(convolution_mode, mode, f"{op}(): convolution_mode")
        zeros = zero_points.get("w_zero_points")
        for key in ("x_zero_point", "w_zero_point"):
            zero = zero_points.get(key)
            params[key] = None if zero is None else whole(zero, f"{op}(): {key}", 32)
        params["x_zero_point"] = params["x_zero_point"] or 0
        inputs = {ports[0]: self._operand(op, a), ports[1]: self._operand(op, b)}
        if zeros is not None:
            inputs["w_zero_points"] = self._operand(op, zeros)
        return self._add(NodeType[op.upper()], op, inputs, params, compute, name, [out_port], out_dims)[0]

    def _pointwise(
        self, op: str, mode: str, operands: Sequence[Any], args: Sequence[Any], compute: Any, name: str,
        numeric: Sequence[str] = (), **params: Any,
    ) -> tensor:  # fmt: skip
        compute, name, values = trailing(op, args, compute, name, numeric)
        for key, value in params.items():
            if value is None:
                continue
            if key == "axis":
                value = whole(value, f"{op}(): axis")
            elif not is_number(value):
                keyword = "negative_slope" if key == "slope" else key
                raise TypeError(f"{op}(): {keyword} is {value!r}; it must be a number.")
            values[key] = value
        inputs = {f"IN_{i}": self._operand(op, operand) for i, operand in enumerate(operands)}
        settings: Dict[str, Any] = {"mode": pointwise_mode[mode], **values}
        return self._add(NodeType.POINTWISE, op, inputs, settings, compute, name, ["OUT_0"])[0]

    def _foreign(self, op: str, outputs: int, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        """An operation outside this library's purpose: validate() refuses it by name."""
        compute, name = kwargs.get("compute_data_type"), kwargs.get("name") or ""
        operands: List[Any] = []
        for value in [*args, *kwargs.values()]:
            operands.extend(value if isinstance(value, (list, tuple)) else [value])
        inputs = {f"IN_{i}": t for i, t in enumerate(t for t in operands if isinstance(t, tensor))}
        ports = [f"OUT_{i}" for i in range(outputs)]
        out = self._add(NodeType.OTHER, op, inputs, {}, compute if _is_dtype(compute) else None, name, ports)
        return out[0] if outputs == 1 else out

    def _operand(self, op: str, value: Any) -> tensor:
        if isinstance(value, tensor):
            if value.owner is not self:
                raise ValueError(f"{op}() got tensor '{value._name}', which belongs to another graph.")
            return value
        if value is None or is_number(value):
            what = "None" if value is None else f"the number {value!r}"
            raise TypeError(f"{op}() takes tensors, not {what}; make a scalar with tensor_scalar(), or a tensor of dims 1.")
        like = self.tensor_like(value)
        self._bindings[id(like)] = (like, value)
        return like

    def _add(
        self, type: NodeType, op: str, inputs: Dict[str, tensor], params: Dict[str, Any], compute: Any, name: str,
        ports: Sequence[str], out_dims: Optional[Sequence[int]] = None,
    ) -> List[tensor]:  # fmt: skip
        name = text(name, f"{op}(): name")
        self._mutate(f"{op}()")
        dtype = None if compute is None else to_data_type(compute)
        dims = None if out_dims is None else int_list(out_dims, "out_dims")
        node = Node(type, op, self._node_name(op, name), inputs, params, dtype, dims)
        for port in ports:
            result = self._new_tensor(f"{node.name}::{port}")
            result._is_virtual = True
            result._producer, result._port = node, port
            node.outputs[port] = result
        self._nodes.append(node)
        return list(node.outputs.values())
