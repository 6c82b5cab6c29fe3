// Counts the uncompressed bytes that are done and tells the caller of the library, chunk by chunk and inside
// of long ones, from whatever thread does them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "codec/coders/work.h"
#include "gdelta/codec.h"

namespace gdelta {

class ProgressMeter {
 public:
  /// Tells nobody.
  ProgressMeter() = default;
  ProgressMeter(ProgressFunction function, void* user) : function_(function), user_(user) {}

  /// So many bytes are done. Calls come from any thread; the caller's function is called
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
  /// The same of so many bytes.
  void take_back(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    done_ -= bytes;
  }

 private:
  ProgressFunction function_ = nullptr;
  void* user_ = nullptr;
  mutable std::mutex mutex_;
  std::uint64_t done_ = 0;
  std::uint64_t told_ = 0;
  std::atomic<bool> stopped_ = false;
};

/// The work on one chunk, in bytes of it.
class ChunkProgress final : public Work {
 public:
  ChunkProgress(ProgressMeter& meter, std::uint64_t bytes) : meter_(meter), bytes_(bytes) {}

  void add(double share) override {
    const std::lock_guard lock(mutex_);
    share_ = std::min(share_ + share, 1.0);
    const auto done = static_cast<std::uint64_t>(share_ * static_cast<double>(bytes_));
    if (done < told_ + kWorthTelling || done >= bytes_) return;
    meter_.add(done - told_);
    told_ = done;
  }
  /// All of it is done.
  void finish() { meter_.add(bytes_ - told_); }
  /// None of it is: it cannot be done.
  void take_back() { meter_.take_back(told_); }

 private:
  static constexpr std::uint64_t kWorthTelling = 4 << 10;

  ProgressMeter& meter_;
  std::uint64_t bytes_;
  std::mutex mutex_;
  double share_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace gdelta
