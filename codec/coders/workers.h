// The threads that work on chunks and inside of them, and what each of them keeps from one to the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "codec/coders/work.h"

namespace gdelta {

class FrameEncoder;

/// Tuples that loops over a column take at a time, and how many such pieces are worth another thread.
inline constexpr std::uint64_t kColumnPiece = 4096;
inline constexpr std::uint64_t kFewestColumnPieces = 8;

/// Results never depend on how many threads there are, nor on which of them does what.
class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// The calling thread by itself.
  static Workers& alone();

  int threads() const { return threads_; }

  /// Calls function(i) for all i below `count`, in any order; what it throws comes out here. May be
  /// called from inside itself: a thread that waits for such an inner loop takes no other work, so
  /// that it never holds more than one thing of the outer one.
  template <class Function>
  void for_each(std::size_t count, const Function& function) {
    if (count <= 1 || threads_ == 1) {
      for (std::size_t i = 0; i < count; ++i) function(i);
      return;
    }
    run(
        count,
        [](const void* called, std::size_t i) { (*static_cast<const Function*>(called))(i); },
        &function);
  }

  /// Calls function(begin, end) for stretches that make up [0, count), each of `grain` or more unless
  /// it is all of them; a single one if there is a single thread.
  template <class Function>
  void for_ranges(std::uint64_t count, std::uint64_t grain, const Function& function) {
    const std::uint64_t ranges = num_ranges(count, grain);
    for_each(static_cast<std::size_t>(ranges),
             [&](std::size_t i) { function(count * i / ranges, count * (i + 1) / ranges); });
  }
  /// Does the same piece by piece, and tells `work` of each; nullptr: nobody wants to know.
  template <class Function>
  void for_ranges(std::uint64_t count, std::uint64_t grain, Work* work, const Function& function) {
    if (work == nullptr) return for_ranges(count, grain, function);
    const std::uint64_t piece = std::max(grain, count / kTellings + 1);
    for_ranges(count, grain, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t first = begin; first < end; first += piece) {
        const std::uint64_t behind = std::min(first + piece, end);
        function(first, behind);
        work->add(static_cast<double>(behind - first) / static_cast<double>(count));
      }
    });
  }
  /// How many stretches for_ranges makes, at least one.
  std::uint64_t num_ranges(std::uint64_t count, std::uint64_t grain) const;

  /// The calling thread's own.
  FrameEncoder& frame_encoder();

 private:
  static constexpr std::uint64_t kTellings = 64;
  struct Threads;  // keeps the library of threads, whose headers are long, out of this one
  class IdleThreads;

  using Call = void (*)(const void* function, std::size_t i);
  void run(std::size_t count, Call call, const void* function);

  int threads_;
  std::unique_ptr<Threads> of_library_;
};

}  // namespace gdelta
