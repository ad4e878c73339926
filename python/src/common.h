// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the files of the native module. The module is thin: it converts types and turns every error_t into the
// exception that octavo/_errors.py chooses. What Python programs see is written in Python (python/octavo).

#include <nanobind/nanobind.h>

#include <utility>

#include "octavo/octavo.h"

namespace octavo::python {

namespace nb = nanobind;

/// Carries an error_t through C++ frames to the exception translator.
struct Failure {
  error_t error;
};

inline void check(error_t error) {
  if (error.is_bad()) throw Failure{std::move(error)};
}

/// Python's int for a handle: its address, 0 for none.
inline handle_t to_handle(std::uintptr_t value) { return reinterpret_cast<handle_t>(value); }

void bind_device(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_dlpack(nb::module_& m);

}  // namespace octavo::python
