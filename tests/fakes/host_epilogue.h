// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
// Appended to a kernel's source by the fake driver.
namespace fake {
template <class Kernel>
void run_grid(Kernel kernel, const unsigned* grid, const unsigned* threads, void** params) {
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {threads[0], threads[1], threads[2]};
  for (unsigned z = 0; z < grid[2]; ++z)
    for (unsigned y = 0; y < grid[1]; ++y)
      for (unsigned x = 0; x < grid[0]; ++x) {
        blockIdx = {x, y, z};
#ifdef OCTAVO_EMULATED_DEVICE
        new_block();
#endif
        run_block(kernel, params);
      }
}
}  // namespace fake
extern "C" int octavo_fake_sizes(std::size_t* sizes) { return fake::sizes(octavo_kernel, sizes); }
extern "C" void octavo_fake_run(const unsigned* grid, const unsigned* block, void** params) {
  fake::run_grid([](void* p) { fake::call(octavo_kernel, static_cast<void**>(p)); }, grid, block, params);
}
#ifdef OCTAVO_FAKE_REDUCE
extern "C" void octavo_fake_run_reduce(const unsigned* grid, const unsigned* block, void** params) {
  fake::run_grid([](void* p) { fake::call(octavo_reduce, static_cast<void**>(p)); }, grid, block, params);
}
#endif
