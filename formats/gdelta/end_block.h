// The end block and its index of the blocks before it. Spec: spec.md, section 3.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/chunk_head.h"
#include "gdelta/types.h"

namespace gdelta::format {

inline constexpr std::size_t kFooterBytes = 4;
/// An end block without index: tag, lengths, count, check.
inline constexpr std::size_t kSmallestEndBytes = 8;

/// One block as the index describes it.
struct IndexEntry {
  BlockTag tag = BlockTag::chunk;
  std::uint64_t block_bytes = 0;
  std::uint32_t check = 0;
  std::uint64_t records = 0;    // of chunks
  std::vector<std::byte> head;  // of other blocks
  SegmentsHead segments = {};   // of chunks that say them

  bool is_chunk() const { return is_chunk_tag(tag); }
  friend bool operator==(const IndexEntry&, const IndexEntry&) = default;
};

void append_index_entry(std::vector<std::byte>& out, const IndexEntry& entry);

/// The whole end block with its footer. `entries` bytes hold `count` entries; count 0 writes no
/// index, and so does an index too long for the format.
void append_end_block(std::vector<std::byte>& out, std::uint64_t count,
                      std::span<const std::byte> entries);

/// What the tag of a chunk that says its segments is in the index.
inline constexpr std::uint8_t kSegmentedEntryTag = 66;

/// No entry is longer than tag, length, check and the longest head that is repeated.
inline constexpr std::size_t kMostEntryBytes =
    1 + kMaxVarintBytes + kCheckBytes + kMaxVarintBytes + kMaxAncillaryHeadBytes;

/// An entry and the bytes it takes in the index.
struct ParsedEntry {
  IndexEntry entry;
  std::size_t bytes = 0;
};

/// The entry at the start of `bytes`, which may go on behind it. Nothing if it is malformed, cut
/// short, or no block can be as it says.
std::optional<ParsedEntry> parse_index_entry(std::span<const std::byte> bytes);

}  // namespace gdelta::format
