#include "codec/stream/salvage.h"

#include <algorithm>
#include <new>

#include "codec/stream/decode_batch.h"
#include "codec/stream/walk/block_search.h"
#include "formats/gdelta/stream_header.h"

namespace gdelta {

namespace {

constexpr std::size_t kMostGapsOfABatch = 1024;
constexpr std::size_t kZeros = 64 << 10;
// What heads that turn out damaged may have cost: so much and twice the bytes passed.
constexpr std::uint64_t kWasteAllowed = std::uint64_t{64} << 20;
constexpr std::uint64_t kAlwaysBelieved = 1 << 20;

bool input_is_gone(const Error& error) {
  return error.code == Errc::io_error || error.code == Errc::invalid_argument;
}

Error not_in_index(const ChunkBlock& chunk) {
  return {.code = Errc::corrupt,
          .message = "the index at the end of the stream names another chunk",
          .chunk = chunk.number,
          .byte = chunk.byte};
}

SalvageGap missing_chunks(const MissingChunks& missing, std::uint64_t byte) {
  return {.reason = {.code = Errc::corrupt,
                     .message = "the index names chunks that are not before this place",
                     .chunk = std::nullopt,
                     .byte = byte},
          .chunks = missing.chunks,
          .decoded_at = 0,
          .decoded_bytes = missing.decoded_bytes};
}

SalvageGap lost_chunk(Error reason, std::uint64_t decoded_bytes) {
  return {
      .reason = std::move(reason), .chunks = 1, .decoded_at = 0, .decoded_bytes = decoded_bytes};
}

class Salvager {
 public:
  Salvager(RewindInput& input, IndexFollower& index, SteadyBackend& backend,
           const DecodeOptions& options, const SalvageOptions& salvaging, ProgressMeter& progress,
           const Sink& sink)
      : input_(input),
        index_(index),
        backend_(backend),
        options_(options),
        salvaging_(salvaging),
        progress_(progress),
        sink_(sink),
        blocks_(input, options.memory_limit),
        search_(input),
        batch_(cpu_threads(options.threads)) {}

  Result<SalvageReport> run() {
    for (;;) {
      if (gaps_.size() >= kMostGapsOfABatch)
        if (auto flushed = flush(); !flushed) return tl::unexpected(flushed.error());
      input_.mark();
      const std::uint64_t begin = input_.at();
      const std::uint64_t allowed = kWasteAllowed + 2 * begin;
      blocks_.believe_heads_up_to(kAlwaysBelieved + (allowed > wasted_ ? allowed - wasted_ : 0));
      auto chunk = blocks_.next();
      if (blocks_.streams() != streams_) {
        settle_stream(chunk && *chunk ? &**chunk : nullptr);
        index_.begin_stream(blocks_.first_block());
        streams_ = blocks_.streams();
      }
      if (!chunk) {
        if (chunk.error().code == Errc::out_of_memory) return tl::unexpected(chunk.error());
        wasted_ += input_.at() - begin;
        const auto goes_on = pass_damage(std::move(chunk.error()), blocks_.next_chunk());
        if (!goes_on) return tl::unexpected(goes_on.error());
        if (!*goes_on) break;
        continue;
      }
      if (!*chunk) {
        settle_stream(nullptr);
        break;
      }
      input_.forget();
      const auto goes_on = meet(std::move(**chunk));
      if (!goes_on) return tl::unexpected(goes_on.error());
      if (!*goes_on) break;
    }
    if (auto done = flush(); !done) return tl::unexpected(done.error());
    return report_;
  }

 private:
  struct GapInBatch {
    std::size_t before;  // this chunk of the batch
    SalvageGap gap;
  };

  // ---- Collecting

  /// Takes a chunk with a whole head if it is one that comes next; false if nothing comes behind it.
  Result<bool> meet(ChunkBlock chunk) {
    const auto missing = index_.meet(chunk, blocks_, search_);
    if (!missing) return pass_damage(not_in_index(chunk), chunk.number);
    if (missing->chunks > 0 || missing->decoded_bytes > 0)
      note_gap(missing_chunks(*missing, chunk.byte));
    pass_numbers(missing->chunks, &chunk);
    return take(std::move(chunk));
  }

  /// Chunks are missing before this one, or before the next.
  void pass_numbers(std::uint64_t chunks, ChunkBlock* chunk) {
    blocks_.pass_numbers(chunks);
    if (chunk != nullptr) chunk->number += chunks;
  }

