# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions. An error carries ``code``, the name of the C++ error code, and one sentence.

The classes derive from what both lines of cudnn-frontend raise, so ``except`` clauses written for either keep working:
1.23 raises RuntimeError where 1.32 raises IndexError or ValueError.
"""


class cudnnGraphNotSupportedError(Exception):
    """The graph is legal, but this library has no way to run it. Not a RuntimeError, as in cudnn-frontend."""

    code = "GRAPH_NOT_SUPPORTED"


class GraphValueError(ValueError):
    """A tensor, attribute or bound buffer is missing or does not fit."""

    code = "INVALID_VARIANT_PACK"


class GraphInvalidValueError(ValueError, RuntimeError):
    """A value breaks a rule: RuntimeError in 1.23, ValueError in 1.32."""

    code = "INVALID_VALUE"


class GraphRuntimeError(RuntimeError):
    code = "GRAPH_EXECUTION_FAILED"


class PlanIndexError(IndexError, RuntimeError):
    """No plan has this index: RuntimeError in 1.23, IndexError in 1.32."""

    code = "GRAPH_EXECUTION_FAILED"


class UnknownTensorError(KeyError, ValueError):
    """A key of the variant pack names no tensor of the graph."""

    code = "INVALID_VARIANT_PACK"

    def __str__(self) -> str:  # KeyError would print the repr
        return str(self.args[0]) if self.args else ""


_VALUE = {"ATTRIBUTE_NOT_SET", "SHAPE_DEDUCTION_FAILED", "INVALID_TENSOR_NAME", "INVALID_VARIANT_PACK"}
_NOT_SUPPORTED = {
    "GRAPH_NOT_SUPPORTED",
    "GRAPH_EXECUTION_PLAN_CREATION_FAILED",
    "HEURISTIC_QUERY_FAILED",
    "UNSUPPORTED_GRAPH_FORMAT",
}


def make_error(code: str, message: str) -> Exception:
    """The exception for a C++ error code; the native module calls this."""
    cls: type
    if code in _VALUE:
        cls = GraphValueError
    elif code in _NOT_SUPPORTED:
        cls = cudnnGraphNotSupportedError
    elif code == "INVALID_VALUE":
        cls = GraphInvalidValueError
    elif code == "GRAPH_EXECUTION_FAILED" and message.startswith("Plan index"):
        cls = PlanIndexError
    else:
        cls = GraphRuntimeError
    error: Exception = cls(message)
    error.code = code  # type: ignore[attr-defined]
    _remember(message)
    return error


_last_error = ""


def _remember(message: str) -> None:
    global _last_error
    _last_error = message


def get_last_error_string() -> str:
    """The message of the last error that the library reported in this process ("" when there was none)."""
    return _last_error
