// Batches of chunks that refer to the caller's memory, on their way to a backend and from there to a sink.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codec/stream/batch_turns.h"
#include "codec/stream/encode_budget.h"
#include "codec/stream/kept_memory.h"
#include "codec/stream/stream_emitter.h"

namespace gdelta {

/// `Batch` is as BatchTurns wants it, with `bytes`, those that its jobs hold beside it or refer to.
template <class Batch>
class MemoryBatches {
 public:
  MemoryBatches(StreamSink& sink, const EncodeOptions& options, const EncodeBudget& budget)
      : backend_(budget.device, budget.threads),
        most_bytes_(budget.batch_bytes),
        overlaps_(budget.overlap),
        progress_(options.progress, options.progress_user),
        sink_(sink),
        emitter_(sink) {}

  Result<void> open(std::uint64_t input_bytes) {
    if (auto opened = backend_.open(input_bytes); !opened) return opened;
    keep_freed_memory(std::min(input_bytes, most_bytes_));
    most_bytes_ = std::min(most_bytes_, backend_.batch_size().most_bytes);
    return {};
  }
  StreamEmitter& emitter() { return emitter_; }

  Batch& collecting() { return turns_.collecting(); }
  /// Whether a chunk of so many bytes belongs to another batch.
  bool is_full_before(std::uint64_t bytes) const {
    const Batch& batch = turns_.collecting();
    return !batch.jobs.empty() &&
           (batch.bytes + bytes > most_bytes_ || batch.jobs.size() >= kMostChunksToEncode);
  }

  /// `left`: bytes behind the batch.
  Result<void> send(const EncodeSettings& settings, std::uint64_t left) {
    const std::uint64_t bytes = turns_.collecting().bytes, before = emitter_.bytes_out();
    auto sent = overlaps_ ? turns_.send(settings) : turns_.flush(settings);
    const std::uint64_t out = emitter_.bytes_out();
    // The first that comes out tells about how much all the rest will be.
    const std::uint64_t in = overlaps_ ? sent_bytes_ : bytes;
    sent_bytes_ += bytes;
    if (sent && before == 0 && out > 0) sink_.expect(expected(out, in, left + (sent_bytes_ - in)));
    return sent;
  }
  /// Sends what is left, and ends the stream.
  Result<void> finish(const EncodeSettings& settings) {
    if (auto encoded = turns_.flush(settings); !encoded) return encoded;
    return emitter_.finish();
  }

 private:
  /// Of `left` bytes, if `in` bytes became `out`; a little more, for they are not all alike.
  static std::uint64_t expected(std::uint64_t out, std::uint64_t in, std::uint64_t left) {
    const double bytes =
        static_cast<double>(out) / static_cast<double>(in) * static_cast<double>(left);
    return static_cast<std::uint64_t>(std::min(bytes, static_cast<double>(left)) * 33 / 32);
  }

  SteadyBackend backend_;
  std::uint64_t most_bytes_;  // of a batch
  bool overlaps_;             // one is encoded while the one before is handed on
  ProgressMeter progress_;
  StreamSink& sink_;
  StreamEmitter emitter_;
  std::uint64_t sent_bytes_ = 0;
  BatchTurns<Batch> turns_{backend_, progress_, emitter_};
};

}  // namespace gdelta
