// Warps decode the pages of columns that are predicted inside segments, in two launches. What lies before the first
// launch are residuals, and no page knows the sums of the one before it. It is found what each page hands on: of
// most pages the last tile alone is read, since a sum goes back to the last head only. In the second launch a warp
// adds up what pages before its own hand on, as far as its first segment goes back.
#pragma once

#include <algorithm>

#include "kernels/bitpack/decode_packed_page.cuh"
#include "kernels/bitpack/segment_ahead.cuh"
#include "kernels/bitpack/segment_pages_cuda.h"
#include "kernels/bitpack/segment_store.cuh"
#include "kernels/bitpack/unpack_pages_warp.cuh"
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

/// Calls read(source) with the residuals of a page, if it is what its descriptors say.
template <int ValueBytes, int Tuple, class Room, class Read>
__device__ inline void read_page(UnpackWarpShared<ValueBytes, Tuple, Room>& shared,
                                 const ColumnTask& task, const PageView& page,
                                 const unsigned char* head, unsigned long long* damaged_at,
                                 Read read) {
  head += reinterpret_cast<std::uintptr_t>(page.bytes) & 15;
  const std::uint32_t head_bytes = 2 * page.groups * Tuple;
  const PageGroups<ValueBytes> found(page, head, head_bytes, Tuple);
  bool refused = !found.whole;
  if (found.whole) {
    PackedPage<ValueBytes, Tuple, Room> source(shared, page, found, page.bytes + head_bytes);
    read(source);
    refused = __any_sync(device::kWholeWarp, source.refused != 0);
  }
  if (refused && device::thread_of_warp() == 0) report_page(task, page, damaged_at);
}

// ---- Before heads are summed

/// The residuals of the heads of a page.
template <int ValueBytes, int Tuple>
struct HeadsSink {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;

  __device__ void take(const WordOf<ValueBytes> (&values)[Tuple][Shape::kRunTuples],
                       unsigned char* place, unsigned tile, std::uint32_t, int thread) {
    pack_run<ValueBytes, Tuple>(values, store_.words);
    store_.store(place, heads - tile * Shape::kTileTuples, task, thread);
  }

  const ColumnTask& task;
  std::uint32_t heads;  // of the page
  TileStore<ValueBytes, Tuple, false> store_;
};

/// Sums from tuple `from` of the page on, of both orders. Each thread adds up its runs alone: over a run and the tiles behind
/// it the first sum adds itself to the second as often as tuples follow.
template <int ValueBytes, int Tuple>
struct TailSink {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  static constexpr int kRun = Shape::kRunTuples;

  __device__ void take(Word (&values)[Tuple][kRun], unsigned char*, unsigned tile, std::uint32_t,
                       int thread) {
    if (from > tile * Shape::kTileTuples) {
      const int skipped = static_cast<int>(from - tile * Shape::kTileTuples) - kRun * thread;
#pragma unroll
      for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
        for (int i = 0; i < kRun; ++i)
          if (i < skipped) values[lane][i] = 0;
      }
    }
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      Word first = 0, second = 0;  // of the run
#pragma unroll
      for (int i = 0; i < kRun; ++i) second += first += values[lane][i];
      seconds[lane] += firsts[lane] * Shape::kTileTuples + second;
      firsts[lane] += first;
    }
  }

  /// Behind the last tile, which has so many zeroes at its end.
  __device__ void close(std::uint32_t zeroes, SegmentPage& page) {
    const int thread = device::thread_of_warp();
    const auto behind = static_cast<Word>(kRun * (31 - thread)) - zeroes;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      const Word first = device::warp_sum(firsts[lane]);
      const Word second = device::warp_sum(seconds[lane] + firsts[lane] * behind);
      if (thread == 0) {
        page.sums[lane][0] = first;
        page.sums[lane][1] = second;
      }
    }
  }

  std::uint32_t from;
  Word firsts[Tuple], seconds[Tuple];
};

/// How many heads have fewer than `others` other tuples before them; at least one has. The whole warp calls it.
__device__ inline std::uint32_t heads_before_tuple(const SegmentedChunk& chunk,
                                                   std::uint32_t others) {
  const int thread = device::thread_of_warp();
  std::uint32_t begin = 0, end = chunk.heads;
  while (end - begin > 1) {
    const std::uint32_t step = (end - begin + 31) / 32, probe = begin + thread * step;
    const std::uint32_t before =
        __ballot_sync(device::kWholeWarp, probe < end && chunk.starts[probe] - probe < others);
    begin += (31 - __clz(static_cast<int>(before))) * step;
    end = min(begin + step, end);
  }
  return begin + 1;
}

/// A page's place among the segments of its chunk.
struct PagePlace {
  std::uint32_t number;
  std::uint32_t heads;  // tuples of the page that are heads
  std::uint32_t
      tail;  // the first tuple that sums for the page behind it take; tuples of the page: none do

  __device__ PagePlace(const ColumnTask& task, const PageView& page, std::uint32_t of_chunk)
      : PagePlace(page, of_chunk,
                  device::warp_uniform(page.first / (kGroupValues * task.page_groups))) {}
  __device__ PagePlace(const PageView& page, std::uint32_t of_chunk, std::uint32_t of_page)
      : number(of_page),
        heads(device::warp_uniform(of_chunk > page.first ? min(of_chunk - page.first, page.tuples)
                                                         : 0)),
        tail(page.tuples) {}

