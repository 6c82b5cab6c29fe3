// The end block and its index of the blocks before it. Spec: spec.md, section 3.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "gdelta/types.h"

namespace gdelta::format {

inline constexpr std::size_t kFooterBytes = 4;
/// An end block without index: tag, length, count, check.
inline constexpr std::size_t kSmallestEndBytes = 7;

/// One block as the index describes it.
struct IndexEntry {
  BlockTag tag = BlockTag::chunk;
  std::uint64_t block_bytes = 0;
  std::uint64_t records = 0;     // tags 2 and 3
  std::optional<Layout> layout;  // tag 1
};

void append_index_entry(std::vector<std::byte>& out, const IndexEntry& entry);

/// The whole end block with its footer. `entries` bytes hold `count` entries; count 0 writes no
/// index, and so does an index too long for the format.
void append_end_block(std::vector<std::byte>& out, std::uint64_t count,
                      std::span<const std::byte> entries);

/// Takes entries from the head of an end block one by one.
class IndexParser {
 public:
  explicit IndexParser(std::span<const std::byte> head);
  /// How many there are; 0 says that the stream has no index.
  std::uint64_t count() const { return count_; }
  /// The next entry, or nothing at the end and at the first that is malformed.
  std::optional<IndexEntry> next();
  /// All was well and nothing is left over.
  bool whole() const { return !failed_ && taken_ == count_ && at_ == head_.size(); }

 private:
  std::span<const std::byte> head_;
  std::uint64_t count_ = 0;
  std::uint64_t taken_ = 0;
  std::size_t at_ = 0;
  bool failed_ = false;
};

/// Finds the head in a whole end block (tag to check, as long as its footer says).
/// Errors      corrupt
Result<std::span<const std::byte>> end_block_head(std::span<const std::byte> block,
                                                  std::uint64_t byte);

}  // namespace gdelta::format
