// The backend a stream works with: opened when the first batch is there, and replaced by the CPU
// if a GPU fails. Since all backends write the same bytes, nobody downstream notices.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "codec/backend/backend.h"

namespace gdelta {

class SteadyBackend {
 public:
  SteadyBackend(std::string device, int threads);
  /// Works with a backend that is open already.
  SteadyBackend(std::unique_ptr<Backend> backend, int threads);

  /// Does nothing if it is open. `input_bytes` is the length of the whole input, if known.
  /// Errors      invalid_argument, unsupported_backend
  Result<void> open(std::optional<std::uint64_t> input_bytes);

  /// The rest may be called once it is open. Batches: one at a time, from any thread.
  /// Those of the first backend, whatever replaces it; may be called while a batch is being worked on.
  BatchSize batch_size() const { return batch_size_; }
  Result<void> encode(std::span<EncodeJob> jobs, const EncodeSettings& settings,
                      ProgressMeter& progress);
  Result<void> decode(std::span<DecodeJob> jobs, bool verify, ProgressMeter& progress);

  /// What was asked for, until it is open. May be called while a batch is being worked on.
  std::string name() const;
  std::vector<std::string> take_warnings();

 private:
  Result<void> fall_back(const Error& error);

  std::string device_;
  int threads_;
  std::unique_ptr<Backend> backend_;
  BatchSize batch_size_;
  mutable std::mutex mutex_;  // over what the caller's thread may look at: name and warnings
  std::string name_;
  std::vector<std::string> warnings_;
};

}  // namespace gdelta
