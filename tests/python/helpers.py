# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays with any strides inside guarded storage, and graphs around one convolution."""

import numpy as np

import octavo as cudnn

GUARD = 64  # bytes before and after each buffer
FILL = 0x5A

DTYPE = {
    "s8": (cudnn.data_type.INT8, np.dtype(np.int8)),
    "u8": (cudnn.data_type.UINT8, np.dtype(np.uint8)),
    "s32": (cudnn.data_type.INT32, np.dtype(np.int32)),
    "f16": (cudnn.data_type.HALF, np.dtype(np.float16)),
    "f32": (cudnn.data_type.FLOAT, np.dtype(np.float32)),
    "f64": (cudnn.data_type.DOUBLE, np.dtype(np.float64)),
}


def channels_last(dim):
    stride, running = [0] * len(dim), 1
    for i in [1, *reversed(range(2, len(dim))), 0]:
        stride[i] = running
        running *= max(dim[i], 1)
    return stride


def row_major(dim):
    stride, running = [0] * len(dim), 1
    for i in reversed(range(len(dim))):
        stride[i] = running
        running *= max(dim[i], 1)
    return stride


class Buffer:
    """An array of the given strides in storage filled with 0x5A, which check() looks at: guards and gaps must stay."""

    def __init__(self, dim, stride, dtype):
        self.span = 0 if 0 in dim else 1 + sum((d - 1) * s for d, s in zip(dim, stride))
        size = self.span * dtype.itemsize
        self.raw = np.full(size + 2 * GUARD + 64, FILL, np.uint8)
        self.start = GUARD + (-(self.raw.ctypes.data + GUARD)) % 64
        self.end = self.start + size
        flat = self.raw[self.start : self.end].view(dtype)
        self.array = np.lib.stride_tricks.as_strided(flat, dim, [s * dtype.itemsize for s in stride])

    def check(self):
        assert (self.raw[: self.start] == FILL).all() and (self.raw[self.end :] == FILL).all(), "a guard was overwritten"
        used = np.zeros(self.end - self.start, bool)
        mask = np.lib.stride_tricks.as_strided(
            used.view(f"V{self.array.dtype.itemsize}"), self.array.shape, self.array.strides
        )  # fmt: skip
        if mask.size:
            mask[...] = np.frombuffer(b"\x01" * self.array.dtype.itemsize, f"V{self.array.dtype.itemsize}")[0]
        gaps = self.raw[self.start : self.end][~used]
        assert (gaps == FILL).all(), "a gap between rows was overwritten"


def filled(values, stride, dtype):
    buffer = Buffer(list(values.shape), stride, dtype)
    buffer.array[...] = values
    return buffer


def conv(
    x, w, *, out=None, io=None, compute=cudnn.data_type.INT32, pad=(1, 1), stride=(1, 1), dilation=(1, 1), op="conv_fprop", **kw
):  # fmt: skip
    """A graph of one convolution like the given arrays; returns (graph, a, b, y)."""
    graph = cudnn.pygraph(
        io_data_type=io or cudnn.data_type.FLOAT, intermediate_data_type=cudnn.data_type.FLOAT, compute_data_type=compute
    )
    a, b = graph.tensor_like(x), graph.tensor_like(w)
    y = getattr(graph, op)(a, b, padding=list(pad), stride=list(stride), dilation=list(dilation), **kw)
    y.set_output(True)
    if out is not None:
        y.set_data_type(out)
    return graph, a, b, y
