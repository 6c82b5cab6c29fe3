#include <future>
#include <new>

#include "codec/stream/decode_batch.h"
#include "codec/stream/salvage.h"
#include "codec/stream/segment_ends.h"
#include "gdelta/stream.h"

namespace gdelta {

// Two batches take turns: while a thread decodes one, the caller's thread hands the values of the
// other to the sink and then fills it anew from the source.
struct Reader::Impl {
  Impl(Source source, DecodeOptions options_in)
      : options(std::move(options_in)),
        input(std::move(source)),
        blocks(input, options.memory_limit),
        backend(options.device, options.threads),
        progress(options.progress, options.progress_user),
        batches{DecodeBatch(cpu_threads(options.threads)),
                DecodeBatch(cpu_threads(options.threads))} {}
  ~Impl() {
    if (decoding.valid()) decoding.wait();
  }

  /// Everything up to the first error, which is returned. Nobody may want to know of segments.
  Result<void> read_all(const Sink& sink, const EndSink& ends);

  void fill_batch();
  Result<bool> take_pending(DecodeBatch& batch);
  Result<void> decode(DecodeBatch& batch);
  Result<void> deliver(DecodeBatch& batch, const Sink& sink, const EndSink& ends);
  std::uint64_t batch_bytes() const;
  bool fits(const DecodeBatch& batch) const;
  std::optional<Error> over_limits(const ChunkBlock& chunk) const;

  DecodeOptions options;
  SourceInput input;
  BlockStream blocks;
  SteadyBackend backend;
  ProgressMeter progress;
  bool opened = false;
  std::uint64_t bytes_out = 0;

  DecodeBatch batches[2];
  int filling = 0;
  std::future<Result<void>> decoding;  // of the other batch
  std::uint64_t held_bytes = 0;        // by the other batch while it is decoded
  std::uint64_t bytes_taken = 0;       // decoded bytes of the chunks read so far

