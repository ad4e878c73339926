// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "octavo/engine.h"

namespace octavo {

// Every engine folder defines its own; registry.cpp lists them.
const Engine* cpu_reference_engine();
const Engine* cpu_native_engine();
const Engine* onednn_engine();
const Engine* cuda_simt_engine();
const Engine* cuda_depthwise_engine();
const Engine* cuda_mma_engine();

}  // namespace octavo
