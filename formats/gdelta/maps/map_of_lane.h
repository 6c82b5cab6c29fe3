// What models say of the map of one lane. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "formats/gdelta/coder_traits.h"
#include "gdelta/types.h"

namespace gdelta::format {

inline constexpr int kMostSelectorBits = 4;

/// How the table of a lane is coded, whose words are looked up in it (dictionary.md).
struct TableFields {
  std::uint32_t entries = 0;
  std::uint32_t bytes = 0;
  Coder coder = {};
  // Of tables in bins.
  std::uint8_t selector_bits = 0;
  std::uint8_t bin_bits[1 << kMostSelectorBits] = {};

  /// Whether no coder has made it: devices expand such tables, and no others.
  GDELTA_HD bool is_in_bins() const { return coder == Coder{}; }
};

/// The map of a lane, and what it needs to know: up to two numbers, which its NAME_fields.h names, and a table.
struct MapFields {
  ValueMap map = ValueMap::none;
  std::uint64_t step = 0;
  std::uint64_t offset = 0;
  TableFields table;
};

/// A lane as maps read their fields.
struct MappedLane {
  int value_bytes = 1;
  std::uint64_t tuples = 0;
};

}  // namespace gdelta::format
