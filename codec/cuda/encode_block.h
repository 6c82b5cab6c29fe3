// Puts a chunk block together from what the device packed and what it left to the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/backend/backend.h"
#include "codec/chunk/chunk_encode.h"
#include "kernels/bitpack/pack_pages_cuda.h"

namespace gdelta::cuda {

/// A column after packing.
struct PackedColumn {
  SectionKind kind = SectionKind::raw;
  std::span<const std::byte> section;          // kind pack
  std::span<const std::uint32_t> page_ends;    // kind pack
  std::span<const std::uint32_t> part_checks;  // none: they have not been computed
};

/// The complete block, as encode_chunk would have written it.
std::vector<std::byte> assemble_block(const EncodeJob& job, const ChunkPlan& plan,
                                      std::span<const PackedColumn> columns);

}  // namespace gdelta::cuda
