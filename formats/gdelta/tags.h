// The frame of a block: its tag and its lengths. Shared by host code and CUDA kernels. Spec: spec.md,
// section 3.
#pragma once

#include "formats/gdelta/bytes.h"

namespace gdelta::format {

enum class BlockTag : std::uint8_t {
  layout = 1,
  chunk = 2,
  opaque_chunk = 3,
  end = 4,
  metadata = 128,
};
/// Tags from here on may be passed over by who does not know them.
inline constexpr std::uint8_t kFirstAncillaryTag = 128;

inline constexpr std::uint64_t kMaxHeadBytes = 1ull << 24;
inline constexpr std::uint64_t kMaxAncillaryHeadBytes = 1ull << 16;
inline constexpr std::uint64_t kMaxEndHeadBytes = (1ull << 32) - 64;
inline constexpr std::uint64_t kMaxPayloadBytes = 1ull << 40;
inline constexpr int kCheckBytes = 4;

/// What is wrong with a head.
enum class HeadError : std::uint8_t { none = 0, corrupt, unsupported, truncated };

GDELTA_HD constexpr bool is_ancillary(BlockTag tag) {
  return static_cast<std::uint8_t>(tag) >= kFirstAncillaryTag;
}
GDELTA_HD constexpr bool is_chunk_tag(BlockTag tag) {
  return tag == BlockTag::chunk || tag == BlockTag::opaque_chunk;
}
/// Whether this version can read on behind a block of this tag.
GDELTA_HD constexpr bool is_known_tag(BlockTag tag) {
  const auto value = static_cast<std::uint8_t>(tag);
  return (value >= 1 && value <= 4) || value >= kFirstAncillaryTag;
}
GDELTA_HD constexpr std::uint64_t max_head_bytes(BlockTag tag) {
  return tag == BlockTag::end ? kMaxEndHeadBytes
         : is_ancillary(tag)  ? kMaxAncillaryHeadBytes
                              : kMaxHeadBytes;
}

/// Tag and lengths of a block. Offsets count from its first byte.
struct BlockFrame {
  BlockTag tag = BlockTag::end;
  std::uint64_t head_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t head_at = 0;

  GDELTA_HD bool is_chunk() const { return is_chunk_tag(tag); }
  GDELTA_HD std::uint64_t check_at() const { return head_at + head_bytes; }
  GDELTA_HD std::uint64_t payload_at() const { return check_at() + kCheckBytes; }
  GDELTA_HD std::uint64_t block_bytes() const { return payload_at() + payload_bytes; }
};

/// The longest frame: tag and two lengths.
inline constexpr std::size_t kMaxFrameBytes = 1 + 2 * kMaxVarintBytes;

/// Check 1 of spec.md, section 8: reads the frame at the cursor, which stands at a block's first byte.
GDELTA_HD inline HeadError parse_block_frame(Cursor& cursor, BlockFrame& frame) {
  frame.tag = static_cast<BlockTag>(cursor.byte());
  frame.head_bytes = cursor.varint();
  if (!cursor.failed && frame.head_bytes > max_head_bytes(frame.tag)) return HeadError::corrupt;
  frame.payload_bytes = cursor.varint();
  if (cursor.failed) return cursor.cut ? HeadError::truncated : HeadError::corrupt;
  frame.head_at = cursor.at;
  return frame.payload_bytes > kMaxPayloadBytes ? HeadError::corrupt : HeadError::none;
}

}  // namespace gdelta::format
