#include "codec/cuda/prepared_table.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "codec/cuda/known_heads.h"
#include "codec/cuda/ready_tasks.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::cuda {
namespace {

using format::ColumnHead;
using format::ParsedChunk;

constexpr std::uint64_t kMostBytes = ~std::uint32_t{0};

// What the head of a chunk says, unless it is not there or not that of the chunk: a caller may have put `chunk` together.
std::optional<ParsedChunk> parse_head(const ChunkInfo& chunk, const Layout& layout) {
  if (chunk.head.size() > kMostKnownHeadBytes) return std::nullopt;
  auto parsed = format::parse_chunk_block_head(chunk.head, chunk.byte, layout);
  if (!parsed || parsed->frame.payload_at() != chunk.head.size() ||
      parsed->frame.block_bytes() != chunk.block_bytes || parsed->opaque() != chunk.opaque ||
      parsed->records * layout.record_bytes() != chunk.decoded_bytes)
    return std::nullopt;
  return *std::move(parsed);
}

// All of them, if all are there.
std::vector<KnownHead> known_heads(const StreamInfo& info, const Layout& layout) {
  std::vector<KnownHead> heads;
  heads.reserve(info.chunks.size());
  for (const ChunkInfo& chunk : info.chunks) {
    auto parsed = parse_head(chunk, chunk.opaque ? byte_layout() : layout);
    if (!parsed) return {};
    heads.push_back({chunk.byte, chunk.decoded_at, chunk.head, *std::move(parsed)});
  }
  return heads;
}

bool can_be_prepared(const ColumnHead& head, const Column& column) {
  const format::Section& section = head.model.section;
  return format::coder_traits(section.coder).device == format::DeviceDecoding::warp_pages &&
         is_page_of_a_warp(section.part_groups, column.tuple) && !head.is_finished_later();
}

bool can_be_prepared(const ParsedChunk& chunk, const Layout& layout) {
  if (chunk.records == 0 || chunk.opaque() || chunk.segments.lengths > 0 ||
      chunk.frame.block_bytes() > kMostBytes)
    return false;
  for (std::size_t c = 0; c < layout.columns.size(); ++c)
    if (!can_be_prepared(chunk.columns[c], layout.columns[c])) return false;
  return true;
}

PreparedColumn prepare(const ChunkInfo& chunk, const ParsedChunk& parsed, const ColumnHead& head,
                       const Column& column) {
  const format::BlockFrame& frame = parsed.frame;
  const format::Byte* const orders = head.model.front.orders;
  PreparedColumn prepared{
      .block_at = chunk.byte,
      .decoded_at = chunk.decoded_at,
      .block_bytes = static_cast<std::uint32_t>(frame.block_bytes()),
      .hashed_bytes = static_cast<std::uint32_t>(frame.check_at()),
      .head_check = format::stored_check(chunk.head, frame),
      .checks_at = static_cast<std::uint32_t>(frame.head_at + head.part_checks_at()),
      .section_at = static_cast<std::uint32_t>(frame.payload_at() + head.section_at),
      .records = static_cast<std::uint32_t>(parsed.records),
      .num_pages = static_cast<std::uint32_t>(head.num_parts),
      .state_bytes = static_cast<std::uint16_t>(format::page_state_bytes(head.model.front, column)),
      .page_groups = static_cast<std::uint8_t>(head.model.section.part_groups),
      .map = static_cast<std::uint8_t>(head.model.front.map),
      .orders = {},
      .reserved = {}};
  std::copy_n(orders, column.tuple, prepared.orders);
  return prepared;
}

void prepare_columns(const StreamInfo& info, const std::vector<KnownHead>& heads,
                     ChunkTable& table) {
  const std::vector<Column>& columns = table.layout.columns;
  if (!may_be_prepared(table.kinds) ||
      !std::all_of(heads.begin(), heads.end(), [&](const KnownHead& head) {
        return can_be_prepared(head.parsed, table.layout);
      }))
    return;
  std::vector<PreparedColumn> prepared;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const ColumnHead& head = heads[i].parsed.columns[c];
      prepared.push_back(prepare(info.chunks[i], heads[i].parsed, head, columns[c]));
      most = std::max(most, head.num_parts);
    }
    table.prepared_pages.push_back(static_cast<std::uint32_t>(most));
  }
  const std::uint64_t pages =
      std::accumulate(table.prepared_pages.begin(), table.prepared_pages.end(), std::uint64_t{0});
  table.bytes.resize(prepared_ends_at(columns.size(), heads.size(), pages));
  std::memcpy(table.bytes.data() + prepared_columns_at(columns.size(), heads.size()),
              prepared.data(), prepared.size() * sizeof(PreparedColumn));
  std::byte* row = table.bytes.data() + prepared_ends_at(columns.size(), heads.size(), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (const auto& [block_at, decoded_at, bytes, parsed] : heads) {
      const ColumnHead& head = parsed.columns[c];
      std::memcpy(row, bytes.data() + parsed.frame.head_at + head.part_ends_at,
                  head.num_ends() * sizeof(std::uint32_t));
      row += table.prepared_pages[c] * sizeof(std::uint32_t);
    }
  }
}

}  // namespace

bool may_be_prepared(const ChunkKinds& kinds) {
  return !kinds.placed && !kinds.strides && !kinds.linear && !kinds.maps && !kinds.dictionaries &&
         !kinds.segments && !kinds.opaque && kinds.page_coders == 0;
}

void prepare_table(const StreamInfo& info, ChunkTable& table) {
  const std::vector<KnownHead> heads = known_heads(info, table.layout);
  if (heads.empty()) return;
  prepare_columns(info, heads, table);
  table.heads_at = append_known_heads(heads, table.bytes);
  if (auto ready = append_ready_tasks(heads, table.layout, table.heads_at, table.bytes))
    table.ready = *ready;
}

}  // namespace gdelta::cuda
