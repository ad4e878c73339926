// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include "engines/cpu_native/winograd_s8_x86_512.h"

namespace octavo::cpu_native {

const WinogradIsa kWinogradAvx512{&kDirectAvx512, Words512::kWords, &Winograd<Words512>::input, &Winograd<Words512>::output,
                                  &Winograd<Words512>::filter};

}  // namespace octavo::cpu_native

#endif
