// A tile of a page in the registers of a warp: sums over it, and its way through shared memory to where
// the values go. Knows nothing of how residuals are coded.
#pragma once

#include <cstdint>
#include <numeric>
#include <type_traits>

#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/scan/tile/warp_scan.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

/// Each thread holds a run of consecutive tuples, 8 or 16.
template <int ValueBytes, int Tuple, int RunTuples>
struct TileShape {
  static constexpr int kTupleBytes = ValueBytes * Tuple;
  static constexpr int kRunBytes = RunTuples * kTupleBytes;
  static constexpr int kPieceBytes = kRunBytes % 16 == 0 ? 16 : 8;  // what a thread stores at once
  static constexpr int kRunPieces = kRunBytes / kPieceBytes;
};

/// One sum of order 1 over the warp's residuals of each of several lanes, side by side. Thread k
/// keeps y(k+1) of a lane's state. Spans of fewer threads have lanes of their own, and `thread` is the
/// place in the span. Parts of a run are summed side by side, for one sum after another takes long.
template <class Word, int Lanes, int Run, int Span = 32, int Parts = 1>
__device__ inline void sum_tile(Word (&runs)[Lanes][Run], Word (&states)[Lanes], int k,
                                int thread) {
  using Algebra = scan::SumAlgebra<Word, Word>;
  constexpr int kPart = Run / Parts;
  Word own[Lanes], sums[Lanes], parts[Lanes][Parts];
#pragma unroll
  for (int lane = 0; lane < Lanes; ++lane) {
    own[lane] = 0;
#pragma unroll
    for (int part = 0; part < Parts; ++part) {
      parts[lane][part] = 0;
#pragma unroll
      for (int i = kPart * part; i < kPart * (part + 1); ++i)
        scan::step<Algebra, 1>(runs[lane][i], parts[lane] + part);
      own[lane] += parts[lane][part];
    }
    sums[lane] = own[lane];
  }
#pragma unroll
  for (int distance = 1; distance < Span; distance *= 2) {
#pragma unroll
    for (int lane = 0; lane < Lanes; ++lane) device::add_from_below<Span>(sums[lane], distance);
  }
#pragma unroll
  for (int lane = 0; lane < Lanes; ++lane) {
    const Word carry = __shfl_sync(device::kWholeWarp, states[lane], k, Span);
    const Word after = carry + __shfl_sync(device::kWholeWarp, sums[lane], Span - 1, Span);
    if (thread == k) states[lane] = after;
    Word state = carry + (sums[lane] - own[lane]);
#pragma unroll
    for (int part = 0; part < Parts; ++part) {
      Word sum = state;
#pragma unroll
      for (int i = kPart * part; i < kPart * (part + 1); ++i) {
        scan::step<Algebra, 1>(runs[lane][i], &sum);
        runs[lane][i] = sum;
      }
      state += parts[lane][part];
    }
  }
}

/// The tuples of a thread as bytes in memory order.
template <int ValueBytes, int Tuple, int Run>
__device__ inline void pack_run(const WordOf<ValueBytes> (&values)[Tuple][Run],
                                std::uint32_t* words) {
  constexpr int kValues = Run * Tuple;
#pragma unroll
  for (int word = 0; word < kValues * ValueBytes / 4; ++word) words[word] = 0;
#pragma unroll
  for (int n = 0; n < kValues; ++n) {
    const auto value = values[n % Tuple][n / Tuple];
    const int bit = 8 * ValueBytes * n, word = bit / 32, shift = bit % 32;
    if constexpr (ValueBytes == 8) {
      words[word] = static_cast<std::uint32_t>(value);
      words[word + 1] = static_cast<std::uint32_t>(value >> 32);
    } else {
      const std::uint32_t kept = value & (0xffffffffu >> (32 - 8 * ValueBytes));
      words[word] |= kept << shift;
      if (shift + 8 * ValueBytes > 32) words[word + 1] |= kept >> (32 - shift);
    }
  }
}

