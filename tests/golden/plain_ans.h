// The ans coder as coders/ans.md has it: tables that cases choose freely, and pages field by field, so that
// tests can make any one of them wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/coders/ans_fields.h"

namespace gdelta::plain {

using AnsTable = std::vector<format::AnsBinFields>;

/// The fields of a model.
struct AnsModel {
  int slot_bits = 9;
  int span_bits = 4;
  std::vector<AnsTable> tables;
};

inline std::int64_t lowest_residual(int bits) { return -1 - (INT64_MAX >> (64 - bits)); }

/// What is not said of frequencies: equal ones, and what is over goes to the bin in the middle.
inline AnsTable with_frequencies(AnsTable table, int slot_bits) {
  const std::uint32_t slots = 1u << slot_bits;
  const auto share = slots / static_cast<std::uint32_t>(table.size());
  for (format::AnsBinFields& bin : table) bin.frequency = share;
  table[table.size() / 2].frequency += slots - share * static_cast<std::uint32_t>(table.size());
  return table;
}

/// One bin that has every residual.
inline AnsTable whole_table(int bits, int slot_bits) {
  return {{.lower = lowest_residual(bits),
           .frequency = 1u << slot_bits,
           .offset_bits = static_cast<std::uint8_t>(bits)}};
}

/// A bin for each number of bits that a residual may have, below zero and from zero up.
inline AnsTable table_of_sizes(int bits, int slot_bits) {
  AnsTable table;
  for (int b = bits - 2; b >= 0; --b)
    table.push_back({.lower = static_cast<std::int64_t>(0 - (std::uint64_t{2} << b)),
                     .frequency = 0,
                     .offset_bits = static_cast<std::uint8_t>(b)});
  for (const int residual : {-1, 0})
    table.push_back({.lower = residual, .frequency = 0, .offset_bits = 0});
  for (int b = 0; b <= bits - 2; ++b)
    table.push_back({.lower = std::int64_t{1} << b,
                     .frequency = 0,
                     .offset_bits = static_cast<std::uint8_t>(b)});
  return with_frequencies(table, slot_bits);
}

/// Bins within another that has every residual, with gaps between them; the last one goes on beyond the
/// type.
inline AnsTable table_of_overlaps(int bits, int slot_bits) {
  AnsTable table = whole_table(bits, slot_bits);
  table.push_back({.lower = -20, .frequency = 0, .offset_bits = 4});
  table.push_back({.lower = -3, .frequency = 0, .offset_bits = 3});
  table.push_back({.lower = 0, .frequency = 0, .offset_bits = 0});
  table.push_back({.lower = 17, .frequency = 0, .offset_bits = 5});
  table.push_back({.lower = -2 - lowest_residual(bits), .frequency = 0, .offset_bits = 3});
  return with_frequencies(table, slot_bits);
}

/// Few slots for all but zero.
inline AnsTable mostly_zeros(int bits, int slot_bits) {
  AnsTable table = whole_table(bits, slot_bits);
  const std::uint32_t rare = (1u << slot_bits) / 64;
  table[0].frequency = rare;
  table.push_back({.lower = -1, .frequency = rare, .offset_bits = 0});
  table.push_back({.lower = 0, .frequency = (1u << slot_bits) - 3 * rare, .offset_bits = 0});
  table.push_back({.lower = 1, .frequency = rare, .offset_bits = 0});
  return table;
}

/// A bin for each of the 256 lowest residuals.
inline AnsTable table_of_values(int bits, int slot_bits) {
  AnsTable table;
  for (int i = 0; i < 256; ++i)
    table.push_back({.lower = lowest_residual(bits) + i, .frequency = 0, .offset_bits = 0});
  return with_frequencies(table, slot_bits);
}

inline AnsModel ans_model(int bits) {
  AnsModel model;
  model.tables = {table_of_sizes(bits, model.slot_bits), whole_table(bits, model.slot_bits),
                  table_of_overlaps(bits, model.slot_bits)};
  return model;
}

/// How much further the lower of a bin is than the end of the bin before it, zigzagged.
inline std::uint64_t distance_to(const AnsTable& table, std::size_t number) {
  std::uint64_t end = 0;
  if (number > 0) {
    const format::AnsBinFields& before = table[number - 1];
    end = static_cast<std::uint64_t>(before.lower);
    if (before.offset_bits < 64) end += std::uint64_t{1} << before.offset_bits;
  }
  const std::uint64_t distance = static_cast<std::uint64_t>(table[number].lower) - end;
  return distance >> 63 == 0 ? 2 * distance : ~(2 * distance);
}

inline std::vector<std::byte> ans_fields(const AnsModel& model) {
  std::vector<std::byte> out;
  format::append_le(out, 1, static_cast<std::uint64_t>(model.slot_bits));
  format::append_le(out, 1, static_cast<std::uint64_t>(model.span_bits));
  format::append_le(out, 1, model.tables.size());
  for (const AnsTable& table : model.tables) {
    format::append_varint(out, table.size() - 1);
    for (std::size_t number = 0; number < table.size(); ++number) {
      format::append_varint(out, table[number].frequency);
      format::append_le(out, 1, table[number].offset_bits);
      format::append_varint(out, distance_to(table, number));
    }
  }
  return out;
}

/// Numbers of some bits each, from the lowest bit of the first byte up.
struct BitRun {
  std::vector<std::byte> bytes;
  std::uint64_t bits = 0;

