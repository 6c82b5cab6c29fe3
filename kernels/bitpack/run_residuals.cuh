// From a thread's run of a tile, as it is loaded, to its residuals, zigzagged: what both looks at a page begin with.
//
// Differences are taken lane by lane, in words of their own, with the values in the upper bits: there they wrap as the
// values do, and the sign of one is its word's. Of bytes, if they are taken as they are and all lanes have one order,
// they are taken of the four bytes of a loaded word at once, and only then put apart.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/bitpack/page_runs.cuh"
#include "kernels/device/byte_signs.cuh"

namespace gdelta::cuda {

// ---- Four bytes in a word

inline constexpr std::uint32_t kByteSigns = 0x80808080;

/// Each byte less its counterpart. Signs are kept out of the way of borrows and put in behind.
__device__ inline std::uint32_t subtract_bytes(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t rest = (a | kByteSigns) - (b & ~kByteSigns);
  return rest ^ ((a ^ ~b) & kByteSigns);
}

__device__ inline std::uint32_t zigzag_bytes(std::uint32_t bytes) {
  constexpr std::uint32_t kLowest = kByteSigns >> 7;
  return (bytes << 1 & ~kLowest) ^ device::byte_signs(bytes);
}

// ---- Runs

/// What stands before the next tile, and what residuals it has. Each warp has one, in shared memory.
template <class Shape>
struct RunResiduals {
  using Word = typename Shape::Word;
  static constexpr int kRun = Shape::kRun, kRunWords = Shape::kRunWords;

  LaneHistory<Shape> lanes;
  // Of a tuple of bytes the same, in the upper bytes of a word.
  std::uint32_t bytes[Shape::kValueBytes == 1 ? kMaxDeltaOrder : 1];

  __device__ void load(const typename Shape::Task& task, const PackFront<Shape>& front,
                       std::uint32_t first, int thread) {
    lanes.template load<Shape::kSpareBits>(task, first, thread);
    if constexpr (Shape::kValueBytes == 1) {
      if (thread < front.orders[0] && is_of_bytes(front)) {
        std::uint32_t tuple = 0;
#pragma unroll
        for (int lane = 0; lane < Shape::kTuple; ++lane)
          tuple |= lanes.before[lane][thread] >> 8 * (Shape::kTuple - 1 - lane);
        bytes[thread] = tuple;
      }
      __syncwarp();  // it is there
    }
  }

  /// The next tile's, which begins at tuple `first` of the column, in the lower bits; zero once `left` tuples of the column,
  /// counted from the tile, have ended.
  __device__ void take(const PackFront<Shape>& front, const EarlierRuns<Shape>& earlier,
                       const std::uint32_t (&run)[kRunWords], std::uint32_t first,
                       std::uint32_t left, int thread, Word (&residuals)[Shape::kTuple][kRun]) {
    if constexpr (Shape::kValueBytes == 1) {
      if (is_of_bytes(front)) {
        take_bytes(front.orders[0], earlier, run, first, thread, residuals);
      } else {
        take_lanes(front, earlier, run, first, thread, residuals);
      }
    } else {
      take_lanes(front, earlier, run, first, thread, residuals);
    }
    if (left >= Shape::kTile) return;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      if (static_cast<std::uint32_t>(kRun * thread + i) < left) continue;
#pragma unroll
      for (auto& lane : residuals) lane[i] = 0;
    }
  }

 private:
  __device__ static bool is_of_bytes(const PackFront<Shape>& front) {
    // Where there are strides, there may be steps, or none.
    bool same = (!Shape::kSteps || Shape::kStrides) && front.map == 0 && front.orders[0] > 0;
#pragma unroll
    for (int lane = 1; lane < Shape::kTuple; ++lane) {
      same &= front.orders[lane] == front.orders[0];
      if constexpr (Shape::kSteps) same &= front.sources[lane] == 0;
    }
    return same;
  }

