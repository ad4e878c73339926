# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed works: the C++ package for someone else's CMake project, the compat include path, the program.

OCTAVO_BUILD_DIR names the build folder (default: build/ beside this checkout). Where there is none, these tests are
skipped, unless OCTAVO_REQUIRE_INSTALL=1 (./test sets it)."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import octavo

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OCTAVO_BUILD_DIR", ROOT / "build"))
REQUIRED = os.environ.get("OCTAVO_REQUIRE_INSTALL") == "1"


def run(*args, **kw):
    result = subprocess.run([str(a) for a in args], capture_output=True, text=True, **kw)
    assert result.returncode == 0, f"{args}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    if not (BUILD / "cmake_install.cmake").exists() or shutil.which("cmake") is None:
        if REQUIRED:
            pytest.fail(f"there is no build in {BUILD}")
        pytest.skip(f"there is no build in {BUILD}: not observed")
    where = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", where, "--component", "development")
    return where


def test_a_project_finds_the_package(prefix, tmp_path):
    run("cmake", "-S", ROOT / "tests" / "consumer", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "native").startswith("0 of 25 wrong")
    assert run(tmp_path / "moved").startswith("0 of 48 wrong")


@pytest.mark.parametrize("standard", ["17", "20"])
def test_an_unmodified_program_compiles_with_one_include_path(prefix, tmp_path, standard):
    source = ROOT / "tests" / "consumer" / "moved.cpp"
    compiler = os.environ.get("CXX", "c++")
    run(compiler, f"-std=c++{standard}", "-Wall", "-Wextra", "-Werror", "-I", prefix / "include" / "octavo" / "compat",
        "-fsyntax-only", source)  # fmt: skip


def test_the_program_is_beside_the_interpreter():
    """The wheel brings the command line as <environment>/bin/octavo."""
    program = Path(sysconfig.get_path("scripts")) / "octavo"
    installed = Path(octavo.__file__).is_relative_to(Path(sysconfig.get_path("purelib")))
    if not installed:
        if REQUIRED:
            pytest.fail(f"octavo is imported from {octavo.__file__}, not from an installed wheel")
        pytest.skip("octavo is not installed as a wheel here: not observed")
    assert octavo.__version__ in run(program, "--version")


def test_importing_octavo_imports_no_framework():
    code = "import sys, octavo; print(sorted(m for m in ('torch', 'cupy', 'ml_dtypes') if m in sys.modules))"
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    assert run(sys.executable, "-c", code, env=env).strip() == "[]"
