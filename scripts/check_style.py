#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""What a glance at the tree can tell: licence lines, lengths, names, paths of somebody's machine."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CODE = {".cpp", ".h", ".cuh", ".cu", ".py", ".pyi"}
LONGEST = 800


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / n for n in names.split("\0") if n and (ROOT / n).is_file()]


def main():
    complaints = []
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("third_party/"):
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        script = path.suffix in CODE or path.suffix in {".sh", ".cmake"} or path.name == "CMakeLists.txt" or text.startswith("#!")
        if script and not all(f"SPDX-{tag}" in text[:400] for tag in ("FileCopyrightText", "License-Identifier")):
            complaints.append(f"{name}: the two SPDX lines are missing at the top")
        if path.suffix in CODE and text.count("\n") > LONGEST:
            complaints.append(f"{name}: {text.count(chr(10))} lines; {LONGEST} is the most")
        if path.suffix in CODE and not re.fullmatch(r"[a-z0-9_]+", path.stem):
            complaints.append(f"{name}: file names are lower case with underscores")
        if match := re.search(r"(?<![\w.])/(work|farm|home|Users)/", text):
            if name != "scripts/check_style.py":
                complaints.append(f"{name}: holds a path of somebody's machine ({match.group(0)}...)")
    for complaint in complaints:
        print(complaint)
    print(f"style: {len(complaints)} complaint{'' if len(complaints) == 1 else 's'}")
    sys.exit(1 if complaints else 0)


main()
