// Puts a chunk block together from what the device packed and what it left to the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_encode.h"
#include "codec/coders/column_maps.h"

namespace gdelta::cuda {

/// A column after packing.
struct PackedColumn {
  Coder coder = {};
  std::span<const std::byte> section;          // of a coder of residuals
  std::span<const std::uint32_t> page_ends;    // likewise
  std::span<const std::uint32_t> part_checks;  // none: they have not been computed
  const MappedColumn* mapped = nullptr;        // that has been packed in the place of values
};

/// The complete block, as encode_chunk would have written it.
std::vector<std::byte> assemble_block(const EncodeJob& job, const ChunkPlan& plan,
                                      std::span<const PackedColumn> columns);

}  // namespace gdelta::cuda
