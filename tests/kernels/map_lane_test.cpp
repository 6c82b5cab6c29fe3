// Value maps with fields and steps of lanes, beside what the pages of the format say of each number.
#include "kernels/words/map_lane.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "kernels/words/value_maps.h"

namespace gdelta {
namespace {

constexpr std::uint8_t kOrdered = 1, kDecimal = 2, kScaled = 3, kMultiple = 4;

LaneMapping decimal(std::uint64_t digits) { return {.map = kDecimal, .step = digits}; }
LaneMapping scaled(double step) {
  return {.map = kScaled, .step = std::bit_cast<std::uint64_t>(step)};
}
LaneMapping multiple(std::uint64_t step, std::uint64_t offset) {
  return {.map = kMultiple, .step = step, .offset = offset};
}

template <class Word>
constexpr int kBits = 8 * static_cast<int>(sizeof(Word));

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

template <class Word>
Word unmapped(Word word, const LaneMapping& mapping, int bits = kBits<Word>) {
  unmap_lane(&word, 1, bits, mapping);
  return word;
}

template <class Word>
struct Mapped {
  std::vector<Word> words;
  std::vector<std::uint64_t> exceptions;
};

template <class Word>
Mapped<Word> mapped(std::vector<Word> words, const LaneMapping& mapping, int bits = kBits<Word>,
                    std::uint64_t first = 0) {
  Mapped<Word> made{std::move(words), {}};
  map_lane(made.words.data(), made.words.size(), bits, mapping, first, made.exceptions);
  return made;
}

template <class Word>
Mapped<Word> mapped_one(Word word, const LaneMapping& mapping, int bits = kBits<Word>) {
  return mapped<Word>(std::vector<Word>{word}, mapping, bits);
}

/// The value, from its digits: the nearest f64.
double written_out(std::int64_t k, int digits) {
  return std::strtod((std::to_string(k) + "e-" + std::to_string(digits)).c_str(), nullptr);
}

std::uint64_t low_bits(std::uint64_t word, int bits) {
  return word & (~std::uint64_t{0} >> (64 - bits));
}

std::int64_t with_sign(std::uint64_t word, int bits) {
  return static_cast<std::int64_t>(word << (64 - bits)) >> (64 - bits);
}

TEST(MapLane, DecimalsAreTheNearestNumbers) {
  std::mt19937_64 random(1);
  for (int digits = 0; digits <= 22; ++digits) {
    const LaneMapping mapping = decimal(static_cast<std::uint64_t>(digits));
    for (int i = 0; i < 200; ++i) {
      const std::int64_t k = static_cast<std::int64_t>(random()) >> (11 + i % 53);  // to 53 bits
      EXPECT_EQ(unmapped(static_cast<std::uint64_t>(k), mapping), bits_of(written_out(k, digits)))
          << k << " of " << digits;
      const auto small = static_cast<std::int32_t>(k);
      EXPECT_EQ(unmapped(static_cast<std::uint32_t>(small), mapping),
                bits_of(static_cast<float>(written_out(small, digits))))
          << small << " of " << digits;
    }
  }
}

TEST(MapLane, DecimalsOfMoreThan53BitsAreRoundedFirst) {
  for (const std::int64_t k :
       {(std::int64_t{1} << 53) + 1, (std::int64_t{1} << 62) - 1,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
        -(std::int64_t{1} << 53) - 3})
    for (const int digits : {0, 1, 7})
      EXPECT_EQ(
          unmapped(static_cast<std::uint64_t>(k), decimal(static_cast<std::uint64_t>(digits))),
          bits_of(static_cast<double>(k) / std::pow(10, digits)))
          << k << " of " << digits;
}

TEST(MapLane, WholeNumbersOfAllBitsAreGivenBack) {
  for (const std::int32_t k : {std::numeric_limits<std::int32_t>::max(),
                               std::numeric_limits<std::int32_t>::min(), -1, 0, 1, 16777217}) {
    EXPECT_EQ(unmapped(static_cast<std::uint32_t>(k), decimal(0)), bits_of(static_cast<float>(k)));
    EXPECT_EQ(unmapped(static_cast<std::uint32_t>(k), scaled(0.5)),
              bits_of(static_cast<float>(static_cast<double>(k) * 0.5)));
  }
}

TEST(MapLane, ProductsAreNeitherFlushedNorStopped) {
  using F64 = std::numeric_limits<double>;
  using F32 = std::numeric_limits<float>;
  const auto minus = [](auto word) { return static_cast<decltype(word)>(0 - word); };
  EXPECT_EQ(unmapped<std::uint64_t>(2, scaled(F64::max())), bits_of(F64::infinity()));
  EXPECT_EQ(unmapped(minus(std::uint64_t{2}), scaled(F64::max())), bits_of(-F64::infinity()));
  EXPECT_EQ(unmapped<std::uint64_t>(0, scaled(F64::max())), bits_of(0.0));
  EXPECT_EQ(unmapped<std::uint32_t>(1, scaled(1e39)), bits_of(F32::infinity()));
  EXPECT_EQ(unmapped(minus(std::uint32_t{1}), scaled(1e39)), bits_of(-F32::infinity()));
  EXPECT_EQ(unmapped<std::uint32_t>(3, scaled(F32::denorm_min())), 3u);
  EXPECT_EQ(unmapped(minus(std::uint32_t{3}), scaled(F32::denorm_min())), 0x80000003u);
  EXPECT_EQ(unmapped<std::uint32_t>(1, scaled(F32::denorm_min() / 2.0)), 0u);  // a tie, to even
  EXPECT_EQ(unmapped(minus(std::uint32_t{1}), scaled(F32::denorm_min() / 2.0)), 0x80000000u);
  EXPECT_EQ(unmapped<std::uint64_t>(1, scaled(F64::min())), bits_of(F64::min()));
}

// The product is an f64 before it is an f32: 1 + 2^-24 + 2^-60 becomes a tie.
TEST(MapLane, F32IsRoundedTwice) {
  const double step = (1 + 0x1p-24 + 0x1p-52) / 3;
  for (std::uint32_t k = 1; k < 2000; ++k)
    EXPECT_EQ(unmapped(k, scaled(step)),
              bits_of(static_cast<float>(static_cast<double>(k) * step)));
  EXPECT_EQ(unmapped<std::uint32_t>(5, scaled(0.2 * (1 + 0x1p-24))),
            bits_of(static_cast<float>(5.0 * (0.2 * (1 + 0x1p-24)))));
}

template <class Word>
std::vector<Word> odd_floats();
template <>
std::vector<std::uint32_t> odd_floats() {
  return {0x7fc00000, 0xffc00000, 0x7fc12345, 0x7f800001, 0xff812345, 0x80000000,
          0x7f800000, 0xff800000, 0x00000001, 0x807fffff, 0x3eaaaaab, 0x7f7fffff};
}
template <>
std::vector<std::uint64_t> odd_floats() {
  return {0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000012345, 0x7ff0000000000001,
          0xfff0000000012345, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
          0x0000000000000001, 0x800fffffffffffff, 0x3fd5555555555555, 0x7fefffffffffffff};
}

template <class Word>
void expect_odd_floats_are_exceptions() {
  const std::vector<Word> odd = odd_floats<Word>();
  for (const LaneMapping& mapping :
       {decimal(0), decimal(2), decimal(22), scaled(0.25), scaled(1e-9)})
    for (std::size_t i = 0; i < odd.size(); ++i) {
      // A third has digits enough where a float has few.
      const bool may_be_taken = i == 10;
      const Mapped<Word> made = mapped_one(odd[i], mapping);
      if (may_be_taken && made.exceptions.empty())
        EXPECT_EQ(unmapped(made.words[0], mapping), odd[i]);
      else
        EXPECT_EQ(made.exceptions, std::vector<std::uint64_t>{0}) << std::hex << odd[i];
    }
}

TEST(MapLane, NansAndZerosWithASignAndInfinitiesAndDenormalsAreExceptions) {
  expect_odd_floats_are_exceptions<std::uint32_t>();
  expect_odd_floats_are_exceptions<std::uint64_t>();
}

TEST(MapLane, TheLargestNumbersAreTakenThatAreSure) {
  constexpr double kMost = 9007199254740992.0;  // 2^53
  for (const double sign : {-1.0, 1.0}) {
    EXPECT_TRUE(mapped_one(bits_of(sign * (kMost - 2)), decimal(0)).exceptions.empty());
    EXPECT_FALSE(mapped_one(bits_of(sign * kMost), decimal(0)).exceptions.empty());
    EXPECT_TRUE(mapped_one(bits_of(static_cast<float>(sign) * 2147483520.0f), decimal(0))
                    .exceptions.empty());
    EXPECT_FALSE(mapped_one(bits_of(static_cast<float>(sign) * 2147483648.0f), decimal(0))
                     .exceptions.empty());
    EXPECT_FALSE(mapped_one(bits_of(sign * 1e300), scaled(1e-300)).exceptions.empty());
  }
}

// Whatever is taken comes back, and what does not is told of, in order, with the word before in its place.
template <class Word>
void expect_round_trip(const std::vector<Word>& values, const LaneMapping& mapping, int bits) {
  constexpr std::uint64_t kFirst = 40960;
  const Mapped<Word> made = mapped(values, mapping, bits, kFirst);
  std::vector<Word> back = made.words;
  unmap_lane(back.data(), back.size(), bits, mapping);
  std::size_t next = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (next < made.exceptions.size() && made.exceptions[next] == kFirst + i) {
      ++next;
      EXPECT_EQ(made.words[i], i == 0 ? Word{0} : made.words[i - 1]);
      continue;
    }
    EXPECT_EQ(low_bits(back[i], bits), low_bits(values[i], bits))
        << int{mapping.map} << ' ' << mapping.step << " at " << i;
  }
  EXPECT_EQ(next, made.exceptions.size());
}

template <class Word, class Float>
void expect_floats_round_trip() {
  std::mt19937_64 random(3);
  std::vector<Word> values = odd_floats<Word>();
  for (int i = 0; i < 500; ++i) {
    values.push_back(static_cast<Word>(random()));
    const auto k = static_cast<double>(static_cast<std::int64_t>(random()) >> (40 + i % 20));
    for (const double value : {k, k / 10, k / 1e5, k * 0.25, k * 0.0012207, k * 1e-310})
      values.push_back(bits_of(static_cast<Float>(value)));
    values.push_back(odd_floats<Word>()[random() % 12]);
  }
  for (const LaneMapping& mapping :
       {LaneMapping{}, LaneMapping{.map = kOrdered}, decimal(0), decimal(1), decimal(5),
        decimal(22), scaled(0.25), scaled(0.0012207), scaled(std::numeric_limits<double>::min()),
        scaled(std::numeric_limits<double>::max())})
    expect_round_trip(values, mapping, kBits<Word>);
}

TEST(MapLane, FloatsThatAreTakenComeBack) {
  expect_floats_round_trip<std::uint32_t, float>();
  expect_floats_round_trip<std::uint64_t, double>();
}

TEST(MapLane, NumbersOfFewDigitsAreAllTaken) {
  for (int k = -200'000; k <= 200'000; k += 7) {
    for (const int digits : {0, 1, 2, 3}) {
      const LaneMapping mapping = decimal(static_cast<std::uint64_t>(digits));
      const double value = written_out(k, digits);
      EXPECT_EQ(mapped_one(bits_of(value), mapping).words[0], static_cast<std::uint64_t>(k));
      EXPECT_EQ(mapped_one(bits_of(static_cast<float>(value)), mapping).words[0],
                static_cast<std::uint32_t>(k));
    }
    const double step = 0.0012207;
    EXPECT_EQ(mapped_one(bits_of(static_cast<float>(k * step)), scaled(step)).words[0],
              static_cast<std::uint32_t>(k));
  }
}

TEST(MapLane, ExceptionsLeaveTheWordBefore) {
  const std::uint32_t nan = 0x7fc00000;
  const auto made = mapped<std::uint32_t>({nan, nan, bits_of(0.3f), nan, bits_of(0.5f), nan},
                                          decimal(1), 32, 1000);
  EXPECT_EQ(made.words, (std::vector<std::uint32_t>{0, 0, 3, 3, 5, 5}));
  EXPECT_EQ(made.exceptions, (std::vector<std::uint64_t>{1000, 1001, 1003, 1005}));
}

TEST(MapLane, AnExceptionChangesNoOtherWordOfALongLane) {
  std::vector<std::uint32_t> values;
  for (int k = 0; k < 700; ++k)
    values.push_back(bits_of(static_cast<float>(written_out(k * k - 100'000, 2))));
  for (const LaneMapping& mapping : {decimal(2), scaled(0.01)}) {
    auto expected = mapped<std::uint32_t>(values, mapping, 32, 0);
    ASSERT_TRUE(expected.exceptions.empty());
    for (const std::size_t place : {std::size_t{1}, std::size_t{200}, values.size() - 1}) {
      std::vector<std::uint32_t> with_nan = values, words = expected.words;
      with_nan[place] = 0x7fc00000;
      words[place] = words[place - 1];
      const auto made = mapped<std::uint32_t>(with_nan, mapping, 32, 0);
      EXPECT_EQ(made.words, words);
      EXPECT_EQ(made.exceptions, (std::vector<std::uint64_t>{place}));
    }
  }
}

TEST(MapLane, ExceptionsAreAppended) {
  std::vector<std::uint64_t> exceptions = {7};
  std::uint32_t word = 0x7fc00000;
  map_lane(&word, 1, 32, decimal(1), 8, exceptions);
  EXPECT_EQ(exceptions, (std::vector<std::uint64_t>{7, 8}));
  map_lane(&word, 0, 32, decimal(1), 8, exceptions);
  EXPECT_EQ(exceptions.size(), 2u);
}

template <class Word>
void expect_multiples(int bits) {
  std::mt19937_64 random(static_cast<unsigned>(bits));
  const std::uint64_t most = low_bits(~std::uint64_t{0}, bits);
  for (const std::uint64_t step : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{100}, most / 2,
                                   most / 2 + 1, most - 1, most})
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, most / 2 + 1, most}) {
      const LaneMapping mapping = multiple(step, offset);
      std::vector<Word> values;
      for (int i = 0; i < 200; ++i) {
        const std::uint64_t k = i % 3 == 0 ? random() : static_cast<std::uint64_t>(i % 7 - 3);
        const std::uint64_t value = low_bits(k * step + offset, bits);
        EXPECT_EQ(low_bits(unmapped(static_cast<Word>(k), mapping, bits), bits), value);
        values.push_back(static_cast<Word>(value));
        values.push_back(static_cast<Word>(low_bits(random(), bits)));
      }
      values.push_back(static_cast<Word>(low_bits(offset + most / 2 + 1, bits)));  // farthest away
      expect_round_trip(values, mapping, bits);
      // Taken is what lies a whole number of steps away.
      const Mapped<Word> made = mapped(values, mapping, bits);
      std::size_t next = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t distance = with_sign(values[i] - offset, bits);
        const bool whole = step > (~Word{0} >> 1) ? distance == 0
                                                  : distance % static_cast<std::int64_t>(step) == 0;
        const bool taken = next == made.exceptions.size() || made.exceptions[next] != i;
        EXPECT_EQ(taken, whole) << values[i] << " of " << step << " + " << offset;
        if (!taken) ++next;
      }
    }
}

TEST(MapLane, MultiplesOfEveryWidth) {
  for (const int bits : {8, 16, 24, 32}) expect_multiples<std::uint32_t>(bits);
  expect_multiples<std::uint64_t>(64);
}

template <class Word>
void expect_all_multiples(int bits) {
  std::mt19937_64 random(static_cast<unsigned>(bits));
  const std::uint64_t most = low_bits(~std::uint64_t{0}, bits);
  const std::int64_t lowest = with_sign(most / 2 + 1, bits);
  for (const std::int64_t step : {2, 3, 96, 100, 127})
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{5}, most}) {
      const std::int64_t first = lowest / step, last = -(lowest + 1) / step;
      std::vector<Word> values;
      for (int i = 0; i < 300; ++i) {
        const std::uint64_t steps =
            static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
        const auto any = static_cast<std::int64_t>(random() % (steps + 1));
        const std::int64_t k = i % 5 == 0 ? first : i % 5 == 1 ? last : first + any;
        values.push_back(
            static_cast<Word>(low_bits(static_cast<std::uint64_t>(k * step) + offset, bits)));
      }
      const LaneMapping mapping = multiple(static_cast<std::uint64_t>(step), offset);
      EXPECT_TRUE(mapped(values, mapping, bits).exceptions.empty()) << step << " + " << offset;
      expect_round_trip(values, mapping, bits);
      for (const std::size_t wrong : {0u, 127u, 128u, 299u}) {
        std::vector<Word> others = values;
        others[wrong] = static_cast<Word>(low_bits(offset + 1, bits));
        EXPECT_EQ(mapped(others, mapping, bits).exceptions, (std::vector<std::uint64_t>{wrong}));
      }
    }
}

