// Helps work that sums up: adds what a piece gives to its tile's sum.
#pragma once

#include "gdelta/schedules/tile_sets.cuh"

namespace gdelta {

/// Adds `value` to sums[piece.tile], or stores it if the piece is all of the tile; sums of other tiles
/// begin at zero. Neighbours that meet here with the same tile add up first, and one of them reaches
/// for memory: long tiles would wait for one address otherwise. Needs nobody to come along.
template <class Value>
__device__ void add_to_tile(Value* sums, const Piece& piece, Value value) {
  if (piece.whole) {
    sums[piece.tile] = value;
    return;
  }
  const unsigned id = threadIdx.x & 31;
  const unsigned peers =
      __match_any_sync(__activemask(), static_cast<unsigned long long>(piece.tile));
  const unsigned first = 31 - __clz(static_cast<int>(peers & (0 - peers)));
  const unsigned run = peers >> first;
  if (run == 1 || (run & (run + 1)) != 0) {  // alone, or others stand between
    atomicAdd(sums + piece.tile, value);
    return;
  }
  for (unsigned d = 1; d < 32 && run >> d != 0; d *= 2) {
    const Value behind = __shfl_down_sync(peers, value, d);
    if (run >> (id - first) >> d != 0) value += behind;
  }
  if (id == first) atomicAdd(sums + piece.tile, value);
}

}  // namespace gdelta
