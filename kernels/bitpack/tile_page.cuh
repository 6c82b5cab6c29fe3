// A page of up to four lanes decoded by a block, each of its warps a tile of every few. What warps sum is joined by what the
// tiles before theirs add up to, once for each order.
#pragma once

#include <algorithm>

#include "kernels/bitpack/decode_packed_page.cuh"
#include "kernels/bitpack/unpack_pages_tiles_cuda.h"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/pages/note_verdict.cuh"
#include "kernels/pages/page_ahead.cuh"

namespace gdelta::cuda {

inline constexpr int kMostTileWarps = 8;  // of a block

template <int ValueBytes, int Tuple>
struct TilePageShape : UnpackWarpShape<ValueBytes, Tuple> {
  using Warp = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kMostTiles =  // of a page
      (kWarpPathGroups / Tuple + Warp::kStripGroups - 1) / Warp::kStripGroups;
  static constexpr int kMostWarps = std::min(kMostTiles, kMostTileWarps);
};

/// A warp has one page, and one tile at a time.
struct TileStages {
  static constexpr int kPages = 1, kTiles = 1;
  static constexpr bool kKeepsGroups = true;
};
template <int ValueBytes, int Tuple>
using TilePatches = WarpPatches<ValueBytes, Tuple, TileStages>;

template <int ValueBytes, int Tuple>
struct TilePageShared {
  static constexpr int kMostWarps = TilePageShape<ValueBytes, Tuple>::kMostWarps;
  WordOf<ValueBytes> totals[2][kMostWarps][Tuple];  // of tiles; rounds take turns
  std::uint64_t checks[kMostWarps];
  int refused[kMostWarps];
  UnpackWarpShared<ValueBytes, Tuple, TilePatches<ValueBytes, Tuple>>
      warps[kMostWarps];  // as many as the block has

  static constexpr std::size_t bytes(int num_warps) {
    return sizeof(TilePageShared) - (kMostWarps - num_warps) * sizeof warps[0];
  }
};

/// Sums of a page whose tiles are decoded side by side, as LaneSums makes them of one after the other.
template <int ValueBytes, int Tuple>
class TileSums {
 public:
  using Word = WordOf<ValueBytes>;
  using Shape = TilePageShape<ValueBytes, Tuple>;
  static constexpr int kRun = Shape::kRunTuples;
  using Shared = TilePageShared<ValueBytes, Tuple>;

  /// `state` has those of all lanes, behind one another.
  __device__ TileSums(const PreparedColumn& column, const unsigned char* state, int thread)
      : warps_(static_cast<int>(blockDim.x) / 32) {
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      orders_[lane] = column.orders[lane];
      highest_ = max(highest_, orders_[lane]);
      states_[lane] = 0;
      if (thread < orders_[lane]) {
        for (int i = 0; i < ValueBytes; ++i)
          states_[lane] |= static_cast<Word>(state[thread * ValueBytes + i]) << (8 * i);
      }
      state += orders_[lane] * ValueBytes;
    }
  }

  /// Sums a tile of each warp; those behind the page are zero. The whole block calls it.
  __device__ void sum(Shared& shared, Word (&values)[Tuple][kRun], int warp, int thread) {
#pragma unroll 1
    for (int k = 0; k < highest_; ++k, round_ ^= 1) {
      auto& totals = shared.totals[round_];
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
        if (k >= orders_[lane]) continue;
        Word total = 0;
        sum_tile<Word, 1, kRun>(reinterpret_cast<Word(&)[1][kRun]>(values[lane]),
                                reinterpret_cast<Word(&)[1]>(total), 0, thread);
        if (thread == 0) totals[warp][lane] = total;
      }
      // All totals are there, and nobody reads those of the round before last any more.
      __syncthreads();
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
        if (k >= orders_[lane]) continue;
        Word before = __shfl_sync(device::kWholeWarp, states_[lane], k), after = before;
#pragma unroll
        for (int w = 0; w < Shape::kMostWarps; ++w) {
          if (w >= warps_) break;
          const Word total = totals[w][lane];
          if (w < warp) before += total;
          after += total;
        }
        if (thread == k) states_[lane] = after;
#pragma unroll
        for (Word& value : values[lane]) value += before;
      }
    }
  }

 private:
  int warps_;
  int orders_[Tuple], highest_ = 0;
  Word states_[Tuple];  // thread k keeps word k of each
  int round_ = 0;
};

