// Sizes as people write and read them: 64K, 1M, "1.3 MiB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gdelta/error.h"

namespace gdelta::cli {

/// "4096", "64K", "1M", "4GiB": a number and at most one binary unit (K M G T, with B or iB after
/// it if liked), in capitals or small.
/// Errors      invalid_argument: anything else, and what does not fit 64 bits
Result<std::uint64_t> parse_size(std::string_view text);

/// "512 B", "1.3 MiB".
std::string readable_bytes(std::uint64_t bytes);

/// A half-open range of positions; the end may be missing.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
  bool has_end = false;
};

/// "A:B", "A:", ":B", ":", where A and B are sizes.
/// Errors      invalid_argument, also if A is greater than B
Result<Range> parse_range(std::string_view text);

}  // namespace gdelta::cli
