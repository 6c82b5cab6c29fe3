// Which kernel a scan is given to.
#include "kernels/scan/scan_policy.h"

#include <gtest/gtest.h>

namespace gdelta::scan {
namespace {

constexpr int kHopper = 90;
const Shape kLargeSum{.type = Type::u32, .order = 1, .tuple = 1, .count = 1u << 28};

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
      {.type = Type::f32, .order = 2, .tuple = 1, .count = 1u << 28},
      {.type = Type::u32, .order = 1, .tuple = kMaxInterleavedTuple + 1, .count = 1u << 28},
      {.op = Operator::max, .type = Type::u16, .order = 1, .tuple = 1, .count = 1u << 28},
      {.op = Operator::product, .type = Type::u32, .order = 2, .tuple = 1, .count = 1u << 28},
      {.op = Operator::product, .type = Type::f64, .order = 1, .tuple = 1, .count = 1u << 28},
      {.op = Operator::bit_xor, .type = Type::u32, .order = 2, .tuple = 1, .count = 1u << 28},
  };
  for (const Shape& shape : shapes) {
    EXPECT_FALSE(has_stream_kernel(shape)) << int(shape.op) << ' ' << int(shape.type);
    EXPECT_EQ(choose_policy(shape, kHopper).path, Path::group) << int(shape.op);
  }
  EXPECT_TRUE(has_stream_kernel(
      {.op = Operator::max, .type = Type::i64, .order = 8, .tuple = 3, .count = 1u << 28}));
}

TEST(ScanPolicy, OfATableTheFirstRowThatFitsWins) {
  const Policy table[] = {{4, 1, 1, 4000, Path::group, 5},
                          {4, 1, 64, 0, Path::stream, 6},
                          {4, 8, 512, 0, Path::group, 7}};
  const auto warps = [&](const Shape& shape) {
    return choose_policy(shape, kHopper, table).worker_warps;
  };
  Shape shape{.type = Type::u32, .order = 1, .tuple = 1, .count = 1000};
  EXPECT_EQ(warps(shape), 5) << "large enough for the first row";
  shape.count = 999;
  EXPECT_EQ(warps(shape), 6) << "too small for the first";
  EXPECT_EQ(choose_policy(shape, kHopper, table).path, Path::stream);
  shape.count = 1000;
  shape.tuple = 2;
  EXPECT_EQ(warps(shape), 6) << "too wide for the first";
  shape.order = 2;
  EXPECT_EQ(warps(shape), 7) << "order too high for the second";
  shape.op = Operator::max;
  EXPECT_EQ(warps(shape), 6) << "maximum is order 1 always";
  shape.type = Type::u64;
  EXPECT_EQ(choose_policy(shape, kHopper, table).path, Path::group) << "no row of this width";
}

TEST(ScanPolicy, TheUsualRowsAreOnesThatTheKernelsTake) {
  for (const Policy& row : usual_policies()) {
    EXPECT_TRUE(row.path == Path::group || row.path == Path::stream);
    EXPECT_TRUE(row.worker_warps >= 1 && row.worker_warps <= kMaxStreamUnits);
    EXPECT_TRUE(row.max_order >= 1 && row.max_order <= kMaxOrder);
  }
}

}  // namespace
}  // namespace gdelta::scan
