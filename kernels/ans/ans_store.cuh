// The values of a tile of the ans coder on their way out: a lane alone from registers, others by a stage in shared memory.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_layout.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/pages/column_task.h"
#include "kernels/pages/page_tile.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda::ans_page {

/// Where a byte of a tile lies in the stage: runs have a gap behind them, which spreads them over banks.
template <int ValueBytes>
__device__ std::uint32_t staged_at(std::uint32_t byte, std::uint32_t run_bytes) {
  return byte + sizeof(WordOf<ValueBytes>) * (byte / run_bytes);
}

/// The staged tuples of a tile to their places.
template <int ValueBytes>
__device__ void store_stage(const unsigned char* stage, unsigned char* out, std::uint32_t tuples,
                            std::uint32_t tuple_bytes, std::uint32_t record_bytes) {
  const int thread = device::thread_of_warp();
  const std::uint32_t run_bytes = kAnsRun * tuple_bytes;
  if (record_bytes == tuple_bytes && (reinterpret_cast<std::uintptr_t>(out) & 3) == 0) {
    const std::uint32_t bytes = tuples * tuple_bytes;
    std::uint32_t at = 4 * thread;
#pragma unroll 4
    for (; at + 4 <= bytes; at += 128)
      *reinterpret_cast<std::uint32_t*>(out + at) =
          *reinterpret_cast<const std::uint32_t*>(stage + staged_at<ValueBytes>(at, run_bytes));
#pragma unroll 1
    for (; at < bytes; ++at) out[at] = stage[staged_at<ValueBytes>(at, run_bytes)];
    return;
  }
#pragma unroll 1
  for (std::uint32_t n = thread; n < tuples * tuple_bytes; n += 32)
    out[static_cast<std::uint64_t>(n / tuple_bytes) * record_bytes + n % tuple_bytes] =
        stage[staged_at<ValueBytes>(n, run_bytes)];
}

/// Neighbouring lanes of wide tuples, as many as a sector of memory holds.
template <int ValueBytes>
inline constexpr std::uint32_t kSlabBytes = slab_lanes(ValueBytes) * ValueBytes;

/// What a tile has of some lanes, `slab_bytes` of each tuple, staged as if these were all of it, to their places.
template <int ValueBytes>
__device__ void store_slab(const unsigned char* stage, unsigned char* out, std::uint32_t tuples,
                           std::uint32_t slab_bytes, std::uint32_t record_bytes) {
  constexpr std::uint32_t kBytes = kSlabBytes<ValueBytes>;
  const bool has_words =
      ((reinterpret_cast<std::uintptr_t>(out) | record_bytes) & 3) == 0 && slab_bytes == kBytes;
  if (!has_words) return store_stage<ValueBytes>(stage, out, tuples, slab_bytes, record_bytes);
#pragma unroll 4
  for (std::uint32_t at = 4 * device::thread_of_warp(); at < tuples * kBytes; at += 128)
    *reinterpret_cast<std::uint32_t*>(out + std::uint64_t{at / kBytes} * record_bytes +
                                      at % kBytes) =
        *reinterpret_cast<const std::uint32_t*>(stage +
                                                staged_at<ValueBytes>(at, kAnsRun * kBytes));
}

/// A run of a lane alone, as bytes in memory order.
template <int ValueBytes>
using RunWords = std::uint32_t[kAnsRun * ValueBytes / 4];
template <int ValueBytes>
__device__ void pack_lane(const WordOf<ValueBytes> (&values)[kAnsRun],
                          RunWords<ValueBytes>& words) {
  pack_run<ValueBytes, 1>(reinterpret_cast<const WordOf<ValueBytes>(&)[1][kAnsRun]>(values), words);
}