/// Where the pieces of a tile lie in shared memory, so that eight threads that write each a piece of
/// its run, and eight that read neighbouring pieces, hit different banks. Runs of an odd number of
/// pieces do by themselves. Of others the banks repeat after kSpan pieces; from one span to the next
/// the pieces of eight change places.
template <int RunPieces>
struct PieceSlots {
  static constexpr bool kSpread = RunPieces % 2 == 0;
  static constexpr int kSpan = std::lcm(RunPieces, 8);
  static constexpr bool kPowerOfTwo = (kSpan & (kSpan - 1)) == 0;

  __device__ static int of(int piece) { return kSpread ? piece ^ ((piece / kSpan) & 7) : piece; }

  /// Piece `i` of the thread's run.
  __device__ static int of_run(int thread, int i) {
    if constexpr (!kSpread) return RunPieces * thread + i;
    const int spread = (thread / (kSpan / RunPieces)) & 7;
    // If `i` has bits of its own, only they change.
    return kPowerOfTwo ? ((RunPieces * thread) ^ spread) ^ i : (RunPieces * thread + i) ^ spread;
  }

  /// Piece 32 i + thread.
  __device__ static int of_row(int thread, int i) {
    if constexpr (!kSpread || !kPowerOfTwo) return of(32 * i + thread);
    return 32 * i + ((thread ^ (thread / kSpan)) ^ ((32 / kSpan * i) & 7));
  }
};

/// Puts the thread's run, as `words`, into a tile in shared memory.
template <class Shape>
__device__ inline void put_run(unsigned char* tile,
                               const std::uint32_t (&words)[Shape::kRunBytes / 4], int thread) {
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i) {
    const int slot = PieceSlots<Shape::kRunPieces>::of_run(thread, i);
    if constexpr (Shape::kPieceBytes == 16) {
      reinterpret_cast<uint4*>(tile)[slot] =
          make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    } else {
      reinterpret_cast<uint2*>(tile)[slot] = make_uint2(words[2 * i], words[2 * i + 1]);
    }
  }
}

/// The thread's run of a tile that lies so.
template <class Shape>
__device__ inline void get_run(const unsigned char* tile,
                               std::uint32_t (&words)[Shape::kRunBytes / 4], int thread) {
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i) {
    const int slot = PieceSlots<Shape::kRunPieces>::of_run(thread, i);
    if constexpr (Shape::kPieceBytes == 16) {
      const uint4 piece = reinterpret_cast<const uint4*>(tile)[slot];
      words[4 * i] = piece.x;
      words[4 * i + 1] = piece.y;
      words[4 * i + 2] = piece.z;
      words[4 * i + 3] = piece.w;
    } else {
      const uint2 piece = reinterpret_cast<const uint2*>(tile)[slot];
      words[2 * i] = piece.x;
      words[2 * i + 1] = piece.y;
    }
  }
}

/// Where a byte of a tile, or of tiles one behind the other, lies in shared memory.
template <class Shape>
__device__ inline std::uint32_t piece_byte(std::uint32_t at) {
  return PieceSlots<Shape::kRunPieces>::of(static_cast<int>(at / Shape::kPieceBytes)) *
             Shape::kPieceBytes +
         at % Shape::kPieceBytes;
}

/// Five words of a tile from number `first` on; the last one is read if it is wanted.
template <class Shape>
__device__ inline void read_tile_words(const unsigned char* tile, std::uint32_t first,
                                       bool wants_last, std::uint32_t (&words)[5]) {
  constexpr bool kSpread = PieceSlots<Shape::kRunPieces>::kSpread;
  static_assert(!kSpread || Shape::kPieceBytes == 16);
  const auto* const in_order = reinterpret_cast<const std::uint32_t*>(tile) + first;
  const std::uint32_t *from = in_order, *behind = in_order;
  if constexpr (kSpread) {  // words of two pieces
    const auto of_piece = [&](std::uint32_t piece) {
      return in_order + 4 * (PieceSlots<Shape::kRunPieces>::of(static_cast<int>(piece)) -
                             static_cast<int>(piece));
    };
    from = of_piece(first / 4);
    behind = of_piece(first / 4 + 1);
  }
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) words[i] = (first % 4 + i < 4 ? from : behind)[i];
  words[4] = wants_last ? behind[4] : 0;
}