TEST(MapLane, LongLanesOfMultiplesAreAllTaken) {
  for (const int bits : {8, 16, 24, 32}) expect_all_multiples<std::uint32_t>(bits);
  expect_all_multiples<std::uint64_t>(64);
}

TEST(MapLane, MultiplesHaveASign) {
  const auto made = mapped<std::uint32_t>({0xff38, 0, 200, 0xfe70}, multiple(200, 0), 16);
  EXPECT_TRUE(made.exceptions.empty());  // -200, 0, 200, -400
  EXPECT_EQ(low_bits(made.words[0], 16), 0xffffu);
  EXPECT_EQ(low_bits(made.words[3], 16), 0xfffeu);
}

TEST(LaneStep, HalvesAreRoundedDown) {
  for (const int bits : {8, 16, 24, 32, 64}) {
    for (const std::int64_t x : {0, 1, 2, 3, 127, -1, -2, -3, -4, -127, -128}) {
      const std::int64_t half = x >= 0 ? x / 2 : (x - 1) / 2;
      const auto expected = low_bits(static_cast<std::uint64_t>(half), bits);
      const std::uint64_t word = low_bits(static_cast<std::uint64_t>(x), bits);
      EXPECT_EQ(low_bits(half_of(word, bits), bits), expected) << x << " of " << bits;
      if (bits == 64) continue;
      const auto small = static_cast<std::uint32_t>(word);
      EXPECT_EQ(low_bits(half_of(small, bits), bits), expected) << x << " of " << bits;
      if (bits == 32) continue;
      const std::uint32_t rubbish = small | 0xa5u << bits;
      EXPECT_EQ(low_bits(half_of(rubbish, bits), bits), expected) << x << " of " << bits;
    }
    const std::uint64_t least = 1ull << (bits - 1);
    EXPECT_EQ(low_bits(half_of(least, bits), bits), low_bits(0 - (least >> 1), bits));
    EXPECT_EQ(low_bits(half_of(least - 1, bits), bits), (least - 1) >> 1);
  }
}

