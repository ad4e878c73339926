// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "common.h"

namespace octavo::python {

void bind_device(nb::module_& m) {
  m.def(
      "create_handle",
      [](int device) {
        handle_t handle = nullptr;
        check(create_handle(handle, device));
        return reinterpret_cast<std::uintptr_t>(handle);
      },
      nb::arg("device"));
  m.def(
      "destroy_handle", [](std::uintptr_t handle) { check(destroy_handle(to_handle(handle))); }, nb::arg("handle"));
  m.def(
      "set_stream",
      [](std::uintptr_t handle, std::uintptr_t stream) {
        check(set_stream(to_handle(handle), reinterpret_cast<CUstream_st*>(stream)));
      },
      nb::arg("handle"), nb::arg("stream"));
  m.def(
      "get_stream",
      [](std::uintptr_t handle) {
        CUstream_st* stream = nullptr;
        check(get_stream(to_handle(handle), stream));
        return reinterpret_cast<std::uintptr_t>(stream);
      },
      nb::arg("handle"));
  m.def(
      "handle_is_cuda", [](std::uintptr_t handle) { return handle_is_cuda(to_handle(handle)); }, nb::arg("handle"));
  m.def(
      "handle_ordinal", [](std::uintptr_t handle) { return handle_ordinal(to_handle(handle)); }, nb::arg("handle"));
  m.def(
      "handle_device_name", [](std::uintptr_t handle) { return handle_device_name(to_handle(handle)); }, nb::arg("handle"));

  nb::class_<DeviceProperties>(m, "DeviceProperties")
      .def_static(
          "of_device",
          [](int device) {
            auto properties = std::make_shared<DeviceProperties>();
            properties->set_device_id(device);
            check(properties->build());
            return properties;
          },
          nb::arg("device"))
      .def_static(
          "of_name",
          [](const std::string& name) {
            auto properties = std::make_shared<DeviceProperties>();
            properties->set_device_name(name);
            check(properties->build());
            return properties;
          },
          nb::arg("name"))
      .def_static(
          "of_text",
          [](const std::string& text) {
            auto properties = std::make_shared<DeviceProperties>();
            check(properties->deserialize(std::vector<std::uint8_t>(text.begin(), text.end())));
            return properties;
          },
          nb::arg("text"))
      .def_prop_ro("text", [](const DeviceProperties& self) { return self.text(); })
      .def("serialize", [](const DeviceProperties& self) {
        std::vector<std::uint8_t> data;
        check(self.serialize(data));
        return nb::bytes(reinterpret_cast<const char*>(data.data()), data.size());
      });

  nb::class_<KernelCache>(m, "KernelCache")
      .def("__init__", [](KernelCache* self) { new (self) KernelCache(); })
      .def("is_finalized", &KernelCache::is_finalized)
      .def("build", [](KernelCache& self) { check(self.build()); })
      .def("to_json",
           [](const KernelCache& self) {
             std::string text;
             check(self.to_json(text));
             return text;
           })
      .def(
          "from_json", [](KernelCache& self, const std::string& text) { check(self.from_json(text)); }, nb::arg("text"))
      .def("revision",
           [](const KernelCache& self) {
             std::int64_t value = 0;
             check(self.revision(value));
             return value;
           })
      .def("size", [](const KernelCache& self) {
        std::int64_t value = 0;
        check(self.size(value));
        return value;
      });
}

}  // namespace octavo::python
