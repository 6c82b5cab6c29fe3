#include "codec/stream/salvage.h"

#include <algorithm>
#include <new>

#include "codec/stream/decode_batch.h"
#include "codec/stream/walk/block_search.h"
#include "formats/gdelta/bytes.h"
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

SalvageGap lost_chunk(Error reason, std::uint64_t decoded_bytes) {
  return {
      .reason = std::move(reason), .chunks = 1, .decoded_at = 0, .decoded_bytes = decoded_bytes};
}

class Salvager {
 public:
  Salvager(RewindInput& input, IndexHints& hints, SteadyBackend& backend,
           const DecodeOptions& options, const SalvageOptions& salvaging, ProgressMeter& progress,
           const Sink& sink)
      : input_(input),
        hints_(hints),
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
      input_.mark();
      const std::uint64_t begin = input_.at();
      const std::uint64_t allowed = kWasteAllowed + 2 * begin;
      blocks_.believe_heads_up_to(kAlwaysBelieved + (allowed > wasted_ ? allowed - wasted_ : 0));
      auto chunk = blocks_.next();
      if (!chunk) {
        if (chunk.error().code == Errc::out_of_memory) return tl::unexpected(chunk.error());
        wasted_ += input_.at() - begin;
        const auto goes_on = pass_damage(std::move(chunk.error()));
        if (!goes_on) return tl::unexpected(goes_on.error());
        if (!*goes_on) break;
        if (gaps_.size() >= kMostGapsOfABatch)
          if (auto flushed = flush(); !flushed) return tl::unexpected(flushed.error());
        continue;
      }
      if (!*chunk) break;
      input_.forget();
      const auto goes_on = take(std::move(**chunk));
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

