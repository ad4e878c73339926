# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Shared by the Python tests. PyTorch is optional: tests that need it are counted as "not observed" where it is missing,
and fail where OCTAVO_REQUIRE_TORCH=1."""

import os

import numpy as np
import pytest

try:
    import torch
except ImportError:
    torch = None

_not_observed = []


def not_observed(node, what):
    """Skips a test that this machine cannot run, and counts it."""
    _not_observed.append((node.nodeid, what))
    pytest.skip(f"needs {what}: not observed")


def pytest_configure(config):
    config.addinivalue_line("markers", "torch: needs PyTorch")
    config.addinivalue_line("markers", "slow: minutes, not seconds")


def pytest_runtest_setup(item):
    if item.get_closest_marker("torch") and torch is None:
        if os.environ.get("OCTAVO_REQUIRE_TORCH") == "1":
            pytest.fail("PyTorch is not installed, and OCTAVO_REQUIRE_TORCH=1")
        not_observed(item, "PyTorch")


def pytest_terminal_summary(terminalreporter):
    for what in sorted({what for _, what in _not_observed}):
        count = sum(1 for _, needed in _not_observed if needed == what)
        terminalreporter.write_line(f"NOT OBSERVED: {count} tests need {what}, which this machine does not have")
    from random_graphs import COUNT

    if COUNT["graphs"]:
        terminalreporter.write_line(f"random graphs evaluated independently: {COUNT['graphs']} ({dict(COUNT)})")


@pytest.fixture
def rng():
    return np.random.default_rng(20260801)


@pytest.fixture(params=["numpy", pytest.param("torch", marks=pytest.mark.torch)])
def arrays(request):
    """Turns NumPy arrays into the buffers under test, which share their memory."""
    if request.param == "numpy":
        return lambda a: a
    return lambda a: torch.from_numpy(a)
