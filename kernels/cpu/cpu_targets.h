// Run-time choice between code for any x86-64 and code for machines with AVX2. Elsewhere there is
// one version.
#pragma once

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__)
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

inline bool cpu_has_avx2() {
#if GDELTA_HAS_AVX2_CODE
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && !baseline_is_asked_for();
  return has;
#else
  return false;
#endif
}

}  // namespace gdelta
