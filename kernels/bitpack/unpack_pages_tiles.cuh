// A block decodes a page of up to four lanes, each of its warps a tile of every few. What warps sum is joined by what the
// tiles before theirs add up to, once for each order.
#pragma once

#include <algorithm>

#include "kernels/bitpack/decode_packed_page.cuh"
#include "kernels/bitpack/unpack_pages_tiles_cuda.h"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/checksum/xxh3_warp.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/shared_limit.h"
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

/// What a block that looks at a head shares; longer heads are read where they lie.
struct HeadShared {
  xxh3::SharedSecret secret;
  uint4 words[256];
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
  if (args.verify && threadIdx.x == 0) expected = load_u32_anywhere(task.directory + 4 * number);
  open_warp_shared(mine);
  __pipeline_wait_prior(0);
  __syncwarp();  // the head is there

  const unsigned char* const head =
      mine.head[0] + (reinterpret_cast<std::uintptr_t>(page.bytes) & 15);
  const std::uint32_t head_bytes = task.state_bytes + 2 * page.groups * Tuple;
  const PageGroups<ValueBytes> found(page, head + task.state_bytes, head_bytes, Tuple);
  if (__syncthreads_and(found.whole) == 0) return Fault::page;

  TileSums<ValueBytes, Tuple> sums(column, head, thread);
  Source source(mine, page, found, page.bytes + head_bytes);
  const FinishValues<ValueBytes, Tuple, kRun> finish(task);
  TileStore<ValueBytes, Tuple, false, false> sink;
  sink.open(task, page);
  unsigned char* const out = sink.out;
  std::uint64_t check = 0;
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
    finish.tile(values);
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

/// Notes what one thread of the block has found wrong with its chunk.
__device__ inline void note_of_block(const TilePagesArgs& args, Fault fault, std::int32_t code,
                                     std::uint64_t byte) {
  ChunkVerdict& verdict = args.verdicts[blockIdx.y];
  open_verdict(verdict, args.verdict_cells[blockIdx.y], args.call);
  if (fault != Fault::none) note_fault(verdict, fault, code, byte);
}

/// Whether a chunk has room, its block is there, and its head what was prepared; the whole block calls it. Of every chunk a
/// block does so, so that every chunk has a verdict.
__device__ inline void look_at_head(HeadShared& shared, const TilePagesArgs& args,
                                    const PreparedColumn& column) {
  const std::uint64_t out_at = column.decoded_at - args.columns[0].decoded_at;
  const std::uint64_t out_bytes = std::uint64_t{column.records} * args.record_bytes;
  std::int32_t code = 0;
  if (out_at > args.out_bytes || out_bytes > args.out_bytes - out_at) {
    code = args.codes.no_room;
  } else if (column.block_at > args.stream_bytes ||
             column.block_bytes > args.stream_bytes - column.block_at) {
    code = args.codes.truncated;
  } else {
    const unsigned char* block = args.stream + column.block_at;
    const auto skew = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(block) & 15);
    const std::uint32_t words = (skew + column.hashed_bytes + 4 + 15) / 16;
    shared.secret.load();
    if (words <= sizeof shared.words / sizeof *shared.words) {
      const auto* const from = reinterpret_cast<const uint4*>(block - skew);
      for (std::uint32_t i = threadIdx.x; i < words; i += blockDim.x) shared.words[i] = from[i];
      block = reinterpret_cast<const unsigned char*>(shared.words) + skew;
    }
    __syncthreads();  // secret and head are there
    if (threadIdx.x >= 32) return;
    const std::uint64_t hash = xxh3::hash_by_warp(shared.secret, block, column.hashed_bytes);
    if (static_cast<std::uint32_t>(hash) != column.head_check ||
        load_u32_anywhere(block + column.hashed_bytes) != column.head_check)
      code = args.codes.corrupt;
  }
  if (threadIdx.x == 0)
    note_of_block(args, code == 0 ? Fault::none : Fault::head, code, column.block_at);
}

