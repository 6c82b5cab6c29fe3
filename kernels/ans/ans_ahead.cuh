// A stretch of a page that a warp reads from front to back, in a ring in shared memory: asynchronous
// copies bring what comes next while the tile before it is decoded.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/device/warp.cuh"

namespace gdelta::cuda {

/// Places are bytes behind `base`, which is aligned to 16. A ring of `kRingBytes`, a power of two, is filled by segments; it
/// has what comes next in time where two steps take a segment less than it holds. Its first `kAgain` bytes lie
/// behind its end a second time, so that as many can be read from any place without a turn.
template <std::uint32_t kRingBytes, std::uint32_t kAgain = 0, std::uint32_t kSegmentBytes = 256>
class RingAhead {
 public:
  static constexpr std::uint32_t kBytes = kRingBytes, kSegment = kSegmentBytes;
  static constexpr std::uint32_t kSharedBytes = kRingBytes + kAgain;
  static_assert(kSegment <= 512 && kAgain % 16 == 0);

  /// The whole warp calls it, as all of these. The stretch is [place, end). `ring` has kSharedBytes, aligned to 16; memory
  /// is readable from the last multiple of 16 up to the next one.
  __device__ void begin(unsigned char* ring, const unsigned char* base, std::uint32_t place,
                        std::uint32_t end, int thread) {
    end_ = end;
    fetched_ = place / 16 * 16;
    landed_ = 0;
    advance(ring, base, place, thread);
  }
  /// What was asked for has come: the caller has waited.
  __device__ void land() { landed_ = fetched_; }
  /// Whether the ring has all before `place`.
  __device__ bool has(std::uint32_t place) const { return place <= landed_; }
  /// Whether all before `place` has been asked for.
  __device__ bool has_asked(std::uint32_t place) const { return place <= fetched_; }
  /// Asks for what has room when all before `place` has been read, in the ring or past it. What was
  /// passed is never fetched: it would land where later bytes do, in any order.
  __device__ void advance(unsigned char* ring, const unsigned char* base, std::uint32_t place,
                          int thread) {
    place = place / 16 * 16;
    fetched_ = max(fetched_, place);
#pragma unroll 1  // seldom more than one
    while (fetched_ + kSegment <= place + kRingBytes) fetch(ring, base, thread);
  }
  /// Four bytes from memory; of the last ones for places behind.
  __device__ std::uint32_t memory_word(const unsigned char* base, std::uint32_t word) const {
    return reinterpret_cast<const std::uint32_t*>(base)[min(word, (end_ - 1) / 4)];
  }
  __device__ std::uint32_t end() const { return end_; }

 private:
  /// A segment of half a warp's vectors is copied again, where that is wanted, by the other half.
  __device__ void fetch(unsigned char* ring, const unsigned char* base, int thread) {
    constexpr std::uint32_t kCopies = kSegment / 16;
    const std::uint32_t vector = static_cast<std::uint32_t>(thread);
    const std::uint32_t at = fetched_ + 16 * (kCopies == 32 ? vector : vector % kCopies);
    std::uint32_t to = at % kRingBytes;
    fetched_ += kSegment;
    bool copies = kCopies == 32 || vector < kCopies;
    if constexpr (kCopies < 32 && kAgain > 0) {
      if (!copies && to < kAgain) {
        to += kRingBytes;
        copies = true;
      }
    }
    if (!copies || at >= end_) return;
    __pipeline_memcpy_async(ring + to, base + at, 16);
    if constexpr (kCopies == 32 && kAgain > 0) {
      if (to < kAgain) __pipeline_memcpy_async(ring + kRingBytes + to, base + at, 16);
    }
  }

  std::uint32_t end_, fetched_, landed_;
};

}  // namespace gdelta::cuda