template <class Word>
void expect_steps(int bits) {
  std::mt19937_64 random(static_cast<unsigned>(bits));
  const std::uint64_t top = 1ull << (bits - 1);
  for (const LaneStepKind kind :
       {LaneStepKind::minus, LaneStepKind::minus_half, LaneStepKind::plus_half}) {
    std::vector<Word> target, source;
    for (const std::uint64_t x :
         {std::uint64_t{0}, std::uint64_t{1}, top - 1, top, top + 1, 2 * top - 1})
      for (const std::uint64_t y :
           {std::uint64_t{0}, std::uint64_t{3}, top - 1, top, top + 1, 2 * top - 1}) {
        target.push_back(static_cast<Word>(x));
        source.push_back(static_cast<Word>(y));
      }
    for (int i = 0; i < 100; ++i) {  // with rubbish above the value, as steps before leave it
      target.push_back(static_cast<Word>(random()));
      source.push_back(static_cast<Word>(random()));
    }
    std::vector<Word> stepped = target;
    step_lane(stepped.data(), source.data(), stepped.size(), bits, kind);
    for (std::size_t i = 0; i < target.size(); ++i) {
      const std::int64_t x = with_sign(source[i], bits);
      const std::int64_t half = x / 2 - (x % 2 < 0 ? 1 : 0);
      const auto lost = static_cast<std::uint64_t>(kind == LaneStepKind::minus        ? x
                                                   : kind == LaneStepKind::minus_half ? half
                                                                                      : -half);
      EXPECT_EQ(low_bits(stepped[i], bits), low_bits(target[i] - lost, bits))
          << bits << " bits, kind " << static_cast<int>(kind) << ", source " << x;
    }
    unstep_lane(stepped.data(), source.data(), stepped.size(), bits, kind);
    for (std::size_t i = 0; i < target.size(); ++i)
      EXPECT_EQ(low_bits(stepped[i], bits), low_bits(target[i], bits));
  }
}

