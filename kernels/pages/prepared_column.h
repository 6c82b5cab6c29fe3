// A column of a chunk whose head the host has read and checked, so that its pages can be decoded before a kernel has.
#pragma once

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// Of coder pack, in pages that warps take with all their lanes at once, without strides and without maps that have fields.
/// Places are offsets in the stream.
struct alignas(16) PreparedColumn {
  std::uint64_t section_at;
  std::uint64_t directory_at;  // u32 page ends, then u32 checks of pages
  std::uint64_t decoded_at;    // where the chunk's content begins in what all chunks decode to
  std::uint32_t section_bytes;
  std::uint32_t records;
  std::uint32_t page_groups;
  std::uint32_t num_pages;
  std::uint32_t state_bytes;  // at the start of every page
  std::uint32_t chunk_pages;  // of all columns of the chunk
  std::uint32_t head_check;   // of the chunk's head
  std::uint8_t orders[kWarpPathTuple];
  std::uint8_t map;  // value_maps.h
  std::uint8_t reserved[7];
};

static_assert(sizeof(PreparedColumn) == 64);

}  // namespace gdelta::cuda
