// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
// Appended to a kernel's source by the fake driver.
extern "C" int octavo_fake_sizes(std::size_t* sizes) { return fake::sizes(octavo_kernel, sizes); }
extern "C" void octavo_fake_run(const unsigned* grid, const unsigned* block, void** params) {
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  for (unsigned z = 0; z < grid[2]; ++z)
    for (unsigned y = 0; y < grid[1]; ++y)
      for (unsigned x = 0; x < grid[0]; ++x) {
        blockIdx = {x, y, z};
        fake::run_block([](void* p) { fake::call(octavo_kernel, static_cast<void**>(p)); }, params);
      }
}
