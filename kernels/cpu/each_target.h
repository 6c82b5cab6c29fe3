// Google Highway for one file: what the file says in HWY_NAMESPACE is compiled for every kind of machine that there is
// code for. The file defines HWY_TARGET_INCLUDE as its own path first; it is read once more for each kind, so that what
// all of them share stands behind a guard.
#include "kernels/cpu/cpu_targets.h"

// Those that cpu_targets.h can tell: any x86-64, AVX2, AVX-512; on other machines what all of them have (NEON). Highway lets
// compilers use FMA, F16C and AES with AVX2, too, which is not asked of machines: loops of whole numbers have no use for them.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// Its assertions want its library, of which nothing else is used.
#define HWY_IS_DEBUG_BUILD 0

// clang-format off
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>
// clang-format on

/// Whether the kind that is compiled now has vectors for Highway. Others run the loops for what vectors leave over,
/// which compilers turn into what instructions there are.
#define GDELTA_HAS_VECTORS (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

/// The version of a function of HWY_NAMESPACE for this machine. In code behind HWY_ONCE.
#if (HWY_TARGETS & HWY_AVX2) && (HWY_TARGETS & HWY_AVX3)
#define GDELTA_BEST(function)           \
  (cpu_has_avx512() ? &N_AVX3::function \
   : cpu_has_avx2() ? &N_AVX2::function \
                    : &HWY_STATIC_DISPATCH(function))
#else
#define GDELTA_BEST(function) (&HWY_STATIC_DISPATCH(function))
#endif
