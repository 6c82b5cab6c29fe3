// The threads that work on chunks and inside of them, and what each of them keeps from one to the next.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codec/coders/work.h"
#include "codec/coders/zstd_section.h"

namespace gdelta {

/// Tuples that loops over a column take at a time, and how many such pieces are worth another thread.
inline constexpr std::uint64_t kColumnPiece = 4096;
inline constexpr std::uint64_t kFewestColumnPieces = 8;

/// Results never depend on how many threads there are, nor on which of them does what.
class Workers {
 public:
  explicit Workers(int threads) : threads_(threads), arena_(threads) {}

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
    arena_.execute([&] {
      tbb::this_task_arena::isolate(
          [&] { tbb::parallel_for(std::size_t{0}, count, function, tbb::simple_partitioner()); });
    });
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
  FrameEncoder& frame_encoder() { return frame_encoders_.local(); }

  tbb::task_arena& arena() { return arena_; }

 private:
  static constexpr std::uint64_t kTellings = 64;

  int threads_;
  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<FrameEncoder> frame_encoders_;
};

}  // namespace gdelta
