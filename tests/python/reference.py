# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution in NumPy, written from the definition and independent of the library: windows of the padded image for fprop
and wgrad, scattering for dgrad. Exact in int64; float64 for real numbers."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def output_size(size, pre, post, filt, stride, dilation):
    return 1 + (size + pre + post - dilation * (filt - 1) - 1) // stride


def _flipped(w, flip):
    return w[(slice(None), slice(None)) + (slice(None, None, -1),) * (w.ndim - 2)] if flip else w


def _windows(x, filt, pre, post, stride, dilation, zero):
    """[N, C, outputs..., taps...]"""
    spatial = x.ndim - 2
    padded = np.pad(x, [(0, 0), (0, 0), *zip(pre, post)], constant_values=zero)
    reach = tuple(d * (f - 1) + 1 for f, d in zip(filt, dilation))
    view = sliding_window_view(padded, reach, axis=tuple(range(2, x.ndim)))
    steps = tuple(slice(None, None, s) for s in stride)
    taps = tuple(slice(None, None, d) for d in dilation)
    assert view.ndim == 2 + 2 * spatial
    return view[(slice(None), slice(None), *steps, *taps)]


def fprop(x, w, pre, post, stride, dilation, flip=False, x_zero=0, dtype=np.int64):
    x, w = x.astype(dtype), _flipped(w, flip).astype(dtype)
    groups = x.shape[1] // w.shape[1]
    k, cg = w.shape[0], w.shape[1]
    win = _windows(x, w.shape[2:], pre, post, stride, dilation, x_zero) - x_zero
    spatial = x.ndim - 2
    out = win.shape[2 : 2 + spatial]
    win = win.reshape(x.shape[0], groups, cg, int(np.prod(out)), -1)
    filt = w.reshape(groups, k // groups, cg, -1)
    y = np.einsum("ngcpt,gkct->ngkp", win, filt)
    return y.reshape(x.shape[0], k, *out)


def wgrad(x, dy, w_dim, pre, post, stride, dilation, flip=False, dtype=np.int64):
    x, dy = x.astype(dtype), dy.astype(dtype)
    k, cg = w_dim[0], w_dim[1]
    groups = x.shape[1] // cg
    spatial = x.ndim - 2
    win = _windows(x, w_dim[2:], pre, post, stride, dilation, 0)
    win = win[(slice(None), slice(None), *(slice(0, p) for p in dy.shape[2:]))]
    taps = win.shape[2 + spatial :]
    win = win.reshape(x.shape[0], groups, cg, int(np.prod(dy.shape[2:])), int(np.prod(taps)))
    grad = dy.reshape(x.shape[0], groups, k // groups, -1)
    dw = np.einsum("ngcpt,ngkp->gkct", win, grad).reshape(w_dim)
    return _flipped(dw, flip)


def dgrad(dy, w, x_dim, pre, post, stride, dilation, flip=False, dtype=np.int64):
    dy, w = dy.astype(dtype), _flipped(w, flip).astype(dtype)
    n, c = x_dim[:2]
    groups = c // w.shape[1]
    k = w.shape[0]
    grad = dy.reshape(n, groups, k // groups, *dy.shape[2:])
    filt = w.reshape(groups, k // groups, w.shape[1], *w.shape[2:])
    padded = np.zeros((n, groups, w.shape[1], *(s + a + b for s, a, b in zip(x_dim[2:], pre, post))), dtype)
    for tap in np.ndindex(*w.shape[2:]):
        part = np.einsum("ngk...,gkc->ngc...", grad, filt[(slice(None), slice(None), slice(None), *tap)])
        where = tuple(slice(t * d, t * d + s * (p - 1) + 1, s) for t, d, s, p in zip(tap, dilation, stride, dy.shape[2:]))
        padded[(slice(None), slice(None), slice(None), *where)] += part
    inside = tuple(slice(a, a + s) for a, s in zip(pre, x_dim[2:]))
    return padded.reshape(n, c, *padded.shape[3:])[(slice(None), slice(None), *inside)]


def saturate(value, dtype):
    """Round to nearest even, saturate; NaN becomes 0."""
    info = np.iinfo(dtype)
    value = np.asarray(value)
    if value.dtype.kind == "f":
        value = np.nan_to_num(np.rint(value.astype(np.float64)), nan=0.0)
    return np.clip(value, info.min, info.max).astype(dtype)