/// Stores the first `bytes` of a tile one behind the other from any address on: as vectors, and the bytes before
/// the first and behind the last.
template <class Shape>
__device__ inline void store_tile_vectors(const unsigned char* tile, unsigned char* out,
                                          std::uint32_t bytes, int thread) {
  const std::uint32_t skew = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(out)) & 15;
  const bool is_shifted = skew % 4 != 0;
  const std::uint32_t before = (16 - skew) & 15;  // the first vector, in bytes of the tile
#pragma unroll 1
  for (std::uint32_t at = before + 16 * thread; at + 16 <= bytes; at += 512) {
    std::uint32_t words[5];
    read_tile_words<Shape>(tile, at / 4, is_shifted, words);
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], 8 * (at % 4));
    __stcs(reinterpret_cast<uint4*>(out + at), make_uint4(words[0], words[1], words[2], words[3]));
  }
  if (thread >= 16) return;
  if (thread < min(before, bytes)) out[thread] = tile[piece_byte<Shape>(thread)];
  if (bytes <= before) return;
  const std::uint32_t last = before + (bytes - before) / 16 * 16 + thread;
  if (last < bytes) out[last] = tile[piece_byte<Shape>(last)];
}

/// Stores the first `tuples` of a tile, wherever they go.
template <class Shape>
__device__ inline void store_tile_bytes(const unsigned char* tile, unsigned char* out,
                                        std::uint32_t tuples, std::uint32_t record_bytes,
                                        int thread) {
  constexpr std::uint32_t kTupleBytes = Shape::kTupleBytes;
  const auto aligned_to = [&](std::uint32_t bytes) {
    return ((reinterpret_cast<std::uintptr_t>(out) | record_bytes) & (bytes - 1)) == 0;
  };
  const auto copy = [&](auto unit) {
    using Unit = decltype(unit);
    constexpr std::uint32_t kUnits = kTupleBytes / sizeof(Unit);
#pragma unroll 1
    for (std::uint32_t n = thread; n < tuples * kUnits; n += 32) {
      *reinterpret_cast<Unit*>(out + static_cast<std::uint64_t>(n / kUnits) * record_bytes +
                               n % kUnits * sizeof(Unit)) =
          *reinterpret_cast<const Unit*>(tile + piece_byte<Shape>(n * sizeof(Unit)));
    }
  };
  if (record_bytes == kTupleBytes)
    return store_tile_vectors<Shape>(tile, out, tuples * kTupleBytes, thread);
  if constexpr (kTupleBytes % 4 == 0) {
    if (aligned_to(4)) return copy(std::uint32_t{});
  }
  if constexpr (kTupleBytes % 2 == 0) {
    if (aligned_to(2)) return copy(std::uint16_t{});
  }
  copy(static_cast<unsigned char>(0));
}

/// Stores a tile of which all is wanted to where its bytes are neighbours and aligned to pieces. kStreams: past what the
/// cache keeps.
template <class Shape, bool kStreams = true>
__device__ inline void store_whole_tile(const unsigned char* tile, unsigned char* out, int thread) {
  using Piece = std::conditional_t<Shape::kPieceBytes == 16, uint4, uint2>;
  const auto* pieces = reinterpret_cast<const Piece*>(tile);
  auto* to = reinterpret_cast<Piece*>(out) + thread;
#pragma unroll
  for (int i = 0; i < Shape::kRunPieces; ++i) {
    const Piece piece = pieces[PieceSlots<Shape::kRunPieces>::of_row(thread, i)];
    if constexpr (kStreams) {
      __stcs(&to[32 * i], piece);
    } else {
      to[32 * i] = piece;
    }
  }
}

}  // namespace gdelta::cuda
