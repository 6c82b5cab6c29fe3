#include "environment.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "console.h"

namespace gdelta::cli {

std::optional<std::string> read_environment(const char* name, int lowest, int highest, int& value) {
  const char* set = std::getenv(name);
  const std::string_view text = set != nullptr ? set : "";
  if (text.empty()) return std::nullopt;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < lowest || number > highest)
    return fmt::format("the environment sets {} to '{}'; it takes a number from {} to {}", name,
                       printable(text), lowest, highest);
  value = number;
  return std::nullopt;
}

}  // namespace gdelta::cli
