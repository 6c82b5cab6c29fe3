// Columns that the encoder has packed, for tests of the page decoder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "codec/chunk/chunk_encode.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::test {

using PageBuffer = std::vector<unsigned char>;

inline constexpr int kMixedOrders = -1;  // lane k has order k

struct PageCase {
  std::string record;
  int order = 1;
  double outliers = 0;        // share of the residuals
  int most_bits = 20;         // of residuals that are no outliers
  bool empty_groups = false;  // a third of them are of width 0
  int page_groups = 8;
  std::uint64_t records = 3000;  // of a chunk; the last one is shorter
  int chunks = 2;
  std::size_t misaligned = 0;  // the output
  bool ordered = false;        // the value map
};

inline std::ostream& operator<<(std::ostream& out, const PageCase& c) {
  return out << c.record << " order " << c.order << " outliers " << c.outliers << " bits "
             << c.most_bits << " page_groups " << c.page_groups << " records " << c.records
             << " chunks " << c.chunks << " misaligned " << c.misaligned;
}

inline std::uint64_t low_bits(int bits) { return bits == 0 ? 0 : ~0ull >> (64 - bits); }

/// Writes a column's values into records: sums of residuals that are small but for the outliers.
inline void fill_column(PageBuffer& records, std::uint64_t record_bytes, std::uint64_t offset,
                        const Column& column, const format::ColumnModel& model, const PageCase& c,
                        std::mt19937_64& random) {
  const int bytes = value_bytes(column.type), bits = 8 * bytes;
  for (int lane = 0; lane < column.tuple; ++lane) {
    std::uint64_t sums[kMaxOrder] = {};
    int width = 0;
    for (std::uint64_t i = 0; i < records.size() / record_bytes; ++i) {
      if (i % 128 == 0)
        width = c.empty_groups && random() % 3 == 0
                    ? 0
                    : 1 + static_cast<int>(random() % static_cast<unsigned>(c.most_bits));
      int used = width;
      if (static_cast<double>(random() % 10000) < 10000 * c.outliers)
        used = std::min(bits, random() % 2 == 0 ? width + 4 : bits);
      const std::uint64_t residual = random() & low_bits(used);
      std::uint64_t value = (residual >> 1) ^ (0 - (residual & 1));
      for (int k = 0; k < model.front.orders[lane]; ++k) value = sums[k] += value;
      // The float's bits of the number that sorts like it.
      if (c.ordered) value = (value >> (bits - 1)) & 1 ? value ^ (1ull << (bits - 1)) : ~value;
      unsigned char* const to =
          records.data() + i * record_bytes + offset + static_cast<std::uint64_t>(lane * bytes);
      for (int k = 0; k < bytes; ++k)
        to[column.big_endian ? bytes - 1 - k : k] = static_cast<unsigned char>(value >> (8 * k));
    }
  }
}

/// A column of a chunk as the encoder leaves it.
struct PackedColumn {
  Column column;
  format::ColumnModel model;
  std::uint64_t records = 0;
  std::uint64_t record_bytes = 0;
  std::uint64_t offset = 0;  // in the record
  PageBuffer section;
  std::vector<std::uint32_t> page_ends;

  std::uint64_t tuple_bytes() const { return static_cast<std::uint64_t>(column.bytes()); }
  std::uint32_t page_begin(std::size_t page) const { return page == 0 ? 0 : page_ends[page - 1]; }
  std::uint64_t page_tuples(std::size_t page) const {
    const std::uint64_t most = format::part_tuples(model.section, records);
    return std::min(most, records - page * most);
  }
};

/// The same column of all chunks of a case, and the values.
struct PackedCase {
  std::vector<PackedColumn> columns;  // one a chunk
  std::vector<PageBuffer> values;     // records of each chunk
};

/// Packs the case's chunks and keeps column `which`.
inline void pack(const PageCase& c, std::size_t which, PackedCase& packed) {
  const Layout layout = parse_record(c.record).value();
  ChunkPlan plan;
  for (const Column& column : layout.columns) {
    format::ColumnModel model;
    model.section.coder = Coder::pack;
    model.front.map = c.ordered ? ValueMap::ordered : ValueMap::none;
    model.section.part_groups = static_cast<std::uint32_t>(c.page_groups);
    for (int lane = 0; lane < column.tuple; ++lane)
      model.front.orders[lane] =
          static_cast<std::uint8_t>(c.order == kMixedOrders ? lane : c.order);
    plan.columns.push_back(model);
  }
  std::mt19937_64 random(1);
  for (int chunk = 0; chunk < c.chunks; ++chunk) {
    const std::uint64_t records = c.records - (chunk == c.chunks - 1 ? 77 : 0);
    PageBuffer values(records * layout.record_bytes());
    std::uint64_t offset = 0, kept_offset = 0;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      if (i == which) kept_offset = offset;
      fill_column(values, layout.record_bytes(), offset, layout.columns[i], plan.columns[i], c,
                  random);
      offset += static_cast<std::uint64_t>(layout.columns[i].bytes());
    }
    const auto block = encode_chunk(std::as_bytes(std::span(values)), layout, false, plan);
    const auto parsed = format::parse_chunk_block(block, 0, layout);
    ASSERT_TRUE(parsed) << c;
    const format::ColumnHead& head = parsed->columns[which];
    ASSERT_EQ(head.model.section.coder, Coder::pack) << c;
    PackedColumn column{.column = layout.columns[which],
                        .model = head.model,
                        .records = records,
                        .record_bytes = layout.record_bytes(),
                        .offset = kept_offset,
                        .section = {},
                        .page_ends = {}};
    const auto* section = reinterpret_cast<const unsigned char*>(block.data()) +
                          parsed->frame.payload_at() + head.section_at;
    const auto* const fields =
        reinterpret_cast<const unsigned char*>(block.data()) + parsed->frame.head_at;
    column.section.assign(section, section + head.section_bytes);
    for (std::uint64_t page = 0; page < head.num_parts; ++page)
      column.page_ends.push_back(static_cast<std::uint32_t>(format::part_end(fields, head, page)));
    packed.columns.push_back(column);
    packed.values.push_back(values);
  }
}

}  // namespace gdelta::test