/// Decodes a page of a chunk, if it has so many.
template <int ValueBytes, int Tuple>
__device__ inline void visit_page(TilePageShared<ValueBytes, Tuple>& shared,
                                  const TilePagesArgs& args, const PreparedColumn& column,
                                  std::uint32_t number) {
  const std::uint32_t* const ends = args.page_ends + std::uint64_t{blockIdx.y} * args.most_pages;
  const std::uint32_t begin = number == 0 ? 0 : ends[number - 1], end = ends[number];
  const std::uint64_t out_at = column.decoded_at - args.columns[0].decoded_at;
  const std::uint64_t out_bytes = std::uint64_t{column.records} * args.record_bytes;
  // Of what is not there, or has no room, the look at the head tells.
  if (number >= column.num_pages || column.block_at + column.block_bytes > args.stream_bytes ||
      out_at > args.out_bytes || out_bytes > args.out_bytes - out_at)
    return;
  const unsigned char* const block = args.stream + column.block_at;
  ColumnTask task{};
  task.section = block + column.section_at;
  task.directory = block + column.checks_at;
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
  PageView page;
  page.section_begin = begin;
  page.num_bytes = end - begin;
  page.bytes = task.section + begin;
  page.find_tuples(task, number);
  const Fault fault = decode_page_by_tiles(shared, args, column, task, page, number);
  if (fault != Fault::none && threadIdx.x == 0)
    note_of_block(args, fault, args.codes.corrupt,
                  column.block_at + column.section_at + page.section_begin);
}

/// Blocks along x take pages, and along y chunks; of the first column one more along x looks at the head.
template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * TilePageShape<ValueBytes, Tuple>::kMostWarps)
    unpack_pages_tiles_kernel(const __grid_constant__ TilePagesArgs args) {
  if (!args.is_last) device::start_successor();
  const PreparedColumn column = args.columns[blockIdx.y];
  const std::uint32_t heads = args.is_first ? 1 : 0;
  if (blockIdx.x < heads) {
    look_at_head(*reinterpret_cast<HeadShared*>(device::dynamic_shared()), args, column);
  } else {
    visit_page(*reinterpret_cast<TilePageShared<ValueBytes, Tuple>*>(device::dynamic_shared()),
               args, column, blockIdx.x - heads);
  }
  device::wait_for_predecessor();  // only what comes behind this kernel needs that
}

/// Warps of a block: as many as a page has tiles, but no more than keep a processor busy, and no more than take the same number
/// of rounds. `run_words`: of a thread's run in a tile. docs/pages.md has what was tried.
inline int choose_tile_warps(std::uint64_t pages, int processors, int tiles, int run_words) {
  constexpr int kBusyWords = 512;  // of all runs of a processor
  constexpr int kFewTiles = 5;     // that one warp takes one after the other
  const std::uint64_t busy =
      static_cast<std::uint64_t>(kBusyWords / run_words) * processors / pages;
  const int fewest = tiles > kFewTiles ? 2 : 1, most = std::min(tiles, kMostTileWarps);
  const int warps = std::clamp(static_cast<int>(std::min<std::uint64_t>(busy, most)), fewest, most);
  const int rounds = (tiles + warps - 1) / warps;
  return (tiles + rounds - 1) / rounds;
}

template <int ValueBytes>
cudaError_t launch_unpack_tiles_width(const TilePagesArgs& args, cudaStream_t stream) {
  return for_narrow_tuple(args.tuple, [&](auto lanes) {
    constexpr int kTuple = decltype(lanes)::value;
    using Shape = TilePageShape<ValueBytes, kTuple>;
    constexpr auto kKernel = unpack_pages_tiles_kernel<ValueBytes, kTuple>;
    if (auto error = device::raise_shared_limit(kKernel)) return error;
    int processors = 0;
    if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
      return error;
    const int warps = choose_tile_warps(std::uint64_t{args.most_pages} * args.num_chunks,
                                        processors, Shape::kMostTiles, Shape::kRunBytes / 4);
    const std::size_t shared =
        std::max(TilePageShared<ValueBytes, kTuple>::bytes(warps), sizeof(HeadShared));
    const dim3 grid(args.most_pages + (args.is_first ? 1 : 0), args.num_chunks);
    return args.is_first
               ? device::launch_kernel_with(kKernel, grid, 32 * warps, shared, stream, args)
               : device::launch_after_with<kKernel>(grid, 32 * warps, shared, stream, args);
  });
}

}  // namespace gdelta::cuda
