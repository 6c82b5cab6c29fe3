// What a stream of tuples would cost if its values had a given width: the measure by which
// detection compares layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gdelta {

/// How a bare stream may be cut into values.
struct Cut {
  std::uint8_t bytes = 1;  // of a value: 1, 2, 3, 4, 8
  std::uint8_t tuple = 1;
  bool big_endian = false;
  constexpr std::uint64_t record_bytes() const { return std::uint64_t{bytes} * tuple; }
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// Stretches of a sample, spread evenly over it, a single one in its middle: `count` of `bytes` each, or
/// all of it if it is short.
struct Stretches {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  /// Where stretch `i` of a sample begins that is at least as long as one.
  constexpr std::uint64_t place(std::uint64_t i, std::uint64_t sample_bytes) const {
    const std::uint64_t spread = sample_bytes - bytes;
    return count > 1 ? spread * i / (count - 1) : spread / 2;
  }
};

/// More than any cost, with room for sums.
inline constexpr std::uint64_t kUnknownCost = std::uint64_t{1} << 62;

/// Estimated size of the sample's values once packed, as 1/65536 bits for each byte: the best order
/// below `num_orders` of each lane, groups of 128 residuals at the width that pack would choose. All integers, so
/// that it is the same everywhere. kUnknownCost if a stretch holds too few tuples to
/// tell. The groups that are looked at are added to `groups`, if there is one.
std::uint64_t layout_cost(std::span<const std::byte> sample, Cut cut, Stretches stretches,
                          int num_orders, std::uint64_t* groups = nullptr);

}  // namespace gdelta
