// What a chunk table says of heads that the host has read, so that no kernel has to parse them, and small calls need not wait
// for any.
#pragma once

#include <cstdint>

#include "codec/cuda/container/chunk_table.h"
#include "gdelta/device.h"
#include "kernels/pages/prepared_column.h"

namespace gdelta::cuda {

/// Where the prepared columns begin in the bytes of a table: those of a column lie behind one another, chunk by chunk.
constexpr std::uint64_t prepared_columns_at(std::uint64_t num_columns, std::uint64_t num_chunks) {
  const std::uint64_t chunks_at = table_chunks_at(static_cast<std::uint32_t>(num_columns));
  return (chunks_at + num_chunks * sizeof(TableChunk) + 15) / 16 * 16;
}
/// Where the ends of their pages begin, if so many pages of a chunk, in all columns before, come before them: column by column,
/// chunk by chunk, as many for each as `prepared_pages` of the table says.
constexpr std::uint64_t prepared_ends_at(std::uint64_t num_columns, std::uint64_t num_chunks,
                                         std::uint64_t pages_before) {
  return prepared_columns_at(num_columns, num_chunks) +
         num_chunks * (num_columns * sizeof(PreparedColumn) + pages_before * sizeof(std::uint32_t));
}

/// Appends to a table that says all else what `info` has of heads: prepared columns, if all columns of all chunks can be
/// prepared, then known chunks (take_heads_cuda.h), if the heads of all chunks are there, and ready tasks, if they can be made.
/// Fills prepared_pages, heads_at and ready.
void prepare_table(const StreamInfo& info, ChunkTable& table);

/// Whether chunks with these kinds of columns may have been prepared.
bool may_be_prepared(const ChunkKinds& kinds);

}  // namespace gdelta::cuda
