#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the direction of dependencies by the includes of every source file.

kernels <- engines <- registry (src/engine) <- graph; src/core depends on nothing of ours but the public headers; src/jit and
src/tune never include an engine; only src/device, src/jit and engines/cuda_* know CUDA. Also: files stay under 800 lines and
start with the licence. Exit status 1 and one line for each violation.
"""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Folder -> what its files may include from this repository (prefixes of the included file's path).
ALLOWED = {
    "src/core": ["include/octavo", "src/core"],
    "src/device": ["include/octavo", "src/core", "src/device"],
    "src/jit": ["include/octavo", "src/core", "src/device", "src/jit"],
    "src/tune": ["include/octavo", "src/core", "src/device", "src/jit", "src/tune", "src/engine", "src/verify"],
    "src/engine": ["include/octavo", "src/core", "src/device", "src/engine"],
    # The oracle's scalar semantics are shared by what checks and by what runs a graph's leftovers.
    "src/verify": ["include/octavo", "src/core", "src/device", "src/engine", "src/verify", "engines/cpu_reference"],
    "src/graph": ["include/octavo", "src/core", "src/device", "src/engine", "src/graph", "engines/cpu_reference", "engines/cuda_common"],
    "kernels": ["kernels"],
    "include/octavo": ["include/octavo"],
}
SHARED_BY_ENGINES = ["include/octavo", "src/core", "src/device", "src/engine/registry.h", "engines/cpu_reference", "kernels"]
# The compat header takes the real CUDA types where they are installed.
CUDA_MAY = ("include/octavo/compat/", "src/device/", "src/jit/", "engines/cuda_", "tests/", "bench/", "kernels/")
CUDA_INCLUDE = re.compile(r"^(cuda|nvrtc|cudaTypedefs|cuda_runtime|cublas)[\w.]*\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = (".cpp", ".h", ".cuh", ".cu")


def sources(root):
    for folder in ("include", "src", "engines", "kernels"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCES:
                yield path


def resolve(root, path, name):
    """The repository path of an included file, or None when it is not ours."""
    for base in (path.parent, root / "include", root / "src", root, root / "kernels"):
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def allowed_for(relative):
    parts = relative.split("/")
    if parts[0] == "engines":
        own = "/".join(parts[:2])
        allowed = SHARED_BY_ENGINES + [own]
        # The CUDA engines share the JIT and one another's host helpers.
        return allowed + ["src/jit", "engines/cuda_"] if parts[1].startswith("cuda_") else allowed
    for folder, allowed in ALLOWED.items():
        if relative.startswith(folder + "/"):
            return allowed
    return None


def violations(root):
    errors = []
    for path in sources(root):
        relative = path.relative_to(root).as_posix()
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > 800:
            errors.append(f"{relative}: {len(lines)} lines; a file has at most 800")
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:5]):
            errors.append(f"{relative}:1: no SPDX licence line at the top")
        allowed = allowed_for(relative)
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(2)
            if CUDA_INCLUDE.match(name) and not relative.startswith(CUDA_MAY):
                errors.append(f"{relative}:{number}: includes {name}; only src/device, src/jit and engines/cuda_* know CUDA")
            target = resolve(root, path, name)
            if target is None or allowed is None or target.startswith("third_party/"):
                continue
            if not any(target == a or target.startswith(a if a.endswith("_") else a + "/") for a in allowed):
                errors.append(f"{relative}:{number}: includes {target}; {relative.rsplit('/', 1)[0]} may use {', '.join(allowed)}")
    return errors


def self_test():
    """Every kind of violation, planted, is found."""
    spdx = "// SPDX-License-Identifier: Apache-2.0\n"
    planted = {
        "src/core/a.cpp": spdx + '#include "graph/graph.h"\n',
        "src/jit/b.cpp": spdx + '#include "engines/one/one.h"\n',
        "engines/one/c.cpp": spdx + '#include "engines/two/two.h"\n',
        "engines/one/d.cpp": spdx + "#include <cuda.h>\n",
        "kernels/e.cuh": spdx + '#include "core/core.h"\n',
        "src/core/f.cpp": "int f;\n",
        "src/core/g.cpp": spdx + "\n" * 900,
    }
    fine = {name: spdx for name in ("src/graph/graph.h", "engines/one/one.h", "engines/two/two.h", "src/core/core.h")}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        for name, text in {**planted, **fine}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = violations(root)
    missed = [name for name in planted if not any(error.startswith(name) for error in found)]
    return missed + [error for error in found if error.split(":")[0] in fine]


def main():
    errors = self_test() if sys.argv[1:] == ["--self-test"] else violations(ROOT)
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