/// Runs of a lane in shared memory: pieces of all threads lie side by side.
template <int ValueBytes>
__device__ void park_lane(const WordOf<ValueBytes> (&values)[kAnsRun], unsigned char* to,
                          int thread) {
  using Shape = TileShape<ValueBytes, 1, kAnsRun>;
  RunWords<ValueBytes> words;
  pack_lane<ValueBytes>(values, words);
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i, to += 32 * Shape::kPieceBytes) {
    if constexpr (Shape::kPieceBytes == 16) {
      reinterpret_cast<uint4*>(to)[thread] =
          make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    } else {
      reinterpret_cast<uint2*>(to)[thread] = make_uint2(words[2 * i], words[2 * i + 1]);
    }
  }
}
template <int ValueBytes>
__device__ void take_lane(WordOf<ValueBytes> (&values)[kAnsRun], const unsigned char* from,
                          int thread) {
  using Shape = TileShape<ValueBytes, 1, kAnsRun>;
  RunWords<ValueBytes> words;
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i, from += 32 * Shape::kPieceBytes) {
    if constexpr (Shape::kPieceBytes == 16) {
      const uint4 piece = reinterpret_cast<const uint4*>(from)[thread];
      words[4 * i] = piece.x, words[4 * i + 1] = piece.y;
      words[4 * i + 2] = piece.z, words[4 * i + 3] = piece.w;
    } else {
      const uint2 piece = reinterpret_cast<const uint2*>(from)[thread];
      words[2 * i] = piece.x, words[2 * i + 1] = piece.y;
    }
  }
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i) {
    const int bit = 8 * ValueBytes * i, word = bit / 32, shift = bit % 32;
    if constexpr (ValueBytes == 8) {
      values[i] = static_cast<std::uint64_t>(words[word + 1]) << 32 | words[word];
    } else {
      values[i] = words[word] >> shift;
      if (shift + 8 * ValueBytes > 32) values[i] |= words[word + 1] << (32 - shift);
    }
  }
}

/// Stores a whole one, of all lanes, to neighbouring bytes that are aligned to 16.
template <int ValueBytes, int kTuple = 1>
__device__ void store_run(const std::uint32_t (&words)[kAnsRun * ValueBytes * kTuple / 4],
                          unsigned char* out) {
  using Shape = TileShape<ValueBytes, kTuple, kAnsRun>;
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i) {
    if constexpr (Shape::kPieceBytes == 16) {
      __stcs(reinterpret_cast<uint4*>(out) + i,
             make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]));
    } else {
      __stcs(reinterpret_cast<uint2*>(out) + i, make_uint2(words[2 * i], words[2 * i + 1]));
    }
  }
}

/// Stores whole runs of a lane, tile after tile, to neighbouring bytes that begin anywhere between the pieces in which runs are
/// stored: each thread takes what its first piece lacks from the thread before it. The whole warp calls it.
template <int ValueBytes>
class SkewedRuns {
 public:
  __device__ explicit SkewedRuns(const unsigned char* out)
      : skew_(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out)) & (kPiece - 1)) {}

  /// A tile that begins at `out`.
  __device__ void store(const RunWords<ValueBytes>& run, unsigned char* out, int thread) {
    std::uint32_t words[kWords + kRunWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const std::uint32_t last = run[kRunWords - kWords + i];
      words[i] = __shfl_up_sync(device::kWholeWarp, last, 1);
      if (thread == 0) words[i] = last_[i];
      last_[i] = __shfl_sync(device::kWholeWarp, last, 31);
    }
#pragma unroll
    for (int i = 0; i < kRunWords; ++i) words[kWords + i] = run[i];
    const unsigned first = kPiece - skew_;  // byte of the words
#pragma unroll
    for (unsigned by = kWords; by > 0; by /= 2) {
#pragma unroll
      for (unsigned i = 0; i + by < kWords + kRunWords; ++i)
        words[i] = (first & 4 * by) != 0 ? words[i + by] : words[i];
    }
    unsigned char* const to = out - skew_ + Shape::kRunBytes * thread;
#pragma unroll
    for (int p = 0; p < Shape::kRunPieces; ++p) {
      std::uint32_t piece[kWords];
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        piece[i] = __funnelshift_r(words[p * kWords + i], words[p * kWords + i + 1], 8 * first);
      if (p == 0 && thread == 0 && is_first_) {
        store_bytes(piece, to, skew_, kPiece);
      } else if constexpr (kPiece == 16) {
        reinterpret_cast<uint4*>(to)[p] = make_uint4(piece[0], piece[1], piece[2], piece[3]);
      } else {
        reinterpret_cast<uint2*>(to)[p] = make_uint2(piece[0], piece[1]);
      }
    }
    is_first_ = false;
  }

  /// What is left of the tiles, which end at `end`.
  __device__ void finish(unsigned char* end, int thread) {
    if (!is_first_ && thread == 0) store_bytes(last_, end - kPiece, kPiece - skew_, kPiece);
    is_first_ = true;
  }

 private:
  using Shape = TileShape<ValueBytes, 1, kAnsRun>;
  static constexpr unsigned kPiece = Shape::kPieceBytes;
  static constexpr int kWords = kPiece / 4, kRunWords = Shape::kRunBytes / 4;

  /// Bytes [begin, end) of a piece.
  __device__ static void store_bytes(const std::uint32_t (&piece)[kWords], unsigned char* to,
                                     unsigned begin, unsigned end) {
#pragma unroll
    for (unsigned byte = 0; byte < kPiece; ++byte)
      if (byte >= begin && byte < end)
        to[byte] = static_cast<unsigned char>(piece[byte / 4] >> 8 * (byte % 4));
  }

  unsigned skew_;
  bool is_first_ = true;
  std::uint32_t last_[kWords] = {};  // of the tile before
};

