// Warps decode the pages of columns that are predicted inside segments, in two launches: first heads, then all other tuples.
// Pages begin with their states, so none waits for another.
#pragma once

#include <algorithm>

#include "kernels/bitpack/decode_packed_page.cuh"
#include "kernels/bitpack/segment_ahead.cuh"
#include "kernels/bitpack/segment_pages_cuda.h"
#include "kernels/bitpack/segment_store.cuh"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/device/find_alone.cuh"
#include "kernels/pages/narrow_tuple.h"

namespace gdelta::cuda {

/// Asks for the first tile that read_tiles will read.
template <class Source>
__device__ inline void begin_tiles(Source& source, unsigned first) {
  __syncwarp();  // nobody reads the place of the first tile any more
  source.fetch(first);
  source.locate(first, 0);
}

/// Residuals of tiles [first, end) of a page, one at least, behind begin_tiles. The whole warp calls it, and of the sink
///   take(values, place, tile, left, thread)   the thread's run of a tile; `left`: tuples of the page from the tile on;
///                                             `place`: shared memory for it alone until the next tile
template <int ValueBytes, int Tuple, class Room, class Sink>
__device__ inline void read_tiles(UnpackWarpShared<ValueBytes, Tuple, Room>& shared,
                                  PackedPage<ValueBytes, Tuple, Room>& source, unsigned first,
                                  unsigned end, Sink& sink) {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  constexpr int kRun = Shape::kRunTuples;
  const int thread = device::thread_of_warp();
  std::uint32_t left = source.page.tuples - first * Shape::kTileTuples;
#pragma unroll 1
  for (unsigned tile = first; tile < end; ++tile) {
    Word values[Tuple][kRun];
    __pipeline_wait_prior(0);
    __syncwarp();  // the tile's groups are there, and nobody uses the tile before it any more
    if (tile + 1 < end) source.fetch(tile + 1);
    auto patches = source.begin_tile(tile);
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      source.read(tile, lane, values[lane], patches);
      if (left < Shape::kTileTuples)
        source.refused |= !padding_is_zero(values[lane], static_cast<int>(left) - kRun * thread);
    }
    __syncwarp();  // all groups and patches have been read
    source.end_tile(patches);
    sink.take(values, reinterpret_cast<unsigned char*>(shared.bits[tile & 1]), tile, left, thread);
    left -= Shape::kTileTuples;
  }
}

/// Calls read(source, states) with the residuals of a page and what it begins with, if it is what its descriptors say.
template <int ValueBytes, int Tuple, class Room, class Read>
__device__ inline void read_page(UnpackWarpShared<ValueBytes, Tuple, Room>& shared,
                                 const ColumnTask& task, const PageView& page,
                                 const unsigned char* head, unsigned long long* damaged_at,
                                 Read read) {
  head += reinterpret_cast<std::uintptr_t>(page.bytes) & 15;
  const std::uint32_t head_bytes = task.state_bytes + 2 * page.groups * Tuple;
  const PageGroups<ValueBytes> found(page, head + task.state_bytes, head_bytes, Tuple);
  bool refused = !found.whole;
  if (found.whole) {
    PackedPage<ValueBytes, Tuple, Room> source(shared, page, found, page.bytes + head_bytes);
    read(source, head);
    refused = __any_sync(device::kWholeWarp, source.refused != 0);
  }
  if (refused && device::thread_of_warp() == 0) report_page(task, page, damaged_at);
}

/// How many tuples of a page are heads, of so many in the chunk.
__device__ inline std::uint32_t heads_of_page(const PageView& page, std::uint32_t of_chunk) {
  return device::warp_uniform(of_chunk > page.first ? min(of_chunk - page.first, page.tuples) : 0);
}

// ---- Heads

/// The heads of a page, summed along the lanes.
template <int ValueBytes, int Tuple>
struct HeadsSink {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;

  __device__ void take(WordOf<ValueBytes> (&values)[Tuple][Shape::kRunTuples], unsigned char* place,
                       unsigned tile, std::uint32_t, int thread) {
    sums.sum_lanes(values, thread);
    pack_run<ValueBytes, Tuple>(values, store_.words);
    store_.store(place, heads - tile * Shape::kTileTuples, task, thread);
  }

