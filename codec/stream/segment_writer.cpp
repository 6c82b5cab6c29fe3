#include <algorithm>
#include <new>
#include <vector>

#include "codec/backend/steady_backend.h"
#include "codec/stream/call_guard.h"
#include "codec/stream/encode_budget.h"
#include "codec/stream/segment_cutter.h"
#include "codec/stream/segment_options.h"
#include "codec/stream/stream_emitter.h"
#include "gdelta/segment_stream.h"

namespace gdelta {

struct SegmentWriter::Impl {
  Impl(Sink sink_in, EncodeOptions options_in)
      : sink(std::move(sink_in)),
        options(std::move(options_in)),
        guard{.failure = check_segment_options(options)},
        budget(encode_budget(with_lengths(options), true)),
        backend(budget ? budget->device : options.device, budget ? budget->threads : 1),
        progress(options.progress, options.progress_user),
        record_bytes(options.layout ? options.layout->record_bytes() : 1),
        cutter(chunk_bytes_of(options), record_bytes) {
    if (guard.failure && !budget) guard.failure = tl::unexpected(budget.error());
    if (guard.failure) guard.failure = backend.open(std::nullopt);
    emitter.describe(options.metadata, note_of_segments(options));
  }

  Result<void> write(std::span<const std::byte> values) {
    if (values.size() % record_bytes != 0)
      return fail(Errc::invalid_argument, "a segment has whole records: one is torn");
    bytes_in += values.size();
    while (!values.empty()) {
      const std::size_t count = cutter.write(values);
      values = values.subspan(count);
      if (count > 0) continue;
      if (auto closed = close_chunk(); !closed) return closed;
    }
    return {};
  }

  Result<void> end_segment() {
    if (!cutter.end_segment()) {
      if (auto closed = close_chunk(); !closed) return closed;
      cutter.end_segment();
    }
    ++segments;
    return {};
  }

  Result<void> write_segments(std::span<const std::uint64_t> lengths,
                              std::span<const std::byte> values) {
    while (!lengths.empty()) {
      const auto whole = cutter.write_whole(lengths, values);
      bytes_in += whole.bytes;
      segments += whole.segments;
      values = values.subspan(whole.bytes);
      lengths = lengths.subspan(whole.segments);
      if (lengths.empty()) break;
      // One that ends the chunk.
      if (lengths[0] > values.size() / record_bytes)
        return fail(Errc::invalid_argument, "the segments are longer than their values");
      const auto bytes = static_cast<std::size_t>(lengths[0] * record_bytes);
      if (auto written = write(values.first(bytes)); !written) return written;
      if (auto ended = end_segment(); !ended) return ended;
      values = values.subspan(bytes);
      lengths = lengths.subspan(1);
    }
    if (values.empty()) return {};
    return fail(Errc::invalid_argument, "there are values behind the last segment");
  }

  Result<void> finish() {
    if (cutter.is_open())
      if (auto ended = end_segment(); !ended) return ended;
    if (cutter.has_chunk())
      if (auto closed = close_chunk(); !closed) return closed;
    if (auto sent = encode_batch(); !sent) return sent;
    if (auto ended = emitter.finish(); !ended) return ended;
    guard.finished = true;
    return {};
  }

  Result<void> close_chunk() {
    batch.push_back(cutter.take_chunk());
    batch_bytes += batch.back().bytes();
    const std::uint64_t most =
        std::min(backend.batch_size().bytes_of(chunk_bytes_of(options)), budget->batch_bytes);
    if (batch_bytes + chunk_bytes_of(options) <= most && batch.size() < kMostChunksToEncode)
      return {};
    return encode_batch();
  }

  Result<void> encode_batch() {
    std::vector<EncodeJob> jobs;
    for (const SegmentChunk& chunk : batch)
      jobs.push_back({.values = chunk.values,
                      .layout = &*options.layout,
                      .opaque = false,
                      .block = {},
                      .segments = chunk.segments()});
    if (auto encoded = backend.encode(jobs, segment_settings(options), progress); !encoded)
      return encoded;
    if (auto emitted = emitter.emit(jobs); !emitted) return emitted;
    batch.clear();
    batch_bytes = 0;
    return {};
  }

  Sink sink;
  EncodeOptions options;
  CallGuard guard;
  Result<EncodeBudget> budget;
  SteadyBackend backend;
  ProgressMeter progress;
  FunctionSink function_sink{sink};
  StreamEmitter emitter{function_sink};

  std::uint64_t record_bytes;
  SegmentCutter cutter;
  std::vector<SegmentChunk> batch;
  std::uint64_t batch_bytes = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t segments = 0;
};

SegmentWriter::SegmentWriter(Sink sink, EncodeOptions options)
    : impl_(std::make_unique<Impl>(std::move(sink), std::move(options))) {}
SegmentWriter::SegmentWriter(SegmentWriter&&) noexcept = default;
SegmentWriter& SegmentWriter::operator=(SegmentWriter&&) noexcept = default;
SegmentWriter::~SegmentWriter() = default;

Result<void> SegmentWriter::write(std::span<const std::byte> values) {
  return impl_->guard.run([&] { return impl_->write(values); });
}

Result<void> SegmentWriter::end_segment() {
  return impl_->guard.run([&] { return impl_->end_segment(); });
}

Result<void> SegmentWriter::write_segments(std::span<const std::uint64_t> lengths,
                                           std::span<const std::byte> values) {
  return impl_->guard.run([&] { return impl_->write_segments(lengths, values); });
}

Result<void> SegmentWriter::finish() {
  return impl_->guard.run([&] { return impl_->finish(); });
}

std::uint64_t SegmentWriter::bytes_in() const { return impl_->bytes_in; }
std::uint64_t SegmentWriter::bytes_out() const { return impl_->emitter.bytes_out(); }
std::uint64_t SegmentWriter::segments() const { return impl_->segments; }

}  // namespace gdelta
