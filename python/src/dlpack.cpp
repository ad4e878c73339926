// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>

#include "common.h"

namespace octavo::python {

/// What a DLPack object (or its capsule) says of itself: (address, type code, bits, lanes, shape, strides in elements,
/// device type, device id). The memory belongs to the caller, who keeps the object alive while the address is in use.
void bind_dlpack(nb::module_& m) {
  m.def(
      "describe_dlpack",
      [](nb::ndarray<nb::ro> array) {
        nb::list shape, strides;
        for (std::size_t i = 0; i < array.ndim(); ++i) {
          shape.append(static_cast<std::int64_t>(array.shape(i)));
          strides.append(static_cast<std::int64_t>(array.stride(i)));
        }
        const auto type = array.dtype();
        return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), static_cast<int>(type.code),
                              static_cast<int>(type.bits), static_cast<int>(type.lanes), shape, strides, array.device_type(),
                              array.device_id());
      },
      nb::arg("array"));
}

}  // namespace octavo::python
