// The scan of host memory through the public API: every type and operator, both directions, and
// which buffers it takes.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "gdelta/scan.h"
#include "held_memory.h"
#include "tests/kernels/scan_half_reference.h"
#include "tests/kernels/scan_reference.h"

namespace gdelta {
namespace {

constexpr ScanOperator kOperators[] = {
    ScanOperator::sum,     ScanOperator::product, ScanOperator::max,   ScanOperator::min,
    ScanOperator::bit_xor, ScanOperator::bit_and, ScanOperator::bit_or};

scan::Operator operator_of(ScanOperator op) {
  switch (op) {
    case ScanOperator::sum:
      return scan::Operator::sum;
    case ScanOperator::product:
      return scan::Operator::product;
    case ScanOperator::max:
      return scan::Operator::max;
    case ScanOperator::min:
      return scan::Operator::min;
    case ScanOperator::bit_xor:
      return scan::Operator::bit_xor;
    case ScanOperator::bit_and:
      return scan::Operator::bit_and;
    default:
      return scan::Operator::bit_or;
  }
}

/// One lane and three, both directions, with and without the shift, orders 1 and 2.
std::vector<Scan> scans_of(ValueType type, ScanOperator op) {
  std::vector<Scan> scans;
  for (const int order : {1, 2})
    for (const std::uint64_t tuple : {1, 3})
      for (const bool exclusive : {false, true})
        for (const bool backward : {false, true})
          scans.push_back({op, type, order, tuple, exclusive, backward, 1000});
  return scans;
}

scan::Shape shape_of(const Scan& scan, scan::Type type) {
  return {operator_of(scan.op), type,          scan.order, scan.tuple,
          scan.exclusive,       scan.backward, scan.count};
}

template <class Value>
void expect_reference(ValueType type, scan::Type reference_type) {
  for (const ScanOperator op : kOperators) {
    for (const Scan& scan : scans_of(type, op)) {
      const scan::Shape shape = shape_of(scan, reference_type);
      const auto in = scan::random_values<Value>(scan.count, 3, shape.op);
      std::vector<Value> out(in.size());
      const Result<void> done = scan_host(scan, in.data(), out.data());
      if (!std::is_integral_v<Value> && op >= ScanOperator::bit_xor) {
        ASSERT_FALSE(done) << scan::describe(shape);
        ASSERT_EQ(done.error().code, Errc::invalid_argument);
        continue;
      }
      ASSERT_TRUE(done) << scan::describe(shape);
      auto expected = in;
      scan::reference_scan(shape, expected);
      ASSERT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(Value)), 0)
          << scan::describe(shape);
    }
  }
}

void expect_half_reference(ValueType type, scan::Type reference_type) {
  for (const ScanOperator op :
       {ScanOperator::sum, ScanOperator::product, ScanOperator::max, ScanOperator::min}) {
    for (const Scan& scan : scans_of(type, op)) {
      const scan::Shape shape = shape_of(scan, reference_type);
      const auto in = scan::half_values(shape, 3);
      std::vector<std::uint16_t> out(in.size());
      ASSERT_TRUE(scan_host(scan, in.data(), out.data())) << scan::describe(shape);
      auto expected = in;
      scan::reference_half_scan(shape, expected);
      ASSERT_EQ(out, expected) << scan::describe(shape);
    }
  }
}

TEST(ScanHost, EveryTypeIsScannedAsWhatItIs) {
  expect_reference<std::int8_t>(ValueType::i8, scan::Type::i8);
  expect_reference<std::uint8_t>(ValueType::u8, scan::Type::u8);
  expect_reference<std::int16_t>(ValueType::i16, scan::Type::i16);
  expect_reference<std::uint16_t>(ValueType::u16, scan::Type::u16);
  expect_reference<std::int32_t>(ValueType::i32, scan::Type::i32);
  expect_reference<std::uint32_t>(ValueType::u32, scan::Type::u32);
  expect_reference<std::int64_t>(ValueType::i64, scan::Type::i64);
  expect_reference<std::uint64_t>(ValueType::u64, scan::Type::u64);
  expect_reference<float>(ValueType::f32, scan::Type::f32);
  expect_reference<double>(ValueType::f64, scan::Type::f64);
  expect_half_reference(ValueType::f16, scan::Type::f16);
  expect_half_reference(ValueType::bf16, scan::Type::bf16);
}

TEST(ScanHost, ValuesOf24BitsAreRefused) {
  std::vector<std::uint8_t> bytes(30);
  for (const ValueType type : {ValueType::i24, ValueType::u24}) {
    Scan scan;
    scan.type = type;
    scan.count = 10;
    const Result<void> done = scan_host(scan, bytes.data(), bytes.data());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Errc::invalid_argument);
  }
}

