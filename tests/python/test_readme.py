# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Every block of code in README.md runs as it stands there."""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OCTAVO_BUILD_DIR", ROOT / "build"))
README = (ROOT / "README.md").read_text()
PROGRAM = Path(sysconfig.get_path("scripts")) / "octavo"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def run(command, **kw):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kw)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def needs_build():
    if not (BUILD / "cmake_install.cmake").exists():
        if os.environ.get("OCTAVO_REQUIRE_INSTALL") == "1":
            pytest.fail(f"there is no build in {BUILD}")
        pytest.skip(f"there is no build in {BUILD}: not observed")


def needs_program():
    if not PROGRAM.exists():
        if os.environ.get("OCTAVO_REQUIRE_INSTALL") == "1":
            pytest.fail(f"there is no {PROGRAM}")
        pytest.skip("octavo is not installed as a wheel here: not observed")


def test_there_are_blocks_to_run():
    assert len(blocks("python")) >= 2 and len(blocks("cpp")) == 1 and len(blocks("cmake")) == 1


@pytest.mark.parametrize("index", range(len(blocks("python"))))
def test_python_block(index, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(blocks("python")[index])
    run([sys.executable, script], cwd=tmp_path)


def test_the_first_block_without_the_call_is_an_error_that_names_it(tmp_path):
    text = blocks("python")[0]
    wrong = text.replace(".set_data_type(cudnn.data_type.INT32)", "")
    assert wrong != text
    script = tmp_path / "block.py"
    script.write_text(wrong)
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode != 0
    for word in ("Y", "INT8", "io_data_type", "INT32", "set_data_type"):
        assert word in result.stderr, result.stderr


def test_cpp_quick_start_with_its_own_cmake_project(tmp_path):
    needs_build()
    prefix, source, build = tmp_path / "prefix", tmp_path / "source", tmp_path / "build"
    source.mkdir()
    run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "development"])
    (source / "CMakeLists.txt").write_text(blocks("cmake")[0])
    (source / "main.cpp").write_text(blocks("cpp")[0])
    run(["cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"])
    run(["cmake", "--build", build])
    assert run([build / "mine"]).strip() == "3 7 0"


def commands():
    """The lines of the block about the program, with what is slow made small."""
    block = next(b for b in blocks("sh") if ".venv/bin/octavo run" in b)
    problem, lines = None, []
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0].startswith("P="):
            problem = words[0][2:]
        elif words:
            lines.append([problem if w == "$P" else w for w in words])
    return lines


@pytest.mark.parametrize("index", range(len(commands())))
def test_command_of_the_program_block(index, tmp_path):
    needs_program()
    words = commands()[index]
    if words[0] == ".venv/bin/python":
        pytest.importorskip("plotly")
        words = [sys.executable, ROOT / words[1], *words[2:]]
        row = tmp_path / "f.json"
        run([PROGRAM, "bench", "--layers", ROOT / "bench/layers.csv", "--filter", "int8-5x5", "--seconds", "0.05", "--json", row])
    else:
        assert words[0] == ".venv/bin/octavo"
        words = [PROGRAM, *words[1:]]
        if words[1] == "bench":
            words[words.index("--layers") + 1] = ROOT / "bench/layers.csv"
            if "oneDNN" in run([PROGRAM, "doctor", "--quick"]) and "not in this build" in run([PROGRAM, "doctor", "--quick"]):
                at = words.index("--peers")
                del words[at : at + 2]
            words += ["--filter", "resnet50-b1/.*7-", "--seconds", "0.05"]
        if words[1] == "doctor":
            words += ["--quick"]
    run(words, cwd=tmp_path)


def test_files_that_the_readme_links_to_exist():
    for page in [ROOT / "README.md", ROOT / "THIRD_PARTY.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"
