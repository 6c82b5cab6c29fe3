// Streams that nobody would think of: columns whose lanes are of kinds that models suit, or hardly do, with options and
// segments of any sort, drawn from a number.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codec/chunk/chunk_cases.h"
#include "gdelta/codec.h"
#include "gdelta/segment_stream.h"
#include "stages/registry.h"

namespace gdelta::test {

class RandomDraws {
 public:
  explicit RandomDraws(std::uint64_t seed) : random_(seed) {}
  std::uint64_t bits() { return random_(); }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t many) { return below(many) == 0; }
  /// Of up to `most` bits, short ones no less often.
  std::uint64_t of_any_length(int most = 64) {
    const std::uint64_t length = below(static_cast<std::uint64_t>(most) + 1);
    return length == 0 ? 0 : bits() >> (64 - length);
  }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
};

/// The values of a lane, one after the other, as bits of the type.
class RandomLane {
 public:
  RandomLane(RandomDraws& draws, ValueType type, std::uint64_t records)
      : draws_(draws), type_(type) {
    const bool is_float = type == ValueType::f32 || type == ValueType::f64;
    kind_ = static_cast<Kind>(draws.below(is_float ? kKinds : kFloatKinds));
    start_ = draws.of_any_length();
    step_ = draws.of_any_length();
    noise_bits_ = static_cast<int>(draws.below(20));
    period_ = 2 + draws.below(records / 2 + 2);
    few_.resize(1 + draws.below(40));
    for (std::uint64_t& value : few_) value = draws.of_any_length();
    run_ = 1 + draws.below(100);
    unit_ = draws.one_in(2) ? std::pow(10.0, -static_cast<double>(draws.below(6)))
                            : std::ldexp(draws.unit(), static_cast<int>(draws.below(40)) - 20);
    level_ = 1000 * draws.unit() - 500;
  }

  /// `beside`: the value before in the tuple.
  std::uint64_t next(std::uint64_t beside) {
    std::uint64_t value = usual(beside);
    if (draws_.one_in(2000)) value = draws_.bits();
    if (is_float() && draws_.one_in(3000)) value = of_float(special());
    values_.push_back(value);
    return value;
  }

 private:
  enum class Kind {
    equal,
    line,
    walk,
    periodic,
    few,
    noise,
    multiples,
    runs,
    beside_another,
    seen_before,
    // of floats
    decimals,
    steps,
    smooth,
    short_fractions,
    waves,
    decimal_noise
  };
  static constexpr std::uint64_t kFloatKinds = static_cast<std::uint64_t>(Kind::decimals);
  static constexpr std::uint64_t kKinds = static_cast<std::uint64_t>(Kind::decimal_noise) + 1;

  bool is_float() const { return kind_ >= Kind::decimals; }
  std::uint64_t noise() { return draws_.bits() & ((std::uint64_t{1} << noise_bits_) - 1); }
  std::uint64_t of_float(double number) const {
    return type_ == ValueType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                                   : std::bit_cast<std::uint64_t>(number);
  }
  double special() {
    using Limits = std::numeric_limits<double>;
    const double numbers[] = {0.0,
                              -0.0,
                              Limits::infinity(),
                              -Limits::infinity(),
                              Limits::quiet_NaN(),
                              Limits::max(),
                              Limits::denorm_min()};
    return numbers[draws_.below(std::size(numbers))];
  }

  std::uint64_t usual(std::uint64_t beside) {
    const std::size_t i = values_.size();
    switch (kind_) {
      case Kind::equal:
        return start_;
      case Kind::line:
        return start_ + i * step_ + noise();
      case Kind::walk:
        start_ += noise();
        return start_ -= noise();
      case Kind::periodic:
        return i >= period_ ? values_[i - period_] + noise() / 16 : draws_.bits() >> 32;
      case Kind::few:
        return few_[draws_.below(few_.size())];
      case Kind::noise:
        return draws_.bits();
      case Kind::multiples:
        return start_ + (step_ >> 40) * noise();
      case Kind::runs:
        return i == 0 || draws_.one_in(run_) ? draws_.of_any_length() : values_.back();
      case Kind::beside_another:
        return beside + noise() / 64;
      case Kind::seen_before:
        return i >= period_ && !draws_.one_in(8) ? values_[i - 1 - draws_.below(period_)]
                                                 : draws_.of_any_length();
      case Kind::decimals:
        level_ += draws_.unit() - 0.5;
        return of_float(std::round(level_ / unit_) * unit_);
      case Kind::steps:
        return of_float(static_cast<double>(noise()) * unit_);
      case Kind::smooth:
        level_ += (draws_.unit() - 0.5) / 100;
        return of_float(level_);
      case Kind::short_fractions:
        level_ += draws_.unit() - 0.5;
        return of_float(std::ldexp(std::round(std::ldexp(level_, noise_bits_)), -noise_bits_));
      case Kind::waves:
        return of_float(1000 * std::sin(static_cast<double>(i) * unit_) + draws_.unit() * unit_);
      case Kind::decimal_noise:
        return of_float(std::round(1e6 * draws_.unit()) * unit_);
    }
    return 0;
  }

