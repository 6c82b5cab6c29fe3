// What a warp that sums pages inside segments has in shared memory, beside what all have that decode pages.
#pragma once

#include <cstdint>

#include "kernels/bitpack/segment_ahead.cuh"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/pages/page_limits.h"

namespace gdelta::cuda {

inline constexpr std::uint32_t kRowRecords = kGroupValues;  // a part is whole rows
/// A tuple that has more heads right before it makes its tile a crowded one.
inline constexpr std::uint32_t kMostHeads = 126;

/// `kManyHeads`: room for a tile between whose tuples nearly as many heads stand.
template <int ValueBytes, int Tuple, bool kManyHeads>
struct SegmentTileShared : WarpStages {
  static constexpr int kTile = UnpackWarpShape<ValueBytes, Tuple>::kTileTuples;
  static constexpr int kTupleBytes = ValueBytes * Tuple;
  // Of a tile, of the row that was left before it, and of most tiles' heads.
  static constexpr int kWindowRecords = kTile + kRowRecords * (Tuple > 1 ? 1 : kManyHeads ? 4 : 2);
  // Behind each 128 bytes some are left out, so that runs that threads write, and rows that they read, meet different
  // banks.
  static constexpr int kLineBytes = 128, kGapBytes = ValueBytes == 8 ? 8 : 4;
  static constexpr int kWindowLines = kWindowRecords * kTupleBytes / kLineBytes;
  static constexpr int kRowBytes = kTupleBytes * (kLineBytes + kGapBytes);

  PagesAhead<Tuple> ahead;
  // What is said of the page, by thread 0: registers are short.
  const std::uint32_t* starts;  // of the column's segments that have records
  std::uint32_t heads;          // so many
  std::uint32_t page_end;       // tuples that are no heads, up to the page's end
  alignas(16)
      std::uint32_t counts[kTile / 4];  // a byte for each tuple: 1, and the heads right before it
  union {                               // exceptions are added before a tile's records are laid
    alignas(16) unsigned char window[kWindowLines * (kLineBytes + kGapBytes)];
    struct {
      alignas(16) unsigned char first_row[kRowBytes];  // is kept from one tile to the next
      alignas(16) WordOf<ValueBytes> patch[UnpackWarpShape<ValueBytes, Tuple>::kPatchLanes][kTile];
    };
  };
  static constexpr bool kKeepsPatches = false;

  /// The whole warp calls it before the first page.
  __device__ void open(int thread) {
    for (int i = thread; i < kTile / 4; i += 32) counts[i] = 0x01010101;
    __syncwarp();  // all of them are there
  }
};

}  // namespace gdelta::cuda
