#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes what `octavo docs NAME` prints between the markers of docs/*.md:

    <!-- generated: NAME -->
    ...
    <!-- end -->

    python scripts/docs.py PROGRAM          writes
    python scripts/docs.py --check PROGRAM  fails when a page is not up to date
"""

import pathlib
import re
import subprocess
import sys

MARK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.S)


def main():
    check = "--check" in sys.argv
    program = [a for a in sys.argv[1:] if a != "--check"][0]
    stale = []
    for page in sorted(pathlib.Path(__file__).resolve().parents[1].glob("docs/*.md")):
        old = page.read_text()

        def fill(match):
            table = subprocess.run([program, "docs", match.group(2)], check=True, capture_output=True, text=True).stdout
            return match.group(1) + table + match.group(3)

        new = MARK.sub(fill, old)
        if new == old:
            continue
        stale.append(page.name)
        if not check:
            page.write_text(new)
    if check and stale:
        sys.exit(f"docs/{', docs/'.join(stale)} is not up to date; run: python scripts/docs.py {program}")


main()
