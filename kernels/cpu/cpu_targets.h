// Run-time choice between code for any x86-64 and code for machines with AVX2. Elsewhere there is
// one version.
#pragma once

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#define GDELTA_HAS_AVX2_CODE 1
#define GDELTA_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#else
#define GDELTA_HAS_AVX2_CODE 0
#endif
#define GDELTA_ALWAYS_INLINE __attribute__((always_inline)) inline

namespace gdelta {

/// GDELTA_CPU=baseline in the environment asks for the code for any machine, so that tests run it
/// on machines that have more.
inline bool baseline_is_asked_for() {
  const char* const asked = std::getenv("GDELTA_CPU");
  return asked != nullptr && std::string_view(asked) == "baseline";
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
                          !baseline_is_asked_for();
  return has;
#else
  return false;
#endif
}

}  // namespace gdelta
