#include <algorithm>
#include <future>
#include <new>
#include <vector>

#include "codec/backend/steady_backend.h"
#include "codec/stream/encode_budget.h"
#include "codec/stream/encode_plan.h"
#include "codec/stream/stream_emitter.h"
#include "codec/stream/walk/byte_buffer.h"
#include "gdelta/stream.h"

namespace gdelta {

namespace {

/// Chunks collected for one call of the backend.
struct Batch {
  ByteBuffer bytes;
  std::vector<Piece> pieces;  // closed ones, from the start of `bytes`
  std::uint64_t closed_bytes = 0;
  std::vector<EncodeJob> jobs;

  std::uint64_t open_bytes() const { return bytes.size() - closed_bytes; }
  void close(Piece piece) {
    if (piece.bytes == 0) return;
    pieces.push_back(piece);
    closed_bytes += piece.bytes;
  }
  void clear() {
    bytes.clear();
    pieces.clear();
    closed_bytes = 0;
    jobs.clear();
  }
};

}  // namespace

// Two batches take turns: one collects what is written, the other is encoded by a thread of its own
// and then handed to the sink, from the caller's thread, when the first is full.
struct Writer::Impl {
  Impl(Sink sink_in, EncodeOptions options_in)
      : sink(std::move(sink_in)),
        options(std::move(options_in)),
        budget(encode_budget(options, true)),
        backend(budget ? budget->device : options.device, budget ? budget->threads : 1),
        progress(options.progress, options.progress_user),
        emitter(sink),
        failure(check_options(options)) {
    if (failure && !budget) failure = tl::unexpected(budget.error());
  }
  ~Impl() {
    if (encoding.valid()) encoding.wait();
  }

  Result<void> write(std::span<const std::byte> values);
  Result<void> flush();
  Result<void> finish();

  Result<void> start();
  Result<void> collect(std::span<const std::byte> values);
  Result<void> close_open_chunk();
  Result<void> send_batch();
  Result<void> await_batch();
  Result<void> encode_here();
  Result<void> emit(Batch& batch);
  void make_jobs(Batch& batch);

  /// Runs one call of the caller. The first error is remembered and given again by later calls.
  template <class Call>
  Result<void> guarded(Call call) {
    if (!failure) return failure;
    if (finished) return fail(Errc::invalid_argument, "the stream is finished");
    try {
      failure = call();
    } catch (const std::bad_alloc&) {
      failure = fail(Errc::out_of_memory, "no memory to compress");
    }
    return failure;
  }

  Sink sink;
  EncodeOptions options;
  EncodeSettings settings;
  Result<EncodeBudget> budget;
  SteadyBackend backend;
  ProgressMeter progress;
  StreamEmitter emitter;
  Result<void> failure;
  bool finished = false;

  std::optional<std::uint64_t> total_bytes;
  std::uint64_t bytes_in = 0;
  ByteBuffer sample;  // the beginning of the input, until the plan is made
  std::optional<PlannedInput> planned;
  std::optional<ChunkCutter> cutter;