  Result<bool> take(ChunkBlock chunk) {
    DecodeLoad alone(1);
    alone.add(chunk);
    const std::uint64_t limit = options_.memory_limit;
    if (alone.bytes() > limit) {
      note_gap(lost_chunk(chunk_over_limit(chunk.number, chunk.byte, alone.bytes(), limit),
                          chunk.decoded_bytes));
      if (blocks_.skip_payload(chunk)) return true;
      return go_back_in_index();
    }
    const bool full = batch_.is_full_for(chunk, batch_bytes(chunk)) ||
                      gaps_.size() >= kMostGapsOfABatch || batch_.held_bytes_with(chunk) > limit;
    if (full) {
      if (auto flushed = flush(); !flushed) return tl::unexpected(flushed.error());
      if (batch_.held_bytes_with(chunk) > limit) batch_.clear(false);
    }
    const std::uint64_t decoded_bytes = chunk.decoded_bytes;
    auto added = batch_.add(blocks_, std::move(chunk));
    if (added) return true;
    if (added.error().code == Errc::out_of_memory) return tl::unexpected(added.error());
    note_gap(lost_chunk(std::move(added.error()), decoded_bytes));
    return go_back_in_index();
  }

  std::uint64_t batch_bytes(const ChunkBlock& chunk) const {
    return opened_ ? backend_.batch_size().bytes_of(chunk.decoded_bytes) : kFirstBatchBytes;
  }

  void note_gap(SalvageGap gap) { gaps_.push_back({batch_.size(), std::move(gap)}); }

  // ---- Behind damage

  /// Notes the gap that begins with `error`, where the next chunk would be `expected`, and goes to the next
  /// block; false if there is none.
  Result<bool> pass_damage(Error error, std::uint64_t expected) {
    SalvageGap gap{
        .reason = std::move(error), .chunks = 0, .decoded_at = 0, .decoded_bytes = std::nullopt};
    bool goes_on = false;
    if (!input_is_gone(gap.reason)) {
      const std::uint64_t place = gap.reason.byte.value_or(input_.at());
      input_.go_to(place);
      gap.chunks = chunk_is_lost_here(gap.reason) ? 1 : 0;
      if (!blocks_.in_stream()) {
        settle_stream(nullptr);
        index_.stand_between(place);
        expected = blocks_.next_chunk();
      }
      auto found = follow_index(place, expected, gap);
      if (found && !*found) found = search(index_.hinted_from(place), expected, gap);
      if (found && !*found) found = follow_hints(place, expected, gap);
      if (!found && !input_is_gone(found.error())) return found;
      goes_on = found && *found;
    }
    if (!goes_on && gap.chunks == 0) gap.decoded_bytes = 0;
    index_.count_lost(gap.chunks, gap.decoded_bytes);
    note_gap(std::move(gap));
    return goes_on;
  }

  /// Goes to the next block of the stream if its index is known.
  Result<bool> follow_index(std::uint64_t place, std::uint64_t expected, SalvageGap& gap) {
    if (!input_.is_file() || !index_.follows(search_)) return false;
    const auto missing = index_.go_on(place, input_, search_);
    if (!missing) return tl::unexpected(missing.error());
    if (!*missing) {
      input_.go_to(place);
      return false;
    }
    gap.chunks = (*missing)->chunks;
    gap.decoded_bytes = (*missing)->decoded_bytes;
    resume(index_.ahead().layout, expected + gap.chunks);
    return true;
  }

  /// Where the input ends in a chunk, because bytes are missing from it: goes to what it has taken in.
  Result<bool> go_back_in_index() {
    const std::uint64_t end = input_.at();
    SalvageGap gap = missing_chunks({}, end);
    auto found = follow_index(end, blocks_.next_chunk(), gap);
    if (!found && !input_is_gone(found.error())) return found;
    if (gap.chunks > 0) note_gap(std::move(gap));
    return found && *found;
  }

  /// Behind a stream: notes what its index names and it does not have. `next` has been read behind it.
  void settle_stream(ChunkBlock* next) {
    const std::uint64_t end_block = index_.end_block();
    const MissingChunks missing = index_.end_stream();
    if (missing.chunks == 0) return;
    note_gap(missing_chunks(missing, end_block));
    pass_numbers(missing.chunks, next);
  }

  void resume(std::shared_ptr<const Layout> layout, std::uint64_t next_chunk) {
    blocks_.resume(std::move(layout), next_chunk);
    streams_ = blocks_.streams();
  }

  /// Whether what failed here was a chunk, as far as one can see.
  bool chunk_is_lost_here(const Error& error) {
    if (error.chunk) return true;
    if (!blocks_.in_stream()) return false;
    const auto first = input_.peek(1);
    if (!first || first->empty()) return false;
    const auto tag = static_cast<format::BlockTag>(first->front());
    return tag != format::BlockTag::layout && tag != format::BlockTag::end &&
           !format::is_ancillary(tag);
  }