  __device__ void take_bytes(int order, const EarlierRuns<Shape>& earlier,
                             const std::uint32_t (&run)[kRunWords], std::uint32_t first, int thread,
                             Word (&residuals)[Shape::kTuple][kRun]) {
    std::uint32_t all[1 + kRunWords];  // with the word before the run
#pragma unroll
    for (int i = 0; i < kRunWords; ++i) all[1 + i] = run[i];
    if constexpr (Shape::kStrides) {
      std::uint32_t before[kRunWords];
      earlier.load(first, thread, before);
#pragma unroll
      for (int i = 0; i < kRunWords; ++i) all[1 + i] = subtract_bytes(run[i], before[i]);
    }
#pragma unroll 1
    for (int k = 0; k < order; ++k) {
      all[0] = __shfl_sync(device::kWholeWarp, all[kRunWords], (thread + 31) & 31);
      if (thread == 0) {
        const std::uint32_t history = bytes[k];
        bytes[k] = all[0];
        all[0] = history;
      }
#pragma unroll
      for (int i = kRunWords; i > 0; --i) {
        const std::uint32_t before =
            __funnelshift_r(all[i - 1], all[i], 8 * (4 - Shape::kTupleBytes));
        all[i] = subtract_bytes(all[i], before);
      }
    }
#pragma unroll
    for (int i = 0; i < kRunWords; ++i) {
      const std::uint32_t zigzagged = zigzag_bytes(all[1 + i]);
#pragma unroll
      for (int byte = 0; byte < 4; ++byte) {
        const int n = 4 * i + byte;
        residuals[n % Shape::kTuple][n / Shape::kTuple] = __byte_perm(zigzagged, 0, 0x4440 | byte);
      }
    }
  }

  __device__ void take_lanes(const PackFront<Shape>& front, const EarlierRuns<Shape>& earlier,
                             const std::uint32_t (&run)[kRunWords], std::uint32_t first, int thread,
                             Word (&residuals)[Shape::kTuple][kRun]) {
    const auto read = [&](const std::uint32_t(&words)[kRunWords],
                          Word(&values)[Shape::kTuple][kRun]) {
      raise_values(front, words, values);
      take_steps(front, values);
    };
    read(run, residuals);
    if constexpr (Shape::kStrides) earlier.take_from(residuals, first, thread, read);
#pragma unroll
    for (int lane = 0; lane < Shape::kTuple; ++lane) {
      lanes.difference(residuals[lane], lane, front.orders[lane], thread);
#pragma unroll
      for (Word& residual : residuals[lane]) residual = zigzag_raised(residual);
    }
  }

  /// Puts values into the upper bits.
  __device__ static void raise_values(const PackFront<Shape>& front,
                                      const std::uint32_t (&run)[kRunWords],
                                      Word (&values)[Shape::kTuple][kRun]) {
    if constexpr (Shape::kValueBytes == 2) {
      if (front.map == 0 && !front.big_endian) {  // an instruction each
#pragma unroll
        for (int n = 0; n < Shape::kTuple * kRun; ++n)
          values[n % Shape::kTuple][n / Shape::kTuple] =
              n % 2 == 0 ? run[n / 2] << 16 : run[n / 2] & 0xffff0000;
        return;
      }
    }
    read_values(front, run, values);
    if constexpr (Shape::kSpareBits > 0) {
#pragma unroll
      for (auto& lane : values) {
#pragma unroll
        for (Word& value : lane) value <<= Shape::kSpareBits;
      }
    }
  }

  /// Of a residual in the upper bits.
  __device__ static Word zigzag_raised(Word residual) {
    const auto raised = static_cast<std::make_signed_t<Word>>(residual);
    const auto sign = static_cast<Word>(raised >> (8 * sizeof(Word) - 1));
    if constexpr (Shape::kSpareBits == 0) {
      return residual << 1 ^ sign;
    } else {
      return static_cast<Word>(raised >> (Shape::kSpareBits - 1)) ^ sign;
    }
  }
};

}  // namespace gdelta::cuda
