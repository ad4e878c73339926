// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <exception>

#include "common.h"
#include "octavo/engine.h"

namespace octavo::python {
namespace {

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Failure& failure) {
    nb::object exception = nb::module_::import_("octavo._errors")
                               .attr("make_error")(to_string(failure.error.get_code()), failure.error.get_message());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  }
}

}  // namespace
}  // namespace octavo::python

NB_MODULE(_octavo, m) {
  using namespace octavo::python;
  nb::register_exception_translator(translate);
  m.doc() = "Native half of octavo. Import octavo, not this.";
  m.attr("version") = OCTAVO_VERSION_STRING;
  m.attr("backend_version") = OCTAVO_COMPAT_CUDNN_VERSION;
  m.def("engine_names", [] {
    nb::list names;
    for (const octavo::Engine* engine : octavo::engines()) names.append(std::string(engine->name()));
    return names;
  });
  bind_device(m);
  bind_tensor(m);
  bind_graph(m);
  bind_dlpack(m);
}
