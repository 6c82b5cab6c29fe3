#include "codec/cuda/prepared_table.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/column_head.h"

namespace gdelta::cuda {
namespace {

// Whether they are those of all pages, and cover the section: a caller may have put `info` together.
bool are_ends_whole(const ColumnInfo& info, std::uint64_t records) {
  const std::uint64_t page_tuples = format::kGroupValues * info.page_groups;
  return info.page_ends.size() == (records + page_tuples - 1) / page_tuples &&
         std::is_sorted(info.page_ends.begin(), info.page_ends.end()) &&
         info.page_ends.back() == info.compressed_bytes;
}

bool can_be_prepared(const ColumnInfo& info, const Column& column, std::uint64_t records) {
  return format::coder_traits(info.coder).device == format::DeviceDecoding::warp_pages &&
         info.page_groups > 0 && is_page_of_a_warp(info.page_groups, column.tuple) &&
         info.orders.size() == column.tuple && are_ends_whole(info, records);
}

bool can_be_prepared(const ChunkInfo& chunk, const Layout& layout) {
  constexpr std::uint64_t kMostBytes = ~std::uint32_t{0};
  if (chunk.records == 0 || chunk.head_bytes == 0 || chunk.block_bytes > kMostBytes ||
      chunk.columns.size() != layout.columns.size())
    return false;
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (!can_be_prepared(chunk.columns[c], layout.columns[c], chunk.records)) return false;
  return true;
}

PreparedColumn prepare(const ChunkInfo& chunk, const ColumnInfo& info, const Column& column) {
  PreparedColumn prepared{
      .block_at = chunk.byte,
      .decoded_at = chunk.decoded_at,
      .block_bytes = static_cast<std::uint32_t>(chunk.block_bytes),
      .hashed_bytes = static_cast<std::uint32_t>(chunk.head_bytes - format::kCheckBytes),
      .head_check = chunk.head_check,
      .checks_at = static_cast<std::uint32_t>(info.checks_at),
      .section_at = static_cast<std::uint32_t>(info.section_at),
      .records = static_cast<std::uint32_t>(chunk.records),
      .num_pages = static_cast<std::uint32_t>(info.page_ends.size()),
      .state_bytes = 0,
      .page_groups = static_cast<std::uint8_t>(info.page_groups),
      .map = static_cast<std::uint8_t>(info.map),
      .orders = {},
      .reserved = {}};
  for (std::size_t lane = 0; lane < column.tuple; ++lane) {
    prepared.orders[lane] = static_cast<std::uint8_t>(info.orders[lane]);
    prepared.state_bytes = static_cast<std::uint16_t>(prepared.state_bytes +
                                                      info.orders[lane] * value_bytes(column.type));
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
      !std::all_of(info.chunks.begin(), info.chunks.end(),
                   [&](const ChunkInfo& chunk) { return can_be_prepared(chunk, table.layout); }))
    return;
  std::vector<PreparedColumn> prepared;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t most = 0;
    for (const ChunkInfo& chunk : info.chunks) {
      prepared.push_back(prepare(chunk, chunk.columns[c], columns[c]));
      most = std::max(most, chunk.columns[c].page_ends.size());
    }
    table.prepared_pages.push_back(static_cast<std::uint32_t>(most));
  }
  const std::uint64_t chunks = info.chunks.size();
  const std::uint64_t pages =
      std::accumulate(table.prepared_pages.begin(), table.prepared_pages.end(), std::uint64_t{0});
  table.bytes.resize(prepared_ends_at(columns.size(), chunks, pages));
  std::memcpy(table.bytes.data() + prepared_columns_at(columns.size(), chunks), prepared.data(),
              prepared.size() * sizeof(PreparedColumn));
  std::byte* row = table.bytes.data() + prepared_ends_at(columns.size(), chunks, 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (const ChunkInfo& chunk : info.chunks) {
      const std::vector<std::uint32_t>& ends = chunk.columns[c].page_ends;
      std::memcpy(row, ends.data(), ends.size() * sizeof ends[0]);
      row += table.prepared_pages[c] * sizeof ends[0];
    }
  }
}

}  // namespace gdelta::cuda