/// Decodes a page; the whole block calls it, and thread 0 gets what is wrong with it.
template <int ValueBytes, int Tuple>
__device__ inline Fault decode_page_by_tiles(TilePageShared<ValueBytes, Tuple>& shared,
                                             const TilePagesArgs& args,
                                             const PreparedColumn& column, const ColumnTask& task,
                                             PageView page, std::uint32_t number) {
  using Word = WordOf<ValueBytes>;
  using Shape = TilePageShape<ValueBytes, Tuple>;
  using Source = PackedPage<ValueBytes, Tuple, TilePatches<ValueBytes, Tuple>>;
  constexpr int kRun = Shape::kRunTuples, kRunWords = Shape::kRunBytes / 4;
  const unsigned warps = blockDim.x / 32;
  const int warp = device::warp_number(), thread = device::thread_of_warp();
  auto& mine = shared.warps[warp];

  page = uniform_view(page);
  fetch_head(mine.head[0], task, page);
  __pipeline_commit();
  std::uint32_t expected = 0;
  if (args.verify && threadIdx.x == 0)
    expected = load_u32_anywhere(task.part_checks() + 4 * number);
  __pipeline_wait_prior(0);
  __syncwarp();  // the head is there

  const unsigned char* const head =
      mine.head[0] + (reinterpret_cast<std::uintptr_t>(page.bytes) & 15);
  const std::uint32_t head_bytes = task.state_bytes + 2 * page.groups * Tuple;
  PageGroups<ValueBytes> found(page, head + task.state_bytes, head_bytes, Tuple);
  // What this warp does next must not depend on it, because warps wait for each other.
  if (!found.whole) found.take_no_groups();

  TileSums<ValueBytes, Tuple> sums(column, head, thread);
  Source source(mine, page, found, page.bytes + head_bytes);
  const FinishValues<ValueBytes, Tuple, kRun> finish(task);
  TileStore<ValueBytes, Tuple, false, false> sink;
  sink.open(task, page);
  unsigned char* const out = sink.out;
  std::uint64_t check = 0;
  source.refused = found.whole ? 0 : 1;
#pragma unroll 1
  for (unsigned first = 0; first < source.tiles; first += warps) {
    const unsigned tile = first + warp;
    const bool has_tile = tile < source.tiles;
    const std::uint32_t left = has_tile ? page.tuples - tile * Shape::kTileTuples : 0;
    Word values[Tuple][kRun] = {};
    typename Source::Patches patches{};
    if (has_tile) {
      source.fetch(tile);
      source.locate(tile, 0);
      __pipeline_wait_prior(0);
      __syncwarp();  // the tile's groups and all exceptions are there
      patches = source.begin_tile(tile);
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
        source.read(tile, lane, values[lane], patches);
        if (left < Shape::kTileTuples)
          source.refused |= !padding_is_zero(values[lane], static_cast<int>(left) - kRun * thread);
      }
    }
    sums.sum(shared, values, warp, thread);
    if (!has_tile) continue;
    finish.tile(values, left, thread);
    sink.take(values, left, thread);
    __syncwarp();  // all groups and patches have been read
    source.end_tile(patches);
    if (args.verify) {
      if (left < Shape::kTileTuples)
        keep_bytes(sink.words, (static_cast<int>(left) - kRun * thread) * Shape::kTupleBytes);
      check += run_polynomial(sink.words) * small_power<PageCheck<kRunWords>::kTilePower>(tile);
    }
    sink.out = out + tile * sink.tile_step;
    sink.store(reinterpret_cast<unsigned char*>(mine.bits[0]), left, task, thread);
    __syncwarp();  // the tile has left the place of the next one's groups
  }
  __pipeline_commit();  // of exceptions that a warp without a tile has asked for
  __pipeline_wait_prior(0);
  check *= small_power<check_power(kRunWords)>(static_cast<unsigned>(thread));
  check = device::warp_sum(check);
  const bool refused = __any_sync(device::kWholeWarp, source.refused != 0);
  if (thread == 0) {
    shared.checks[warp] = check;
    shared.refused[warp] = refused ? 1 : 0;
  }
  __syncthreads();  // what all warps have found is there
  if (threadIdx.x > 0) return Fault::none;
  std::uint64_t sum = 0;
  int any_refused = 0;
#pragma unroll 1
  for (unsigned w = 0; w < warps; ++w) {
    any_refused |= shared.refused[w];
    sum += shared.checks[w];
  }
  if (any_refused != 0) return Fault::page;
  return args.verify && finish_check(page.tuples, sum) != expected ? Fault::content : Fault::none;
}

}  // namespace gdelta::cuda
