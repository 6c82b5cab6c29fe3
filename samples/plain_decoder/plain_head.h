// Section 4 of the specification and the pages of coders: a whole model, with its tables and parts.
#pragma once

#include <cstdint>

#include "plain_front.h"

namespace plain_decoder {

/// coders/ans.md: one table, whose number of bins has been read.
inline Table read_table(Input& fields, const Column& column, int slot_bits, std::uint64_t bins) {
  const int w = 8 * column.bytes;
  const auto highest = static_cast<std::int64_t>(column.mask() >> 1);
  Table table;
  std::uint64_t end = 0;  // of the bin before
  std::int64_t before = 0;
  for (std::uint64_t i = 0; i < bins; ++i) {
    const std::uint64_t frequency = fields.varint();
    require(frequency >= 1 && frequency <= (1u << slot_bits) - table.size(),
            "impossible frequency");
    const auto offset_bits = static_cast<int>(fields.number(1));
    require(offset_bits <= w, "impossible bits of an offset");
    const std::uint64_t zigzagged = fields.varint();
    const std::uint64_t lower = end + ((zigzagged >> 1) ^ (0 - (zigzagged & 1)));
    const auto as_signed = static_cast<std::int64_t>(lower);
    require(as_signed >= -highest - 1 && as_signed <= highest, "a bin outside of the type");
    require(i == 0 || as_signed > before, "the bins do not rise");
    before = as_signed;
    end = lower + (offset_bits < 64 ? std::uint64_t{1} << offset_bits : 0);
    for (std::uint64_t place = 0; place < frequency; ++place)
      table.push_back(
          {.lower = lower, .offset_bits = offset_bits, .frequency = frequency, .place = place});
  }
  require(table.size() == 1u << slot_bits, "the frequencies do not add up");
  return table;
}

inline void read_tables(Input& fields, const Column& column, Model& model) {
  model.slot_bits = static_cast<int>(fields.number(1));
  require_known(model.slot_bits >= 5 && model.slot_bits <= 11, "an unknown number of slots");
  model.span_bits = static_cast<int>(fields.number(1));
  require_known(model.span_bits >= 3 && model.span_bits <= 8, "an unknown size of spans");
  const std::uint64_t tables = fields.number(1);
  require(tables >= 1, "no tables");
  require_known(tables <= 16 && tables << model.slot_bits <= 4096, "more slots than are known");
  std::uint64_t all_bins = 0;
  for (std::uint64_t i = 0; i < tables; ++i) {
    const std::uint64_t more_bins = fields.varint();
    require_known(more_bins < 256, "more bins of a table than are known");
    const std::uint64_t bins = more_bins + 1;
    all_bins += bins;
    require_known(all_bins <= 1024, "more bins than are known");
    model.tables.push_back(read_table(fields, column, model.slot_bits, bins));
  }
}

inline void read_parts(Input& fields, const Column& column, std::uint64_t n, Model& model) {
  const std::uint64_t part_groups = fields.varint();
  require(part_groups <= 1 << 22, "impossible parts");
  if (model.has_pages()) {
    require_known(part_groups >= 1 && part_groups * column.tuple <= 2048, "unknown pages");
  } else {
    require(128 * part_groups < n && (model.coder != 1 || part_groups == 0), "impossible parts");
  }
  model.part_tuples = part_groups == 0 ? n : 128 * part_groups;
  const std::uint64_t parts = divide_up(n, model.part_tuples);
  if (model.has_front()) {
    Input ends = fields.take(4 * parts);
    while (ends.left() > 0) model.part_ends.push_back(ends.number(4));
  }
  Input checks = fields.take(4 * parts);
  while (checks.left() > 0) model.part_checks.push_back(checks.number(4));
}

/// The longest section that is not refused.
inline std::uint64_t most_bytes(const Model& model, const Column& column, std::uint64_t n) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  const std::uint64_t parts = model.part_checks.size();
  const std::uint64_t frames = parts * (model.arrangement == 2 ? tuple_bytes : 1);
  if (model.coder == 3 || model.coder == 5)
    return n * tuple_bytes + n * tuple_bytes / 256 + 64 * frames;
  if (model.coder == 4)
    return n * column.tuple * (column.bytes + 3) +
           parts * (256 + (8 * std::uint64_t(column.bytes) + 16) * column.tuple);
  return divide_up(n, 128) * column.tuple * (2 + 128 * std::uint64_t(column.bytes)) +
         parts * 8 * tuple_bytes;
}

/// `in_segments`: the chunk says its segments.
inline Model read_model(Input& head, const Column& column, std::uint64_t n,
                        bool in_segments = false) {
  const std::uint64_t tuple_bytes = std::uint64_t(column.bytes) * column.tuple;
  Input fields = head.take(head.varint());
  Model model;
  model.section_bytes = model.column_bytes = fields.varint();
  model.coder = static_cast<int>(fields.number(1));
  require_known(model.coder <= 5, "unknown coder");
  if (model.has_front()) read_front(fields, column, n, in_segments, model);
  if (model.coder == 3) {
    model.arrangement = fields.number(1);
    require_known(model.arrangement <= 2, "unknown arrangement");
  }
  if (model.coder == 4) read_tables(fields, column, model);
  read_parts(fields, column, n, model);
  fields.finish();
  if (model.coder == 0) require(model.column_bytes == n * tuple_bytes, "impossible section");
  if (model.coder == 1) require(model.column_bytes == tuple_bytes, "impossible section");
  if (model.has_front())
    require(model.section_bytes <= most_bytes(model, column, n), "impossible section");
  for (std::size_t i = 1; i < model.part_ends.size(); ++i)
    require(model.part_ends[i] >= model.part_ends[i - 1], "the ends of the parts fall");
  if (model.has_front())
    require(model.part_ends.back() == model.section_bytes, "the last part ends elsewhere");
  return model;
}

}  // namespace plain_decoder
