// What a chunk table says of heads that the host has read, so that small calls need not wait until a kernel has.
#pragma once

#include <cstdint>

#include "codec/cuda/container/chunk_table.h"
#include "gdelta/device.h"
#include "kernels/pages/prepared_column.h"

namespace gdelta::cuda {

/// Where the entries of a table's prepared columns begin in its bytes: those of a column lie behind one another, chunk by chunk.
constexpr std::uint64_t prepared_columns_at(std::uint32_t num_columns, std::uint64_t num_chunks) {
  return (table_chunks_at(num_columns) + num_chunks * sizeof(TableChunk) + 15) / 16 * 16;
}

/// Appends them to a table that says all else, and fills its prepared_pages, if all columns of all chunks of `info` can be prepared.
void prepare_columns(const StreamInfo& info, ChunkTable& table);

/// Whether chunks with these kinds of columns may have been prepared.
bool may_be_prepared(const ChunkKinds& kinds);

}  // namespace gdelta::cuda