  void append(std::uint64_t value, int count) {
    for (int bit = 0; bit < count; ++bit, ++bits) {
      if (bits % 8 == 0) bytes.push_back(std::byte{0});
      if ((value >> bit) & 1) bytes.back() |= std::byte{1} << (bits % 8);
    }
  }
};

/// Residuals of a page, lane by lane.
using AnsLanes = std::vector<std::vector<std::uint64_t>>;

/// A page behind its delta states, field by field.
struct AnsPage {
  std::uint32_t num_words = 0;
  std::vector<std::uint32_t> states;
  BitRun selectors;
  std::vector<std::uint16_t> words;
  BitRun offsets;
};

inline std::vector<std::byte> bytes_of_page(const AnsPage& page) {
  std::vector<std::byte> out;
  format::append_le(out, 4, page.num_words);
  for (const std::uint32_t state : page.states) format::append_le(out, 4, state);
  out.insert(out.end(), page.selectors.bytes.begin(), page.selectors.bytes.end());
  for (const std::uint16_t word : page.words) format::append_le(out, 2, word);
  out.insert(out.end(), page.offsets.bytes.begin(), page.offsets.bytes.end());
  return out;
}

namespace detail {

inline std::uint64_t offset_in(const format::AnsBinFields& bin, std::uint64_t residual, int bits) {
  return (residual - static_cast<std::uint64_t>(bin.lower)) & (~std::uint64_t{0} >> (64 - bits));
}

/// The bin with the shortest offset, of equals the last one; the number of bins if none has the residual.
inline std::size_t bin_of(const AnsTable& table, std::uint64_t residual, int bits) {
  std::size_t best = table.size();
  for (std::size_t b = 0; b < table.size(); ++b) {
    const int offset_bits = table[b].offset_bits;
    const bool has = offset_bits == 64 || offset_in(table[b], residual, bits) >> offset_bits == 0;
    if (has && (best == table.size() || offset_bits <= table[best].offset_bits)) best = b;
  }
  return best;
}

inline bool has_all(const AnsTable& table, std::span<const std::uint64_t> residuals, int bits) {
  for (const std::uint64_t residual : residuals)
    if (bin_of(table, residual, bits) == table.size()) return false;
  return true;
}

}  // namespace detail

/// A page of residuals, lane by lane. Spans choose tables in turn, of those that have all their residuals.
/// `last_states` are those at the page's end where they are not 2^16, as is right.
/// Precondition: every span has such a table.
inline AnsPage encode_ans_page(const AnsModel& model, int bits, const AnsLanes& lanes,
                               const std::vector<std::uint32_t>& last_states = {}) {
  const std::size_t tuples = lanes[0].size();
  const std::size_t span = std::size_t{1} << model.span_bits;
  std::size_t num_states = 1;
  if (tuples * lanes.size() >= 4096) num_states = 32;
  while (num_states < 32 && 2 * num_states <= tuples * lanes.size() / 512) num_states *= 2;
  const std::size_t tile = 8 * num_states;
  const std::size_t spans = tile > span ? tile / span : 1;
  int selector_bits = 0;
  while (std::size_t{1} << selector_bits < model.tables.size()) ++selector_bits;

  AnsPage page;
  struct Symbol {
    std::size_t state;
    std::uint32_t start, frequency;
  };
  std::vector<Symbol> symbols;  // in the order in which they are decoded
  std::size_t turn = 0;
  for (std::size_t first = 0; first < tuples; first += tile)
    for (const std::vector<std::uint64_t>& lane : lanes) {
      const std::span<const std::uint64_t> residuals(lane.data() + first,
                                                     std::min(tile, tuples - first));
      std::vector<const AnsTable*> chosen;
      for (std::size_t s = 0; s < spans; ++s, turn += 5) {
        const std::size_t at = std::min(s * span, residuals.size());
        const auto own = residuals.subspan(at, std::min(span, residuals.size() - at));
        std::size_t table = turn % model.tables.size();
        while (!detail::has_all(model.tables[table], own, bits))
          table = (table + 1) % model.tables.size();
        page.selectors.append(table, selector_bits);
        chosen.push_back(&model.tables[table]);
      }
      for (std::size_t i = 0; i < residuals.size(); ++i) {
        const AnsTable& table = *chosen[i / span];
        const format::AnsBinFields& bin = table[detail::bin_of(table, residuals[i], bits)];
        page.offsets.append(detail::offset_in(bin, residuals[i], bits), bin.offset_bits);
      }
      for (std::size_t i = 0; i < 8; ++i)
        for (std::size_t c = 0; c < num_states && 8 * c + i < residuals.size(); ++c) {
          const AnsTable& table = *chosen[(8 * c + i) / span];
          const std::size_t bin = detail::bin_of(table, residuals[8 * c + i], bits);
          std::uint32_t start = 0;
          for (std::size_t b = 0; b < bin; ++b) start += table[b].frequency;
          symbols.push_back({c, start, table[bin].frequency});
        }
    }

  // Backwards: what decoding takes last is given first.
  page.states = last_states;
  page.states.resize(num_states, 1 << 16);
  for (auto symbol = symbols.rbegin(); symbol != symbols.rend(); ++symbol) {
    std::uint32_t& x = page.states[symbol->state];
    if (x >> (32 - model.slot_bits) >= symbol->frequency) {
      page.words.insert(page.words.begin(), static_cast<std::uint16_t>(x));
      x >>= 16;
    }
    x = (x / symbol->frequency << model.slot_bits) + symbol->start + x % symbol->frequency;
  }
  page.num_words = static_cast<std::uint32_t>(page.words.size());
  return page;
}

}  // namespace gdelta::plain