/// -NaN, -infinity, -1, -0, +0, 1, infinity, NaN: each greater than the one before.
template <class Value>
void expect_order_of_bits(ValueType type) {
  using Limits = std::numeric_limits<Value>;
  const Value nan = Limits::quiet_NaN();
  const std::vector<Value> rising = {-nan, -Limits::infinity(), -1, -Value(0), Value(0),
                                     1,    Limits::infinity(),  nan};
  Scan scan;
  scan.type = type;
  scan.count = rising.size();
  std::vector<Value> out(rising.size());
  const auto same_bits = [](const Value& a, const Value& b) {
    return std::memcmp(&a, &b, sizeof(Value)) == 0;
  };
  for (const ScanOperator op : {ScanOperator::max, ScanOperator::min}) {
    for (const bool backward : {false, true}) {
      scan.op = op;
      scan.backward = backward;
      ASSERT_TRUE(scan_host(scan, rising.data(), out.data()));
      const bool keeps_all = (op == ScanOperator::max) != backward;
      for (std::size_t i = 0; i < rising.size(); ++i) {
        const Value& first = backward ? rising.back() : rising.front();
        EXPECT_TRUE(same_bits(out[i], keeps_all ? rising[i] : first))
            << "op " << int(op) << " backward " << backward << " at " << i;
      }
    }
  }
}

TEST(ScanHost, MaximumAndMinimumOfFloatsFollowTheOrderOfTheirBits) {
  expect_order_of_bits<float>(ValueType::f32);
  expect_order_of_bits<double>(ValueType::f64);
}

TEST(ScanHost, MisalignedBuffersAreRefused) {
  alignas(8) std::byte values[64] = {};
  for (const auto& [type, width] :
       {std::pair{ValueType::u16, 2}, std::pair{ValueType::f16, 2}, std::pair{ValueType::f32, 4},
        std::pair{ValueType::i64, 8}, std::pair{ValueType::f64, 8}}) {
    Scan scan;
    scan.type = type;
    scan.count = 2;
    for (int off = 1; off < width; ++off) {
      const Result<void> in = scan_host(scan, values + off, values + 32);
      const Result<void> out = scan_host(scan, values, values + 32 + off);
      const Result<void> both = scan_host(scan, values + off, values + off);
      for (const Result<void>& done : {in, out, both}) {
        ASSERT_FALSE(done) << int(type) << " off by " << off;
        EXPECT_EQ(done.error().code, Errc::invalid_argument);
      }
    }
    EXPECT_TRUE(scan_host(scan, values + width, values + 32));
  }
}

TEST(ScanHost, BuffersAreTheSameOrDisjoint) {
  std::vector<std::uint32_t> values(12, 1);
  Scan scan;
  scan.count = 4;
  for (int distance = -4; distance <= 4; ++distance) {
    const Result<void> done = scan_host(scan, values.data() + 4, values.data() + 4 + distance);
    const bool may = distance == 0 || distance == 4 || distance == -4;
    EXPECT_EQ(done.has_value(), may) << distance;
    if (!done) {
      EXPECT_EQ(done.error().code, Errc::invalid_argument);
    }
  }
}

TEST(ScanHost, NothingNeedsNoBuffers) {
  EXPECT_TRUE(scan_host(Scan{}, nullptr, nullptr));
  Scan scan;
  scan.count = 1;
  std::uint32_t value = 7;
  EXPECT_FALSE(scan_host(scan, &value, nullptr));
  EXPECT_FALSE(scan_host(scan, nullptr, &value));
}

TEST(ScanHost, ABuildWithoutCudaAnswersDeviceCallsSo) {
#ifdef GDELTA_HAS_CUDA
  GTEST_SKIP() << "this build has CUDA";
#else
  Scan scan;
  scan.count = 4;
  std::uint32_t values[4] = {1, 2, 3, 4};
  const Result<std::size_t> scratch = scan_scratch_bytes(scan);
  ASSERT_FALSE(scratch);
  EXPECT_EQ(scratch.error().code, Errc::unsupported_backend);
  const Result<void> done = scan_device(scan, values, values, nullptr, 0, nullptr);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::unsupported_backend);
  EXPECT_EQ(values[3], 4u);
#endif
}

TEST(ScanHost, StatesThatNoMemoryHoldsAreAnError) {
  GDELTA_NEEDS_COUNTED_MEMORY();  // other allocators end the process
  Scan scan;
  scan.type = ValueType::u32;
  scan.count = std::uint64_t{1} << 58;
  scan.tuple = 65'000;  // four rows a block: a quarter of the values are states
  std::uint32_t value = 7;
  const Result<void> result = scan_host(scan, &value, &value);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::out_of_memory);
  EXPECT_EQ(value, 7u);
}

}  // namespace
}  // namespace gdelta
