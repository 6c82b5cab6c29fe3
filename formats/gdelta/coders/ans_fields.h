// The tables of the ans coder as they stand in a model: one parser, for host and device. Spec:
// coders/ans.md.
#pragma once

#include "formats/gdelta/bytes.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

inline constexpr int kMinAnsSlotBits = 5, kMaxAnsSlotBits = 11;
inline constexpr int kMinAnsSpanBits = 3, kMaxAnsSpanBits = 8;
inline constexpr int kMaxAnsTables = 16;
inline constexpr int kMaxAnsSlots = 4096;  // of all tables of a column
inline constexpr int kMaxAnsBins = 1024;   // of all tables of a column
inline constexpr int kMaxAnsTableBins = 256;

struct AnsFields {
  int slot_bits = 0;
  int span_bits = 0;
  int num_tables = 0;
};

/// A bin has 2^offset_bits residuals from `lower` up, and `frequency` of its table's slots.
struct AnsBinFields {
  std::int64_t lower = 0;  // signed, of the type's width
  std::uint32_t frequency = 0;
  std::uint8_t offset_bits = 0;
};

/// Where the first residual of a bin is expected: behind the bin before it. `bin` is zero for the first.
GDELTA_HD inline std::uint64_t expected_lower(const AnsBinFields& before) {
  const std::uint64_t length =
      before.frequency == 0 || before.offset_bits == 64 ? 0 : 1ull << before.offset_bits;
  return static_cast<std::uint64_t>(before.lower) + length;
}

/// Whether a number is one of the type's width.
GDELTA_HD inline bool is_residual(std::int64_t number, int value_bits) {
  const std::int64_t highest = static_cast<std::int64_t>(~0ull >> 1 >> (64 - value_bits));
  return number >= -1 - highest && number <= highest;
}

/// Reads what is said of all tables.
GDELTA_HD inline HeadError parse_ans_shape(Cursor& cursor, AnsFields& fields) {
  fields.slot_bits = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (fields.slot_bits < kMinAnsSlotBits || fields.slot_bits > kMaxAnsSlotBits)
    return HeadError::unsupported;
  fields.span_bits = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (fields.span_bits < kMinAnsSpanBits || fields.span_bits > kMaxAnsSpanBits)
    return HeadError::unsupported;
  fields.num_tables = cursor.byte();
  if (cursor.failed || fields.num_tables == 0) return HeadError::corrupt;
  if (fields.num_tables > kMaxAnsTables || fields.num_tables << fields.slot_bits > kMaxAnsSlots)
    return HeadError::unsupported;
  return HeadError::none;
}

/// Reads how many bins a table has and adds them to those of the tables before.
GDELTA_HD inline HeadError parse_ans_bins(Cursor& cursor, std::uint32_t& bins,
                                          std::uint32_t& all_bins) {
  const std::uint64_t more = cursor.varint();
  if (cursor.failed) return HeadError::corrupt;
  if (more >= kMaxAnsTableBins) return HeadError::unsupported;
  bins = static_cast<std::uint32_t>(more) + 1;
  all_bins += bins;
  return all_bins > kMaxAnsBins ? HeadError::unsupported : HeadError::none;
}

/// Reads the tables and checks that they can be used. Calls visit(table, bin) for each bin in order.
template <class Visit>
GDELTA_HD inline HeadError parse_ans_fields(Cursor& cursor, int value_bits, AnsFields& fields,
                                            const Visit& visit) {
  if (const HeadError error = parse_ans_shape(cursor, fields); error != HeadError::none)
    return error;
  std::uint32_t all_bins = 0;
  for (int table = 0; table < fields.num_tables; ++table) {
    std::uint32_t bins = 0;
    if (const HeadError error = parse_ans_bins(cursor, bins, all_bins); error != HeadError::none)
      return error;
    std::uint64_t left = 1ull << fields.slot_bits;
    AnsBinFields bin;
    for (std::uint32_t number = 0; number < bins; ++number) {
      const AnsBinFields before = bin;
      const std::uint64_t frequency = cursor.varint();
      bin.offset_bits = cursor.byte();
      const std::uint64_t distance = cursor.varint();
      if (cursor.failed || frequency == 0 || frequency > left || bin.offset_bits > value_bits)
        return HeadError::corrupt;
      left -= frequency;
      bin.frequency = static_cast<std::uint32_t>(frequency);
      bin.lower = static_cast<std::int64_t>(expected_lower(before) +
                                            ((distance >> 1) ^ (0 - (distance & 1))));
      const bool rises = number == 0 || bin.lower > before.lower;
      if (!rises || !is_residual(bin.lower, value_bits)) return HeadError::corrupt;
      visit(table, bin);
    }
    if (left != 0) return HeadError::corrupt;
  }
  return HeadError::none;
}

GDELTA_HD inline HeadError parse_ans_fields(Cursor& cursor, int value_bits) {
  AnsFields fields;
  return parse_ans_fields(cursor, value_bits, fields, [](int, const AnsBinFields&) {});
}

}  // namespace gdelta::format
