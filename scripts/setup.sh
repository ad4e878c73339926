# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
# Sourced by ./demo, ./test and the scripts beside this file: where things are, and how what is missing is installed.

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
JOBS=${JOBS:-$(nproc)}
export CCACHE_SLOPPINESS=pch_defines,time_macros # without it ccache passes over what uses a precompiled header
LEFT_OUT=()

say() { printf '\n== %s\n' "$*"; }
leave_out() {
  LEFT_OUT+=("$*")
  printf 'left out: %s\n' "$*"
}

have_package() { dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^ii'; }

# Installs Debian packages that are missing; true when all are there afterwards.
apt_packages() {
  local missing=() package runner=()
  for package in "$@"; do have_package "$package" || missing+=("$package"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || return 1
    runner=(sudo -n)
  fi
  printf 'installing %s\n' "${missing[*]}"
  local options=(-y -q -o=Dpkg::Use-Pty=0 --no-install-recommends)
  # A list of packages that is there and good enough needs no update.
  DEBIAN_FRONTEND=noninteractive "${runner[@]}" apt-get install "${options[@]}" "${missing[@]}" >/tmp/octavo-apt.$$ 2>&1 ||
    { "${runner[@]}" apt-get update -q >/tmp/octavo-apt.$$ 2>&1 &&
      DEBIAN_FRONTEND=noninteractive "${runner[@]}" apt-get install "${options[@]}" "${missing[@]}" >>/tmp/octavo-apt.$$ 2>&1; } ||
    { tail -3 /tmp/octavo-apt.$$; rm -f /tmp/octavo-apt.$$; return 1; }
  rm -f /tmp/octavo-apt.$$
}

# What cannot be done without: the tools may also be there without their Debian packages.
needed_packages() {
  apt_packages "$@" && return 0
  local tool
  for tool in c++ cmake ninja python3; do
    command -v "$tool" >/dev/null || { echo "octavo: '$tool' is needed and could not be installed; install: $*" >&2; exit 1; }
  done
}

# .venv with the pinned packages of requirements/NAME.txt; asks the network only for what is not there yet.
python_environment() {
  local name stamp
  [ -x .venv/bin/python ] || python3 -m venv .venv || { echo "octavo: python3 -m venv does not work; install python3-venv" >&2; exit 1; }
  for name in "$@"; do
    stamp=.venv/.octavo-$name
    if ! cmp -s "requirements/$name.txt" "$stamp"; then
      .venv/bin/python -m pip install -q -r "requirements/$name.txt" || return 1
      cp "requirements/$name.txt" "$stamp"
    fi
  done
}

# One build for both: build/ is an ordinary CMake folder, and its package and program are installed into .venv.
# Arguments: -DNAME=VALUE for CMake.
build_package() {
  local options=() definition common=()
  command -v ccache >/dev/null && common=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # The compiler that CI has: warnings are errors. Another one may know warnings of its own.
  case "$(c++ -dumpversion 2>/dev/null)" in 12 | 12.*) common+=(-DOCTAVO_WERROR=ON) ;; *) common+=(-DOCTAVO_WERROR=OFF) ;; esac
  common+=(-DOCTAVO_PRECOMPILE=ON)
  mkdir -p build
  rm -f build/build.log
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DOCTAVO_BUILD_PYTHON=ON -DOCTAVO_WITH_ONEDNN=ON "${common[@]}" \
    "-DPython_EXECUTABLE=$ROOT/.venv/bin/python" "$@" >build/configure.log 2>&1 ||
    { tail -20 build/configure.log; echo "octavo: CMake cannot configure; all of it is in build/configure.log" >&2; exit 1; }
  # Ninja's own line tells how far it is on a terminal; elsewhere it is silent.
  if [ -t 1 ]; then ninja -C build -j "$JOBS" | tee build/build.log; else ninja -C build -j "$JOBS" >build/build.log 2>&1; fi ||
    { grep -E -A5 'error|FAILED' build/build.log | head -60; echo "octavo: the build failed; all of it is in build/build.log" >&2; exit 1; }
  for definition in -DOCTAVO_WITH_ONEDNN=ON "${common[@]}" "$@"; do options+=(-C "cmake.define.${definition#-D}"); done
  CMAKE_GENERATOR=Ninja CMAKE_BUILD_PARALLEL_LEVEL=$JOBS \
    .venv/bin/python -m pip install -q --no-index --no-build-isolation --no-deps --force-reinstall . -C build-dir=build \
    "${options[@]}" >build/install.log 2>&1 ||
    { tail -20 build/install.log; echo "octavo: the package cannot be installed into .venv; all of it is in build/install.log" >&2; exit 1; }
}

# The targets of one CMake preset. Arguments: preset, targets.
build_preset() {
  local preset=$1 launcher=()
  shift
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  mkdir -p "build-$preset"
  cmake --preset "$preset" "${launcher[@]}" >"build-$preset/configure.log" 2>&1 ||
    { tail -20 "build-$preset/configure.log"; echo "octavo: CMake cannot configure; all of it is in build-$preset/configure.log" >&2; exit 1; }
  ninja -C "build-$preset" -j "$JOBS" "$@" >"build-$preset/build.log" 2>&1 ||
    { grep -E -A5 'error|FAILED' "build-$preset/build.log" | head -40; echo "octavo: the build failed; all of it is in build-$preset/build.log" >&2; exit 1; }
}
