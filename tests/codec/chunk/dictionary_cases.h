// Chunks with dictionaries, also such that have indices that no encoder writes.
#pragma once

#include <cstring>

#include "codec/chunk/chunk_cases.h"
#include "codec/chunk/decode_block.h"
#include "codec/coders/maps/dictionary_choice.h"
#include "codec/plan/planned_values.h"

namespace gdelta::test {

/// A block, and what it decodes to.
struct LookedUpChunk {
  Bytes block;
  Bytes values;
};

/// Pages of two groups a lane.
inline format::ColumnModel short_pages(Coder coder, std::uint8_t order) {
  format::ColumnModel model;
  model.section.coder = coder;
  if (format::coder_traits(coder).parts == format::PartRule::pages) model.section.part_groups = 2;
  std::fill_n(model.front.orders, kMaxTuple, order);
  return model;
}

/// Few values, `distinct` or fewer in each lane, that are far apart; lanes with a dictionary where
/// `looks_up` says so, if their tables may be so long. If coders may make the tables, the values are so evenly
/// apart that they do.
inline LookedUpChunk looked_up_chunk(const Layout& layout, std::uint64_t records,
                                     std::int64_t distinct, const std::vector<bool>& looks_up,
                                     Coder coder, Workers& workers = Workers::alone(),
                                     const std::vector<Coder>& table_coders = {}) {
  const Column& column = layout.columns[0];
  const auto far_apart = [&](std::uint64_t number) {
    return table_coders.empty() ? number * 0x9E3779B97F4A7C15 >> 3 : number * 1000;
  };
  Draws draws(static_cast<unsigned>(records + 1));
  Bytes values;
  for (std::uint64_t i = 0; i < records * column.tuple; ++i)
    put_value(values, far_apart(static_cast<std::uint64_t>(draws.below(distinct))),
              value_bytes(column.type), column.big_endian);
  ChunkPlan plan;
  plan.columns = {short_pages(coder, 1)};
  ColumnMaps& maps = plan.maps.emplace_back();
  maps.table_coders = table_coders;
  for (int lane = 0; lane < column.tuple; ++lane) {
    maps.lanes.emplace_back();
    maps.tables.emplace_back();
    if (!looks_up[static_cast<std::size_t>(lane)]) continue;
    auto table = table_of_lane({.first = reinterpret_cast<const unsigned char*>(values.data()),
                                .record_bytes = layout.record_bytes(),
                                .records = records,
                                .column = column},
                               lane, most_table_entries(records));
    if (!table) continue;
    maps.lanes.back().map = static_cast<std::uint8_t>(ValueMap::dictionary);
    maps.tables.back() = std::move(*table);
  }
  Bytes block = encode_chunk(values, layout, false, plan, workers);
  return {std::move(block), std::move(values)};
}

/// Words of some lanes with tables of ten values each, at order 0.
class DictionaryOfWords {
 public:
  static constexpr std::uint64_t kValues = 10;

  DictionaryOfWords(const Layout& layout, std::uint64_t records, Coder coder = Coder::pack)
      : layout_(layout), records_(records), coder_(coder) {}

  /// A chunk in which the index of this value is another one, up to 10: made with a table of eleven
  /// values, of which the last is then taken away.
  LookedUpChunk with_index(std::uint64_t record, int lane, std::uint64_t index) const {
    Bytes values(records_ * layout_.record_bytes());
    const auto put = [&](std::uint64_t i, int of, std::uint64_t value) {
      const std::uint32_t word = static_cast<std::uint32_t>(100 + value);
      std::memcpy(values.data() + i * layout_.record_bytes() + 4 * static_cast<std::size_t>(of),
                  &word, 4);
    };
    for (std::uint64_t i = 0; i < records_; ++i)
      for (int of = 0; of < lanes(); ++of) put(i, of, i * 7 % kValues);
    put(record, lane, index);
    ChunkPlan plan;
    plan.columns = {short_pages(coder_, 0)};
    ColumnMaps& maps = plan.maps.emplace_back();
    for (int of = 0; of < lanes(); ++of) {
      maps.lanes.push_back({.map = static_cast<std::uint8_t>(ValueMap::dictionary)});
      std::vector<std::uint64_t>& table = maps.tables.emplace_back();
      for (std::uint64_t value = 0; value <= kValues; ++value) table.push_back(100 + value);
    }
    Bytes block = encode_chunk(values, layout_, false, plan);
    shorten_tables(block);
    return {std::move(block), std::move(values)};
  }

  std::optional<Error> error_of(const LookedUpChunk& chunk, int threads = 1) const {
    Workers workers(threads);
    Bytes out(chunk.values.size());
    return decode_block(chunk.block, 0, layout_, out, true, workers);
  }

  std::uint64_t table_at(const LookedUpChunk& chunk, int lane) const {
    const auto parsed = format::parse_chunk_block(chunk.block, 0, layout_).value();
    return parsed.frame.payload_at() + parsed.columns[0].tables_at() +
           4 * static_cast<std::uint64_t>(lane);
  }

 private:
  int lanes() const { return layout_.columns[0].tuple; }

  /// Neighbours take no bits, so a table has four bytes whatever its entries.
  void shorten_tables(Bytes& block) const {
    const auto parsed = format::parse_chunk_block(block, 0, layout_).value();
    const std::uint64_t check_at = parsed.frame.check_at();
    const std::uint64_t entries_at = parsed.frame.head_at + parsed.columns[0].maps_at + 1;
    for (int of = 0; of < lanes(); ++of)  // entries, bytes, 0, 0, the bin
      block[entries_at + 5 * static_cast<std::uint64_t>(of)] = static_cast<std::byte>(kValues);
    format::store_le(reinterpret_cast<unsigned char*>(block.data()) + check_at, 4,
                     format::block_check(std::span(block).first(check_at)));
  }

  const Layout& layout_;
  std::uint64_t records_;
  Coder coder_;
};

}  // namespace gdelta::test
