// The CPU scan against the serial reference.
#include "kernels/scan/scan_cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/scan/algebra/carry_matrix.h"
#include "kernels/scan/algebra/half_float.h"
#include "tests/kernels/scan_lowest_cases.h"
#include "tests/kernels/scan_on_cpu.h"
#include "tests/kernels/scan_reference.h"

namespace gdelta::scan {
namespace {

template <class Value>
void expect_like_reference(const Shape& shape, bool in_place, std::uint64_t seed) {
  std::vector<Value> expected = random_values<Value>(shape.count, seed, shape.op);
  std::vector<Value> in = expected;
  std::vector<Value> out(in_place ? 0 : shape.count);
  reference_scan(shape, expected);
  scan_on_cpu(shape, in.data(), in_place ? in.data() : out.data());
  const std::vector<Value>& result = in_place ? in : out;
  ASSERT_TRUE(
      std::ranges::equal(std::as_bytes(std::span(result)), std::as_bytes(std::span(expected))))
      << describe(shape);
}

void check(const Shape& shape, bool in_place = false, std::uint64_t seed = 1) {
  switch (shape.type) {
    case Type::i8:
      return expect_like_reference<std::int8_t>(shape, in_place, seed);
    case Type::u8:
      return expect_like_reference<std::uint8_t>(shape, in_place, seed);
    case Type::i16:
      return expect_like_reference<std::int16_t>(shape, in_place, seed);
    case Type::u16:
      return expect_like_reference<std::uint16_t>(shape, in_place, seed);
    case Type::i32:
      return expect_like_reference<std::int32_t>(shape, in_place, seed);
    case Type::u32:
      return expect_like_reference<std::uint32_t>(shape, in_place, seed);
    case Type::i64:
      return expect_like_reference<std::int64_t>(shape, in_place, seed);
    case Type::u64:
      return expect_like_reference<std::uint64_t>(shape, in_place, seed);
    case Type::f32:
      return expect_like_reference<float>(shape, in_place, seed);
    case Type::f64:
      return expect_like_reference<double>(shape, in_place, seed);
    default:
      FAIL() << "no reference for this type";
  }
}

TEST(ScanCpu, EveryOperatorOrderAndType) {
  for (int type = 0; type <= int(Type::f64); ++type) {
    if (Type(type) == Type::f16 || Type(type) == Type::bf16) continue;
    for (int op = 0; op <= int(Operator::bit_or); ++op) {
      for (const int order : {1, 2, 3, 8}) {
        if (is_float(Type(type)) && Operator(op) == Operator::sum && order > 2)
          continue;  // not exact any more
        const std::uint64_t count = is_float(Type(type)) && order > 1 ? 3'000 : 20'011;
        const Shape shape{.op = Operator(op),
                          .type = Type(type),
                          .order = order,
                          .tuple = 1u + order % 3,
                          .exclusive = order == 2,
                          .backward = order == 3,
                          .count = count};
        if (is_valid(shape)) check(shape, order == 8);
      }
    }
  }
}

TEST(ScanCpu, TuplesAndStridesOverManyBlocks) {
  for (const std::uint64_t tuple : std::initializer_list<std::uint64_t>{
           1, 2, 3, 7, 64, 65, 1000, 65'536, 700'000, 2'000'000, 1'000'000'000'000'000'000}) {
    for (const bool backward : {false, true}) {
      check({.type = Type::u32,
             .order = 3,
             .tuple = tuple,
             .exclusive = backward,
             .backward = backward,
             .count = 1'200'007},
            backward);
    }
  }
}

TEST(ScanCpu, ALowestNaNComesBackFromMinimumAndMaximum) {
  for (const std::uint64_t count : {3, 100, 600'003}) {
    for (LowestCase& made : lowest_cases(count, count / 2 + 3)) {
      scan_on_cpu(made.shape, made.in.data(), made.in.data());
      EXPECT_TRUE(made.in == made.expected) << describe(made.shape);
    }
  }
}

TEST(ScanCpu, SmallCounts) {
  for (std::uint64_t count = 0; count < 70; ++count) {
    for (const std::uint64_t tuple : {1, 2, 5, 64}) {
      check({.type = Type::i16,
             .order = 4,
             .tuple = tuple,
             .exclusive = count % 2 == 0,
             .backward = count % 3 == 0,
             .count = count});
    }
  }
}

/// state = P(L) state: what `state` becomes after L values that are zero.
template <class Word, int Order>
void advance_state(const CarryMatrix<Word, Order>& matrix, Word* state) {
  for (int i = Order - 1; i >= 1; --i)
    for (int m = 1; m <= i; ++m) state[i] += matrix.c[m] * state[i - m];
}

/// One value that is zero: y2 += y1, y3 += y2, ...
template <class Word, int Order>
void step_state(Word* state) {
  for (int i = 1; i < Order; ++i) state[i] += state[i - 1];
}

TEST(CarryMatrix, AdvancesAStateAsZerosDo) {
  std::mt19937_64 random(7);
  for (int length = 0; length < 200; ++length) {
    std::uint32_t stepped[8], advanced[8];
    for (int q = 0; q < 8; ++q) stepped[q] = advanced[q] = static_cast<std::uint32_t>(random());
    std::uint32_t start[8];
    std::copy(stepped, stepped + 8, start);
    for (int i = 0; i < length; ++i) step_state<std::uint32_t, 8>(stepped);
    const auto ahead = carry_coefficients<std::uint32_t, 8>(length);
    advance_state(ahead, advanced);
    EXPECT_TRUE(std::equal(stepped, stepped + 8, advanced)) << length;
    const auto back = inverse_carry_coefficients<std::uint32_t, 8>(length);
    advance_state(back, advanced);
    EXPECT_TRUE(std::equal(start, start + 8, advanced)) << length;
    EXPECT_TRUE(std::equal(back.c, back.c + 8, inverse(ahead).c)) << length;
    const std::uint32_t odd = xor_carry_coefficients(length);
    const std::uint32_t odd_back = inverse_xor_carry_coefficients(length);
    EXPECT_EQ((odd | odd_back) >> 8, 0u);
    for (int m = 0; m < 8; ++m) {
      EXPECT_EQ((odd >> m) & 1, ahead.c[m] & 1);
      EXPECT_EQ((odd_back >> m) & 1, back.c[m] & 1);
    }
  }
}

TEST(HalfFloat, EveryPatternSurvives) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = Binary16::to_float(half);
    const float wider = BFloat16::to_float(half);
    EXPECT_TRUE(std::isnan(wide) || Binary16::from_float(wide) == half) << bits;
    EXPECT_TRUE(std::isnan(wider) || BFloat16::from_float(wider) == half) << bits;
  }
  EXPECT_EQ(Binary16::from_float(65520.0f), 0x7c00);
  EXPECT_EQ(Binary16::from_float(65519.0f), 0x7bff);
  EXPECT_EQ(Binary16::from_float(2049.0f), 0x6800);  // tie to even
  EXPECT_EQ(Binary16::from_float(0x1p-25f), 0);
}

}  // namespace
}  // namespace gdelta::scan
