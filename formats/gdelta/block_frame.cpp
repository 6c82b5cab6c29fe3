#include "formats/gdelta/block_frame.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

#include "formats/gdelta/head_writer.h"

namespace gdelta::format {

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint32_t block_check(std::span<const std::byte> tag_to_head) {
  return static_cast<std::uint32_t>(hash_bytes(tag_to_head));
}

namespace {

XXH3_state_t* xxh3(std::byte* state) {
  return std::launder(reinterpret_cast<XXH3_state_t*>(state));
}
const XXH3_state_t* xxh3(const std::byte* state) {
  return std::launder(reinterpret_cast<const XXH3_state_t*>(state));
}

}  // namespace

RunningHash::RunningHash() {
  static_assert(sizeof(XXH3_state_t) <= kStateBytes && alignof(XXH3_state_t) <= kStateAlignment);
  new (state_) XXH3_state_t;
  reset();
}

void RunningHash::reset() { XXH3_64bits_reset(xxh3(state_)); }

void RunningHash::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(xxh3(state_), bytes.data(), bytes.size());
}

std::uint64_t RunningHash::value() const { return XXH3_64bits_digest(xxh3(state_)); }

void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
  Byte bytes[kMaxVarintBytes];
  const int count = write_varint(bytes, value);
  for (int i = 0; i < count; ++i) out.push_back(std::byte{bytes[i]});
}

void append_le(std::vector<std::byte>& out, int bytes, std::uint64_t value) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void ByteAppender::bytes(ByteStretch stretch) {
  const auto* const first = reinterpret_cast<const std::byte*>(stretch.first);
  out.insert(out.end(), first, first + stretch.count);
}

void ByteAppender::words(WordStretch stretch) {
  for (const std::uint32_t word : std::span(stretch.first, stretch.count)) append_le(out, 4, word);
}

ByteStretch stretch_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Byte*>(bytes.data()), bytes.size()};
}

Cursor cursor_over(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const Byte*>(bytes.data()), bytes.size()};
}

std::uint32_t stored_check(std::span<const std::byte> block, const BlockFrame& frame) {
  return static_cast<std::uint32_t>(
      cursor_over(block.subspan(frame.check_at())).fixed(kCheckBytes));
}

std::uint32_t append_block(std::vector<std::byte>& out, BlockTag tag,
                           std::span<const std::byte> head, std::uint64_t payload_bytes) {
  const std::size_t start = out.size();
  ByteAppender sink{out};
  write_block_frame(sink, tag, head.size(), payload_bytes);
  sink.bytes(stretch_of(head));
  const std::uint32_t check = block_check(std::span(out).subspan(start));
  append_le(out, kCheckBytes, check);
  return check;
}

}  // namespace gdelta::format
