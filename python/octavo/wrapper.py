# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Graph: a pygraph that is built when its ``with`` block ends, and is then called like a function."""

import inspect
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ._dtypes import numpy_dtype, torch_dtype
from ._enums import heur_mode
from ._handle import check_handle, create_handle
from ._pygraph import pygraph
from ._tensor import tensor

# Graph does these itself when its block ends.
_LIFECYCLE = {
    "validate", "build_operation_graph", "create_execution_plans", "create_execution_plan", "check_support", "build_plans",
    "build_plan_at_index", "build", "execute", "execute_plan_at_index", "serialize", "deserialize",
}  # fmt: skip


class Graph:
    """``inputs`` and ``outputs`` name tensors: "node::keyword" or "node::0" (its first result), a tensor's name, a uid, a
    tensor, or the array that was given as an operand. With both set, ``g(a, b)`` returns the outputs; ``g({name: array})``
    works always. Outputs that are not given are made with the type of the inputs (PyTorch or NumPy)."""

    def __init__(
        self, *, handle: Any = None, inputs: Optional[Sequence[Any]] = None, outputs: Optional[Sequence[Any]] = None,
        heuristics: Optional[Sequence[heur_mode]] = None, workspace_alloc: bool = True, **kwargs: Any,
    ) -> None:  # fmt: skip
        if handle == "auto":
            handle = create_handle()
        self._graph = pygraph(handle=handle, **kwargs)
        self._heuristics = list(heuristics) if heuristics is not None else [heur_mode.A, heur_mode.FALLBACK]
        self._workspace_alloc = workspace_alloc
        self._workspace: Any = None
        self._ports: Dict[str, tensor] = {}
        self._built = False
        self._inputs: Optional[List[Any]] = None
        self._outputs: Optional[List[Any]] = None
        if inputs is not None or outputs is not None:
            self.set_io_tuples(inputs or [], outputs or [])

    def set_io_tuples(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        for what, value in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(value, (list, tuple)):
                raise ValueError(f"{what} must be a list or a tuple, not {type(value).__name__}.")
        self._inputs, self._outputs = list(inputs), list(outputs)

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if exc_type is not None:
            return
        for name in self._outputs or []:
            self._find(name).set_output(True)
        self._graph.build(self._heuristics)
        self._built = True
        if self._workspace_alloc:
            self._workspace = self._allocate_workspace()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._graph, name)
        if name in _LIFECYCLE:

            def blocked(*args: Any, **kwargs: Any) -> None:
                raise RuntimeError(f"{name}() is not for Graph: it is built when its with block ends, and run by calling it.")

            return blocked
        return self._recorded(name, value) if callable(value) else value

    def _recorded(self, name: str, method: Any) -> Any:
        """The method, noting which tensors its keywords and results are."""
        signature = inspect.signature(method)

        def call(*args: Any, **kwargs: Any) -> Any:
            before = len(self._graph._nodes)
            result = method(*args, **kwargs)
            if len(self._graph._nodes) > before:
                node = self._graph._nodes[-1]
                operands = iter(node.inputs.values())
                keywords = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
                for keyword, operand in zip(keywords, operands):
                    self._ports[f"{node.name}::{keyword}"] = operand
                for i, (port, made) in enumerate(node.outputs.items()):
                    self._ports[f"{node.name}::{i}"] = self._ports[f"{node.name}::{port}"] = made
            return result

        return call

    def _find(self, name: Any) -> tensor:
        if isinstance(name, tensor):
            return name
        if isinstance(name, str) and name in self._ports:
            return self._ports[name]
        if isinstance(name, (str, int)):
            found = self._graph.find_tensor(name)
            if found is not None:
                return found
        for t, value in self._graph._bindings.values():
            if value is name:
                return t
        known = ", ".join(sorted(self._ports))
        raise KeyError(f"{name!r} names no tensor of this graph; it has {known}.")

    def _allocate_workspace(self) -> Any:
        size = self._graph.get_workspace_size()
        handle = self._graph.handle
        if size == 0:
            return None
        if handle is not None and handle.is_cuda:
            import torch

            return torch.empty(size, dtype=torch.uint8, device=handle.device)
        return np.empty(size, np.uint8)

    def _allocate(self, t: tensor, like: Any) -> Any:
        dim, stride = t.get_dim(), t.get_stride()
        handle = self._graph.handle
        on_gpu = handle is not None and handle.is_cuda
        if on_gpu or type(like).__module__.split(".")[0] == "torch":
            import torch

            device = handle.device if on_gpu and handle is not None else "cpu"
            return torch.empty_strided(dim, stride, dtype=torch_dtype(t.get_data_type()), device=device)
        dtype = numpy_dtype(t.get_data_type())
        span = 1 + sum((d - 1) * s for d, s in zip(dim, stride)) if 0 not in dim else 0
        storage = np.empty(span, dtype)
        return np.lib.stride_tricks.as_strided(storage, dim, [s * dtype.itemsize for s in stride])

    def __call__(self, *args: Any, handle: Optional[int] = None, workspace: Any = None) -> Any:
        if not self._built:
            raise RuntimeError("Graph is not built yet: call it after its with block.")
        if len(args) == 1 and isinstance(args[0], dict):
            return self._call_dict(args[0], handle, workspace)
        if self._inputs is None or self._outputs is None:
            raise RuntimeError("Graph was made without inputs and outputs; call set_io_tuples(), or call it with a dict.")
        if len(args) != len(self._inputs):
            raise ValueError(f"Graph takes {len(self._inputs)} inputs, not {len(args)}.")
        pack: Dict[Any, Any] = {self._find(name): value for name, value in zip(self._inputs, args)}
        like = args[0] if args else None
        results = []
        for name in self._outputs:
            t = self._find(name)
            results.append(self._allocate(t, like))
            pack[t] = results[-1]
        self._execute(pack, handle, workspace)
        return results[0] if len(results) == 1 else tuple(results)

    def _call_dict(self, given: Dict[Any, Any], handle: Optional[int], workspace: Any) -> Dict[Any, Any]:
        pack = {self._find(name): value for name, value in given.items()}
        result = dict(given)
        like = next(iter(given.values()), None)
        for t in self._graph.get_outputs():
            if t not in pack:
                result[t._name] = pack[t] = self._allocate(t, like)
        self._execute(pack, handle, workspace)
        return result

    def _execute(self, pack: Dict[tensor, Any], handle: Optional[int], workspace: Any) -> None:
        which = None if handle is None else check_handle(handle)
        self._graph.execute(pack, self._workspace if workspace is None else workspace, which)

    def __repr__(self) -> str:
        return repr(self._graph)