  /// Adds a chunk with a whole head; false if the input ends in it.
  Result<bool> take(ChunkBlock chunk) {
    hints_.advance_to(chunk.byte + 1);
    DecodeLoad alone(1);
    alone.add(chunk);
    const std::uint64_t limit = options_.memory_limit;
    if (alone.bytes() > limit) {
      note_gap(lost_chunk(chunk_over_limit(chunk.number, chunk.byte, alone.bytes(), limit),
                          chunk.decoded_bytes));
      const auto skipped = blocks_.skip_payload(chunk);
      return skipped.has_value();
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
    return false;
  }

  std::uint64_t batch_bytes(const ChunkBlock& chunk) const {
    return opened_ ? backend_.batch_size().bytes_of(chunk.decoded_bytes) : kFirstBatchBytes;
  }

  void note_gap(SalvageGap gap) { gaps_.push_back({batch_.size(), std::move(gap)}); }

  // ---- Behind damage

  /// Notes the gap that begins with `error` and goes to the next block; false if there is none.
  Result<bool> pass_damage(Error error) {
    SalvageGap gap{
        .reason = std::move(error), .chunks = 0, .decoded_at = 0, .decoded_bytes = std::nullopt};
    bool goes_on = false;
    if (!input_is_gone(gap.reason)) {
      const std::uint64_t place = gap.reason.byte.value_or(input_.at());
      input_.go_to(place);
      gap.chunks = chunk_is_lost_here(gap.reason) ? 1 : 0;
      // Between streams an end block before this place has been read.
      while (!blocks_.in_stream() && hints_.ahead() && hints_.ahead()->byte < place)
        hints_.advance();
      const std::uint64_t hinted = hints_.ahead() ? hints_.ahead()->byte : ~std::uint64_t{0};
      auto found = hinted > place ? search(hinted, gap) : Result<bool>(false);
      if (found && !*found) found = follow_hints(place, gap);
      if (!found && !input_is_gone(found.error())) return found;
      goes_on = found && *found;
    }
    if (!goes_on && gap.chunks == 0) gap.decoded_bytes = 0;
    note_gap(std::move(gap));
    return goes_on;
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

  /// Looks for a block before `end`, where the next one is known.
  Result<bool> search(std::uint64_t end, SalvageGap& gap) {
    const bool in_stream = blocks_.in_stream();
    auto found = search_.find(in_stream ? blocks_.layout().get() : nullptr, in_stream, end);
    if (search_.passed_end_block()) gap.chunks = 0;
    if (!found || !*found) return found;
    const auto first = input_.peek(1);
    if (!first) return tl::unexpected(first.error());
    if (gap.chunks == 0) gap.decoded_bytes = 0;
    if (first->front() == format::kStreamHeader.front())
      blocks_.resume_between_streams();
    else
      blocks_.resume(nullptr, blocks_.next_chunk() + gap.chunks);
    return true;
  }

  /// Goes to the first block that an index names and that is as it says.
  Result<bool> follow_hints(std::uint64_t place, SalvageGap& gap) {
    std::uint64_t passed = 0;
    std::uint64_t missing_bytes = 0;
    const std::uint64_t expected = blocks_.next_chunk();
    const auto account = [&](std::uint64_t chunks) {
      gap.chunks = chunks;
      if (chunks == passed) gap.decoded_bytes = missing_bytes;
    };
    for (; hints_.ahead(); hints_.advance()) {
      const IndexHint& hint = *hints_.ahead();
      input_.go_to(hint.byte);
      // What has just failed is not tried again.
      const bool failed = blocks_.in_stream() && hint.byte == place;
      auto here = failed ? Result<bool>(false) : is_as_said(hint);
      if (!here) return here;
      if (*here) {
        account(hints_.are_complete() && hint.number >= expected ? hint.number - expected
                                                                 : std::max(passed, gap.chunks));
        blocks_.resume(hint.layout, expected + gap.chunks);
        hints_.advance();  // never twice to the same place
        return true;
      }
      if (hint.is_end) continue;
      ++passed;
      missing_bytes += hint.decoded_bytes;
    }
    account(std::max(passed, gap.chunks));
    return false;
  }

  Result<bool> is_as_said(const IndexHint& hint) {
    search_.pass(hint.block_bytes);
    auto here = search_.block_is_here(hint.layout.get());
    if (!here || !*here) return here;
    const auto start = input_.peek(format::kMaxFrameBytes);
    if (!start) return tl::unexpected(start.error());
    format::Cursor cursor = format::cursor_over(*start);
    format::BlockFrame frame;
    (void)format::parse_block_frame(cursor, frame);  // the search has
    if (hint.is_end) return frame.tag == format::BlockTag::end;
    const auto block = input_.peek(frame.payload_at());
    if (!block) return tl::unexpected(block.error());
    cursor = format::cursor_over(block->subspan(frame.head_at));
    const std::uint64_t records = cursor.varint();
    cursor = format::cursor_over(block->subspan(frame.check_at()));
    const auto expected = hint.opaque ? format::BlockTag::opaque_chunk : format::BlockTag::chunk;
    return frame.tag == expected && records == hint.records &&
           frame.block_bytes() == hint.block_bytes &&
           cursor.fixed(format::kCheckBytes) == hint.check;
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
  IndexHints& hints_;
  SteadyBackend& backend_;
  const DecodeOptions& options_;
  const SalvageOptions& salvaging_;
  ProgressMeter& progress_;
  const Sink& sink_;
  BlockStream blocks_;
  BlockSearch search_;
  DecodeBatch batch_;
  std::vector<GapInBatch> gaps_;
  bool opened_ = false;
  std::uint64_t wasted_ = 0;
  std::uint64_t put_bytes_ = 0;
  SalvageReport report_;
};

}  // namespace

Result<SalvageReport> salvage_input(RewindInput& input, IndexHints& hints, SteadyBackend& backend,
                                    const DecodeOptions& options, const SalvageOptions& salvaging,
                                    ProgressMeter& progress, const Sink& sink) {
  try {
    return Salvager(input, hints, backend, options, salvaging, progress, sink).run();
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

Result<SalvageReport> salvage_file(const ReadAt& read_at, std::uint64_t file_bytes,
                                   const Sink& sink, const DecodeOptions& options,
                                   const SalvageOptions& salvaging) {
  try {
    RewindInput input(read_at, file_bytes);
    IndexHints hints(read_at, file_bytes);
    SteadyBackend backend(options.device, options.threads);
    ProgressMeter progress(options.progress, options.progress_user);
    return salvage_input(input, hints, backend, options, salvaging, progress, sink);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

}  // namespace gdelta