  std::optional<ChunkBlock> pending;  // read, but not its payload
  SegmentEnds segment_ends;
  bool at_end = false;
  std::optional<Error> input_error;  // after the chunks read so far
};

/// With the pending chunk.
std::uint64_t Reader::Impl::batch_bytes() const {
  return opened ? backend.batch_size().bytes_of(pending->decoded_bytes) : kFirstBatchBytes;
}

/// Why a chunk is refused whatever else is held.
std::optional<Error> Reader::Impl::over_limits(const ChunkBlock& chunk) const {
  DecodeLoad alone(1);
  alone.add(chunk);
  if (alone.bytes() > options.memory_limit)
    return chunk_over_limit(chunk.number, chunk.byte, alone.bytes(), options.memory_limit);
  if (chunk.decoded_bytes > options.output_limit - bytes_taken) {
    Error error = output_over_limit(options.output_limit);
    error.chunk = chunk.number;
    error.byte = chunk.byte;
    return error;
  }
  return std::nullopt;
}

/// Whether the memory limit holds with the pending chunk in `batch` as well.
bool Reader::Impl::fits(const DecodeBatch& batch) const {
  const std::uint64_t other = decoding.valid() ? held_bytes : batches[1 - filling].held_bytes();
  return batch.held_bytes_with(*pending) + other <= options.memory_limit;
}

/// Adds the pending chunk; false if the batch is full.
Result<bool> Reader::Impl::take_pending(DecodeBatch& batch) {
  if (auto refused = over_limits(*pending)) return tl::unexpected(std::move(*refused));
  if (batch.is_full_for(*pending, batch_bytes())) return false;
  if (!fits(batch)) {
    // What is kept for later goes first; then what is being decoded.
    if (batch.empty()) batch.clear(false);
    if (!decoding.valid()) batches[1 - filling].clear(false);
    if (!fits(batch)) return false;
  }
  bytes_taken += pending->decoded_bytes;
  if (auto added = batch.add(blocks, std::move(*pending)); !added)
    return tl::unexpected(std::move(added.error()));
  pending.reset();
  return true;
}

/// Collects chunks until the batch is full, the input ends or fails.
void Reader::Impl::fill_batch() {
  DecodeBatch& batch = batches[filling];
  while (!at_end && !input_error) {
    if (!pending) {
      auto next = blocks.next();
      if (!next) {
        input_error = std::move(next.error());
        break;
      }
      pending = std::move(*next);
      at_end = !pending;
      if (at_end) break;
    }
    const auto taken = take_pending(batch);
    if (!taken) input_error = taken.error();
    if (!taken || !*taken) break;
  }
}

Result<void> Reader::Impl::decode(DecodeBatch& batch) {
  try {
    return batch.decode(backend, options.verify, progress);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

/// Hands over what came out whole, then the error of the first chunk that did not.
Result<void> Reader::Impl::deliver(DecodeBatch& batch, const Sink& sink, const EndSink& ends) {
  const std::span<const std::byte> values = batch.good_values();
  if (!values.empty()) {
    if (auto put = sink(values); !put) return put;
  }
  if (ends)
    if (auto told = segment_ends.tell(batch, ends); !told) return told;
  const std::size_t good = batch.good_chunks();
  bytes_out += values.size();
  if (good < batch.size()) return tl::unexpected(*batch.error_of(good));
  const bool may_keep_memory = batch.held_bytes() <= options.memory_limit / kKeptShare;
  batch.clear(may_keep_memory);
  return {};
}

Result<void> Reader::Impl::read_all(const Sink& sink, const EndSink& ends) {
  for (;;) {
    fill_batch();
    if (!opened && !batches[filling].empty()) {
      std::optional<std::uint64_t> decoded_bytes;
      if (at_end || input_error) decoded_bytes = batches[filling].decoded_bytes();
      if (auto open = backend.open(decoded_bytes); !open) return open;
      opened = true;
    }
    DecodeBatch& full = batches[filling];
    DecodeBatch& before = batches[1 - filling];
    const bool decoded = decoding.valid();
    if (decoded) {
      auto done = decoding.get();
      if (!done) return done;
      held_bytes = 0;
    }
    if (full.empty() && !decoded) break;
    const bool last = at_end || input_error.has_value();
    if (!full.empty()) {
      full.spread_within(options.memory_limit - before.held_bytes());
      held_bytes = full.held_bytes();
      // A single batch is decoded here: there is nothing to overlap with.
      const auto launch = last && !decoded ? std::launch::deferred : std::launch::async;
      decoding = std::async(launch, [this, &full] { return decode(full); });
    }
    filling = 1 - filling;
    if (decoded) {
      if (auto delivered = deliver(before, sink, ends); !delivered) return delivered;
    }
  }
  if (input_error) return tl::unexpected(*input_error);
  return {};
}

Reader::Reader(Source source, DecodeOptions options)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(options))) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<void> Reader::run(const Sink& sink) { return run_segments(sink, nullptr); }

Result<void> Reader::run_segments(const Sink& sink, const EndSink& ends) {
  try {
    return impl_->read_all(sink, ends);
  } catch (const std::bad_alloc&) {
    return fail(Errc::out_of_memory, "no memory to decompress");
  }
}

Result<SalvageReport> Reader::salvage(const Sink& sink, const SalvageOptions& salvaging) {
  RewindInput input(impl_->input);
  IndexFollower none;
  auto report =
      salvage_input(input, none, impl_->backend, impl_->options, salvaging, impl_->progress, sink);
  if (report) impl_->bytes_out = report->bytes + report->filled_bytes;
  return report;
}

std::uint64_t Reader::bytes_in() const { return impl_->input.at(); }
std::uint64_t Reader::bytes_out() const { return impl_->bytes_out; }
std::string Reader::device() const { return impl_->backend.name(); }
std::vector<std::string> Reader::take_warnings() { return impl_->backend.take_warnings(); }

}  // namespace gdelta
