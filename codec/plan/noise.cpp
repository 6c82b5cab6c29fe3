#include "codec/plan/noise.h"

#include <algorithm>
#include <array>
#include <span>

namespace gdelta {
namespace {

constexpr std::uint64_t kStretches = 32, kStretch = 512;
constexpr std::uint64_t kOrders = 3;
constexpr std::uint64_t kBytes = 256;
// Of 512 bytes drawn at random 221 are different, give or take 4.5: five times that less are not seen by chance. Bytes that are
// frequent here and seldom there leave fewer.
constexpr std::uint64_t kFewestDifferent = 199;
// Pearson's test of all stretches gives 255, give or take 23, for bytes drawn at random. So much more would save a 1200th part of
// them, tables not counted.
constexpr std::uint64_t kMostUneven = 400;

using Counts = std::array<std::uint64_t, kBytes>;

/// Adds the bytes to `all`; false if few of them are different.
bool add_stretch(std::span<const std::uint8_t> bytes, Counts& all) {
  Counts counts{};
  for (const std::uint8_t byte : bytes) ++counts[byte];
  for (std::size_t byte = 0; byte < kBytes; ++byte) all[byte] += counts[byte];
  return kBytes - static_cast<std::uint64_t>(std::ranges::count(counts, 0u)) >= kFewestDifferent;
}

bool are_even(const Counts& counts) {
  constexpr std::uint64_t kAll = kStretches * kStretch;
  std::uint64_t squares = 0;
  for (const std::uint64_t count : counts) squares += count * count;
  return kBytes * squares <= kAll * (kAll + kMostUneven);
}

}  // namespace

bool looks_like_noise(const ColumnBytes& column) {
  constexpr std::uint64_t kLoaded = kStretch + kOrders - 1;
  if (value_bytes(column.column.type) != 1 || column.records < kStretches * kLoaded) return false;
  std::array<Counts, kOrders> all{};
  for (std::uint64_t s = 0; s < kStretches; ++s) {
    const std::uint64_t first = (column.records - kLoaded) * s / (kStretches - 1);
    std::array<std::uint8_t, kLoaded> bytes;
    for (std::uint64_t i = 0; i < kLoaded; ++i)
      bytes[i] = *column.at(first + i, static_cast<int>(s % column.column.tuple));
    for (Counts& counts : all) {
      if (!add_stretch(std::span(bytes).last(kStretch), counts)) return false;
      for (std::uint64_t i = kLoaded; i-- > 1;)
        bytes[i] = static_cast<std::uint8_t>(bytes[i] - bytes[i - 1]);
    }
  }
  return std::ranges::all_of(all, are_even);
}

}  // namespace gdelta
