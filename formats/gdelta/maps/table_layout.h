// Where things stand in the table of a dictionary. Shared by host code and CUDA kernels. Spec:
// maps/dictionary.md.
#pragma once

#include "formats/gdelta/maps/map_fields.h"

namespace gdelta::format {

/// A number of up to 64 bits from bit `at` on, the lowest first. Reads the bytes that it is in, no others.
GDELTA_HD inline std::uint64_t load_bits(const Byte* p, std::uint64_t at, int bits) {
  if (bits == 0) return 0;
  const int skipped = static_cast<int>(at % 8);
  const int bytes = (skipped + bits + 7) / 8;  // up to 9
  p += at / 8;
  std::uint64_t number = load_le(p, bytes < 8 ? bytes : 8) >> skipped;
  if (bytes > 8) number |= static_cast<std::uint64_t>(p[8]) << (64 - skipped);
  return bits == 64 ? number : number & ((1ull << bits) - 1);
}

/// Whether the bits from `at` to the end of their byte are zero.
GDELTA_HD inline bool is_filled_up(const Byte* p, std::uint64_t at) {
  return at % 8 == 0 || p[at / 8] >> (at % 8) == 0;
}

/// The bins of a table.
struct TableBins {
  int value_bytes = 0;
  TableFields fields;
  std::uint64_t starts[1 << kMostSelectorBits] = {};

  TableBins() = default;
  GDELTA_HD TableBins(const TableFields& of, int bytes) : value_bytes(bytes), fields(of) {
    for (int bin = 1; bin < 1 << fields.selector_bits; ++bin) {
      const int bits = fields.bin_bits[bin - 1];
      starts[bin] = starts[bin - 1] + (bits < 64 ? 1ull << bits : 0);
    }
  }

  GDELTA_HD std::uint64_t selector_bits() const {
    return static_cast<std::uint64_t>(fields.entries - 1) * fields.selector_bits;
  }
  GDELTA_HD std::uint64_t selectors_at() const { return value_bytes; }
  GDELTA_HD std::uint64_t offsets_at() const { return value_bytes + (selector_bits() + 7) / 8; }
  /// The bin of entry i, from 1 on.
  GDELTA_HD int bin_of(const Byte* table, std::uint64_t i) const {
    return static_cast<int>(
        load_bits(table + selectors_at(), (i - 1) * fields.selector_bits, fields.selector_bits));
  }
  /// Whether a table with so many bits of offsets ends where it should, filled up with zeros.
  GDELTA_HD bool ends_well(const Byte* table, std::uint64_t offset_bits) const {
    return offsets_at() + (offset_bits + 7) / 8 == fields.bytes &&
           is_filled_up(table + selectors_at(), selector_bits()) &&
           is_filled_up(table + offsets_at(), offset_bits);
  }
};

}  // namespace gdelta::format
