#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""What a glance at the tree can tell: licence lines, lengths, names, who includes whom, paths of somebody's machine."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CODE = {".cpp", ".h", ".cuh", ".cu", ".py", ".pyi"}
LONGEST = 800

# Folder -> what its files may include of the project, by the first folders of the path as written. kernels <- engines <-
# registry <- graph; src/core knows nobody; src/jit and src/tune know no engine; CUDA lives in src/device, src/jit and
# engines/cuda_*.
ALLOWED = {
    "src/core": {"core", "octavo"},
    "src/device": {"core", "device", "octavo"},
    "src/jit": {"core", "device", "jit", "octavo"},
    "src/tune": {"core", "device", "engine", "jit", "octavo", "tune", "verify"},
    "src/engine": {"core", "device", "engine", "octavo"},
    "src/verify": {"core", "device", "engine", "octavo", "verify", "engines/cpu_reference"},
}
CUDA_HEADERS = re.compile(r"^(device/cuda_|jit/)")
CUDA_FOLDERS = ("src/device", "src/jit", "src/tune", "src/graph", "src/verify", "engines/cuda_", "tools/", "tests/", "bench/", "python/")


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / n for n in names.split("\0") if n and (ROOT / n).is_file()]


def includes(text):
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', text, re.M)


def part_of_project(include):
    head = include.split("/")[0]
    if head == "engines":
        return "/".join(include.split("/")[:2])
    folders = {"core", "device", "engine", "graph", "jit", "octavo", "tune", "verify", "kernels", "tools", "tests"}
    return head if head in folders and "/" in include else None


def direction(name, text):
    """Complaints about the includes of one file."""
    owner = next((f for f in ALLOWED if name.startswith(f + "/")), None)
    for include in includes(text):
        part = part_of_project(include)
        if (ROOT / name).parent.joinpath(include).is_file():
            continue  # a neighbour
        if owner and part and part not in ALLOWED[owner]:
            yield f"{name}: includes {include}, which {owner} must not know"
        if name.startswith("engines/") and part == "graph":
            yield f"{name}: includes {include}; engines do not know the graph"
        if name.startswith("engines/") and part and part.startswith("engines/"):
            mine = "/".join(name.split("/")[:2])
            shared = part == "engines/cpu_reference" or (mine.startswith("engines/cuda_") and part.startswith("engines/cuda_common"))
            if part != mine and not shared:
                yield f"{name}: includes {include} of another engine"
        if name.startswith("kernels/") and part and part != "kernels":
            yield f"{name}: includes {include}; device code knows nothing of the host"
        if CUDA_HEADERS.match(include) and not name.startswith(CUDA_FOLDERS):
            yield f"{name}: includes {include}; only src/device, src/jit and engines/cuda_* know CUDA"
        if name.startswith("include/octavo/") and part and part != "octavo":
            yield f"{name}: the public header includes {include} of src/"


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
        if path.suffix in {".cpp", ".h", ".cuh", ".cu"}:
            complaints += direction(name, text)
    for complaint in complaints:
        print(complaint)
    print(f"style: {len(complaints)} complaint{'' if len(complaints) == 1 else 's'}")
    sys.exit(1 if complaints else 0)


main()
