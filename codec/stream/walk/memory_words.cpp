#include "codec/stream/walk/memory_words.h"

#include <fmt/core.h>

#include <array>
#include <string_view>

namespace gdelta {

namespace {

constexpr std::array<std::string_view, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
constexpr std::uint64_t kFewGiB = 10;  // which MiB tell better

/// The largest unit, a power of 1024, that tells so many bytes well.
int unit_for(std::uint64_t bytes) {
  if (bytes >= kFewGiB << 30) return 3;
  return bytes >= 1 << 20 ? 2 : bytes >= 1 << 10 ? 1 : 0;
}

std::string in_unit(std::uint64_t bytes, int unit) {
  return fmt::format("{} {}", bytes >> 10 * unit, kUnits[static_cast<std::size_t>(unit)]);
}

}  // namespace

std::string needed_memory(std::uint64_t bytes) {
  const int unit = unit_for(bytes);
  const std::uint64_t below = (std::uint64_t{1} << 10 * unit) - 1;
  return in_unit(bytes > UINT64_MAX - below ? bytes : bytes + below, unit);
}

std::string allowed_memory(std::uint64_t bytes) {
  for (int unit = 3; unit > 0; --unit)
    if (bytes > 0 && bytes % (std::uint64_t{1} << 10 * unit) == 0) return in_unit(bytes, unit);
  return in_unit(bytes, unit_for(bytes));
}

}  // namespace gdelta
