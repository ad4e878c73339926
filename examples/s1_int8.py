# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""A cudnn-frontend program with one line changed: the import.

Its operands are int8 through io_data_type, it computes in int32, it binds an int32 buffer to the output, and it never says
what type the output has. That gives the output the type INT8, so the program is wrong, and says so. One call mends it.
"""

import sys

import numpy as np

import octavo as cudnn


def convolve(x, w, y, set_type):
    handle = cudnn.create_handle()
    graph = cudnn.pygraph(
        io_data_type=cudnn.data_type.INT8,
        compute_data_type=cudnn.data_type.INT32,
        handle=handle,
    )
    X = graph.tensor(name="X", dim=[1, 1, 5, 5], stride=[25, 1, 5, 1])
    W = graph.tensor(name="W", dim=[1, 1, 3, 3], stride=[9, 1, 3, 1])
    Y = graph.conv_fprop(image=X, weight=W, padding=[0, 0], stride=[1, 1], dilation=[1, 1])
    Y.set_name("Y").set_output(True)
    if set_type:
        Y.set_data_type(cudnn.data_type.INT32)
    graph.build([cudnn.heur_mode.A])
    workspace = np.empty(graph.get_workspace_size(), np.uint8)
    graph.execute({X: x, W: w, Y: y}, workspace, handle=handle)
    cudnn.destroy_handle(handle)


def main():
    rng = np.random.default_rng(7)
    x = rng.integers(-128, 128, (1, 1, 5, 5), np.int8)
    w = rng.integers(-128, 128, (1, 1, 3, 3), np.int8)
    y = np.zeros((1, 1, 3, 3), np.int32)

    print("as reported:")
    try:
        convolve(x, w, y, set_type=False)
        sys.exit("the wrong program was accepted")
    except Exception as error:
        print(f"  {type(error).__name__}: {error}")

    print("with Y.set_data_type(cudnn.data_type.INT32):")
    convolve(x, w, y, set_type=True)
    windows = np.lib.stride_tricks.sliding_window_view(x[0, 0].astype(np.int64), (3, 3))
    expected = (windows * w[0, 0].astype(np.int64)).sum(axis=(2, 3))
    print("  " + str(y[0, 0]).replace("\n", "\n  "))
    if not np.array_equal(y[0, 0], expected):
        sys.exit(f"that is wrong; NumPy says\n{expected}")
    print("  equal to NumPy's int64 result")


main()