  const ColumnTask& task;
  std::uint32_t heads;  // of the page
  LaneSums<ValueBytes, Tuple, Shape::kRunTuples> sums;
  TileStore<ValueBytes, Tuple, false> store_;
};

/// How many of so many heads have fewer than `others` other tuples before them.
__device__ inline std::uint32_t heads_before_tuple(const SegmentedChunk& chunk, std::uint32_t heads,
                                                   std::uint32_t others) {
  std::uint32_t begin = 0, end = heads;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (chunk.starts[middle] - middle < others) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// How many of the column's tuples are heads that the second launch finds in scratch.
__device__ inline std::uint32_t heads_apart(const ColumnTask& task, const SegmentedChunk& chunk) {
  return is_one_stretch(task, chunk.heads) ? 0 : chunk.heads;
}

/// Says what the second launch has to know of a page.
__device__ inline void open_page(const ColumnTask& task, std::uint32_t number,
                                 const SegmentedChunk& chunk) {
  const std::uint32_t heads = heads_apart(task, chunk);
  const std::uint32_t first = number * kGroupValues * task.page_groups;
  segment_pages(task, task.segments.residuals)[number] = {
      .check = 0,
      .heads_before = first <= heads ? 0 : heads_before_tuple(chunk, heads, first - heads)};
}

/// The whole warp calls it.
template <int ValueBytes, int Tuple>
__device__ inline void decode_heads(UnpackWarpShared<ValueBytes, Tuple>& shared,
                                    const ColumnTask& of_column, std::uint32_t number,
                                    const SegmentPagesArgs& args) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  ColumnTask task = of_column;
  task.out = of_column.segments.residuals;
  task.record_bytes = ValueBytes * Tuple;
  const PageView page = uniform_view(page_view(task, number));
  const std::uint32_t heads = heads_of_page(page, args.chunks[task.chunk].heads);
  __syncwarp();  // nobody reads the head of the page before
  fetch_head(shared.head[0], task, page);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();  // all of it has come
  read_page(shared, task, page, shared.head[0], args.pages.damaged_at,
            [&](auto& source, const unsigned char* states) {
              HeadsSink<ValueBytes, Tuple> sink{task, heads, {}, {}};
              sink.sums.open_alike(SegmentOrders{task.segments.orders, Tuple}.of_heads(), states,
                                   task.state_bytes / Tuple, device::thread_of_warp());
              sink.store_.open(task, page);
              begin_tiles(source, 0);
              read_tiles(shared, source, 0, (heads + Shape::kTileTuples - 1) / Shape::kTileTuples,
                         sink);
            });
}

// ---- All other tuples

template <int ValueBytes, int Tuple, bool kManyHeads>
struct SummedSink {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kRun = Shape::kRunTuples;

  __device__ void take(Word (&values)[Tuple][kRun], unsigned char* place, unsigned, std::uint32_t,
                       int thread) {
    const SegmentMarks marks(values_.mark(place), thread);
    if (marks.any) {
      sums.sum(values, marks, values_.marked_heads(place), thread);
    } else {
      sums.sum(values, marks, NoHeads{}, thread);
    }
    values_.take(values, place);
  }

  SegmentSums<ValueBytes, Tuple, kRun>& sums;
  SegmentStore<ValueBytes, Tuple, kManyHeads>& values_;
};

template <int ValueBytes, int Tuple, bool kManyHeads>
using SegmentWarpShared =
    UnpackWarpShared<ValueBytes, Tuple, SegmentTileShared<ValueBytes, Tuple, kManyHeads>>;

