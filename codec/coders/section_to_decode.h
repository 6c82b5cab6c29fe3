// A column that is being decoded: where its section lies, and where its values go.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "formats/gdelta/chunk_block.h"
#include "gdelta/error.h"
#include "gdelta/types.h"
#include "kernels/words/lane_words.h"

namespace gdelta {

class Work;
class Workers;

struct SectionToDecode {
  std::span<const std::byte> block;
  std::uint64_t byte = 0;  // where the block starts in the file
  const format::ParsedChunk* chunk = nullptr;
  const format::ColumnHead* head = nullptr;
  Column column;
  unsigned char* out = nullptr;  // where its tuples go, one behind the other
  Workers* workers = nullptr;
  std::span<const std::uint32_t> lengths;  // of the chunk's segments, if it says them
  Work* work = nullptr;                    // is told of what is done; nullptr: nobody wants to know

  /// The same, but that this part of its work is told, if anybody wants to know.
  SectionToDecode told(Work& part) const {
    SectionToDecode section = *this;
    if (work != nullptr) section.work = &part;
    return section;
  }

  std::uint64_t records() const { return chunk->records; }
  std::uint64_t tuple_bytes() const { return static_cast<std::uint64_t>(column.bytes()); }
  /// Decoded, of the column alone.
  std::uint64_t bytes() const { return records() * column.bytes(); }
  std::uint64_t section_at() const { return chunk->frame.payload_at() + head->section_at; }
  /// Where a part begins and, of coders of residuals, where it ends in the block.
  std::uint64_t part_at(std::uint64_t part) const {
    return section_at() + format::part_begin(at(chunk->frame.head_at), *head, column, part);
  }
  std::uint64_t part_end(std::uint64_t part) const {
    return section_at() + format::part_end(at(chunk->frame.head_at), *head, part);
  }
  const unsigned char* at(std::uint64_t offset) const {
    return reinterpret_cast<const unsigned char*>(block.data()) + offset;
  }
};

/// Where a coder of residuals puts values: at their place, or, if stride links or maps are still to be
/// undone, into a copy of the column without map and byte order.
struct ValueSink {
  unsigned char* out;
  std::uint64_t record_bytes;
  LaneFormat format;

  template <class Word>
  void store(int lane, std::uint64_t first, std::uint64_t count, const Word* words) const {
    store_lane(words, count, format, out + first * record_bytes + lane * format.value_bytes,
               record_bytes);
  }

  /// Stores all lanes: lane k is at words + k × lane_words.
  template <class Word>
  void store_all(int tuple, std::uint64_t first, std::uint64_t count, const Word* words,
                 std::uint64_t lane_words) const {
    if (record_bytes ==
        static_cast<std::uint64_t>(tuple) * static_cast<std::uint64_t>(format.value_bytes))
      return store_lanes(words, lane_words, tuple, count, format, out + first * record_bytes);
    for (int lane = 0; lane < tuple; ++lane) store(lane, first, count, words + lane * lane_words);
  }
};

/// The damage that comes first in the block, whichever thread finds which first.
class FirstDamage {
 public:
  void note(std::uint64_t at) {
    std::uint64_t first = at_;
    while (at < first && !at_.compare_exchange_weak(first, at)) {
    }
  }
  /// Whether what lies at `at` need not be looked at any more.
  bool lies_before(std::uint64_t at) const { return at_ < at; }
  std::optional<Error> error(std::uint64_t byte, const char* message) const {
    if (at_ == kNone) return std::nullopt;
    return Error{.code = Errc::corrupt, .message = message, .chunk = {}, .byte = byte + at_};
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::atomic<std::uint64_t> at_ = kNone;
};

}  // namespace gdelta
