// Which chunk of an index comes next, while a damaged file is read from front to back: chunks are told by
// what the index calls them, wherever they stand.
#pragma once

#include <optional>

#include "codec/stream/walk/block_search.h"
#include "codec/stream/walk/hinted_streams.h"

namespace gdelta {

/// Chunks that an index names and that are not there.
struct MissingChunks {
  std::uint64_t chunks = 0;
  std::optional<std::uint64_t> decoded_bytes = 0;  // nothing if it is not known of one of them

  void add(std::uint64_t more, std::optional<std::uint64_t> bytes);
};

/// Nothing is followed where no index is known to be that of the stream at hand. Work is in proportion to
/// the bytes of the file, whatever its indexes say.
class IndexFollower {
 public:
  /// For what can be read once: follows nothing.
  IndexFollower() = default;
  IndexFollower(const ReadAt& read_at, std::uint64_t file_bytes) : streams_(read_at, file_bytes) {}

  // ---- Where the reader is

  /// In a stream whose first block, behind its header, is at `first_block`.
  void begin_stream(std::uint64_t first_block);
  /// Behind one stream and, damaged, at `place` before the next.
  void stand_between(std::uint64_t place);
  /// At a block that was found without an index.
  void resume_unknown() { leave(); }
  /// Behind the stream at hand: what is missing at its end.
  MissingChunks end_stream();
  std::uint64_t end_block() const { return stream_.end_block; }

  /// Counts a chunk that the reader met. Says what is missing before it; nothing if the index does not
  /// have it here.
  std::optional<MissingChunks> meet(const ChunkBlock& chunk, const BlockStream& blocks,
                                    BlockSearch& search);
  /// Counts chunks that were lost while no index is followed.
  void count_lost(std::uint64_t chunks, std::optional<std::uint64_t> decoded_bytes) {
    if (standing_ == Standing::unknown) met_.add(chunks, decoded_bytes.value_or(0));
  }

  // ---- Behind damage

  /// Whether an index is that of the stream at hand.
  bool follows(BlockSearch& search);
  /// Goes to the next block that the index followed names. Says what is missing before it; nothing if there
  /// is none, and then follows no more.
  Result<std::optional<MissingChunks>> go_on(std::uint64_t place, RewindInput& input,
                                             BlockSearch& search);
  /// Where, from `place` on, the index of a stream that is not followed names a block; nothing if
  /// there is none.
  std::optional<std::uint64_t> hinted_from(std::uint64_t place) const;
  /// Goes to the first block from `place` on that this index names and that is as it says, and follows it.
  /// Says what is missing from `place` on. `between`: no stream has begun there.
  Result<std::optional<MissingChunks>> go_on_unknown(std::uint64_t place, bool between,
                                                     RewindInput& input, BlockSearch& search);
  /// What has been gone to.
  const IndexHint& ahead() const { return hints_->ahead(); }

 private:
  enum class Standing { unknown, likely, sure };
  struct Named {
    std::uint64_t number;
    bool at_its_place;
  };

  void enter(const HintedStream& stream, Standing standing);
  void leave();
  bool make_sure(BlockSearch& search);
  bool begins_as_read(const HintedStream& stream, BlockSearch& search) const;
  MissingChunks advance_to(std::uint64_t number, bool to_end);
  MissingChunks accept(const IndexHint& hint, const RewindInput& input);
  std::optional<MissingChunks> recognise(const ChunkBlock& chunk, BlockSearch& search);
  static std::optional<Named> find(StreamHints probe, const ChunkName& name, std::uint64_t byte,
                                   BlockSearch& search);
  Result<std::optional<std::uint64_t>> find_between(std::uint64_t begin, std::uint64_t end,
                                                    const std::shared_ptr<const Layout>& layout,
                                                    RewindInput& input, BlockSearch& search) const;
  Result<bool> is_stray(const Named& named, std::uint64_t behind, RewindInput& input,
                        BlockSearch& search) const;

  HintedStreams streams_;
  Standing standing_ = Standing::unknown;
  HintedStream stream_;
  std::optional<StreamHints> hints_;  // of the stream at hand; what is ahead has not been met
  std::uint64_t taken_ = 0;           // of its chunks
  std::uint64_t from_ = 0;            // no block that is ahead begins before
  bool too_short_ = false;  // the index speaks of more bytes than there are before its end block
  IndexPrefix prefix_;      // up to the last chunk
  MissingChunks met_;  // while no index was followed in this stream, as far as lengths were known
};

}  // namespace gdelta
