# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The program octavo: statuses, sentences, figures."""

import json
import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sysconfig.get_path("scripts")) / "octavo"
LINE = "fprop n=1 c=16 size=9x9 k=24 filter=3x3 pad=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc"

pytestmark = pytest.mark.skipif(
    not PROGRAM.exists() and os.environ.get("OCTAVO_REQUIRE_INSTALL") != "1", reason="octavo is not installed: not observed"
)


def octavo(*words, **kw):
    return subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, timeout=300, **kw)


@pytest.mark.parametrize(
    "words, told",
    [
        ([], "command is missing"),
        (["exlpain", LINE], "did you mean 'explain'?"),
        (["run", LINE, "--enigne", "cpu_reference"], "did you mean '--engine'?"),
        (["run", LINE, "--engine", "cpu_refrence"], "did you mean 'cpu_reference'?"),
        (["run", LINE, "--epilogue", "scale+bais"], "did you mean 'bias'?"),
        (["run", LINE, "--epilogue", "relu+bias"], "in the order"),
        (["run", LINE.replace("size=", "sise=")], "did you mean 'size=...'?"),
        (["run", LINE.replace("nhwc", "nwhc", 1)], "nhwc"),
        (["run", LINE.replace("x=s8", "x=int8")], "s8"),
        (["run", LINE.replace("fprop", "frop")], "did you mean 'fprop'?"),
        (["run"], "problem"),
        (["run", LINE, "--isa", "avx512vnni"], "did you mean 'avx512_vnni'?"),
        (["run", LINE, "--threads", "0"], "--threads"),
        (["bench", "--layers", "no-such.csv"], "no-such.csv"),
        (["bench", "--layers", ROOT / "bench/layers.csv", "--direction", "dgard"], "did you mean 'dgrad'?"),
        (["bench", "--layers", ROOT / "bench/layers.csv", "--types", "i8"], "did you mean"),
        (["bench", "--layers", ROOT / "bench/layers.csv", "--peers", "onednm"], "did you mean 'onednn'?"),
        (["bench", "--layers", ROOT / "bench/layers.csv", "--filter", "nothing-has-this"], "no layer"),
        (["bench", "--layers", ROOT / "bench/layers.csv", "--filter", "("], "regular expression"),
        (["verify"], "--random"),
        (["verify", "--cases", "no-such.txt"], "no-such.txt"),
    ],
)
def test_a_mistake_is_status_2_and_one_sentence(words, told):
    result = octavo(*words)
    assert result.returncode == 2, result
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("octavo: "), result.stderr
    assert told in result.stderr, result.stderr
    assert result.stdout == ""


def test_help_and_version():
    assert octavo("--version").stdout.startswith("octavo ")
    names = octavo("--help").stdout
    for name in ("run", "verify", "bench", "explain", "doctor", "demo"):
        assert re.search(rf"^  {name} ", names, re.M)
        assert octavo(name, "--help").returncode == 0


def test_run_prints_nothing_on_stderr_when_piped():
    result = octavo("run", LINE, "--epilogue", "scale+bias+relu")
    assert result.returncode == 0 and result.stderr == "", result
    assert "right, to the bit" in result.stdout


def test_run_is_the_same_at_any_number_of_threads_and_seed_changes_it():
    sums = [re.findall(r"checksum .*", octavo("run", LINE, "--threads", t, "--seed", s).stdout) for t, s in ((1, 3), (2, 3), (2, 4))]
    assert sums[0] and sums[0] == sums[1] != sums[2]


def test_explain_gives_every_engine_and_reasons():
    text = octavo("explain", LINE.replace("x=s8", "x=s32").replace("w=s8", "w=s32").replace("y=s8", "y=s32")).stdout
    assert re.search(r"^  cpu_reference +accepts$", text, re.M), text
    assert re.search(r"^  \w+ +declines: \w+.*", text, re.M), text


