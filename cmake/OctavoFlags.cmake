# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0

# -ffp-contract=off: the numerical contract names every rounding, so a multiply and an add stay two operations.
function(octavo_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wno-psabi -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    # GCC 12 and 13 report overlaps and bounds inside inlined std::string and std::sort that cannot happen (PR 105651, 105329).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  if(OCTAVO_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(OCTAVO_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${OCTAVO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${OCTAVO_SANITIZE})
  endif()
endfunction()

# Files named *_avx2.cpp, *_avx512.cpp, *_avx512_vnni.cpp, *_avx512_bf16.cpp, *_amx.cpp, *_neon_dotprod.cpp hold code for that instruction
# set only; they are entered after a run-time check.
function(octavo_isa_flags sources)
  set(x86 FALSE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(x86 TRUE)
  endif()
  # gcc 12's own AVX-512 headers trip -Wmaybe-uninitialized (gcc bug 105593).
  set(avx512 "-Wno-maybe-uninitialized;-Wno-uninitialized;-mavx512f;-mavx512bw;-mavx512vl;-mavx512dq;-mavx2;-mfma;-mf16c;-mbmi2;-mprefer-vector-width=512")
  foreach(file IN LISTS sources)
    get_filename_component(name ${file} NAME_WE)
    set(flags "")
    if(x86)
      if(name MATCHES "_avx2$")
        set(flags "-mavx2;-mfma;-mf16c;-mbmi2")
      elseif(name MATCHES "_avx512$")
        set(flags "${avx512}")
      elseif(name MATCHES "_avx512_vnni$")
        set(flags "${avx512};-mavx512vnni;-mavx512vbmi")
      elseif(name MATCHES "_avx512_bf16$")
        set(flags "${avx512};-mavx512bf16")
      elseif(name MATCHES "_amx$")
        set(flags "${avx512};-mavx512vnni;-mavx512bf16;-mamx-tile;-mamx-int8;-mamx-bf16")
      endif()
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64" AND name MATCHES "_neon_dotprod$")
      set(flags "-march=armv8.2-a+dotprod+fp16")
    endif()
    if(flags)
      # gcc 12 warns inside its own intrinsics headers (_mm512_undefined_*).
      list(APPEND flags -Wno-uninitialized -Wno-maybe-uninitialized)
      # Unrolled kernels under sanitizers take an optimiser minutes each; the templates are compiled for the portable level too.
      if(OCTAVO_SANITIZE)
        list(APPEND flags -O0 -fno-sanitize=undefined)
      endif()
      if(OCTAVO_BUILD_FUZZERS)  # the fuzzers plan, they do not convolve
        list(APPEND flags -fno-sanitize=fuzzer-no-link)
      endif()
      # A header precompiled for one target is not valid for another.
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${flags}" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
