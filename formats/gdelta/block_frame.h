// What every block has in common, on the host: its frame, and a check over frame and head. Spec:
// spec.md, section 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/gdelta/byte_sinks.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

/// XXH3-64, seed 0.
std::uint64_t hash_bytes(std::span<const std::byte> bytes);
/// The check of a block over its bytes from the tag to the end of the head.
std::uint32_t block_check(std::span<const std::byte> tag_to_head);

/// The check that a block says it has; its head is there.
std::uint32_t stored_check(std::span<const std::byte> block, const BlockFrame& frame);

/// XXH3-64 of bytes that come in pieces.
class RunningHash {
 public:
  RunningHash();
  void reset();
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  // Room for a state, whose type only the implementation knows.
  static constexpr std::size_t kStateBytes = 576, kStateAlignment = 64;
  alignas(kStateAlignment) std::byte state_[kStateBytes];
};

/// A cursor over these bytes.
Cursor cursor_over(std::span<const std::byte> bytes);

/// Appends a block up to its payload: tag, lengths, head, check. Returns the check.
std::uint32_t append_block(std::vector<std::byte>& out, BlockTag tag,
                           std::span<const std::byte> head, std::uint64_t payload_bytes = 0);

void append_varint(std::vector<std::byte>& out, std::uint64_t value);
void append_le(std::vector<std::byte>& out, int bytes, std::uint64_t value);

/// A sink that appends.
struct ByteAppender {
  std::vector<std::byte>& out;

  void le(int bytes, std::uint64_t value) { append_le(out, bytes, value); }
  void varint(std::uint64_t value) { append_varint(out, value); }
  void bytes(ByteStretch stretch);
  void words(WordStretch stretch);
};

/// These bytes as a sink takes them.
ByteStretch stretch_of(std::span<const std::byte> bytes);

}  // namespace gdelta::format