def test_verify_counts_and_repeats():
    first, second = octavo("verify", "--random", 40, "--seed", 11), octavo("verify", "--random", 40, "--seed", 11)
    assert first.returncode == 0 and first.stdout == second.stdout, first.stdout + first.stderr
    assert "40 problems" in first.stdout


def test_verify_runs_a_case_file(tmp_path):
    cases = tmp_path / "cases.txt"
    cases.write_text(f"# two\n{LINE}\n\n{LINE.replace('fprop', 'dgrad')}  # the other way\n")
    result = octavo("verify", "--cases", cases)
    assert result.returncode == 0 and "2 problems" in result.stdout, result
    cases.write_text("fprop c=1\n")
    result = octavo("verify", "--cases", cases)
    assert result.returncode == 2 and "cases.txt:1:" in result.stderr


def test_bench_writes_what_it_says(tmp_path):
    figures = tmp_path / "figures.json"
    result = octavo(
        "bench", "--layers", ROOT / "bench/layers.csv", "--filter", "resnet50-b1/512x7", "--epilogue", "scale+bias+relu",
        "--seconds", "0.05", "--json", figures, "--threads", "2",
    )  # fmt: skip
    assert result.returncode == 0 and result.stderr == "", result
    rows = json.loads(figures.read_text())
    assert len(rows) == 2
    for row in rows:
        assert row["right"] is True and row["set"] == "resnet50-b1" and row["threads"] == 2
        assert row["median_us"] > 0 and row["checked"] > 0
        gops = row["operations"] / row["median_us"] * 1e-3
        assert abs(gops - row["gops"]) < 1e-2 * gops
        assert abs(row["share"] - row["gops"] / row["ceiling"]["gops"]) < 1e-2
        assert octavo("explain", row["problem"]).returncode == 0


def test_bench_peer_onednn_is_checked(tmp_path):
    if "not in this build" in octavo("doctor", "--quick").stdout:
        pytest.skip("this build has no oneDNN: not observed")
    figures = tmp_path / "figures.json"
    for extra in (["--epilogue", "scale+bias+relu"], ["--types", "f32", "--direction", "wgrad"], ["--types", "bf16", "--direction", "dgrad"]):
        result = octavo(
            "bench", "--layers", ROOT / "bench/layers.csv", "--filter", "resnet50-b1/64x56-64-1x1", "--peers", "onednn",
            "--seconds", "0.05", "--json", figures, *extra,
        )  # fmt: skip
        (row,) = json.loads(figures.read_text())
        assert result.returncode == 0 and row["peers"]["onednn"]["right"] is True, (result, row)
        assert row["ratio"] == row["peers"]["onednn"]["ratio"] > 0


def test_bench_torch_is_an_error_where_it_is_not(tmp_path):
    env = dict(os.environ, OCTAVO_PYTHON="false")
    result = octavo("bench", "--layers", ROOT / "bench/layers.csv", "--filter", "int8-5x5", "--peers", "torch", env=env)
    assert result.returncode == 2 and "PyTorch" in result.stderr and "OCTAVO_PYTHON" in result.stderr


@pytest.mark.torch
def test_bench_peer_torch_is_checked(tmp_path):
    figures = tmp_path / "figures.json"
    for extra in (["--types", "u8,s8", "--epilogue", "scale+bias+relu"], ["--types", "f32", "--direction", "dgrad"]):
        result = octavo(
            "bench", "--layers", ROOT / "bench/layers.csv", "--filter", "resnet50-b1/64x56-64-1x1", "--peers", "torch",
            "--seconds", "0.05", "--json", figures, *extra,
        )  # fmt: skip
        assert result.returncode == 0, result
        for row in json.loads(figures.read_text()):
            assert row["peers"]["torch"]["right"] is True, row


def test_problem_grammar_page_has_legal_lines():
    page = (ROOT / "docs/problem-grammar.md").read_text()
    lines = [line for block in re.findall(r"^```problem\n(.*?)^```$", page, re.M | re.S) for line in block.splitlines()]
    assert len(lines) >= 8
    for line in lines:
        result = octavo("explain", line)
        assert result.returncode == 0, result.stderr
