// The invariants that every answer about a foreign file keeps; breaking one aborts.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "formats/foreign/foreign.h"

namespace gdelta::format {

inline void must_hold(bool condition) {
  if (!condition) std::abort();
}

inline void check_answer(const std::optional<Recognised>& found, std::uint64_t seen_bytes,
                         std::optional<std::uint64_t> total_bytes) {
  if (!found) return;
  must_hold(!found->name.empty());
  must_hold(found->head_bytes <= seen_bytes);
  must_hold(check_layout(found->layout).has_value());
  if (total_bytes) must_hold(found->data_bytes <= *total_bytes - found->head_bytes);
  if (found->data_bytes == kUntilTheEnd) return;
  must_hold(found->data_bytes <= kUntilTheEnd - found->head_bytes);
  must_hold(found->data_bytes % found->layout.record_bytes() == 0);
}

/// Asks about a file as it is, as the beginning of a longer one, and through a pipe.
inline void check_file(std::span<const std::byte> file) {
  const std::uint64_t lengths[] = {file.size(), file.size() + 1,
                                   file.size() + (std::uint64_t{5} << 30), file.size() / 2,
                                   kUntilTheEnd};
  bool whole = false;
  for (const std::uint64_t length : lengths) {
    const auto found = recognise(file, length);
    check_answer(found, file.size(), length);
    if (length == file.size()) whole = found.has_value();
  }
  const auto piped = recognise(file, std::nullopt);
  check_answer(piped, file.size(), std::nullopt);
  must_hold(piped.has_value() == whole);
}

}  // namespace gdelta::format
