// Where the chunks of a stream are and what they decode to, as kernels read it from device memory:
// a header, the columns of a record, the chunks. Built by the host from an index, or left in device
// memory by the device encoder.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"

namespace gdelta::cuda {

struct ChunkTableHeader {
  std::uint64_t num_chunks;
  std::uint32_t num_columns;  // of a record; opaque chunks have one of their own
  std::uint32_t record_bytes;
  std::uint32_t opaque_slot;
  std::uint32_t reserved;
};

/// Columns are sorted into slots by width and tuple, so that one launch takes neighbours.
struct TableColumn {
  std::uint8_t type;
  std::uint8_t tuple;
  std::uint8_t big_endian;
  std::uint8_t reserved;
  std::uint32_t offset;  // in the record
  std::uint32_t slot;
  std::uint32_t reserved2;
};

struct TableChunk {
  std::uint64_t block_at = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t decoded_at = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t opaque = 0;  // 0 or 1
  // Of a chunk that says its segments: what there is in such chunks before it.
  std::uint64_t lengths_at = 0;
  std::uint64_t segments_at = 0;  // that begin in them
  std::uint64_t records_at = 0;
  std::uint32_t lengths = 0;  // of the chunk; 0: it does not say its segments
  std::uint32_t joins = 0;
};

/// Where the lengths of a chunk lie among those of its neighbours, if there are `before` of them and so
/// many chunks: each begins at a multiple of four.
GDELTA_HD constexpr std::uint64_t lengths_place(std::uint64_t before, std::uint64_t chunks) {
  return (before + 4 * chunks) / 4 * 4;
}

inline constexpr std::uint64_t table_columns_at() { return sizeof(ChunkTableHeader); }
inline constexpr std::uint64_t table_chunks_at(std::uint32_t num_columns) {
  return sizeof(ChunkTableHeader) + num_columns * sizeof(TableColumn);
}

static_assert(sizeof(ChunkTableHeader) == 24 && sizeof(TableColumn) == 16 &&
              sizeof(TableChunk) == 72);

}  // namespace gdelta::cuda
