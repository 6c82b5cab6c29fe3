#include "codec/detect/float_evidence.h"

#include <algorithm>

#include "codec/detect/value_load.h"

namespace gdelta {

namespace {

struct FloatShape {
  int mantissa_bits;
  int exponent_bits;
  int lowest, highest;  // exponents, base 2, of plausible values
};

constexpr FloatShape kF16{.mantissa_bits = 10, .exponent_bits = 5, .lowest = -12, .highest = 9};
constexpr FloatShape kBf16{.mantissa_bits = 7, .exponent_bits = 8, .lowest = -14, .highest = 14};
constexpr FloatShape kUpperF32{
    .mantissa_bits = 7, .exponent_bits = 8, .lowest = -40, .highest = 30};  // the upper half of one
constexpr FloatShape kF32{.mantissa_bits = 23, .exponent_bits = 8, .lowest = -40, .highest = 30};
constexpr FloatShape kF64{.mantissa_bits = 52, .exponent_bits = 11, .lowest = -100, .highest = 100};

/// Counts over some values. Zeros, infinities and plain NaNs say nothing.
struct Tally {
  std::uint64_t values = 0, telling = 0, plausible = 0, negative = 0;

  void add(std::uint64_t bits, const FloatShape& shape) {
    const std::uint64_t exponent_mask = (std::uint64_t{1} << shape.exponent_bits) - 1;
    const std::uint64_t exponent = bits >> shape.mantissa_bits & exponent_mask;
    const std::uint64_t mantissa = bits & ((std::uint64_t{1} << shape.mantissa_bits) - 1);
    const bool zero = exponent == 0 && mantissa == 0;
    const bool special =
        exponent == exponent_mask &&
        (mantissa == 0 || mantissa == std::uint64_t{1} << (shape.mantissa_bits - 1));
    ++values;
    if (zero || special) return;
    ++telling;
    negative += bits >> (shape.mantissa_bits + shape.exponent_bits);
    const int power = static_cast<int>(exponent) - static_cast<int>(exponent_mask / 2);
    plausible += power >= shape.lowest && power <= shape.highest;
  }
  bool floats() const { return 16 * telling >= values && 50 * plausible >= 49 * telling; }
  /// Whether floats() is false whatever comes, `most` values in all.
  bool cannot_be_floats(std::uint64_t most) const { return 49 * (telling - plausible) > most; }
  bool both_signs() const { return 32 * negative >= telling && 32 * negative <= 31 * telling; }
};

template <class Word>
std::uint64_t load_word(const std::byte* at, bool big_endian) {
  return big_endian ? load_value<Word, sizeof(Word), true>(at)
                    : load_value<Word, sizeof(Word), false>(at);
}
std::uint64_t load(const std::byte* at, const Cut& cut) {
  switch (cut.bytes) {
    case 2:
      return load_word<std::uint16_t>(at, cut.big_endian);
    case 4:
      return load_word<std::uint32_t>(at, cut.big_endian);
    default:
      return load_word<std::uint64_t>(at, cut.big_endian);
  }
}

/// What is looked at of a lane: how many values are looked at, and how many records lie between them.
struct SomeValues {
  SomeValues(std::span<const std::byte> sample, const Cut& cut, std::uint64_t most)
      : records(sample.size() / cut.record_bytes()),
        step(std::max<std::uint64_t>(1, records * cut.tuple / most)) {}
  std::uint64_t count() const { return (records + step - 1) / step; }
  std::uint64_t records, step;
};

/// Calls `visit` with the bits of some values of one lane, spread over the sample, until it returns
/// false; then returns that.
template <class Visit>
bool for_some_values(std::span<const std::byte> sample, const Cut& cut, const SomeValues& some,
                     int lane, Visit visit) {
  for (std::uint64_t record = 0; record < some.records; record += some.step)
    if (!visit(load(sample.data() + record * cut.record_bytes() + lane * cut.bytes, cut)))
      return false;
  return true;
}

}  // namespace

bool looks_like_floats(std::span<const std::byte> sample, const Cut& cut, std::uint64_t most) {
  const bool wide = cut.bytes == 8;
  const SomeValues some(sample, cut, most);
  const std::uint64_t values = some.count() * cut.tuple;
  Tally whole, low_half;
  for (int lane = 0; lane < cut.tuple; ++lane)
    if (!for_some_values(sample, cut, some, lane, [&](std::uint64_t bits) {
          whole.add(bits, wide ? kF64 : kF32);
          if (!low_half.cannot_be_floats(values))
            low_half.add(wide ? bits & 0xffffffff : bits & 0xffff, wide ? kF32 : kUpperF32);
          return !whole.cannot_be_floats(values);
        }))
      return false;
  // Two short floats look like a long one, whose upper half is a short one of the same sort; but
  // the lower half of a long one is no float.
  return whole.floats() && !low_half.floats();
}

std::optional<ValueType> short_float_type(std::span<const std::byte> sample, const Cut& cut,
                                          std::uint64_t most) {
  const SomeValues some(sample, cut, most);
  bool both_signs = false;
  Tally half, brain;
  for (int lane = 0; lane < cut.tuple; ++lane) {
    Tally signs;
    for_some_values(sample, cut, some, lane, [&](std::uint64_t bits) {
      signs.add(bits, kF16);
      half.add(bits, kF16);
      brain.add(bits, kBf16);
      return true;
    });
    both_signs |= signs.both_signs();
  }
  if (!both_signs) return std::nullopt;
  if (brain.floats()) return ValueType::bf16;
  if (half.floats()) return ValueType::f16;
  return std::nullopt;
}

}  // namespace gdelta
