# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Running a pygraph: buffers by tensor, uid or name."""

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _octavo
from ._base import GraphBase
from ._buffers import NativeBuffer, bind, workspace_address
from ._errors import UnknownTensorError, make_error
from ._handle import Handle, check_handle
from ._tensor import tensor


def _torch_stream(handle: Handle) -> Optional[int]:
    """PyTorch's current stream on the handle's GPU, where the user set no stream of their own."""
    if not handle.is_cuda:
        return None
    if handle.stream is not None:
        return handle.stream
    import sys

    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    stream = int(torch.cuda.current_stream(handle.ordinal).cuda_stream)
    _octavo.set_stream(int(handle), stream)
    return stream


class Execution(GraphBase):
    def _variant_pack(self, pack: Any, tensor_uids: Optional[Sequence[int]], stream: Optional[int]) -> Tuple[List[NativeBuffer], List[Any]]:
        """Native buffers for a variant pack, and what must stay alive while they are used. Virtual tensors, scalars that
        the graph owns and uids that the graph does not know are left out."""
        items: List[Tuple[Any, Any]]
        if tensor_uids is not None:
            if len(set(tensor_uids)) != len(tensor_uids):
                raise make_error("INVALID_VARIANT_PACK", f"Duplicate tensor uid in tensor_uids {list(tensor_uids)}.")
            if len(tensor_uids) != len(pack):
                raise make_error(
                    "INVALID_VARIANT_PACK", f"{len(pack)} buffers came with {len(tensor_uids)} tensor_uids; give one uid for each."
                )
            items = list(zip(tensor_uids, pack))
        elif isinstance(pack, dict):
            items = list(pack.items())
        elif isinstance(pack, (list, tuple)):
            uids = self._get_variant_pack_uids_sorted()
            if len(uids) != len(pack):
                raise make_error(
                    "INVALID_VARIANT_PACK", f"{len(pack)} buffers for {len(uids)} tensors; their order is that of the uids {uids}."
                )
            items = list(zip(uids, pack))
        else:
            raise TypeError(f"execute() takes a dict from tensors, uids or names to buffers, not {type(pack).__name__}.")
        chosen: Dict[int, Tuple[tensor, Any]] = {t._uid: (t, value) for t, value in self._bindings.values()}
        for key, value in items:
            t = self._resolve(key)
            if t is not None:
                chosen[t._uid] = (t, value)
        buffers: List[NativeBuffer] = []
        keep: List[Any] = []
        for t, value in chosen.values():
            if t._is_virtual or t._value is not None:
                continue
            buffer, alive = bind(t, value, stream)
            buffers.append(buffer)
            keep.append(alive)
        return buffers, keep

    def _resolve(self, key: Any) -> Optional[tensor]:
        if key is None:
            return None
        if isinstance(key, tensor):
            if key.owner is self:
                return key
            if key.owner is None:  # from query_tensor_attributes_of_uid()
                return self._by_uid.get(key._uid)
            raise UnknownTensorError(f"Tensor '{key._name}' belongs to another graph.")
        if isinstance(key, str):
            found = [t for t in self._tensors if t._name == key]
            if len(found) == 1:
                return found[0]
            if found:
                raise UnknownTensorError(f"The name '{key}' means {len(found)} tensors of this graph; use a uid.")
            names = ", ".join(f"'{t._name}'" for t in self._tensors if not t._is_virtual)
            raise UnknownTensorError(f"No tensor of this graph is named '{key}'; it has {names}.")
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            return self._by_uid.get(int(key))
        raise TypeError(f"a key of the variant pack is a tensor, a uid or a name, not {type(key).__name__}.")

    def _pick_handle(self, handle: Optional[int]) -> Handle:
        if handle is not None:
            return check_handle(handle)
        if self._handle is not None:
            return check_handle(self._handle)
        raise make_error("HANDLE_ERROR", "execute() needs a handle: this graph was made with device_property and has none.")

    def _run(
        self, index: int, pack: Any, workspace: Any, handle: Any, override_uids: Any, override_shapes: Any, override_strides: Any,
        tensor_uids: Any,
    ) -> None:  # fmt: skip
        native = self._built_native() if index < 0 else self._plans_native()
        which = self._pick_handle(handle)
        stream = _torch_stream(which)
        buffers, keep = self._variant_pack(pack, tensor_uids, stream)
        if override_uids is None:
            needed = native.get_workspace_size(index)
        else:
            overrides = (
                [int(uid) for uid in override_uids],
                [[int(v) for v in shape] for shape in override_shapes or []],
                [[int(v) for v in stride] for stride in override_strides or []],
            )
            needed = native.get_workspace_size_with_overrides(int(which), index, *overrides)
        if workspace is None and needed > 0 and not which.is_cuda:
            workspace = np.empty(needed, np.uint8)  # on a GPU its lifetime is the caller's business
        address, scratch = workspace_address(workspace, needed, stream)
        keep.append(scratch)
        if override_uids is None:
            native.execute(int(which), buffers, address, index)
        else:
            native.execute_with_overrides(int(which), buffers, address, index, *overrides)

    def execute(
        self, tensor_to_device_buffer: Union[Dict[Any, Any], Sequence[Any]], workspace: Any = None, handle: Optional[int] = None,
        override_uids: Any = None, override_shapes: Any = None, override_strides: Any = None, tensor_uids: Any = None,
    ) -> None:  # fmt: skip
        """Runs the selected plan; builds one first where none was built. Keys are tensors, uids or names. A buffer that
        carries its type is checked against the declared type, size, strides, device and alignment. A list goes with
        tensor_uids, or with the order of the uids."""
        self._ensure_built()
        self._run(
            -1, tensor_to_device_buffer, workspace, handle, override_uids, override_shapes, override_strides, tensor_uids
        )  # fmt: skip

    def execute_plan_at_index(
        self, tensor_to_device_buffer: Union[Dict[Any, Any], Sequence[Any]], workspace: Any = None, index: int = 0,
        handle: Optional[int] = None, override_uids: Any = None, override_shapes: Any = None, override_strides: Any = None,
        tensor_uids: Any = None,
    ) -> None:  # fmt: skip
        self._run(
            self._index(index), tensor_to_device_buffer, workspace, handle, override_uids, override_shapes, override_strides,
            tensor_uids,
        )  # fmt: skip

    def check_bindings(self, tensor_to_device_buffer: Dict[Any, Any], handle: Optional[int] = None) -> None:
        """Extension: the checks of execute() alone."""
        self._ensure_built()
        which = self._pick_handle(handle)
        buffers, _keep = self._variant_pack(tensor_to_device_buffer, None, None)
        self._built_native().check_bindings(int(which), buffers)

    def autotune(self, tensor_to_device_buffer: Dict[Any, Any], workspace: Any = None, handle: Optional[int] = None) -> None:
        """Extension: builds and times every plan on scratch outputs, and selects the fastest."""
        native = self._built_native()
        which = self._pick_handle(handle)
        stream = _torch_stream(which)
        buffers, keep = self._variant_pack(tensor_to_device_buffer, None, stream)
        needed = native.get_autotune_workspace_size()
        if workspace is None and needed > 0 and not which.is_cuda:
            workspace = np.empty(needed, np.uint8)
        address, scratch = workspace_address(workspace, needed, stream)
        keep.append(scratch)
        native.autotune(int(which), buffers, address)

    def get_autotune_workspace_size(self) -> int:
        return self._built_native().get_autotune_workspace_size()

    def populate_cuda_graph(self, handle: int, variant_pack: Dict[Any, Any], workspace: Any, cuda_graph: int) -> None:
        which, buffers, address, _keep = self._cuda_graph_arguments(handle, variant_pack, workspace)
        self._built_native().populate_cuda_graph(which, buffers, address, int(cuda_graph))

    def update_cuda_graph(self, handle: int, variant_pack: Dict[Any, Any], workspace: Any, cuda_graph: int) -> None:
        which, buffers, address, _keep = self._cuda_graph_arguments(handle, variant_pack, workspace)
        self._built_native().update_cuda_graph(which, buffers, address, int(cuda_graph))

    def _cuda_graph_arguments(self, handle: int, pack: Any, workspace: Any) -> Tuple[int, List[NativeBuffer], int, List[Any]]:
        native = self._built_native()
        which = check_handle(handle)
        buffers, keep = self._variant_pack(pack, None, None)
        native.check_bindings(int(which), buffers)
        address, scratch = workspace_address(workspace, native.get_workspace_size(-1), None)
        return int(which), buffers, address, [*keep, scratch]

    # ---- private names that 1.23 programs use
    def _execute(self, pack: Any, workspace: Any, handle: Optional[int] = None) -> None:
        self.execute(pack, workspace, handle)

    def _execute_with_ptrs(self, pointers: Dict[int, int], workspace: int, handle: Optional[int] = None) -> None:
        self.execute(pointers, workspace, handle)

    def _execute_with_raw_ptrs(self, pointers: Sequence[int], workspace: int, handle: Optional[int] = None) -> None:
        """Addresses in the order of _get_variant_pack_uids_sorted()."""
        self._built_native().execute_sorted(int(self._pick_handle(handle)), [int(p) for p in pointers], int(workspace))

    def _prepare_variant_pack_template(self) -> None:
        self._built_native().prepare_variant_pack_template()

    def _get_variant_pack_uids_sorted(self) -> List[int]:
        return list(self._built_native().get_variant_pack_uids_sorted())

    def _ensure_built(self) -> None:
        raise NotImplementedError

    def _built_native(self) -> _octavo.Graph:
        raise NotImplementedError

    def _plans_native(self) -> _octavo.Graph:
        raise NotImplementedError

    def _index(self, index: int) -> int:
        raise NotImplementedError
