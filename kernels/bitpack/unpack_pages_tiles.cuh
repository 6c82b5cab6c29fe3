// A block decodes a page of up to four lanes, each of its warps a tile of every few. What warps sum is joined by what the
// tiles before theirs add up to, once for each order.
#pragma once

#include <algorithm>

#include "kernels/bitpack/decode_packed_page.cuh"
#include "kernels/bitpack/unpack_pages_tiles_cuda.h"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/pages/page_ahead.cuh"

namespace gdelta::cuda {

template <int ValueBytes, int Tuple>
struct TilePageShape : UnpackWarpShape<ValueBytes, Tuple> {
  using Warp = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kMostTiles =  // of a page
      (kWarpPathGroups / Tuple + Warp::kStripGroups - 1) / Warp::kStripGroups;
  static constexpr int kWarps = std::min(kMostTiles, 8);
};

template <int ValueBytes, int Tuple>
struct TilePageShared {
  static constexpr int kWarps = TilePageShape<ValueBytes, Tuple>::kWarps;
  UnpackWarpShared<ValueBytes, Tuple> warps[kWarps];
  WordOf<ValueBytes> totals[2][kWarps][Tuple];  // of tiles; rounds take turns
  std::uint64_t checks[kWarps];
  int refused[kWarps];
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
  __device__ TileSums(const PreparedColumn& column, const unsigned char* state, int thread) {
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
        for (int w = 0; w < Shape::kWarps; ++w) {
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
  int orders_[Tuple], highest_ = 0;
  Word states_[Tuple];  // thread k keeps word k of each
  int round_ = 0;
};

/// What a block finds wrong in its page.
struct PageFaults {
  bool damaged = false, differs = false;
  __device__ bool any() const { return damaged || differs; }
};

/// Decodes a page; the whole block calls it, and thread 0 gets the faults.
template <int ValueBytes, int Tuple>
__device__ inline PageFaults decode_page_by_tiles(TilePageShared<ValueBytes, Tuple>& shared,
                                                  const TilePagesArgs& args,
                                                  const PreparedColumn& column,
                                                  const ColumnTask& task, std::uint32_t number) {
  using Word = WordOf<ValueBytes>;
  using Shape = TilePageShape<ValueBytes, Tuple>;
  constexpr int kRun = Shape::kRunTuples, kRunWords = Shape::kRunBytes / 4;
  constexpr unsigned kWarps = Shape::kWarps;
  const int warp = device::warp_number(), thread = device::thread_of_warp();
  auto& mine = shared.warps[warp];

  PageView page = page_view(task, number);
  const std::uint32_t end = page.section_begin + page.num_bytes;
  if (page.section_begin > end || end > column.section_bytes) return {.damaged = true};
  page = uniform_view(page);
  fetch_head(mine.head[0], task, page);
  __pipeline_commit();
  std::uint32_t expected = 0;
  if (args.verify && threadIdx.x == 0)
    expected = load_u32_anywhere(task.part_checks() + 4 * number);
  open_warp_shared(mine);
  __pipeline_wait_prior(0);
  __syncwarp();  // the head is there

  const unsigned char* const head =
      mine.head[0] + (reinterpret_cast<std::uintptr_t>(page.bytes) & 15);
  const std::uint32_t head_bytes = task.state_bytes + 2 * page.groups * Tuple;
  const PageGroups<ValueBytes> found(page, head + task.state_bytes, head_bytes, Tuple);
  if (__syncthreads_and(found.whole) == 0) return {.damaged = true};

  TileSums<ValueBytes, Tuple> sums(column, head, thread);
  PackedPage<ValueBytes, Tuple> source(mine, page, found, page.bytes + head_bytes);
  const FinishValues<ValueBytes, Tuple, kRun> finish(task);
  TileStore<ValueBytes, Tuple, false, false> sink;
  sink.open(task, page);
  unsigned char* const out = sink.out;
  std::uint64_t check = 0;
#pragma unroll 1
  for (unsigned first = 0; first < source.tiles; first += kWarps) {
    const unsigned tile = first + warp;
    const bool has_tile = tile < source.tiles;
    const std::uint32_t left = has_tile ? page.tuples - tile * Shape::kTileTuples : 0;
    Word values[Tuple][kRun] = {};
    typename PackedPage<ValueBytes, Tuple>::Patches patches{};
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
    finish.tile(values);
    sink.take(values, left, thread);
    __syncwarp();  // all groups and patches have been read
    source.end_tile(patches);
    if (args.verify) {
      if (left < Shape::kTileTuples)
        keep_bytes(sink.words, (static_cast<int>(left) - kRun * thread) * Shape::kTupleBytes);
      check += run_polynomial(sink.words) *
               small_power<PageCheck<kRunWords>::kTilePower>(tile);
    }
    sink.out = out + tile * sink.tile_step;
    sink.store(reinterpret_cast<unsigned char*>(mine.bits[tile & 1]), left, task, thread);
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
  PageFaults faults;
  if (threadIdx.x == 0) {
    std::uint64_t sum = 0;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
      faults.damaged |= shared.refused[w] != 0;
      sum += shared.checks[w];
    }
    faults.differs = args.verify && finish_check(page.tuples, sum) != expected;
  }
  return faults;
}

/// Notes what is wrong with a page, and settles the verdict if it was the last one of its chunk; by one thread, behind the kernels
/// before this one.
__device__ inline void leave_page(const TilePagesArgs& args, std::uint32_t chunk,
                                  const PreparedColumn& column, std::uint64_t page_at,
                                  PageFaults faults) {
  if (faults.damaged) atomicMin(args.damaged_at + chunk, page_at);
  if (faults.differs) atomicMin(args.differs_at + chunk, page_at);
  __threadfence();  // what is noted is seen before the page counts
  if (atomicAdd(args.pages_done + chunk, 1u) + 1 != column.chunk_pages) return;
  __threadfence();  // what others have noted is read behind their counts
  ChunkVerdict& verdict = args.verdicts[chunk];
  if (verdict.code == 0)
    settle_verdict(verdict, __ldcg(args.damaged_at + chunk), __ldcg(args.differs_at + chunk),
                   args.corrupt);
}

/// Decodes a page of a chunk, if it has so many; thread 0 settles what comes of it.
template <int ValueBytes, int Tuple>
__device__ inline void visit_page(TilePageShared<ValueBytes, Tuple>& shared,
                                  const TilePagesArgs& args, std::uint32_t chunk,
                                  std::uint32_t number) {
  const PreparedColumn column = args.columns[chunk];
  if (number >= column.num_pages) return device::wait_for_predecessor();
  const std::uint64_t out_at = column.decoded_at - args.columns[0].decoded_at;
  const std::uint64_t out_bytes = std::uint64_t{column.records} * args.record_bytes;
  ColumnTask task{};
  task.section = args.stream + column.section_at;
  task.directory = args.stream + column.directory_at;
  task.out = args.out + out_at + args.column_offset;
  task.records = column.records;
  task.record_bytes = args.record_bytes;
  task.page_groups = column.page_groups;
  task.num_pages = column.num_pages;
  task.state_bytes = column.state_bytes;
  task.value_bytes = ValueBytes;
  task.tuple = Tuple;
  task.map = column.map;
  task.big_endian = args.big_endian;
  // What is not there, or has no room, the verdict on the head tells.
  const bool is_within = column.section_at + column.section_bytes <= args.stream_bytes &&
                         out_at <= args.out_bytes && out_bytes <= args.out_bytes - out_at;
  PageFaults faults;
  if (is_within) faults = decode_page_by_tiles(shared, args, column, task, number);
  std::uint64_t page_at = column.section_at;
  if (faults.any() && number > 0) page_at += load_u32_anywhere(task.directory + 4 * (number - 1));
  device::wait_for_predecessor();
  if (threadIdx.x == 0) leave_page(args, chunk, column, page_at, faults);
}

/// Blocks along x take pages, and along y chunks.
template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * TilePageShape<ValueBytes, Tuple>::kWarps)
    unpack_pages_tiles_kernel(const __grid_constant__ TilePagesArgs args) {
  if (!args.is_last) device::start_successor();
  auto& shared =
      *reinterpret_cast<TilePageShared<ValueBytes, Tuple>*>(device::dynamic_shared());
  visit_page(shared, args, blockIdx.y, blockIdx.x);
}

template <int ValueBytes>
cudaError_t launch_unpack_tiles_width(const TilePagesArgs& args, std::uint32_t most_pages,
                                      cudaStream_t stream) {
  return for_narrow_tuple(args.tuple, [&](auto lanes) {
    constexpr int kTuple = decltype(lanes)::value;
    constexpr auto kKernel = unpack_pages_tiles_kernel<ValueBytes, kTuple>;
    if (auto error = device::raise_shared_limit(kKernel)) return error;
    return device::launch_after_with<kKernel>(
        dim3(most_pages, args.num_chunks), 32 * TilePageShape<ValueBytes, kTuple>::kWarps,
        sizeof(TilePageShared<ValueBytes, kTuple>), stream, args);
  });
}

}  // namespace gdelta::cuda
