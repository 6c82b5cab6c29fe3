#include "size_text.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>

namespace gdelta::cli {

namespace {

constexpr std::string_view kUnits = "KMGT";

std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

tl::unexpected<Error> not_a_size(std::string_view text) {
  return fail(Errc::invalid_argument,
              fmt::format("'{}' is not a size such as 4096, 64K or 1M", text));
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return not_a_size(text);
  const std::string unit = upper_case(std::string_view(stop, static_cast<std::size_t>(end - stop)));
  if (unit.empty()) return number;
  const std::size_t power = kUnits.find(unit[0]);
  const std::string rest = unit.substr(1);
  if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "IB"))
    return not_a_size(text);
  const int shift = 10 * (static_cast<int>(power) + 1);
  if (number > std::numeric_limits<std::uint64_t>::max() >> shift)
    return fail(Errc::invalid_argument, fmt::format("'{}' does not fit 64 bits", text));
  return number << shift;
}

std::string readable_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}iB", amount, kUnits[unit]);
}

Result<Range> parse_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return fail(Errc::invalid_argument,
                fmt::format("'{}' is not a range such as 0:4096, 1M: or :64K", text));
  Range range;
  if (const std::string_view begin = text.substr(0, colon); !begin.empty()) {
    const auto size = parse_size(begin);
    if (!size) return tl::unexpected(size.error());
    range.begin = *size;
  }
  if (const std::string_view end = text.substr(colon + 1); !end.empty()) {
    const auto size = parse_size(end);
    if (!size) return tl::unexpected(size.error());
    range.end = *size;
    range.has_end = true;
  }
  if (range.begin > range.end)
    return fail(Errc::invalid_argument, fmt::format("'{}' ends before it begins", text));
  return range;
}

}  // namespace gdelta::cli
