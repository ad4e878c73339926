# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Random graphs. OCTAVO_RANDOM_GRAPHS sets how many (default 600; ./test asks for the full number), OCTAVO_RANDOM_SEED
where they start; a failure prints its seed."""

import os

import numpy as np
import pytest

import octavo as cudnn
from helpers import DTYPE
from random_graphs import run_adjoint_case, run_float_case, run_integer_case

TOTAL = int(os.environ.get("OCTAVO_RANDOM_GRAPHS", "600"))
SEED = int(os.environ.get("OCTAVO_RANDOM_SEED", "1"))
BLOCKS = 10


def float_type(name):
    if name != "bf16":
        return DTYPE[name]
    try:
        import ml_dtypes
    except ImportError:
        return None
    return cudnn.data_type.BFLOAT16, np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_integer_graphs(block):
    for i in range(TOTAL * 6 // 10 // BLOCKS):
        run_integer_case(SEED * 1_000_000 + block * 10_000 + i)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_float_graphs(block):
    for i in range(TOTAL * 2 // 10 // BLOCKS):
        run_float_case(SEED * 1_000_000 + 500_000 + block * 10_000 + i, float_type)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_adjoint_identities(block):
    products = [run_adjoint_case(SEED * 1_000_000 + 700_000 + block * 10_000 + i) for i in range(TOTAL * 2 // 30 // BLOCKS)]
    assert any(products) or not products


def test_the_evaluation_can_fail():
    """Guards the tests themselves: with one wrong element, or one byte in a gap, a comparison must fail."""
    from helpers import Buffer

    buffer = Buffer([1, 2, 3], [12, 4, 1], np.dtype(np.int8))
    buffer.array[...] = 1
    buffer.check()
    buffer.raw[buffer.start + 3] = 0  # the gap between rows
    with pytest.raises(AssertionError):
        buffer.check()