template <int ValueBytes, int Tuple, bool kManyHeads>
__device__ inline void sum_page(SegmentWarpShared<ValueBytes, Tuple, kManyHeads>& shared,
                                const ColumnTask& task, PageView page, const unsigned char* head,
                                SegmentAhead<Tuple>& ahead, const SegmentPagesArgs& args) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  page.first = device::warp_uniform(page.first);
  const PageAhead<Tuple>& known = ahead.take();
  if (!device::warp_uniform(task.path == ColumnPath::page_segments && known.right())) return;
  const std::uint32_t of_chunk = device::warp_uniform(known.heads);
  const bool one_stretch = device::warp_uniform(is_one_stretch(task, of_chunk));
  const std::uint32_t heads = one_stretch ? 0 : of_chunk;
  const std::uint32_t heads_here = heads_of_page(page, heads);
  if (heads_here == page.tuples) return;
  const unsigned first = heads_here / Shape::kTileTuples;
  SegmentStore<ValueBytes, Tuple, kManyHeads> values(shared.room, task, known.starts, heads, page,
                                                     first, known.heads_before);
  read_page(shared, task, page, head, args.pages.damaged_at,
            [&](auto& source, const unsigned char* states) {
              begin_tiles(source, first);
              SegmentSums<ValueBytes, Tuple, Shape::kRunTuples> sums;
              sums.open(known.orders(task), one_stretch);
              if (one_stretch) {
                sums.begin_with(states, task.state_bytes / Tuple);
              } else if (page.first > heads && !values.begins_segment()) {
                sums.begin_with(states, task.state_bytes / Tuple);
#pragma unroll
                for (int lane = 0; lane < Tuple; ++lane)
                  sums.add_head(lane, values.last_head(lane));
              }
              SummedSink<ValueBytes, Tuple, kManyHeads> sink{sums, values};
              read_tiles(shared, source, first, source.tiles, sink);
              values.close();
            });
}

// ---- Kernels and launchers

/// As many warps as those of dense pages, if they find shared memory and no register is spilled: fewer beat those that do
/// (docs/ragged.md).
template <int ValueBytes, int Tuple, bool kManyHeads>
struct SumShape {
  static constexpr UnpackWarpPolicy kDense = unpack_warp_policy(ValueBytes, Tuple);
  // As many as the shared memory of a block holds.
  static constexpr int kWarps = Tuple == 1                ? kDense.warps_per_block
                                : ValueBytes * Tuple > 16 ? 1
                                                          : 2;
  static constexpr int kSharedBytes = 227 << 10,
                       kSystemBytes = 1 << 10;  // of a multiprocessor, of a block
  static constexpr int kMostBlocks =
      kSharedBytes /
      (kWarps * static_cast<int>(sizeof(SegmentWarpShared<ValueBytes, Tuple, kManyHeads>)) +
       kSystemBytes);
  static constexpr int kMostWarps = ValueBytes == 2 && Tuple > 1 ? 16 : kManyHeads ? 20 : 24;
  static constexpr int kWantedBlocks =
      std::min(kMostWarps, kDense.warps_per_block* kDense.blocks_per_sm) / kWarps;
  static constexpr int kBlocks = std::min(kWantedBlocks, kMostBlocks);
};

