// The part of plain_encoder.h for dictionaries: slow, from maps/dictionary.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "gdelta/types.h"

namespace gdelta::plain {

/// The values in the order of their indices, and what codes them: bins, of each the bits, 2^k of them, or a coder.
struct TableChoice {
  std::vector<std::uint64_t> values;
  std::vector<int> bins = {64};
  Coder coder = Coder::raw;  // or lzma, in the place of bins

  int selector_bits() const {
    int bits = 0;
    while (1u << bits < bins.size()) ++bits;
    return bits;
  }
};

namespace detail {

/// Numbers of some bits each, one after the other, filled up to a whole byte.
inline std::vector<std::byte> bit_run(
    const std::vector<std::pair<std::uint64_t, int>>& numbers_and_bits) {
  std::vector<std::byte> bytes;
  std::size_t at = 0;
  for (const auto& [number, bits] : numbers_and_bits)
    for (int bit = 0; bit < bits; ++bit, ++at) {
      if (at % 8 == 0) bytes.emplace_back();
      bytes.back() |= static_cast<std::byte>((number >> bit & 1) << at % 8);
    }
  return bytes;
}

/// A stream of LZMA2 (coders/lzma.cpp).
std::vector<std::byte> lzma2_stream(std::span<const std::byte> bytes);

/// The table as it stands behind a section. Precondition: each entry has a bin, if there are bins.
inline std::vector<std::byte> table_bytes(const TableChoice& table, const Column& column) {
  const int w = value_bits(column.type);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - w), sign = mask ^ mask >> 1;
  const auto entry_of = [&](std::uint64_t value) {
    return !is_float(column.type) ? value : value ^ ((value & sign) != 0 ? mask : sign);
  };
  std::vector<std::byte> bytes;
  format::append_le(bytes, value_bytes(column.type), entry_of(table.values[0]));
  const auto gap_before = [&](std::size_t i) {
    return (entry_of(table.values[i]) - entry_of(table.values[i - 1]) - 1) & mask;
  };
  if (table.coder == Coder::lzma) {
    for (std::size_t i = 1; i < table.values.size(); ++i)
      format::append_le(bytes, value_bytes(column.type), gap_before(i));
    return lzma2_stream(bytes);
  }
  std::vector<std::pair<std::uint64_t, int>> selectors, offsets;
  for (std::size_t i = 1; i < table.values.size(); ++i) {
    const std::uint64_t gap = gap_before(i);
    std::uint64_t start = 0, bin = 0;
    const auto is_in = [&](int bits) {
      return gap >= start && (bits == 64 || (gap - start) >> bits == 0);
    };
    for (; bin + 1 < table.bins.size() && !is_in(table.bins[bin]); ++bin)
      start += std::uint64_t{1} << table.bins[bin];
    selectors.emplace_back(bin, table.selector_bits());
    offsets.emplace_back((gap - start) & mask, table.bins[bin]);
  }
  for (const auto& run : {bit_run(selectors), bit_run(offsets)})
    bytes.insert(bytes.end(), run.begin(), run.end());
  return bytes;
}

inline void append_table_fields(std::vector<std::byte>& out, const TableChoice& table,
                                const Column& column) {
  format::append_varint(out, table.values.size());
  format::append_varint(out, table_bytes(table, column).size());
  format::append_le(out, 1, static_cast<std::uint64_t>(table.coder));
  if (table.coder != Coder::raw) return;
  format::append_le(out, 1, static_cast<std::uint64_t>(table.selector_bits()));
  for (const int bits : table.bins) format::append_le(out, 1, static_cast<std::uint64_t>(bits));
}

}  // namespace detail
}  // namespace gdelta::plain
