// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include "cutlass_peer.cuh"

PeerLaunch cutlass_nhwc_256x128x64_3(const PeerProblem& z, const void* x, const void* w, void* y, float scale) {
  return cutlass_peer<cutlass::layout::TensorNHWC, cutlass::layout::TensorNHWC, 16, 256, 128, 64, 64, 64, 3, 16>(z, x, w, y,
                                                                                                                 scale);
}
