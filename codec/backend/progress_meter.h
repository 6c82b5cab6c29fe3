// Counts the uncompressed bytes of chunks that are done and tells the caller of the library, chunk by
// chunk, from whatever thread finishes one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "gdelta/codec.h"

namespace gdelta {

class ProgressMeter {
 public:
  /// Tells nobody.
  ProgressMeter() = default;
  ProgressMeter(ProgressFunction function, void* user) : function_(function), user_(user) {}

  /// A chunk of so many bytes is done. Calls come from any thread; the caller's function is called
  /// for one after the other, with numbers that never fall.
  void add(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    done_ += bytes;
    told_ = std::max(told_, done_);
    if (function_ == nullptr || stopped_) return;
    if (!function_(told_, user_)) stopped_ = true;
  }

  /// The caller asked to stop: what has not begun is left out.
  bool stopped() const { return stopped_; }

  std::uint64_t done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  /// What was done since `done` was so much is done again, and not told a second time.
  void rewind(std::uint64_t done) {
    const std::lock_guard lock(mutex_);
    done_ = done;
  }

 private:
  ProgressFunction function_ = nullptr;
  void* user_ = nullptr;
  mutable std::mutex mutex_;
  std::uint64_t done_ = 0;
  std::uint64_t told_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace gdelta
