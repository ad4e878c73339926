#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# CUDA kernels through NVRTC, without a GPU. Where the machine has no NVRTC, the one from PyPI.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
if ! .venv/bin/octavo doctor --quick | grep -qE '^NVRTC +[0-9]'; then
  python_environment nvrtc
  OCTAVO_NVRTC=$(.venv/bin/python -c 'import glob, nvidia; print(sorted(p for d in nvidia.__path__ for p in glob.glob(d + "/**/libnvrtc.so*", recursive=True))[0])')
  export OCTAVO_NVRTC
fi
.venv/bin/octavo doctor --quick | grep '^NVRTC'
build/tests/compile_check tests/compile/lines.txt tests/compile/expected.txt | tail -8
exit "${PIPESTATUS[0]}" # 77, nothing observed, is a failure here