template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * unpack_warp_policy(ValueBytes, Tuple).warps_per_block,
                                  unpack_warp_policy(ValueBytes, Tuple).blocks_per_sm)
    decode_heads_kernel(SegmentPagesArgs args) {
  device::start_successor();
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  __shared__ UnpackWarpShared<ValueBytes, Tuple> shared[kWarps];
  auto& mine = shared[device::warp_number()];
  const std::uint32_t thread = device::thread_of_warp();
  open_warp_shared(mine);
  device::wait_for_predecessor();
  const std::uint64_t* const starts = args.pages.starts;
  const std::uint64_t first_page = starts[args.pages.first_task],
                      pages = starts[args.pages.end_task] - first_page;
  const auto task_of = [&](std::uint64_t item) {
    return device::find_start_alone(starts, args.pages.first_task, args.pages.end_task,
                                    first_page + item);
  };
  const auto number_of = [&](std::uint64_t item, std::uint32_t task) {
    return static_cast<std::uint32_t>(first_page + item - starts[task]);
  };
  const auto chunk_of = [&](std::uint32_t task) -> const SegmentedChunk& {
    return args.chunks[args.pages.tasks[task].chunk];
  };
  // Some warps open pages, each thread one; the others look for pages of heads, and decode them one after the other.
  const std::uint64_t all_warps = static_cast<std::uint64_t>(gridDim.x) * kWarps;
  const std::uint64_t warp =
      static_cast<std::uint64_t>(device::warp_number()) * gridDim.x + blockIdx.x;
  const std::uint64_t openers = min((all_warps + 1) / 2, (pages + 31) / 32);
  if (warp < openers) {
    for (std::uint64_t item = 32 * warp + thread; item < pages; item += 32 * openers) {
      const std::uint32_t task = task_of(item);
      if (chunk_of(task).right)
        open_page(args.pages.tasks[task], number_of(item, task), chunk_of(task));
    }
    return;
  }
  // Pages of heads are neighbours: those go to different warps. Their number is odd: that of the pages of a column is
  // often a power of two.
  static_assert(kWarps > 1);
  const std::uint64_t decoders = (all_warps - openers - 1) | 1;
  if (warp >= openers + decoders) return;
  for (std::uint64_t first = warp - openers; first < pages; first += 32 * decoders) {
    const std::uint64_t item = first + thread * decoders;
    std::uint32_t task = 0, number = 0;
    bool has_heads = false;
    if (item < pages) {
      task = task_of(item);
      number = number_of(item, task);
      const ColumnTask& column = args.pages.tasks[task];
      const SegmentedChunk& chunk = chunk_of(task);
      has_heads =
          chunk.right && number * kGroupValues * column.page_groups < heads_apart(column, chunk);
    }
    for (std::uint32_t left = __ballot_sync(device::kWholeWarp, has_heads); left != 0;
         left &= left - 1) {
      const int of_thread = 31 - __clz(static_cast<int>(left & (0u - left)));
      decode_heads<ValueBytes, Tuple>(
          mine, args.pages.tasks[__shfl_sync(device::kWholeWarp, task, of_thread)],
          __shfl_sync(device::kWholeWarp, number, of_thread), args);
    }
  }
}

template <int ValueBytes, int Tuple, bool kManyHeads>
__global__ void __launch_bounds__(32 * SumShape<ValueBytes, Tuple, kManyHeads>::kWarps,
                                  SumShape<ValueBytes, Tuple, kManyHeads>::kBlocks)
    sum_segment_pages_kernel(SegmentPagesArgs args) {
  device::start_successor();
  constexpr int kWarps = SumShape<ValueBytes, Tuple, kManyHeads>::kWarps;
  __shared__ SegmentWarpShared<ValueBytes, Tuple, kManyHeads> shared[kWarps];
  auto& mine = shared[device::warp_number()];
  mine.room.open(device::thread_of_warp());
  SegmentAhead<Tuple> ahead(mine.room.ahead, args.chunks);
  for_each_page(
      mine, args.pages, kWarps,
      [&](const ColumnTask& task, const PageView& page, const unsigned char* head) {
        sum_page<ValueBytes, Tuple, kManyHeads>(mine, task, page, head, ahead, args);
      },
      [&](const ColumnTask& task, std::uint32_t number) { ahead.fetch(task, number); });
}

template <auto kKernel>
cudaError_t launch_segment_pages(int warps, const SegmentPagesArgs& args, std::uint64_t max_pages,
                                 cudaStream_t stream) {
  int most = 0;
  if (auto error = device::resident_blocks<kKernel>(32 * warps, most)) return error;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(max_pages, most));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after<kKernel>(blocks, 32 * warps, stream, args);
}

template <int ValueBytes>
cudaError_t launch_heads_width(int tuple, const SegmentPagesArgs& args, std::uint64_t max_pages,
                               cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    return launch_segment_pages<decode_heads_kernel<ValueBytes, kLanes>>(
        unpack_warp_policy(ValueBytes, kLanes).warps_per_block, args, max_pages, stream);
  });
}

template <int ValueBytes>
cudaError_t launch_sum_segments_width(int tuple, const SegmentPagesArgs& args,
                                      std::uint64_t max_pages, cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    const auto launch = [&](auto many_heads) {
      constexpr bool kManyHeads = decltype(many_heads)::value;
      return launch_segment_pages<sum_segment_pages_kernel<ValueBytes, kLanes, kManyHeads>>(
          SumShape<ValueBytes, kLanes, kManyHeads>::kWarps, args, max_pages, stream);
    };
    if constexpr (kLanes == 1) {
      if (args.many_heads) return launch(std::true_type{});
    }
    return launch(std::false_type{});
  });
}

}  // namespace gdelta::cuda