  RandomDraws& draws_;
  ValueType type_;
  Kind kind_;
  std::uint64_t start_, step_, period_, run_;
  int noise_bits_;
  double unit_, level_;
  std::vector<std::uint64_t> few_, values_;
};

struct RandomStream {
  EncodeOptions options;
  Layout layout;  // not always told in the options
  Bytes values;
  std::vector<std::uint64_t> offsets;  // of segments; none if there are none

  std::string what() const {
    return to_string(layout) + (options.layout ? ", " : " to be found, ") +
           std::to_string(values.size() / layout.record_bytes()) + " records, level " +
           std::to_string(options.level) +
           (options.coder ? ", coder " + std::string(coder_name(*options.coder)) : "") +
           (options.order ? ", order " + std::to_string(*options.order) : "") + ", chunks of " +
           std::to_string(options.chunk_bytes) + ", " +
           std::to_string(offsets.empty() ? 0 : offsets.size() - 1) + " segments";
  }
};

inline Layout random_layout(RandomDraws& draws) {
  Layout layout;
  for (std::uint64_t columns = draws.one_in(8) ? 3 : 1; columns > 0; --columns) {
    const std::uint64_t tuples[] = {1, 1 + draws.below(4), 1 + draws.below(12)};
    // Narrow ones no less often than all the others: their numbers wrap.
    constexpr std::uint64_t kNarrowTypes = 4;
    layout.columns.push_back(
        {static_cast<ValueType>(draws.below(draws.one_in(2) ? kNarrowTypes : kNumValueTypes)),
         static_cast<std::uint8_t>(tuples[draws.below(std::size(tuples))]), draws.one_in(4)});
  }
  return layout;
}

inline Bytes random_values(RandomDraws& draws, const Layout& layout, std::uint64_t records) {
  std::vector<RandomLane> lanes;
  for (const Column& column : layout.columns)
    for (int lane = 0; lane < column.tuple; ++lane) lanes.emplace_back(draws, column.type, records);
  Bytes values;
  for (std::uint64_t i = 0; i < records; ++i) {
    auto lane = lanes.begin();
    std::uint64_t value = 0;
    for (const Column& column : layout.columns)
      for (int k = 0; k < column.tuple; ++k, ++lane)
        put_value(values, value = lane->next(value), value_bytes(column.type), column.big_endian);
  }
  return values;
}

/// Of any lengths, of lengths that repeat, or of one record but for a few.
inline std::vector<std::uint64_t> random_offsets(RandomDraws& draws, std::uint64_t records) {
  const std::uint64_t kind = draws.below(3);
  std::vector<std::uint64_t> lengths(2 + draws.below(40));
  const int most_bits = static_cast<int>(draws.below(10));
  for (std::uint64_t& length : lengths) length = draws.of_any_length(most_bits);
  lengths.back() |= 1;  // they come to an end
  std::vector<std::uint64_t> offsets(1 + draws.below(3), 0);
  while (offsets.back() < records) {
    const std::uint64_t length = kind == 0          ? draws.of_any_length(most_bits + 1)
                                 : kind == 1        ? lengths[offsets.size() % lengths.size()]
                                 : draws.one_in(20) ? draws.below(records)
                                                    : 1;
    offsets.push_back(std::min(records, offsets.back() + length));
  }
  return offsets;
}

/// The same of the same seed everywhere, but for the last bits of floats.
inline RandomStream random_stream(std::uint64_t seed, std::uint64_t most_records, int most_level) {
  RandomDraws draws(seed);
  RandomStream stream;
  EncodeOptions& options = stream.options;
  options.device = "cpu";
  options.threads = 1;
  stream.layout = random_layout(draws);
  options.level = 1 + static_cast<int>(draws.below(static_cast<std::uint64_t>(most_level)));
  if (draws.one_in(4)) {
    const std::vector<Coder> coders = asked_coders();
    options.coder = coders[draws.below(coders.size())];
  }
  if (draws.one_in(4)) options.order = static_cast<int>(draws.below(kMaxOrder + 1));
  if (draws.one_in(3)) options.chunk_bytes = 1 + draws.of_any_length(17);
  const std::uint64_t records = 1 + draws.below(1 + draws.below(most_records));
  stream.values = random_values(draws, stream.layout, records);
  if (draws.one_in(3)) stream.offsets = random_offsets(draws, records);
  if (!stream.offsets.empty() || !draws.one_in(4)) options.layout = stream.layout;
  return stream;
}

inline Result<Bytes> compress_stream(const RandomStream& stream) {
  return stream.offsets.empty() ? compress(stream.values, stream.options)
                                : compress_segments(stream.offsets, stream.values, stream.options);
}

/// A number that the environment may say.
inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Calls function(seed) for so many seeds, or for those that GDELTA_RANDOM_FIRST and GDELTA_RANDOM_CASES name.
template <class Function>
void for_random_seeds(std::uint64_t cases, const Function& function) {
  const std::uint64_t first = number_from_environment("GDELTA_RANDOM_FIRST", 1);
  const std::uint64_t end = first + number_from_environment("GDELTA_RANDOM_CASES", cases);
  for (std::uint64_t seed = first; seed < end; ++seed) function(seed);
}

}  // namespace gdelta::test