  /// Finds the tail, and says what is known of heads. The whole warp calls it.
  __device__ void open(const ColumnTask& task, const PageView& page, const SegmentedChunk& chunk,
                       SegmentPage* pages) {
    const bool is_first = device::thread_of_warp() == 0;
    if (is_first) {
      pages[number].check = 0;
      if (page.first <= chunk.heads) pages[number].heads_before = 0;
    }
    if (heads == page.tuples || number + 1 == device::warp_uniform(task.num_pages)) return;
    const std::uint32_t others = page.first + page.tuples - chunk.heads;
    const std::uint32_t before = heads_before_tuple(chunk, others);
    const bool next_has_head = before < chunk.heads && chunk.starts[before] - before == others;
    // As a tuple of the page; below zero in a page before it.
    const std::uint32_t behind_head =
        chunk.starts[before - 1] - (before - 1) + chunk.heads - page.first;
    const bool has_head = behind_head < page.tuples;
    if (is_first) {
      pages[number + 1].heads_before = before;
      pages[number].has_head = has_head ? 1 : 0;
    }
    if (!next_has_head) tail = has_head ? behind_head : 0;
    tail = device::warp_uniform(tail);
  }
  /// The same if all tuples are those of one segment without a head.
  __device__ void open_stretch(const ColumnTask& task, SegmentPage* pages) {
    if (device::thread_of_warp() == 0) {
      pages[number].check = 0;
      pages[number].heads_before = 0;
      pages[number].has_head = 0;
    }
    if (number + 1 < task.num_pages &&
        SegmentOrders{task.segments.orders, task.tuple}.of_heads() > 0)
      tail = 0;
    tail = device::warp_uniform(tail);
  }
};

template <int ValueBytes, int Tuple>
__device__ inline void open_page(UnpackWarpShared<ValueBytes, Tuple>& shared,
                                 const ColumnTask& task, const PageView& page,
                                 const unsigned char* head, const SegmentPagesArgs& args) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  const SegmentedChunk& chunk = args.chunks[task.chunk];
  if (device::warp_uniform<int>(chunk.right) == 0) return;
  const bool one_stretch = device::warp_uniform<int>(is_one_stretch(task, chunk.heads)) != 0;
  const bool summed = device::warp_uniform<int>(sums_in_pages(task, chunk.heads)) != 0;
  SegmentPage* const pages = segment_pages(task, task.out);
  PagePlace place(task, page, one_stretch ? 0 : summed ? chunk.heads : task.records);
  if (one_stretch) place.open_stretch(task, pages);
  if (summed) place.open(task, page, chunk, pages);
  if (place.heads == 0 && place.tail == page.tuples) return;
  read_page(shared, task, page, head, args.pages.damaged_at, [&](auto& source) {
    const auto tiles_of = [](std::uint32_t tuples) {
      return (tuples + Shape::kTileTuples - 1) / Shape::kTileTuples;
    };
    if (place.heads > 0) {
      HeadsSink<ValueBytes, Tuple> heads{task, place.heads, {}};
      heads.store_.open(task, page);
      begin_tiles(source, 0);
      read_tiles(shared, source, 0, tiles_of(place.heads), heads);
    }
    if (place.tail == page.tuples) return;
    TailSink<ValueBytes, Tuple> tail{place.tail, {}, {}};
    const unsigned first = place.tail / Shape::kTileTuples;
    begin_tiles(source, first);
    read_tiles(shared, source, first, source.tiles, tail);
    tail.close(source.tiles * Shape::kTileTuples - page.tuples, pages[place.number]);
  });
}

// ---- Behind it

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
  std::uint32_t number;
  const PageAhead<Tuple>& known = ahead.take(number);
  if (device::warp_uniform<int>(task.path == ColumnPath::page_segments) == 0) return;
  const std::uint32_t of_chunk = device::warp_uniform(known.heads);
  const bool one_stretch = device::warp_uniform<int>(is_one_stretch(task, of_chunk)) != 0;
  const std::uint32_t heads = one_stretch ? 0 : of_chunk;
  const PagePlace place(page, heads, number);
  if (place.heads == page.tuples) return;
  const unsigned first = place.heads / Shape::kTileTuples;
  SegmentStore<ValueBytes, Tuple, kManyHeads> values(shared.room, task, known.starts, heads, page,
                                                     first, known.heads_before);
  read_page(shared, task, page, head, args.pages.damaged_at, [&](auto& source) {
    begin_tiles(source, first);
    SegmentSums<ValueBytes, Tuple, Shape::kRunTuples> sums;
    sums.open(known.orders(task), one_stretch);
    if (place.heads == 0 && page.first > heads && !values.begins_segment()) {
      if (device::warp_uniform<int>(known.last_has_head != 0) != 0) {
        sums.carry_last(known.sums);
      } else {
        const std::uint32_t page_tuples = kGroupValues * task.page_groups;
        sums.carry(segment_pages(task, task.segments.out), number, heads / page_tuples, page_tuples,
                   device::thread_of_warp());
      }
#pragma unroll
      for (int lane = 0; lane < Tuple && !one_stretch; ++lane)
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
    open_segment_pages_kernel(SegmentPagesArgs args) {
  device::start_successor();
  constexpr int kWarps = unpack_warp_policy(ValueBytes, Tuple).warps_per_block;
  __shared__ UnpackWarpShared<ValueBytes, Tuple> shared[kWarps];
  auto& mine = shared[device::warp_number()];
  for_each_page(mine, args.pages, kWarps,
                [&](const ColumnTask& task, const PageView& page, const unsigned char* head) {
                  open_page<ValueBytes, Tuple>(mine, task, page, head, args);
                });
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
cudaError_t launch_open_segments_width(int tuple, const SegmentPagesArgs& args,
                                       std::uint64_t max_pages, cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    return launch_segment_pages<open_segment_pages_kernel<ValueBytes, kLanes>>(
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
