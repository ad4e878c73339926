# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The package is typed: mypy passes on it and on a program that uses it, and the stub of the native module is true."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import octavo

PACKAGE = Path(octavo.__file__).parent

PROGRAM = '''
import numpy as np
import octavo as cudnn

handle: cudnn.Handle = cudnn.create_handle()
graph = cudnn.pygraph(io_data_type=cudnn.data_type.INT8, compute_data_type=cudnn.data_type.INT32, handle=handle)
X = graph.tensor(name="X", dim=[1, 1, 5, 5], stride=[25, 1, 5, 1])
W = graph.tensor(name="W", dim=[1, 1, 3, 3], stride=[9, 1, 3, 1])
Y: cudnn.tensor = graph.conv_fprop(image=X, weight=W, padding=[1, 1], stride=[1, 1], dilation=[1, 1])
Y.set_output(True).set_data_type(cudnn.data_type.INT32)
total, squares = graph.genstats(graph.relu(Y))
graph.build([cudnn.heur_mode.A])
size: int = graph.get_workspace_size()
names: list[str] = graph.plans
graph.execute({X: np.zeros(25, np.int8)}, None)
text: str = cudnn.explain(graph)
'''


def mypy(*args):
    pytest.importorskip("mypy")
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", *args], capture_output=True, text=True)


def test_the_package_passes_mypy():
    result = mypy(str(PACKAGE))
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_program_passes_mypy(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(PROGRAM + "Y.set_dim(3)\nanswer: str = graph.get_workspace_size()\n")
    env_path = f"--config-file={tmp_path / 'mypy.ini'}"
    # An installed package is found by its py.typed; mypy wants no site-packages on its path.
    installed = PACKAGE.parent.name == "site-packages"
    (tmp_path / "mypy.ini").write_text("[mypy]\n" + ("" if installed else f"mypy_path = {PACKAGE.parent}\n"))
    good = mypy(env_path, str(tmp_path / "program.py"))
    assert good.returncode == 0, good.stdout + good.stderr
    bad = mypy(env_path, str(tmp_path / "wrong.py"))
    assert bad.returncode == 1 and bad.stdout.count("error:") == 2, bad.stdout


def test_the_stub_names_what_the_native_module_has():
    assert (PACKAGE / "py.typed").exists()
    stub = (PACKAGE / "_octavo.pyi").read_text()
    for name, value in inspect.getmembers(octavo._octavo):
        if name.startswith("_"):
            continue
        assert re.search(rf"\b{name}\b", stub), f"{name} is not in the stub"
        if inspect.isclass(value):
            body = stub.split(f"class {name}:")[1].split("\nclass ")[0]
            for member in vars(value):
                if not member.startswith("_"):
                    assert re.search(rf"\b{member}\b", body), f"{name}.{member} is not in the stub"
    declared = re.findall(r"^    def ([a-z]\w*)\(", stub, re.M)
    real = {m for c in (octavo._octavo.Graph, octavo._octavo.Tensor, octavo._octavo.KernelCache, octavo._octavo.DeviceProperties)
            for m in dir(c)}  # fmt: skip
    assert set(declared) <= real


def test_everything_public_is_exported():
    for name in ("pygraph", "tensor", "Tensor", "Handle", "Graph", "graph", "jit", "graph_cache", "data_type", "convolution_mode",
                 "heur_mode", "build_plan_policy", "cudnnGraphNotSupportedError", "knob", "knob_type", "create_handle",
                 "destroy_handle", "set_stream", "get_stream", "backend_version", "backend_version_string",
                 "get_last_error_string", "create_kernel_cache", "create_device_properties", "explain", "scalar_type",
                 "tensor_reordering", "reduction_mode", "norm_forward_phase", "behavior_note", "numerical_note",
                 "reshape_mode", "cuda_graph_retention", "Node", "NodeType", "GraphContext"):  # fmt: skip
        assert name in octavo.__all__ and hasattr(octavo, name), name
