// What every block has in common: a tag, the length of its head, the head, and a check over all
// three. Spec: spec.md, section 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gdelta::format {

enum class BlockTag : std::uint8_t { layout = 1, chunk = 2, opaque_chunk = 3, end = 4 };

inline constexpr std::uint64_t kMaxHeadBytes = 1ull << 24;
inline constexpr std::uint64_t kMaxEndHeadBytes = (1ull << 32) - 64;
inline constexpr int kCheckBytes = 4;

constexpr bool is_block_tag(std::uint8_t tag) { return tag >= 1 && tag <= 4; }
constexpr std::uint64_t max_head_bytes(BlockTag tag) {
  return tag == BlockTag::end ? kMaxEndHeadBytes : kMaxHeadBytes;
}

/// XXH3-64, seed 0.
std::uint64_t hash_bytes(std::span<const std::byte> bytes);
/// The check of a block over its bytes from the tag to the end of the head.
std::uint32_t block_check(std::span<const std::byte> tag_to_head);

/// XXH3-64 of bytes that come in pieces.
class RunningHash {
 public:
  RunningHash();
  RunningHash(RunningHash&&) noexcept;
  RunningHash& operator=(RunningHash&&) noexcept;
  ~RunningHash();
  void reset();
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Appends a whole block without payload: tag, length, head, check.
void append_block(std::vector<std::byte>& out, BlockTag tag, std::span<const std::byte> head);

void append_varint(std::vector<std::byte>& out, std::uint64_t value);
void append_le(std::vector<std::byte>& out, int bytes, std::uint64_t value);

}  // namespace gdelta::format
