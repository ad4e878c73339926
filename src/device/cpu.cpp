// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0

#include <fstream>
#include <string>

#include "core/env.h"
#include "core/parallel.h"
#include "octavo/device.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace octavo {
namespace {

#if defined(__x86_64__)
bool bit(unsigned word, int index) { return ((word >> index) & 1u) != 0; }

std::uint64_t enabled_state() {
  unsigned a = 0, d = 0;
  __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (static_cast<std::uint64_t>(d) << 32) | a;
}

// Linux hands out the AMX tile state only on request, once a process.
bool request_amx() {
  constexpr int kArchReqXcompPerm = 0x1023, kXfeatureXtiledata = 18;
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureXtiledata) == 0;
}

void detect(DeviceTraits& t) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return;
  const bool fma = bit(c, 12), osxsave = bit(c, 27);
  t.f16c = bit(c, 29);
  const std::uint64_t state = osxsave ? enabled_state() : 0;
  const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xe6) == 0xe6, tiles = (state & 0x60000) == 0x60000;
  unsigned a7 = 0, b7 = 0, c7 = 0, d7 = 0;
  if (!__get_cpuid_count(7, 0, &a7, &b7, &c7, &d7)) return;
  unsigned a71 = 0, b71 = 0, c71 = 0, d71 = 0;
  __get_cpuid_count(7, 1, &a71, &b71, &c71, &d71);
  if (ymm && bit(b7, 5) && fma && t.f16c && bit(b7, 8)) t.isa = CpuIsa::avx2;
  const bool avx512 = zmm && t.isa == CpuIsa::avx2 && bit(b7, 16) && bit(b7, 17) && bit(b7, 30) && bit(b7, 31);
  if (avx512) t.isa = CpuIsa::avx512;
  const bool vnni = avx512 && bit(c7, 11) && bit(c7, 1);
  if (vnni) t.isa = CpuIsa::avx512_vnni;
  t.avx512_bf16 = vnni && bit(a71, 5);
  t.avx512_fp16 = vnni && bit(d7, 23);
  if (vnni && t.avx512_bf16 && tiles && bit(d7, 24) && request_amx()) {
    t.amx_int8 = bit(d7, 25);
    t.amx_bf16 = bit(d7, 22);
    if (t.amx_int8 && t.amx_bf16) t.isa = CpuIsa::amx;
  }
}
#elif defined(__aarch64__)
void detect(DeviceTraits& t) {
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) t.isa = CpuIsa::neon_dotprod;
}
#else
void detect(DeviceTraits&) {}
#endif

std::int64_t cache_bytes(int index) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
  std::int64_t kib = 0;
  return file >> kib ? kib << 10 : 0;
}

void read_caches(DeviceTraits& t) {
  if (const std::int64_t v = cache_bytes(0)) t.l1d_bytes = v;
  if (const std::int64_t v = cache_bytes(2)) t.l2_bytes = v;
  if (const std::int64_t v = cache_bytes(3)) t.l3_bytes = v;
}

#if defined(__x86_64__)
std::string brand() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0x80000000u, &a, &b, &c, &d) || a < 0x80000004u) return "x86-64";
  std::string name;
  for (unsigned leaf = 0x80000002u; leaf <= 0x80000004u; ++leaf) {
    __get_cpuid(leaf, &a, &b, &c, &d);
    for (const unsigned word : {a, b, c, d}) name.append(reinterpret_cast<const char*>(&word), 4);
  }
  name = name.c_str();
  const std::size_t begin = name.find_first_not_of(' ');
  return begin == std::string::npos ? "x86-64" : name.substr(begin);
}
#else
std::string brand() { return "aarch64"; }
#endif

}  // namespace

const char* to_string(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::portable:
      return "portable";
    case CpuIsa::neon_dotprod:
      return "neon_dotprod";
    case CpuIsa::avx2:
      return "avx2";
    case CpuIsa::avx512:
      return "avx512";
    case CpuIsa::avx512_vnni:
      return "avx512_vnni";
    case CpuIsa::amx:
      return "amx";
  }
  return "?";
}

DeviceTraits with_isa(const DeviceTraits& from, CpuIsa isa) {
  DeviceTraits t = from;
  if (isa >= t.isa) return t;
#if defined(__x86_64__)
  if (isa == CpuIsa::neon_dotprod) return t;  // not an x86 level
#endif
  t.isa = isa;
  t.amx_int8 = t.amx_bf16 = false;
  if (isa < CpuIsa::avx512_vnni) t.avx512_bf16 = t.avx512_fp16 = false;
  if (isa < CpuIsa::avx2) t.f16c = false;
  return t;
}

const DeviceTraits& host_cpu() {
  static const DeviceTraits traits = [] {
    DeviceTraits t;
    detect(t);
    read_caches(t);
    t.name = brand();
    t.threads = num_threads();
    const std::string forced = env(Env::cpu_isa);
    for (const CpuIsa isa :
         {CpuIsa::portable, CpuIsa::neon_dotprod, CpuIsa::avx2, CpuIsa::avx512, CpuIsa::avx512_vnni, CpuIsa::amx}) {
      if (forced == to_string(isa)) t = with_isa(t, isa);
    }
    return t;
  }();
  return traits;
}

}  // namespace octavo