/// Whether runs are so long that a store of a warp which takes a piece of each would touch a line a thread.
template <int ValueBytes, int kTuple>
constexpr bool runs_lie_far_apart() {
  using Shape = TileShape<ValueBytes, kTuple, kAnsRun>;
  return Shape::kRunBytes >= 64 && Shape::kPieceBytes == 16;
}

/// Stores the whole runs of a warp, which follow each other from `out` on, by way of the stage: neighbouring threads store
/// neighbouring pieces. The whole warp calls it.
template <int ValueBytes, int kTuple>
__device__ void store_rows(const std::uint32_t (&words)[kAnsRun * ValueBytes * kTuple / 4],
                           unsigned char* stage, unsigned char* out, int thread) {
  constexpr unsigned kPieces = TileShape<ValueBytes, kTuple, kAnsRun>::kRunPieces;
  constexpr unsigned kPiece = 16, kRow = 128;  // bytes; a row is all banks
  // Where runs begin at few places of their rows, pieces of a row change places by its number.
  constexpr bool kTurns = kPieces % 4 == 0;
  const auto place = [](unsigned byte) {
    return kTurns ? byte ^ (byte / kRow * kPiece & (kRow - kPiece)) : byte;
  };
  // Places are found anew in each tile: registers are dearer.
  const auto number = static_cast<unsigned>(device::forget(thread));
  const auto staged = [stage](unsigned at) -> uint4& {
    return *reinterpret_cast<uint4*>(stage + at);
  };
  __syncwarp();  // lanes have been taken out of the stage
#pragma unroll
  for (unsigned i = 0; i < kPieces; ++i)
    staged(place(kPiece * (kPieces * number + i))) =
        make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
  __syncwarp();  // all runs are there
#pragma unroll
  for (unsigned i = 0; i < kPieces; ++i)
    __stcs(reinterpret_cast<uint4*>(out) + 32 * i + thread,
           staged(place(kPiece * (32 * i + number))));
}

/// The thread's values, `count` of them, each so many bytes behind the one before.
template <int ValueBytes>
__device__ void scatter_run(const WordOf<ValueBytes> (&values)[kAnsRun], int count,
                            unsigned char* out, std::uint32_t step, bool aligned) {
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i)
    if (i < count)
      store_value(out + static_cast<std::uint64_t>(i) * step, ValueBytes, aligned, values[i]);
}

}  // namespace gdelta::cuda::ans_page