TEST(LaneStep, WrapsAtEveryWidthAndIsUndone) {
  for (const int bits : {8, 16, 24, 32}) expect_steps<std::uint32_t>(bits);
  expect_steps<std::uint64_t>(64);
}

TEST(DecimalMap, HasInversesOfPowersInTwoPartsThatAreNearestToWhatIsLeft) {
  for (unsigned digits = 0; digits <= kMostDigits; ++digits) {
    const PowerOfTen<double> by = power_of_ten(digits);
    EXPECT_EQ(by.inverse, 1 / by.power) << digits;
    EXPECT_EQ(by.rest, std::fma(-by.inverse, by.power, 1.0) / by.power) << digits;
  }
}

TEST(DecimalMap, AQuotientWithoutADivisionIsThatOfADivision) {
  std::mt19937_64 random(5);
  for (unsigned digits = 0; digits <= kMostDigits; ++digits) {
    const PowerOfTen<double> by = power_of_ten(digits);
    const auto expect_quotient = [&](std::int64_t k) {
      const auto number = static_cast<double>(k);
      ASSERT_EQ(bits_of(quotient_by(number, by)), bits_of(number / by.power))
          << k << " / 10^" << digits;
    };
    for (int i = 0; i < 20000; ++i) {
      // Of every length, and next to multiples, where a quotient is closest to one that is exact.
      std::int64_t k = static_cast<std::int64_t>(random()) >> random() % 64;
      if (i % 2 == 0 && digits < 15) k = k % 1000 * static_cast<std::int64_t>(by.power) + i % 3 - 1;
      expect_quotient(k);
    }
    // Whole numbers next to quotients in the middle of two doubles, where rounding is decided last.
    for (int i = 0; i < 20000; ++i) {
      const double quotient = static_cast<double>(random() >> 11 | 1ull << 52) /
                              std::ldexp(1.0, static_cast<int>(random() % 53));
      const double middle = (quotient + std::nextafter(quotient, 1e300)) / 2 * by.power;
      if (middle < 9e18) expect_quotient(static_cast<std::int64_t>(middle));
    }
  }
}

DecimalMap decimal_map(unsigned digits) { return DecimalMap(LaneMapping{.step = digits}); }

TEST(DecimalMap, DividesShortWordsAsFloatsToTheSameBits) {
  constexpr int kMost = DecimalMap::kMostShort;
  for (unsigned digits = 0; digits <= kMostShortDigits; ++digits) {
    const DecimalMap map = decimal_map(digits);
    ASSERT_TRUE(map.has_short_power()) << digits;
    const auto expect_same = [&](int number) {
      const auto word = static_cast<std::uint32_t>(number);
      ASSERT_EQ(map.undo_short(word), map.undo(word, 32)) << number << " / 10^" << digits;
    };
    for (int number = -kMost; number <= kMost; number += 509) expect_same(number);
    for (const int number : {-kMost, -kMost + 1, -1, 0, 1, kMost - 1, kMost}) expect_same(number);
  }
  EXPECT_FALSE(decimal_map(kMostShortDigits + 1).has_short_power());
}

}  // namespace
}  // namespace gdelta
