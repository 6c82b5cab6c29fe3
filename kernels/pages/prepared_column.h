// A column of a chunk whose head the host has read and checked, so that its pages can be decoded before a kernel has. Behind the
// columns of a table stand the ends of their pages, a row for each.
#pragma once

#include <cstdint>

#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// Of coder pack, in pages that warps take with all their lanes at once, without strides and without maps that have fields.
struct alignas(16) PreparedColumn {
  std::uint64_t
      block_at;  // offset of the chunk's block in the stream; places below count from there
  std::uint64_t decoded_at;  // where the chunk's content begins in what all chunks decode to
  std::uint32_t block_bytes;
  std::uint32_t hashed_bytes;  // of the block, which a check of four bytes follows
  std::uint32_t head_check;    // what it was
  std::uint32_t checks_at;     // u32 each, of pages
  std::uint32_t section_at;
  std::uint32_t records;
  std::uint32_t num_pages;
  std::uint16_t state_bytes;  // at the start of every page
  std::uint8_t page_groups;
  std::uint8_t map;  // value_maps.h
  std::uint8_t orders[kWarpPathTuple];
  std::uint32_t reserved[3];
};

static_assert(sizeof(PreparedColumn) == 64);

}  // namespace gdelta::cuda
