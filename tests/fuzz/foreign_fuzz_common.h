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
  must_hold(!recognised_sentence(found->name).empty());
  must_hold(found->head_bytes <= seen_bytes);
  must_hold(check_layout(found->layout).has_value());
  if (total_bytes) must_hold(found->data_bytes <= *total_bytes - found->head_bytes);
  if (found->data_bytes == kUntilTheEnd) return;
  must_hold(found->data_bytes <= kUntilTheEnd - found->head_bytes);
  must_hold(found->data_bytes % found->layout.record_bytes() == 0);
}

/// Asks what follows an array of each kind.
inline void check_rest(std::span<const std::byte> rest) {
  const Layout samples{{{ValueType::i16, 2, true}}};
  const Recognised befores[] = {
      {.name = "wav", .layout = byte_layout(), .data_bytes = 3},
      {.name = "wav", .layout = samples, .data_bytes = 4000, .torn_bytes = 1},
      {.name = "npy", .layout = samples, .data_bytes = 4000}};
  const Recognised* before[] = {nullptr, &befores[0], &befores[1], &befores[2]};
  const std::optional<std::uint64_t> lengths[] = {rest.size(), rest.size() / 2, std::nullopt};
  for (const Recognised* ended : before)
    for (const auto length : lengths)
      check_answer(recognise_next(ended, rest, length), rest.size(), length);
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
  check_rest(file);
}

}  // namespace gdelta::format