  Batch batches[2];
  int collecting = 0;
  std::future<Result<void>> encoding;  // of the other batch
};

/// Decides what the input is and passes on what was kept back for that.
Result<void> Writer::Impl::start() {
  if (auto opened = backend.open(total_bytes); !opened) return opened;
  planned = plan_input(options, sample.all(), total_bytes);
  settings = encode_settings(options, *planned);
  cutter.emplace(planned->plan, chunk_bytes_of(options));
  const ByteBuffer kept = std::exchange(sample, {});
  return collect(kept.all());
}

Result<void> Writer::Impl::write(std::span<const std::byte> values) {
  bytes_in += values.size();
  if (!planned) {
    const std::size_t kept = sample.size();
    const std::size_t taken = std::min(values.size(), kSampleBytes - kept);
    if (!sample.resize(kept + taken)) throw std::bad_alloc();
    std::copy_n(values.begin(), taken, sample.data() + kept);
    if (sample.size() < kSampleBytes) return {};
    if (auto started = start(); !started) return started;
    values = values.subspan(taken);
  }
  return collect(values);
}

Result<void> Writer::Impl::collect(std::span<const std::byte> values) {
  while (!values.empty()) {
    Batch& batch = batches[collecting];
    const Piece next = cutter->next();
    const std::size_t had = batch.bytes.size();
    const auto count = static_cast<std::size_t>(
        std::min<std::uint64_t>(values.size(), next.bytes - batch.open_bytes()));
    if (!batch.bytes.resize(had + count)) throw std::bad_alloc();
    std::copy_n(values.begin(), count, batch.bytes.data() + had);
    values = values.subspan(count);
    if (batch.open_bytes() < next.bytes) continue;
    if (auto closed = close_open_chunk(); !closed) return closed;
  }
  return {};
}

Result<void> Writer::Impl::close_open_chunk() {
  Batch& batch = batches[collecting];
  if (batch.open_bytes() > 0) {
    const Pieces pieces = cutter->cut(batch.open_bytes());
    batch.close(pieces.first);
    batch.close(pieces.second);
  }
  const std::uint64_t most = std::min(backend.batch_bytes(), budget->batch_bytes);
  if (batch.closed_bytes + cutter->next().bytes <= most &&
      batch.pieces.size() < kMostChunksToEncode)
    return {};
  return budget->overlap ? send_batch() : encode_here();
}

void Writer::Impl::make_jobs(Batch& batch) {
  std::span<const std::byte> rest = batch.bytes.all();
  batch.jobs.clear();
  for (const Piece& piece : batch.pieces) {
    const auto bytes = static_cast<std::size_t>(piece.bytes);
    batch.jobs.push_back({rest.first(bytes),
                          piece.opaque ? &byte_layout() : &planned->plan.layout,
                          piece.opaque,
                          {}});
    rest = rest.subspan(bytes);
  }
}

/// Waits for the batch before, starts encoding this one, hands the one before to the sink.
Result<void> Writer::Impl::send_batch() {
  Batch& full = batches[collecting];
  if (full.pieces.empty()) return {};
  Batch& before = batches[1 - collecting];
  const bool encoded = encoding.valid();
  if (encoded) {
    if (auto done = encoding.get(); !done) return done;
  }
  make_jobs(full);
  encoding = std::async(std::launch::async, [this, &full]() -> Result<void> {
    try {
      return backend.encode(full.jobs, settings, progress);
    } catch (const std::bad_alloc&) {
      return fail(Errc::out_of_memory, "no memory to compress");
    }
  });
  collecting = 1 - collecting;
  if (!encoded) return {};
  return emit(before);
}

/// Until nothing is under way.
Result<void> Writer::Impl::await_batch() {
  if (!encoding.valid()) return {};
  if (auto done = encoding.get(); !done) return done;
  return emit(batches[1 - collecting]);
}

Result<void> Writer::Impl::emit(Batch& batch) {
  for (const EncodeJob& job : batch.jobs) {
    if (auto put = emitter.emit(job); !put) return put;
  }
  batch.clear();
  return {};
}

Result<void> Writer::Impl::flush() {
  if (!planned && sample.size() > 0) {
    if (auto started = start(); !started) return started;
  }
  if (!planned) return {};
  if (auto closed = close_open_chunk(); !closed) return closed;
  if (encoding.valid()) {
    if (auto sent = send_batch(); !sent) return sent;
    return await_batch();
  }
  // Nothing to overlap with: no need for a thread.
  return encode_here();
}

/// Encodes and hands on what was collected.
Result<void> Writer::Impl::encode_here() {
  Batch& batch = batches[collecting];
  if (batch.pieces.empty()) return {};
  make_jobs(batch);
  if (auto encoded = backend.encode(batch.jobs, settings, progress); !encoded) return encoded;
  return emit(batch);
}

Result<void> Writer::Impl::finish() {
  if (!planned) total_bytes = bytes_in;
  if (auto flushed = flush(); !flushed) return flushed;
  if (auto ended = emitter.finish(); !ended) return ended;
  finished = true;
  return {};
}

Writer::Writer(Sink sink, EncodeOptions options)
    : impl_(std::make_unique<Impl>(std::move(sink), std::move(options))) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

void Writer::set_total_bytes(std::uint64_t bytes) { impl_->total_bytes = bytes; }

Result<void> Writer::write(std::span<const std::byte> values) {
  return impl_->guarded([&] { return impl_->write(values); });
}

Result<void> Writer::flush() {
  return impl_->guarded([&] { return impl_->flush(); });
}

Result<void> Writer::finish() {
  return impl_->guarded([&] { return impl_->finish(); });
}

std::uint64_t Writer::bytes_in() const { return impl_->bytes_in; }
std::uint64_t Writer::bytes_out() const { return impl_->emitter.bytes_out(); }

std::optional<Layout> Writer::layout() const {
  if (!impl_->planned) return std::nullopt;
  return impl_->planned->plan.layout;
}

std::string_view Writer::layout_origin() const {
  return impl_->planned ? impl_->planned->origin : std::string_view();
}

std::string Writer::device() const { return impl_->backend.name(); }
std::vector<std::string> Writer::take_warnings() { return impl_->backend.take_warnings(); }

}  // namespace gdelta
