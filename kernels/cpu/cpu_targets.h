// Run-time choice between code for any x86-64, for machines with AVX2 and for those with AVX-512.
// Elsewhere there is one version.
#pragma once

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#define GDELTA_HAS_AVX2_CODE 1
#define GDELTA_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define GDELTA_AVX512                                                           \
  __attribute__((                                                               \
      target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,bmi,bmi2,lzcnt," \
             "popcnt")))
#else
#define GDELTA_HAS_AVX2_CODE 0
#endif
#define GDELTA_ALWAYS_INLINE __attribute__((always_inline)) inline

namespace gdelta {

/// GDELTA_CPU in the environment asks for the code for lesser machines, so that tests run it on machines that
/// have more: "baseline" for any, "avx2" for those without AVX-512.
inline bool cpu_is_asked_for(std::string_view cpu) {
  const char* const asked = std::getenv("GDELTA_CPU");
  return asked != nullptr && asked == cpu;
}

#if GDELTA_HAS_AVX2_CODE
/// Asked of the machine itself, for compilers do not all know the word. Without it the instruction
/// would be taken for another one, which gives other numbers.
inline bool cpu_has_lzcnt() {
  constexpr unsigned kExtendedFeatures = 0x80000001, kLzcnt = 1u << 5;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(kExtendedFeatures, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kLzcnt) != 0;
}
#endif

/// Whether code marked GDELTA_AVX2 may run: the machine has all that its target names.
inline bool cpu_has_avx2() {
#if GDELTA_HAS_AVX2_CODE
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && cpu_has_lzcnt() &&
                          !cpu_is_asked_for("baseline");
  return has;
#else
  return false;
#endif
}

/// Whether code marked GDELTA_AVX512 may run.
inline bool cpu_has_avx512() {
#if GDELTA_HAS_AVX2_CODE
  static const bool has =
      cpu_has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && !cpu_is_asked_for("avx2");
  return has;
#else
  return false;
#endif
}

}  // namespace gdelta
