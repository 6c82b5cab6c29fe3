#include "codec/cuda/prepared_table.h"

#include <algorithm>
#include <cstring>

#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/column_head.h"

namespace gdelta::cuda {
namespace {

bool can_be_prepared(const ColumnInfo& info, const Column& column) {
  return format::coder_traits(info.coder).device == format::DeviceDecoding::warp_pages &&
         info.parts_byte > 0 && is_page_of_a_warp(info.page_groups, column.tuple) &&
         info.orders.size() == column.tuple;
}

bool can_be_prepared(const ChunkInfo& chunk, const Layout& layout) {
  if (chunk.records == 0 || chunk.columns.size() != layout.columns.size()) return false;
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (!can_be_prepared(chunk.columns[c], layout.columns[c])) return false;
  return true;
}

PreparedColumn prepare(const ChunkInfo& chunk, const ColumnInfo& info, const Column& column) {
  const std::uint64_t page_tuples = format::kGroupValues * info.page_groups;
  PreparedColumn prepared{
      .section_at = info.byte,
      .directory_at = info.parts_byte,
      .decoded_at = chunk.decoded_at,
      .section_bytes = static_cast<std::uint32_t>(info.compressed_bytes),
      .records = static_cast<std::uint32_t>(chunk.records),
      .page_groups = static_cast<std::uint32_t>(info.page_groups),
      .num_pages = static_cast<std::uint32_t>((chunk.records + page_tuples - 1) / page_tuples),
      .state_bytes = 0,
      .chunk_pages = 0,
      .head_check = chunk.head_check,
      .orders = {},
      .map = static_cast<std::uint8_t>(info.map),
      .reserved = {}};
  for (std::size_t lane = 0; lane < column.tuple; ++lane) {
    prepared.orders[lane] = static_cast<std::uint8_t>(info.orders[lane]);
    prepared.state_bytes +=
        static_cast<std::uint32_t>(info.orders[lane] * value_bytes(column.type));
  }
  return prepared;
}

}  // namespace

bool may_be_prepared(const ChunkKinds& kinds) {
  return !kinds.placed && !kinds.strides && !kinds.linear && !kinds.maps && !kinds.dictionaries &&
         !kinds.segments && !kinds.opaque && kinds.page_coders == 0;
}

void prepare_columns(const StreamInfo& info, ChunkTable& table) {
  const std::vector<Column>& columns = table.layout.columns;
  if (!may_be_prepared(table.kinds) ||
      !std::all_of(info.chunks.begin(), info.chunks.end(), [&](const ChunkInfo& chunk) {
        return can_be_prepared(chunk, table.layout);
      }))
    return;
  const std::size_t chunks = info.chunks.size();
  std::vector<PreparedColumn> prepared(columns.size() * chunks);
  std::vector<std::uint32_t> chunk_pages(chunks);
  table.prepared_pages.assign(columns.size(), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < chunks; ++i) {
      PreparedColumn& own = prepared[c * chunks + i];
      own = prepare(info.chunks[i], info.chunks[i].columns[c], columns[c]);
      chunk_pages[i] += own.num_pages;
      table.prepared_pages[c] = std::max(table.prepared_pages[c], own.num_pages);
    }
  }
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (std::size_t i = 0; i < chunks; ++i) prepared[c * chunks + i].chunk_pages = chunk_pages[i];
  const std::uint64_t at =
      prepared_columns_at(static_cast<std::uint32_t>(columns.size()), chunks);
  table.bytes.resize(at + prepared.size() * sizeof(PreparedColumn));
  std::memcpy(table.bytes.data() + at, prepared.data(), prepared.size() * sizeof(PreparedColumn));
}

}  // namespace gdelta::cuda
