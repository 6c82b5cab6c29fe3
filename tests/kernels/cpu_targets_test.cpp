// The switch between instruction sets, which is what the tests named *.baseline and *.avx2 rely on.
#include "kernels/cpu/cpu_targets.h"

#include <gtest/gtest.h>

namespace gdelta {
namespace {

TEST(CpuTargets, TheBaselineRunsWhereItIsAskedFor) {
  if (cpu_is_asked_for("baseline")) {
    EXPECT_FALSE(cpu_has_avx2());
    return;
  }
#if GDELTA_HAS_AVX2_CODE
  EXPECT_EQ(cpu_has_avx2(), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                                __builtin_cpu_supports("bmi2") && cpu_has_lzcnt());
#endif
}

TEST(CpuTargets, CodeForAvx512RunsOnlyWhereLesserIsNotAskedFor) {
  if (cpu_is_asked_for("baseline") || cpu_is_asked_for("avx2")) {
    EXPECT_FALSE(cpu_has_avx512());
    return;
  }
#if GDELTA_HAS_AVX2_CODE
  EXPECT_EQ(cpu_has_avx512(), cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
                                  __builtin_cpu_supports("avx512bw") &&
                                  __builtin_cpu_supports("avx512dq") &&
                                  __builtin_cpu_supports("avx512vl"));
#endif
}

#if GDELTA_HAS_AVX2_CODE && !defined(__clang__)
TEST(CpuTargets, TheCompilerAgreesWithTheMachineOnLzcnt) {
  EXPECT_EQ(cpu_has_lzcnt(), __builtin_cpu_supports("lzcnt") != 0);
}
#endif

}  // namespace
}  // namespace gdelta
