#include <new>

#include "byte_input.h"
#include "file_structure.h"
#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_head.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

using format::Byte;
using format::Cursor;
using format::HeadError;

// Enough for tag, length and the whole head of a common chunk in one read.
constexpr std::uint64_t kFirstReadBytes = 512;

ColumnInfo describe(const format::ColumnHead& column, int lanes) {
  ColumnInfo info;
  info.coder = column.model.coder;
  info.compressed_bytes = column.section_bytes;
  if (info.coder != Coder::pack && info.coder != Coder::zstd) return info;
  if (info.coder == Coder::pack) info.page_groups = column.model.page_groups;
  info.ordered_map = column.model.map == format::ValueMap::ordered;
  info.orders.assign(column.model.orders, column.model.orders + lanes);
  for (int link = 0; link < column.model.num_strides; ++link)
    info.strides.emplace_back(column.model.strides[link].stride, column.model.strides[link].order);
  return info;
}

/// Reads the head of a chunk whose place is known and describes its models.
Result<std::vector<ColumnInfo>> read_models(const ReadAt& read_at, const ChunkPlace& chunk,
                                            std::uint64_t number) {
  const auto damaged = [&](Errc code, std::string message) {
    return tl::unexpected(Error{code, std::move(message), number, chunk.byte});
  };
  std::vector<std::byte> block(std::min(chunk.block_bytes, kFirstReadBytes));
  auto got = read_fully(read_at, chunk.byte, block);
  if (!got) return tl::unexpected(got.error());
  if (*got < block.size()) return damaged(Errc::truncated, "the input ends inside a chunk");
  Cursor start{reinterpret_cast<const Byte*>(block.data()), block.size()};
  const Byte tag = start.byte();
  const std::uint64_t head_bytes = start.varint();
  const std::uint64_t checked_bytes = start.at + head_bytes;
  const auto expected = chunk.opaque ? format::BlockTag::opaque_chunk : format::BlockTag::chunk;
  if (start.failed || tag != static_cast<Byte>(expected) || head_bytes > format::kMaxHeadBytes ||
      checked_bytes + format::kCheckBytes > chunk.block_bytes)
    return damaged(Errc::corrupt, "the chunk is not what the index says it is");
  const std::size_t had = block.size();
  block.resize(static_cast<std::size_t>(checked_bytes + format::kCheckBytes));
  if (had < block.size()) {
    got = read_fully(read_at, chunk.byte + had, std::span(block).subspan(had));
    if (!got) return tl::unexpected(got.error());
    if (*got < block.size() - had)
      return damaged(Errc::truncated, "the input ends inside the head of a block");
  }
  const auto checked = std::span<const std::byte>(block).first(checked_bytes);
  if (format::load_le(reinterpret_cast<const Byte*>(block.data()) + checked_bytes,
                      format::kCheckBytes) != format::block_check(checked))
    return damaged(Errc::corrupt, "the head of the block is damaged: its check differs");

  Cursor cursor{reinterpret_cast<const Byte*>(block.data()) + start.at, head_bytes};
  format::ChunkHead head;
  HeadError error = format::parse_chunk_head(cursor, chunk.layout->record_bytes(), head);
  std::vector<ColumnInfo> columns;
  for (const Column& column : chunk.layout->columns) {
    if (error != HeadError::none) break;
    format::ColumnHead parsed;
    error = format::parse_column_head(cursor, column, head.records, 0, parsed);
    if (error == HeadError::none) columns.push_back(describe(parsed, column.tuple));
  }
  if (error == HeadError::unsupported)
    return damaged(Errc::unsupported_feature,
                   "the chunk uses something that this version does not know: use a newer gdelta");
  if (error != HeadError::none || head.records != chunk.records)
    return damaged(Errc::corrupt, "the head of the chunk contradicts itself or the index");
  return columns;
}

Result<StreamInfo> inspect_file(const ReadAt& read_at, std::uint64_t file_bytes, bool with_models) {
  const auto structure = read_structure(read_at, file_bytes);
  if (!structure) return tl::unexpected(structure.error());
  StreamInfo info;
  info.streams = structure->streams;
  info.compressed_bytes = file_bytes;
  info.decoded_bytes = structure->decoded_bytes;
  info.chunks.reserve(structure->chunks.size());
  for (const ChunkPlace& place : structure->chunks) {
    ChunkInfo chunk;
    chunk.number = info.chunks.size();
    chunk.byte = place.byte;
    chunk.block_bytes = place.block_bytes;
    chunk.records = place.records;
    chunk.decoded_at = place.decoded_at;
    chunk.decoded_bytes = place.decoded_bytes;
    chunk.opaque = place.opaque;
    if (!place.opaque) {
      if (info.layouts.empty() || info.layouts.back() != *place.layout)
        info.layouts.push_back(*place.layout);
      chunk.layout = info.layouts.size() - 1;
    }
    if (with_models) {
      auto columns = read_models(read_at, place, chunk.number);
      if (!columns) return tl::unexpected(std::move(columns.error()));
      chunk.columns = std::move(*columns);
    }
    info.chunks.push_back(std::move(chunk));
  }
  return info;
}

}  // namespace

Result<StreamInfo> inspect(const ReadAt& read_at, std::uint64_t file_bytes, bool with_models) {
  try {
    return inspect_file(read_at, file_bytes, with_models);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to describe the stream");
  }
}

Result<StreamInfo> inspect(std::span<const std::byte> bytes) {
  return inspect(read_from(bytes), bytes.size(), true);
}

}  // namespace gdelta
