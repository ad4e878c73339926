# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of bench/report.py, opened in a real browser in its light and its dark form."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def row(name, direction="fprop", **more):
    line = f"{direction} n=1 c=64 size=56x56 k=64 filter=1x1 x=s8:nhwc w=s8:nhwc y=s8:nhwc"
    base = dict(
        problem=line, set="one & two", name=name, engine="cpu_native", config="direct", describe="", right=True, checked=1.0, median_us=40.0,
        min_us=39.0, gops=642.2, share=0.45, operations=25690112.0, bytes=405504.0, plan_ms=0.1, iterations=9, clean=9, ratio=1.2,
        peers={"onednn": dict(version="2.6.3", median_us=48.0, min_us=47.0, right=True, ratio=1.2, implementation="jit")},
        machine="Test <machine>", isa="avx512_vnni", threads=2, date="2026-08-01", command="octavo bench --layers 'x'",
        ceiling=dict(loop="vpdpbusd zmm (s8)", gops=1440.0), read_gbs=20.0,
    )  # fmt: skip
    return {**base, **more}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    pytest.importorskip("plotly")
    folder = tmp_path_factory.mktemp("page")
    rows = [
        row("first"),
        row("</script><b>second", right=False, wrong="y[0] is 1, the oracle says 2"),
        row("third", peers={"onednn": dict(version="2.6.3", missing="oneDNN: has no type")}),
        row("fourth", error="No engine accepts the problem."),
        row("back", direction="wgrad"),
    ]
    (folder / "figures.json").write_text(json.dumps(rows))
    subprocess.run([sys.executable, ROOT / "bench/report.py", folder / "figures.json", "-o", folder / "page.html"], check=True)
    return folder / "page.html"


def browse(page, dark, *what):
    if BROWSER is None:
        if os.environ.get("OCTAVO_REQUIRE_BROWSER") == "1":
            pytest.fail("there is no chromium, and OCTAVO_REQUIRE_BROWSER=1")
        pytest.skip("there is no browser: not observed")
    return subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1100,2000",
         "--virtual-time-budget=15000", f"--user-data-dir={page.parent / 'profile'}",
         f"--blink-settings=preferredColorScheme={0 if dark else 1}", *what, page.as_uri()],
        capture_output=True, text=True, timeout=180,
    )  # fmt: skip


def first_pixel(png):
    """Red, green, blue of the top left corner: the first pixel of the first row needs no filter's neighbours."""
    data, at, body = png.read_bytes(), 8, b""
    channels = {2: 3, 6: 4}[data[25]]
    while at < len(data):
        (length,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        if kind == b"IDAT":
            body += data[at + 8 : at + 8 + length]
        at += 12 + length
    assert channels in (3, 4)
    return tuple(zlib.decompress(body)[1:4])


def test_the_page_is_one_file_that_asks_for_nothing(page):
    text = page.read_text()
    assert not re.search(r"<(script|img|link|iframe)[^>]+(src|href)=", text)
    assert "&lt;machine&gt;" in text and "one &amp; two" in text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_in_a_browser(page, dark):
    result = browse(page, dark, "--dump-dom")
    dom = result.stdout
    head = dom[: dom.index("<head>")]
    assert f'data-theme="{"dark" if dark else "light"}"' in head, head + result.stderr[-500:]
    assert 'data-plots="4"' in head and "data-error" not in head, head
    assert dom.count('class="main-svg"') >= 4
    assert len(re.findall(r'class="point"', dom)) >= 10
    shot = page.parent / f"page-{'dark' if dark else 'light'}.png"
    browse(page, dark, f"--screenshot={shot}")
    assert first_pixel(shot) == ((0x14, 0x17, 0x1B) if dark else (0xFF, 0xFF, 0xFF))
