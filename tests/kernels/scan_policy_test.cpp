// Which kernel a scan is given to, and the tables that change it.
#include "kernels/scan/scan_policy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace gdelta::scan {
namespace {

constexpr int kHopper = 90;
const Shape kLargeSum{Operator::sum, Type::u32, 1, 1, false, false, 1u << 28};

bool same(const Policy& a, const Policy& b) {
  return a.value_bytes == b.value_bytes && a.max_order == b.max_order &&
         a.max_state == b.max_state && a.min_bytes == b.min_bytes && a.path == b.path &&
         a.worker_warps == b.worker_warps;
}

/// A table stays for the rest of the process: `steps` has one of its own and returns what is wrong.
/// (Suites of this ending run first, while the process has one thread.)
template <class Steps>
void in_a_process_of_its_own(Steps steps) {
  EXPECT_EXIT(
      {
        const std::string wrong = steps();
        std::fputs(wrong.c_str(), stderr);
        std::_Exit(wrong.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(ScanPolicy, ALargeSumStreamsWhereTheDeviceCan) {
  for (const Type type : {Type::i8, Type::u16, Type::f16, Type::i32, Type::f32, Type::u64}) {
    Shape shape = kLargeSum;
    shape.type = type;
    const Policy policy = choose_policy(shape, kHopper);
    EXPECT_EQ(policy.path, Path::stream) << int(type);
    EXPECT_EQ(policy.value_bytes, type_bytes(type));
    EXPECT_EQ(choose_policy(shape, kHopper - 1).path, Path::group) << int(type);
  }
}

TEST(ScanPolicy, WhatTheStreamKernelDoesNotKnowIsForTheGroupKernel) {
  const Shape shapes[] = {
      {Operator::sum, Type::f32, 2, 1, false, false, 1u << 28},
      {Operator::sum, Type::u32, 1, kMaxInterleavedTuple + 1, false, false, 1u << 28},
      {Operator::max, Type::u16, 1, 1, false, false, 1u << 28},
      {Operator::product, Type::u32, 2, 1, false, false, 1u << 28},
      {Operator::product, Type::f64, 1, 1, false, false, 1u << 28},
      {Operator::bit_xor, Type::u32, 2, 1, false, false, 1u << 28},
  };
  for (const Shape& shape : shapes) {
    EXPECT_FALSE(has_stream_kernel(shape)) << int(shape.op) << ' ' << int(shape.type);
    EXPECT_EQ(choose_policy(shape, kHopper).path, Path::group) << int(shape.op);
  }
  EXPECT_TRUE(has_stream_kernel({Operator::max, Type::i64, 8, 3, false, false, 1u << 28}));
}

TEST(ScanPolicyDeathTest, OfATableTheFirstRowThatFitsWins) {
  in_a_process_of_its_own([]() -> std::string {
    if (!load_policies("# a comment\n\n"
                       "4 1 1 4000 2 5\n"
                       "4 1 64 0 3 6\n"
                       "4 8 512 0 2 7\n"))
      return "the table is refused";
    Shape shape{Operator::sum, Type::u32, 1, 1, false, false, 1000};
    if (choose_policy(shape, kHopper).worker_warps != 5) return "large enough for the first row";
    shape.count = 999;
    const Policy second = choose_policy(shape, kHopper);
    if (second.worker_warps != 6 || second.path != Path::stream) return "too small for the first";
    shape.count = 1000;
    shape.tuple = 2;
    if (choose_policy(shape, kHopper).worker_warps != 6) return "too wide for the first";
    shape.order = 2;
    if (choose_policy(shape, kHopper).worker_warps != 7) return "order too high for the second";
    shape.op = Operator::max;
    if (choose_policy(shape, kHopper).worker_warps != 6) return "maximum is order 1 always";
    return {};
  });
}

TEST(ScanPolicyDeathTest, ATableWithOneNumberOutOfRangeChangesNothing) {
  in_a_process_of_its_own([]() -> std::string {
    const Policy before = choose_policy(kLargeSum, kHopper);
    for (const char* row :
         {"4 8 512 0 3 0", "4 8 512 0 3 -1", "4 8 512 0 3 17",  // warps
          "4 8 512 0 0 8", "4 8 512 0 1 8", "4 8 512 0 4 8", "4 8 512 0 9 8", "4 8 512 0 -1 8",
          "0 8 512 0 3 8", "9 8 512 0 3 8", "-4 8 512 0 3 8",  // bytes
          "4 8 512 0 3", "4 8 512", "four 8 512 0 3 8", "x"}) {
      const std::string table = "4 8 512 0 2 3\n" + std::string(row) + "\n";
      if (load_policies(table.c_str())) return std::string("taken: ") + row;
      if (!same(choose_policy(kLargeSum, kHopper), before)) return std::string("kept: ") + row;
    }
    for (const char* row : {"4 8 512 0 3 1", "4 8 512 0 2 16", "1 8 512 0 3 8", "8 8 512 0 3 8"})
      if (!load_policies(row)) return std::string("refused: ") + row;
    return {};
  });
}

}  // namespace
}  // namespace gdelta::scan
