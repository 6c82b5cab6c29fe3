// Appends to a chunk table what its chunks' heads say, as kernels take it (container/take_heads_cuda.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "codec/cuda/container/take_heads_cuda.h"
#include "formats/gdelta/chunk_block.h"

namespace gdelta::cuda {

/// Longer heads are left to the kernel that parses them.
inline constexpr std::uint64_t kMostKnownHeadBytes = 1ull << 30;

/// A head that the host has read.
struct KnownHead {
  std::uint64_t block_at = 0;        // of its block, in the stream
  std::uint64_t decoded_at = 0;      // where its content begins in what all chunks decode to
  std::span<const std::byte> bytes;  // of the block, all before the payload
  format::ParsedChunk parsed;
};

/// Appends those of all chunks, at least one, and gives where they begin in the table.
inline std::uint64_t append_known_heads(std::span<const KnownHead> heads,
                                        std::vector<std::byte>& table) {
  static_assert(std::is_trivially_copyable_v<format::ColumnHead>);
  const auto to_multiple_of_16 = [](std::uint64_t bytes) { return (bytes + 15) / 16 * 16; };
  const std::uint64_t heads_at = to_multiple_of_16(table.size());
  const std::uint64_t models_at = to_multiple_of_16(heads_at + heads.size() * sizeof(KnownChunk));
  std::vector<KnownChunk> chunks;
  std::vector<format::ColumnHead> models;
  for (const auto& [block_at, decoded_at, bytes, parsed] : heads) {
    while (models.size() * sizeof models[0] % 16 != 0) models.emplace_back();
    chunks.push_back({.head_at = 0,
                      .models_at = models_at + models.size() * sizeof models[0],
                      .block_at = block_at,
                      .decoded_at = decoded_at,
                      .block_bytes = parsed.frame.block_bytes(),
                      .lengths = parsed.segments.lengths,
                      .head_bytes = static_cast<std::uint32_t>(bytes.size()),
                      .fields_at = static_cast<std::uint32_t>(parsed.frame.head_at),
                      .records = static_cast<std::uint32_t>(parsed.records),
                      .joins = parsed.segments.joins});
    if (parsed.segments.lengths > 0) models.push_back(parsed.lengths);
    models.insert(models.end(), parsed.columns.begin(), parsed.columns.end());
  }
  std::uint64_t end = models_at + models.size() * sizeof models[0];
  for (std::size_t i = 0; i < heads.size(); ++i) {
    chunks[i].head_at = to_multiple_of_16(end) + heads[i].block_at % 16;
    end = chunks[i].head_at + heads[i].bytes.size();
  }
  table.resize(to_multiple_of_16(end));
  const auto put = [&table](std::uint64_t at, const auto* from, std::size_t count) {
    if (count > 0) std::memcpy(table.data() + at, from, count * sizeof *from);
  };
  put(heads_at, chunks.data(), chunks.size());
  put(models_at, models.data(), models.size());
  for (std::size_t i = 0; i < heads.size(); ++i)
    put(chunks[i].head_at, heads[i].bytes.data(), heads[i].bytes.size());
  return heads_at;
}

}  // namespace gdelta::cuda
