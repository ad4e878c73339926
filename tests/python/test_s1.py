# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The reported program: int8 operands through io_data_type, and an output whose type nobody set."""

import numpy as np
import pytest

import octavo as cudnn
import reference

from conftest import torch


def program(x, w, y, mended, device="cpu"):
    handle = cudnn.create_handle(device)
    graph = cudnn.pygraph(
        io_data_type=cudnn.data_type.INT8,
        intermediate_data_type=cudnn.data_type.INT32,
        compute_data_type=cudnn.data_type.INT32,
        handle=handle,
    )
    X = graph.tensor(name="X", dim=[1, 1, 5, 5], stride=[25, 1, 5, 1])
    W = graph.tensor(name="W", dim=[1, 1, 3, 3], stride=[9, 1, 3, 1])
    Y = graph.conv_fprop(image=X, weight=W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y.set_name("Y").set_output(True)
    if mended:
        Y.set_data_type(cudnn.data_type.INT32)
    graph.build([cudnn.heur_mode.A])
    workspace = np.empty(graph.get_workspace_size(), np.uint8)
    try:
        graph.execute({X: x, W: w, Y: y}, workspace, handle=handle)
    finally:
        cudnn.destroy_handle(handle)


def data():
    x = ((np.arange(25) * 37 + 11) % 255 - 127).astype(np.int8).reshape(1, 1, 5, 5)
    w = (127 - (np.arange(9) * 53) % 255).astype(np.int8).reshape(1, 1, 3, 3)
    expected = reference.fprop(x, w, [1, 1], [1, 1], [1, 1], [1, 1])
    assert np.abs(expected).max() > 127  # an int8 result would have to saturate
    return x, w, expected


def test_wrong_program_names_what_is_wrong(arrays):
    x, w, _ = data()
    y = np.full((1, 1, 5, 5), 0x5A5A5A5A, np.int32)
    with pytest.raises(ValueError) as error:
        program(arrays(x), arrays(w), arrays(y), mended=False)
    message = str(error.value)
    for word in ("Y", "INT8", "io_data_type", "INT32", "set_data_type"):
        assert word in message, f"{word!r} is not in {message!r}"
    assert (y == 0x5A5A5A5A).all(), "the buffer was written"


def test_mended_program_is_exact(arrays):
    x, w, expected = data()
    y = np.full((1, 1, 5, 5), 0x5A5A5A5A, np.int32)
    program(arrays(x), arrays(w), arrays(y), mended=True)
    assert np.array_equal(y, expected)


def test_without_mending_an_int8_buffer_saturates(arrays):
    x, w, expected = data()
    y = np.full((1, 1, 5, 5), 0x5A, np.int8)
    program(arrays(x), arrays(w), arrays(y), mended=False)
    assert np.array_equal(y, reference.saturate(expected, np.int8))


@pytest.mark.torch
def test_as_reported_only_import_and_device_changed():
    """The reporter's spelling: tensors made by torch, everything by keyword, no handle of its own."""
    x = torch.randint(-128, 128, (1, 1, 5, 5), dtype=torch.int8, device="cpu")
    w = torch.randint(-128, 128, (1, 1, 3, 3), dtype=torch.int8, device="cpu")
    y = torch.empty((1, 1, 5, 5), dtype=torch.int32, device="cpu")
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.INT8, compute_data_type=cudnn.data_type.INT32)
    X = graph.tensor(dim=[1, 1, 5, 5], stride=[25, 1, 5, 1])
    W = graph.tensor(dim=[1, 1, 3, 3], stride=[9, 1, 3, 1])
    Y = graph.conv_fprop(X, W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
    Y.set_output(True).set_data_type(torch.int32)
    graph.build([cudnn.heur_mode.A])
    workspace = torch.empty(graph.get_workspace_size(), dtype=torch.uint8, device="cpu")
    graph.execute({X: x, W: w, Y: y}, workspace)
    expected = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
    assert torch.equal(y.double(), expected) and expected.abs().max() > 0
