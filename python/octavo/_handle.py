# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Handles: a device and its stream. The CPU where there is no GPU.

cudnn-frontend 1.23 passes handles as ints, 1.32 as objects; a Handle is an int with attributes, so both work.
"""

import threading
import weakref
from typing import Any, Dict, Optional, Union

from . import _octavo
from ._errors import make_error

_AUTOMATIC, _CPU = -2, -1


class _State:
    """One native handle. ``kept``: until destroy_handle(); otherwise it goes with its last Handle."""

    def __init__(self, device: Any, kept: bool) -> None:
        self.native = _octavo.create_handle(_device_number(device))
        self.ordinal = _octavo.handle_ordinal(self.native) if _octavo.handle_is_cuda(self.native) else None
        self.stream: Optional[int] = None
        self.alive = True
        _live[self.native] = self
        if kept:
            _kept[self.native] = self

    def destroy(self) -> None:
        if self.alive:
            self.alive = False
            _live.pop(self.native, None)
            _kept.pop(self.native, None)
            _octavo.destroy_handle(self.native)

    def __del__(self) -> None:
        try:
            self.destroy()
        except Exception:  # the interpreter is going down, or __init__ failed
            pass


_live: "weakref.WeakValueDictionary[int, _State]" = weakref.WeakValueDictionary()
_kept: Dict[int, _State] = {}


class Handle(int):
    """What create_handle() returns."""

    _state: _State

    def __new__(cls, backend_handle: int, ordinal: Optional[int] = None, stream: Optional[int] = None) -> "Handle":
        """Of an address that create_handle() gave; the other arguments are read from it."""
        state = _live.get(int(backend_handle))
        if state is None:
            raise make_error(
                "HANDLE_ERROR",
                f"handle {int(backend_handle):#x} is not a live handle: it was not made by create_handle(), or was destroyed.",
            )
        self = super().__new__(cls, int(backend_handle))
        self._state = state
        return self

    @property
    def backend_handle(self) -> int:
        return int(self)

    @property
    def ordinal(self) -> Optional[int]:
        """The GPU's number; None on the CPU."""
        return self._state.ordinal

    @property
    def stream(self) -> Optional[int]:
        """None until set_stream(): a GPU then follows PyTorch's current stream."""
        return self._state.stream

    @property
    def is_cuda(self) -> bool:
        return self._state.ordinal is not None

    @property
    def device(self) -> str:
        return "cpu" if self._state.ordinal is None else f"cuda:{self._state.ordinal}"

    def __copy__(self) -> "Handle":
        return self

    def __deepcopy__(self, memo: Any) -> "Handle":
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a handle cannot be pickled: it stands for a device of this process; call create_handle() in the other.")

    def __repr__(self) -> str:
        return f"Handle({int(self):#x}, device='{self.device}', stream={self.stream})"


def _device_number(device: Union[None, int, str, Any]) -> int:
    if device is None:
        return _AUTOMATIC
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    text = str(device)  # also a torch.device
    if text == "cpu":
        return _CPU
    if text == "cuda":
        return 0
    if text.startswith("cuda:") and text[5:].isdigit():
        return int(text[5:])
    raise ValueError(f"device {text!r} is not a device; pass 'cpu', 'cuda', 'cuda:N', an ordinal, or nothing.")


def create_handle(device: Union[None, int, str, Any] = None) -> Handle:
    """A handle for a device: 'cpu', 'cuda', 'cuda:N', an ordinal, or (default) OCTAVO_DEVICE, the first GPU, the CPU."""
    return Handle(_State(device, kept=True).native)


def check_handle(handle: Any) -> Handle:
    """The live Handle behind an int or a Handle; a RuntimeError where there is none."""
    if isinstance(handle, bool) or not isinstance(handle, int):
        raise TypeError(f"a handle is what create_handle() returns, not {type(handle).__name__}.")
    if isinstance(handle, Handle) and handle._state.alive:
        return handle
    return Handle(int(handle))


def destroy_handle(handle: int) -> None:
    check_handle(handle)._state.destroy()


def set_stream(handle: int, stream: Any) -> None:
    """``stream`` is an int address, or an object with ``cuda_stream`` (PyTorch) or ``ptr`` (CuPy). 0 on the CPU."""
    checked = check_handle(handle)
    if not isinstance(stream, int):
        stream = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream))
    if not isinstance(stream, int):
        raise TypeError(f"stream is {type(stream).__name__}; pass the stream's address as an int.")
    _octavo.set_stream(int(checked), stream)
    checked._state.stream = stream


def get_stream(handle: int) -> int:
    return int(_octavo.get_stream(int(check_handle(handle))))


_default = threading.local()


def default_handle() -> Handle:
    """This thread's handle for graphs that were given none."""
    handle: Optional[Handle] = getattr(_default, "handle", None)
    if handle is None or not handle._state.alive:
        state = _State(None, kept=False)
        handle = Handle(state.native)
        _default.handle = handle
    return handle
