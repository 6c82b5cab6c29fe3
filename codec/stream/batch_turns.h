// Two batches of chunks take turns: one is collected, the other encoded by a thread of its own and then handed to the
// sink, from the caller's thread, when the first is full.
#pragma once

#include <future>
#include <new>
#include <system_error>

#include "codec/backend/steady_backend.h"
#include "codec/stream/stream_emitter.h"

namespace gdelta {

/// `Batch` has `jobs`, which are there when it is sent, and `clear()`. Refers to what it is given.
template <class Batch>
class BatchTurns {
 public:
  BatchTurns(SteadyBackend& backend, ProgressMeter& progress, StreamEmitter& emitter)
      : backend_(backend), progress_(progress), emitter_(emitter) {}

  Batch& collecting() { return batches_[collecting_]; }
  const Batch& collecting() const { return batches_[collecting_]; }

  /// Waits for the batch before, starts encoding what was collected, and hands the one before to the sink.
  Result<void> send(const EncodeSettings& settings) {
    Batch& full = collecting();
    const bool follows = encoding_.valid();
    if (follows)
      if (auto encoded = encoding_.get(); !encoded) return encoded;
    start(full, settings);
    collecting_ = 1 - collecting_;
    return follows ? emit(collecting()) : Result<void>{};
  }

  /// Encodes and hands on all that was collected. Nothing is under way when it returns.
  Result<void> flush(const EncodeSettings& settings) {
    if (encoding_.valid()) {
      if (auto sent = send(settings); !sent) return sent;
      if (auto encoded = encoding_.get(); !encoded) return encoded;
      return emit(batches_[1 - collecting_]);
    }
    // Nothing to overlap with: no need for a thread.
    if (auto encoded = encode(collecting(), settings); !encoded) return encoded;
    return emit(collecting());
  }

 private:
  Result<void> encode(Batch& batch, const EncodeSettings& settings) {
    try {
      if (batch.jobs.empty()) return {};
      return backend_.encode(batch.jobs, settings, progress_);
    } catch (const std::bad_alloc&) {
      return fail(Errc::out_of_memory, "no memory to compress");
    }
  }

  void start(Batch& batch, const EncodeSettings& settings) {
    const auto run = [this, &batch, settings] { return encode(batch, settings); };
    try {
      encoding_ = std::async(std::launch::async, run);
    } catch (const std::system_error&) {  // there is no thread to be had
      encoding_ = std::async(std::launch::deferred, run);
    }
  }

  Result<void> emit(Batch& batch) {
    if (auto emitted = emitter_.emit(batch.jobs); !emitted) return emitted;
    batch.clear();
    return {};
  }

  SteadyBackend& backend_;
  ProgressMeter& progress_;
  StreamEmitter& emitter_;
  Batch batches_[2];
  int collecting_ = 0;
  std::future<Result<void>> encoding_;  // of the other batch; before that one is gone, it has ended
};

}  // namespace gdelta
