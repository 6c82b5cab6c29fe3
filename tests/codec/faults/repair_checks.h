// Makes damaged streams look whole again as far as their checks go, so that what lies behind the
// checks is reached.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/gdelta/block_frame.h"
#include "formats/gdelta/bytes.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta::test {

/// Where the head of a block lies.
struct BlockPlace {
  std::size_t tag_at = 0;
  std::size_t head_at = 0;
  std::size_t head_bytes = 0;
  std::size_t check_at() const { return head_at + head_bytes; }
};

namespace detail {

inline format::Cursor cursor_at(const std::vector<std::byte>& bytes, std::size_t at) {
  return {reinterpret_cast<const format::Byte*>(bytes.data()) + at, bytes.size() - at};
}

}  // namespace detail

/// The blocks of the first stream, as far as they can be followed: payload sizes are taken at their
/// word.
inline std::vector<BlockPlace> find_blocks(const std::vector<std::byte>& stream) {
  std::vector<BlockPlace> blocks;
  std::size_t at = format::kStreamHeaderBytes;
  while (at < stream.size()) {
    format::Cursor cursor = detail::cursor_at(stream, at);
    format::BlockFrame frame;
    if (format::parse_block_frame(cursor, frame) != format::HeadError::none) break;
    const BlockPlace block{at, at + static_cast<std::size_t>(frame.head_at),
                           static_cast<std::size_t>(frame.head_bytes)};
    if (!cursor.skip(frame.head_bytes) || !cursor.skip(format::kCheckBytes)) break;
    blocks.push_back(block);
    if (frame.tag == format::BlockTag::end || !cursor.skip(frame.payload_bytes)) break;
    at += static_cast<std::size_t>(cursor.at);
  }
  return blocks;
}

inline void repair_check(std::vector<std::byte>& stream, const BlockPlace& block) {
  const auto checked =
      std::span<const std::byte>(stream).subspan(block.tag_at, block.check_at() - block.tag_at);
  format::store_le(reinterpret_cast<format::Byte*>(stream.data()) + block.check_at(),
                   format::kCheckBytes, format::block_check(checked));
}

/// Repairs the check of every block that can be found.
inline void repair_checks(std::vector<std::byte>& stream) {
  for (const BlockPlace& block : find_blocks(stream)) repair_check(stream, block);
}

}  // namespace gdelta::test
