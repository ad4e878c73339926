# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The NumPy reference against PyTorch's double-precision convolution and its autograd."""

import numpy as np
import pytest

import reference
from conftest import torch


@pytest.mark.torch
def test_reference_against_torch_double(rng):
    seen = 0
    for _ in range(300):
        spatial, groups = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        cg, kg = (int(v) for v in rng.integers(1, 4, 2))
        size, filt = rng.integers(3, 8, spatial), rng.integers(1, 4, spatial)
        pre, post = rng.integers(0, 3, spatial), rng.integers(0, 3, spatial)
        stride, dilation = rng.integers(1, 3, spatial), rng.integers(1, 3, spatial)
        if any(s + a + b < d * (f - 1) + 1 for s, a, b, d, f in zip(size, pre, post, dilation, filt)):
            continue
        flip = bool(rng.integers(2))
        x, w = rng.integers(-5, 6, (2, cg * groups, *size)), rng.integers(-5, 6, (kg * groups, cg, *filt))
        tx = torch.tensor(x, dtype=torch.double, requires_grad=True)
        tw = torch.tensor(w, dtype=torch.double, requires_grad=True)
        padded = torch.nn.functional.pad(tx, [int(v) for pair in reversed(list(zip(pre, post))) for v in pair])
        used = torch.flip(tw, list(range(2, tw.ndim))) if flip else tw
        function = getattr(torch.nn.functional, f"conv{spatial}d")
        ty = function(padded, used, stride=stride.tolist(), dilation=dilation.tolist(), groups=groups)
        geometry = (pre.tolist(), post.tolist(), stride.tolist(), dilation.tolist(), flip)
        y = reference.fprop(x, w, *geometry)
        assert np.array_equal(y, ty.detach().numpy())
        dy = rng.integers(-5, 6, y.shape)
        ty.backward(torch.tensor(dy, dtype=torch.double))
        assert np.array_equal(reference.dgrad(dy, w, x.shape, *geometry), tx.grad.numpy())
        assert np.array_equal(reference.wgrad(x, dy, w.shape, *geometry), tw.grad.numpy())
        seen += 1
    assert seen > 150


def test_saturate():
    assert reference.saturate(np.array([2.5, 3.5, -0.5, 1e9, -1e9, np.nan]), np.int8).tolist() == [2, 4, 0, 127, -128, 0]
    assert reference.saturate(np.array([300, -1]), np.uint8).tolist() == [255, 0]
