#include "codec/float_evidence.h"

#include <algorithm>

namespace gdelta {

namespace {

constexpr std::uint64_t kMostValues = 1 << 14;

struct FloatShape {
  int mantissa_bits;
  int exponent_bits;
  int lowest, highest;  // exponents, base 2, of plausible values
};

constexpr FloatShape kBf16{7, 8, -40, 30};
constexpr FloatShape kF32{23, 8, -40, 30};
constexpr FloatShape kF64{52, 11, -100, 100};

/// Counts over some values. Zeros, infinities and plain NaNs say nothing.
struct Tally {
  std::uint64_t values = 0, telling = 0, plausible = 0;

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
    const int power = static_cast<int>(exponent) - static_cast<int>(exponent_mask / 2);
    plausible += power >= shape.lowest && power <= shape.highest;
  }
  bool floats() const { return 16 * telling >= values && 50 * plausible >= 49 * telling; }
};

std::uint64_t load(const std::byte* at, const Cut& cut) {
  std::uint64_t value = 0;
  for (int i = 0; i < cut.bytes; ++i)
    value = value << 8 | std::to_integer<std::uint64_t>(at[cut.big_endian ? i : cut.bytes - 1 - i]);
  return value;
}

}  // namespace

bool looks_like_floats(std::span<const std::byte> sample, const Cut& cut) {
  const std::uint64_t records = sample.size() / cut.record_bytes();
  if (records == 0) return false;
  const std::uint64_t step = std::max<std::uint64_t>(1, records * cut.tuple / kMostValues);
  Tally whole, low_half;
  for (std::uint64_t record = 0; record < records; record += step)
    for (int lane = 0; lane < cut.tuple; ++lane) {
      const std::uint64_t bits =
          load(sample.data() + record * cut.record_bytes() + lane * cut.bytes, cut);
      whole.add(bits, cut.bytes == 8 ? kF64 : cut.bytes == 4 ? kF32 : kBf16);
      if (cut.bytes == 8) low_half.add(bits & 0xffffffff, kF32);
    }
  // Two f32 look like an f64, whose upper half is an f32 of the same sort; but the lower half of an
  // f64 is no f32.
  return whole.floats() && !(cut.bytes == 8 && low_half.telling > 0 && low_half.floats());
}

}  // namespace gdelta
