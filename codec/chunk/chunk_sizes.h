// How much a chunk has, if nothing but its size is asked for.
#pragma once

#include <cstdint>

#include "formats/gdelta/model.h"

namespace gdelta {

/// Lengths of segments that such a chunk may have: they take as much memory as its records at most.
constexpr std::uint64_t lengths_per_chunk(std::uint64_t chunk_bytes) {
  const std::uint64_t lengths = chunk_bytes / sizeof(std::uint32_t);
  return lengths > 0 ? lengths : 1;
}

/// Records of a chunk of `chunk_bytes` decoded bytes: whole ones, at least one. If there are many
/// it is whole groups too, so that no chunk but the last pads a group or starts off a 16-byte boundary
/// (bench/shapes_bench.cu: i32x3 decodes at 0.89 of a copy instead of 0.77 on an H200).
constexpr std::uint64_t records_per_chunk(std::uint64_t chunk_bytes, std::uint64_t record_bytes) {
  constexpr std::uint64_t kGroup = format::kGroupValues, kMany = 32 * kGroup;
  const std::uint64_t records = chunk_bytes / record_bytes;
  if (records >= kMany) return records - records % kGroup;
  return records > 0 ? records : 1;
}

}  // namespace gdelta
