// The head of a chunk block: written on the host, parsed on the host and inside kernels. Spec:
// spec.md, sections 3.2 and 4. Parsing checks every field against its range, so that whatever it
// accepts can be used without a further look.
#pragma once

#include "formats/gdelta/model.h"

namespace gdelta::format {

enum class HeadError : std::uint8_t { none = 0, corrupt, unsupported };

/// The fields before the models.
struct ChunkHead {
  std::uint64_t records = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t content = 0;  // XXH3-64 over the XXH3-64s of 4096-byte pieces
};

/// A column of a chunk: its model and where its parts lie.
struct ColumnHead {
  ColumnModel model;
  std::uint64_t num_parts = 0;  // pages (pack) or frames (zstd)
  std::uint64_t parts_at =
      0;  // offset in the head: u32 page ends (pack), varint frame sizes (zstd)
  std::uint64_t section_at = 0;  // offset in the payload
  std::uint64_t section_bytes = 0;
};

GDELTA_HD inline int type_bytes(ValueType type) {
  const int kind = static_cast<int>(type);
  return kind < 2    ? 1
         : kind < 4  ? 2
         : kind < 6  ? 3
         : kind < 8  ? 4
         : kind < 10 ? 8
         : kind < 12 ? 2
         : kind < 13 ? 4
                     : 8;
}

/// Reads the fields before the models. `record_bytes` is that of the layout in force.
GDELTA_HD inline HeadError parse_chunk_head(Cursor& cursor, std::uint64_t record_bytes,
                                            ChunkHead& head) {
  head.records = cursor.varint();
  head.payload_bytes = cursor.varint();
  head.content = cursor.fixed(8);
  if (cursor.failed || head.records == 0 || head.records > kMaxChunkBytes / record_bytes)
    return HeadError::corrupt;
  // This bounds what a reader buffers.
  if (head.payload_bytes > 2 * kMaxChunkBytes) return HeadError::corrupt;
  return HeadError::none;
}

namespace detail {

GDELTA_HD inline HeadError parse_links(Cursor& cursor, const Column& column, std::uint64_t records,
                                       ColumnModel& model) {
  const Byte map = cursor.byte();
  const Byte orders = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (map > 1) return HeadError::unsupported;
  model.map = static_cast<ValueMap>(map);
  if (model.map == ValueMap::ordered && column.type < ValueType::f16) return HeadError::corrupt;
  if (orders > kMaxOrder && orders != kOrdersPerLane) return HeadError::corrupt;
  for (int lane = 0; lane < column.tuple; ++lane) {
    model.orders[lane] = orders == kOrdersPerLane ? cursor.byte() : orders;
    if (cursor.failed || model.orders[lane] > kMaxOrder) return HeadError::corrupt;
  }
  model.num_strides = cursor.byte();
  if (cursor.failed || model.num_strides > kMaxStrides) return HeadError::corrupt;
  for (int link = 0; link < model.num_strides; ++link) {
    const std::uint64_t stride = cursor.varint();
    const Byte order = cursor.byte();
    if (cursor.failed || stride < 2 || stride > kMaxStride || 4 * stride > records)
      return HeadError::corrupt;
    if (order < 1 || order > kMaxOrder) return HeadError::corrupt;
    model.strides[link] = {static_cast<std::uint32_t>(stride), order};
  }
  return HeadError::none;
}

GDELTA_HD inline HeadError parse_directory(Cursor& cursor, const Column& column,
                                           std::uint64_t records, ColumnHead& head) {
  const std::uint64_t page_groups = cursor.varint();
  if (cursor.failed || page_groups < 1 || page_groups * column.tuple > kMaxPageGroups ||
      page_groups > kMaxPageGroups)
    return HeadError::corrupt;
  head.model.page_groups = static_cast<std::uint32_t>(page_groups);
  head.num_parts = num_pages(head.model, records);
  head.parts_at = cursor.at;
  std::uint64_t end = 0;
  for (std::uint64_t page = 0; page < head.num_parts; ++page) {
    const std::uint64_t next = cursor.fixed(4);
    if (cursor.failed || next < end) return HeadError::corrupt;
    end = next;
  }
  head.section_bytes = end;
  return HeadError::none;
}

GDELTA_HD inline HeadError parse_frames(Cursor& cursor, std::uint64_t column_bytes,
                                        ColumnHead& head) {
  const Byte arrangement = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (arrangement > 1) return HeadError::unsupported;
  head.model.arrangement = static_cast<Arrangement>(arrangement);
  const std::uint64_t frame_bytes = cursor.varint();
  if (cursor.failed || frame_bytes < 1 || frame_bytes > kMaxChunkBytes) return HeadError::corrupt;
  head.model.frame_bytes = static_cast<std::uint32_t>(frame_bytes);
  head.num_parts = num_frames(head.model, column_bytes);
  head.parts_at = cursor.at;
  for (std::uint64_t frame = 0; frame < head.num_parts; ++frame) {
    const std::uint64_t bytes = cursor.varint();
    if (cursor.failed || bytes < 1 || bytes > 2 * kMaxChunkBytes) return HeadError::corrupt;
    head.section_bytes += bytes;  // no overflow: each has taken a byte of the head
  }
  return HeadError::none;
}

}  // namespace detail

/// Reads one column's model; `section_at` is where its section begins in the payload.
GDELTA_HD inline HeadError parse_column_head(Cursor& cursor, const Column& column,
                                             std::uint64_t records, std::uint64_t section_at,
                                             ColumnHead& head) {
  const std::uint64_t tuple_bytes =
      static_cast<std::uint64_t>(type_bytes(column.type)) * column.tuple;
  const Byte coder = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  if (coder >= kNumCoders) return HeadError::unsupported;
  head = ColumnHead{};
  head.model.coder = static_cast<Coder>(coder);
  head.section_at = section_at;
  HeadError error = HeadError::none;
  switch (head.model.coder) {
    case Coder::raw:
      head.section_bytes = records * tuple_bytes;
      break;
    case Coder::constant:
      head.section_bytes = tuple_bytes;
      break;
    case Coder::pack:
      error = detail::parse_links(cursor, column, records, head.model);
      if (error == HeadError::none) error = detail::parse_directory(cursor, column, records, head);
      break;
    case Coder::zstd:
      error = detail::parse_links(cursor, column, records, head.model);
      if (error == HeadError::none)
        error = detail::parse_frames(cursor, records * tuple_bytes, head);
      break;
  }
  return error;
}

// ---- Pages of the pack coder (spec.md, section 6)

/// Bytes of the states at the start of every page of a column.
GDELTA_HD inline std::uint32_t page_state_bytes(const ColumnModel& model, const Column& column) {
  std::uint32_t words = 0;
  for (int lane = 0; lane < column.tuple; ++lane) words += model.orders[lane];
  return words * static_cast<std::uint32_t>(type_bytes(column.type));
}

}  // namespace gdelta::format
