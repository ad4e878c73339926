# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The operations of pygraph. Operands are tensors of the graph, or arrays (which become tensors, bound at execute)."""

from typing import Any, List, Optional, Sequence

from ._enums import NodeType, convolution_mode, member, reduction_mode
from ._ops_base import OpsBase, trailing
from ._tensor import tensor

_CROSS = convolution_mode.CROSS_CORRELATION


class ConvolutionOps(OpsBase):
    """Padding, stride and dilation are lists, one value for each spatial dimension. Positional lists behind the operands:
    three are padding, stride, dilation; four are pre_padding, post_padding, stride, dilation. groups = X.C / W.C.

    Extension, integer inputs: ``x_zero_point``, ``w_zero_point`` (ints) or ``w_zero_points`` (an INT32 tensor [1,K,1,1]);
    the convolution sums (x - zx) * (w - zw) and padding reads zx.
    """

    def conv_fprop(
        self, image: Any, weight: Any, *args: Any, padding: Any = None, pre_padding: Any = None, post_padding: Any = None,
        stride: Any = None, dilation: Any = None, convolution_mode: Any = _CROSS, compute_data_type: Any = None, name: str = "",
        out_dims: Optional[Sequence[int]] = None, x_zero_point: int = 0, w_zero_point: Optional[int] = None,
        w_zero_points: Optional[tensor] = None, **unknown: Any,
    ) -> tensor:  # fmt: skip
        given = dict(padding=padding, pre_padding=pre_padding, post_padding=post_padding, stride=stride, dilation=dilation)
        zeros = dict(x_zero_point=x_zero_point, w_zero_point=w_zero_point, w_zero_points=w_zero_points)
        return self._convolution(
            "conv_fprop", ("X", "W"), "Y", image, weight, args, given, convolution_mode, compute_data_type, name, out_dims,
            zeros, unknown,
        )  # fmt: skip

    def conv_dgrad(
        self, loss: Any, filter: Any, *args: Any, padding: Any = None, pre_padding: Any = None, post_padding: Any = None,
        stride: Any = None, dilation: Any = None, convolution_mode: Any = _CROSS, compute_data_type: Any = None, name: str = "",
        out_dims: Optional[Sequence[int]] = None, **unknown: Any,
    ) -> tensor:  # fmt: skip
        given = dict(padding=padding, pre_padding=pre_padding, post_padding=post_padding, stride=stride, dilation=dilation)
        return self._convolution(
            "conv_dgrad", ("DY", "W"), "DX", loss, filter, args, given, convolution_mode, compute_data_type, name, out_dims,
            {}, unknown,
        )  # fmt: skip

    def conv_wgrad(
        self, image: Any, loss: Any, *args: Any, padding: Any = None, pre_padding: Any = None, post_padding: Any = None,
        stride: Any = None, dilation: Any = None, convolution_mode: Any = _CROSS, compute_data_type: Any = None, name: str = "",
        out_dims: Optional[Sequence[int]] = None, **unknown: Any,
    ) -> tensor:  # fmt: skip
        given = dict(padding=padding, pre_padding=pre_padding, post_padding=post_padding, stride=stride, dilation=dilation)
        return self._convolution(
            "conv_wgrad", ("X", "DY"), "DW", image, loss, args, given, convolution_mode, compute_data_type, name, out_dims,
            {}, unknown,
        )  # fmt: skip

    def reduction(
        self, input: Any, mode: Any = None, *args: Any, compute_data_type: Any = None, name: str = "",
        out_dims: Optional[Sequence[int]] = None, is_deterministic: bool = False,
    ) -> tensor:  # fmt: skip
        compute_data_type, name, _ = trailing("reduction", args, compute_data_type, name)
        params = {"mode": None if mode is None else member(reduction_mode, mode, "reduction(): mode"), "is_deterministic": is_deterministic}
        inputs = {"X": self._operand("reduction", input)}
        return self._add(NodeType.REDUCTION, "reduction", inputs, params, compute_data_type, name, ["Y"], out_dims)[0]

    def genstats(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> List[tensor]:
        compute_data_type, name, _ = trailing("genstats", args, compute_data_type, name)
        inputs = {"X": self._operand("genstats", input)}
        return self._add(NodeType.GENSTATS, "genstats", inputs, {}, compute_data_type, name, ["SUM", "SQ_SUM"])


class PointwiseOps(OpsBase):
    def add(self, a: Any, b: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("add", "ADD", (a, b), args, compute_data_type, name)

    def mul(self, a: Any, b: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("mul", "MUL", (a, b), args, compute_data_type, name)

    def sub(self, a: Any, b: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("sub", "SUB", (a, b), args, compute_data_type, name)

    def div(self, a: Any, b: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("div", "DIV", (a, b), args, compute_data_type, name)

    def add_square(self, a: Any, b: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("add_square", "ADD_SQUARE", (a, b), args, compute_data_type, name)

    def logical_and(self, a: Any, b: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("logical_and", "LOGICAL_AND", (a, b), args, compute_data_type, name)

    def logical_or(self, a: Any, b: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("logical_or", "LOGICAL_OR", (a, b), args, compute_data_type, name)

    def bias(self, input: Any, bias: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("bias", "ADD", (input, bias), args, compute_data_type, name)

    def scale(self, input: Any, scale: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("scale", "MUL", (input, scale), args, compute_data_type, name)

    def max(self, input0: Any, input1: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("max", "MAX", (input0, input1), args, compute_data_type, name)

    def min(self, input0: Any, input1: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("min", "MIN", (input0, input1), args, compute_data_type, name)

    def mod(self, input0: Any, input1: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("mod", "MOD", (input0, input1), args, compute_data_type, name)

    def pow(self, input0: Any, input1: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("pow", "POW", (input0, input1), args, compute_data_type, name)

    def cmp_eq(self, input: Any, comparison: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("cmp_eq", "CMP_EQ", (input, comparison), args, compute_data_type, name)

    def cmp_neq(self, input: Any, comparison: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("cmp_neq", "CMP_NEQ", (input, comparison), args, compute_data_type, name)

    def cmp_gt(self, input: Any, comparison: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("cmp_gt", "CMP_GT", (input, comparison), args, compute_data_type, name)

    def cmp_ge(self, input: Any, comparison: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("cmp_ge", "CMP_GE", (input, comparison), args, compute_data_type, name)

    def cmp_lt(self, input: Any, comparison: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("cmp_lt", "CMP_LT", (input, comparison), args, compute_data_type, name)

    def cmp_le(self, input: Any, comparison: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("cmp_le", "CMP_LE", (input, comparison), args, compute_data_type, name)

    def tanh(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("tanh", "TANH_FWD", (input,), args, compute_data_type, name)

    def elu(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("elu", "ELU_FWD", (input,), args, compute_data_type, name)

    def gelu(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("gelu", "GELU_FWD", (input,), args, compute_data_type, name)

    def gelu_approx_tanh(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("gelu_approx_tanh", "GELU_APPROX_TANH_FWD", (input,), args, compute_data_type, name)

    def sigmoid(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("sigmoid", "SIGMOID_FWD", (input,), args, compute_data_type, name)

    def softplus(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("softplus", "SOFTPLUS_FWD", (input,), args, compute_data_type, name)

    def erf(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("erf", "ERF", (input,), args, compute_data_type, name)

    def identity(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("identity", "IDENTITY", (input,), args, compute_data_type, name)

    def exp(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("exp", "EXP", (input,), args, compute_data_type, name)

    def log(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("log", "LOG", (input,), args, compute_data_type, name)

    def neg(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("neg", "NEG", (input,), args, compute_data_type, name)

    def abs(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("abs", "ABS", (input,), args, compute_data_type, name)

    def ceil(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("ceil", "CEIL", (input,), args, compute_data_type, name)

    def floor(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("floor", "FLOOR", (input,), args, compute_data_type, name)

    def rsqrt(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("rsqrt", "RSQRT", (input,), args, compute_data_type, name)

    def reciprocal(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("reciprocal", "RECIPROCAL", (input,), args, compute_data_type, name)

    def sin(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("sin", "SIN", (input,), args, compute_data_type, name)

    def cos(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("cos", "COS", (input,), args, compute_data_type, name)

    def tan(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("tan", "TAN", (input,), args, compute_data_type, name)

    def sqrt(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("sqrt", "SQRT", (input,), args, compute_data_type, name)

    def logical_not(self, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("logical_not", "LOGICAL_NOT", (input,), args, compute_data_type, name)

    def tanh_backward(self, loss: Any, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("tanh_backward", "TANH_BWD", (loss, input), args, compute_data_type, name)

    def sigmoid_backward(self, loss: Any, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("sigmoid_backward", "SIGMOID_BWD", (loss, input), args, compute_data_type, name)

    def elu_backward(self, loss: Any, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("elu_backward", "ELU_BWD", (loss, input), args, compute_data_type, name)

    def gelu_backward(self, loss: Any, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("gelu_backward", "GELU_BWD", (loss, input), args, compute_data_type, name)

    def softplus_backward(self, loss: Any, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("softplus_backward", "SOFTPLUS_BWD", (loss, input), args, compute_data_type, name)

    def gelu_approx_tanh_backward(self, loss: Any, input: Any, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("gelu_approx_tanh_backward", "GELU_APPROX_TANH_BWD", (loss, input), args, compute_data_type, name)

    def binary_select(
        self, input0: Any, input1: Any, mask: Any, *args: Any, compute_data_type: Any = None, name: str = ""
    ) -> tensor:
        return self._pointwise("binary_select", "BINARY_SELECT", (input0, input1, mask), args, compute_data_type, name)

    def gen_index(self, input: Any, axis: int, *args: Any, compute_data_type: Any = None, name: str = "") -> tensor:
        return self._pointwise("gen_index", "GEN_INDEX", (input,), args, compute_data_type, name, axis=axis)

    def relu(
        self, input: Any, *args: Any, negative_slope: Optional[float] = None, lower_clip: Optional[float] = None,
        upper_clip: Optional[float] = None, compute_data_type: Any = None, name: str = "",
    ) -> tensor:  # fmt: skip
        return self._pointwise(
            "relu", "RELU_FWD", (input,), args, compute_data_type, name, ("slope", "lower_clip", "upper_clip"),
            slope=negative_slope, lower_clip=lower_clip, upper_clip=upper_clip,
        )  # fmt: skip

    def leaky_relu(
        self, input: Any, negative_slope: float, *args: Any, compute_data_type: Any = None, name: str = ""
    ) -> tensor:
        return self._pointwise("leaky_relu", "RELU_FWD", (input,), args, compute_data_type, name, slope=negative_slope)

    def relu_backward(
        self, loss: Any, input: Any, *args: Any, negative_slope: Optional[float] = None, lower_clip: Optional[float] = None,
        upper_clip: Optional[float] = None, compute_data_type: Any = None, name: str = "",
    ) -> tensor:  # fmt: skip
        return self._pointwise(
            "relu_backward", "RELU_BWD", (loss, input), args, compute_data_type, name, ("slope", "lower_clip", "upper_clip"),
            slope=negative_slope, lower_clip=lower_clip, upper_clip=upper_clip,
        )  # fmt: skip

    def leaky_relu_backward(
        self, loss: Any, input: Any, negative_slope: float, *args: Any, compute_data_type: Any = None, name: str = ""
    ) -> tensor:
        return self._pointwise(
            "leaky_relu_backward", "RELU_BWD", (loss, input), args, compute_data_type, name, slope=negative_slope
        )

    def swish(
        self, input: Any, *args: Any, swish_beta: Optional[float] = None, compute_data_type: Any = None, name: str = ""
    ) -> tensor:
        return self._pointwise(
            "swish", "SWISH_FWD", (input,), args, compute_data_type, name, ("swish_beta",), swish_beta=swish_beta
        )

    def swish_backward(
        self, loss: Any, input: Any, *args: Any, swish_beta: Optional[float] = None, compute_data_type: Any = None,
        name: str = "",
    ) -> tensor:  # fmt: skip
        return self._pointwise(
            "swish_backward", "SWISH_BWD", (loss, input), args, compute_data_type, name, ("swish_beta",), swish_beta=swish_beta
        )
