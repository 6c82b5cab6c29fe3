// Where in damaged bytes the next block begins.
#pragma once

#include <algorithm>

#include "codec/stream/walk/block_stream.h"
#include "codec/stream/walk/rewind_input.h"

namespace gdelta {

/// Looks from byte to byte for a tag, a length, fields that make sense and a check that holds.
class BlockSearch {
 public:
  explicit BlockSearch(RewindInput& input) : input_(input) {}

  /// Whether a block with a whole head stands at the input's place. `layout` is what chunks would have
  /// there, if any. Does not move.
  Result<bool> block_is_here(const Layout* layout);
  /// Moves to the next place behind this one, and before `end`, where one stands or a stream begins.
  /// False if there is none; and inside a stream also if one begins that may as well be stored
  /// in a damaged chunk, for what it holds must not be taken for the file's own.
  Result<bool> find(const Layout* layout, bool in_stream, std::uint64_t end);
  /// What the last search passed was an end block, as a footer behind it says.
  bool passed_end_block() const { return passed_end_block_; }
  /// Goes on from this place, which counts, to the next before `end` where a chunk stands, whatever else
  /// stands before it.
  Result<bool> find_chunk(const Layout* layout, std::uint64_t end);
  /// So many bytes are passed in another way.
  void pass(std::uint64_t bytes) {
    credit_ += kCreditOfAByte * std::min<std::uint64_t>(bytes, 2 * kMaxChunkBytes);
  }
  /// All bytes before `byte` are passed, and count once.
  void pass_to(std::uint64_t byte) {
    if (byte <= passed_to_) return;
    pass(byte - passed_to_);
    passed_to_ = byte;
  }
  /// Whether looking at so many bytes is in proportion; then they are counted.
  bool spend(std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kCreditOfAByte = 64;

  RewindInput& input_;
  bool passed_end_block_ = false;
  std::uint64_t passed_to_ = 0;
  // Hashing costs as much as heads claim to be long; this keeps it in proportion to the bytes passed.
  std::uint64_t credit_ = std::uint64_t{64} << 20;
};

}  // namespace gdelta