  /// Looks for a block; before `end` if the next one is known there.
  Result<bool> search(std::optional<std::uint64_t> end, std::uint64_t expected, SalvageGap& gap) {
    if (end && *end <= input_.at()) return false;
    const bool in_stream = blocks_.in_stream();
    auto found = search_.find(in_stream ? blocks_.layout().get() : nullptr, in_stream,
                              end.value_or(~std::uint64_t{0}));
    if (search_.passed_end_block()) gap.chunks = 0;
    if (!found || !*found) return found;
    const auto first = input_.peek(1);
    if (!first) return tl::unexpected(first.error());
    if (gap.chunks == 0) gap.decoded_bytes = 0;
    index_.resume_unknown();
    if (first->front() == format::kStreamHeader.front())
      blocks_.resume_between_streams();
    else
      resume(nullptr, expected + gap.chunks);
    return true;
  }

  /// Goes to the first block that an index behind `place` names and that is as it says.
  Result<bool> follow_hints(std::uint64_t place, std::uint64_t expected, SalvageGap& gap) {
    const auto missing = index_.go_on_unknown(place, !blocks_.in_stream(), input_, search_);
    if (!missing) return tl::unexpected(missing.error());
    if (!*missing) return false;
    if ((*missing)->chunks >= gap.chunks) {
      gap.chunks = (*missing)->chunks;
      gap.decoded_bytes = (*missing)->decoded_bytes;
    }
    resume(index_.ahead().layout, expected + gap.chunks);
    return true;
  }

  // ---- Handing over

  Result<void> flush() {
    if (!batch_.empty()) {
      if (!opened_) {
        if (auto opened = backend_.open(std::nullopt); !opened) return opened;
        opened_ = true;
      }
      batch_.spread_within(options_.memory_limit);
      if (auto decoded = batch_.decode(backend_, true, progress_); !decoded) return decoded;
    }
    auto gap = gaps_.begin();
    for (std::size_t i = 0; i <= batch_.size(); ++i) {
      for (; gap != gaps_.end() && gap->before == i; ++gap)
        if (auto told = tell(std::move(gap->gap)); !told) return told;
      if (i == batch_.size()) break;
      const auto& error = batch_.error_of(i);
      if (auto put = error ? tell(lost_chunk(*error, batch_.values_of(i).size()))
                           : keep(batch_.values_of(i));
          !put)
        return put;
    }
    gaps_.clear();
    batch_.clear(true);
    return {};
  }

  Result<void> put(std::span<const std::byte> bytes) {
    if (bytes.size() > options_.output_limit - put_bytes_)
      return tl::unexpected(output_over_limit(options_.output_limit));
    put_bytes_ += bytes.size();
    return sink_(bytes);
  }

  Result<void> keep(std::span<const std::byte> values) {
    if (auto done = put(values); !done) return done;
    ++report_.chunks;
    report_.bytes += values.size();
    return {};
  }

  Result<void> tell(SalvageGap gap) {
    gap.decoded_at = put_bytes_;
    ++report_.gaps;
    report_.lost_chunks += gap.chunks;
    if (!report_.error) report_.error = gap.reason;
    if (salvaging_.on_gap) salvaging_.on_gap(gap);
    if (!salvaging_.fill || !gap.decoded_bytes) return {};
    static constexpr std::byte kZeroBytes[kZeros] = {};
    for (std::uint64_t left = *gap.decoded_bytes; left > 0;) {
      const std::uint64_t count = std::min<std::uint64_t>(left, kZeros);
      if (auto done = put(std::span(kZeroBytes).first(static_cast<std::size_t>(count))); !done)
        return done;
      report_.filled_bytes += count;
      left -= count;
    }
    return {};
  }

  RewindInput& input_;
  IndexFollower& index_;
  SteadyBackend& backend_;
  const DecodeOptions& options_;
  const SalvageOptions& salvaging_;
  ProgressMeter& progress_;
  const Sink& sink_;
  BlockStream blocks_;
  BlockSearch search_;
  DecodeBatch batch_;
  std::vector<GapInBatch> gaps_;
  std::uint64_t streams_ = 0;  // those that have begun
  bool opened_ = false;
  std::uint64_t wasted_ = 0;
  std::uint64_t put_bytes_ = 0;
  SalvageReport report_;
};

}  // namespace

Result<SalvageReport> salvage_input(RewindInput& input, IndexFollower& index,
                                    SteadyBackend& backend, const DecodeOptions& options,
                                    const SalvageOptions& salvaging, ProgressMeter& progress,
                                    const Sink& sink) {
  try {
    return Salvager(input, index, backend, options, salvaging, progress, sink).run();
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

Result<SalvageReport> salvage_file(const ReadAt& read_at, std::uint64_t file_bytes,
                                   const Sink& sink, const DecodeOptions& options,
                                   const SalvageOptions& salvaging) {
  try {
    RewindInput input(read_at, file_bytes);
    IndexFollower index(read_at, file_bytes);
    SteadyBackend backend(options.device, options.threads);
    ProgressMeter progress(options.progress, options.progress_user);
    return salvage_input(input, index, backend, options, salvaging, progress, sink);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

}  // namespace gdelta
