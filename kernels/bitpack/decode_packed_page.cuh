// A warp decodes a page, tile by tile. Of each lane a tile takes a strip: two groups, 256 values, or
// four. Half a warp, or a quarter, unpacks a group, so that every thread holds 8 or 16 consecutive
// residuals of each lane and sums them in registers; where they go is a sink's.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>
#include <type_traits>

#include "kernels/bitpack/lane_sums.cuh"
#include "kernels/bitpack/packed_page.cuh"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/words/finish_value.cuh"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {

/// What becomes of the sums of a page, if all its lanes have one map: that and byte order are undone.
template <int ValueBytes, int Tuple, int Run>
struct FinishValues {
  const ColumnTask& task;
  bool plain;

  __device__ explicit FinishValues(const ColumnTask& of)
      : task(of),
        plain(device::warp_uniform<int>(of.is_finished_later() ||
                                        (of.map == 0 && !of.big_endian)) != 0) {}
  __device__ void tile(WordOf<ValueBytes> (&values)[Tuple][Run], std::uint32_t /*left*/,
                       int /*thread*/) const {
    if (plain) return;
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
#pragma unroll
      for (int i = 0; i < Run; ++i)
        values[lane][i] = finish_value(values[lane][i], ValueBytes, task.map, task.big_endian);
    }
  }
};

/// And if it has LaneMaps.
template <int ValueBytes, int Tuple, int Run>
struct FinishLanes {
  const ColumnTask& task;
  LaneMapsOfWarp maps;

  __device__ explicit FinishLanes(const ColumnTask& of) : task(of), maps(*lane_maps_of(of)) {}
  __device__ void tile(WordOf<ValueBytes> (&values)[Tuple][Run], std::uint32_t left,
                       int thread) const {
    undo_maps_of_run<ValueBytes>(maps, values, [&](std::uint32_t beyond) {
      report_indices(*lane_maps_of(task), beyond, static_cast<int>(left) - Run * thread);
    });
  }
};

/// `head`: what fetch_head has brought. `kMaps`: the task has LaneMaps. A Sink gets the values of a page, tile by tile; the whole warp calls
///   open(task, page)                   before the first tile
///   take(values, left, thread)         the thread's run of a tile; `left`: tuples from the tile on
///   take_words(left, thread)           or, if it has that, the same of a run that has been put into its `words`
///   store(tile, left, task, thread)    then; `tile` is shared memory for it alone until the next tile
///   close(task, page, tiles, thread)   if the page could be read to its end
/// and, if the Room does not keep groups, `groups()`, which says where those of the page wait.
template <int ValueBytes, int Tuple, bool kMaps = false, class Sink, class Room>
__device__ inline void decode_page(UnpackWarpShared<ValueBytes, Tuple, Room>& shared,
                                   const ColumnTask& task, const PageView& page,
                                   const unsigned char* head, unsigned long long* damaged_at,
                                   Sink sink) {
  using Word = WordOf<ValueBytes>;
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  constexpr int kRun = Shape::kRunTuples;
  const int thread = device::thread_of_warp();
  head += reinterpret_cast<std::uintptr_t>(page.bytes) & 15;
  const std::uint32_t head_bytes = task.state_bytes + 2 * page.groups * Tuple;
  const PageGroups<ValueBytes> found(page, head + task.state_bytes, head_bytes, Tuple);
  if (!found.whole) {
    if (thread == 0) report_page(task, page, damaged_at);
    return;
  }

  LaneSums<ValueBytes, Tuple, kRun> sums;
  sums.open(task, head, thread);
  std::uint32_t* elsewhere = nullptr;
  if constexpr (!Room::kKeepsGroups) elsewhere = sink.groups();
  PackedPage<ValueBytes, Tuple, Room> source(shared, page, found, page.bytes + head_bytes,
                                             elsewhere);
  const std::conditional_t<kMaps, FinishLanes<ValueBytes, Tuple, kRun>,
                           FinishValues<ValueBytes, Tuple, kRun>>
      finish(task);
  constexpr bool kHalves = LaneSums<ValueBytes, Tuple, kRun>::kInHalves && !kMaps && requires {
    sink.take_words(0, 0);
  };
  bool in_halves = false;
  if constexpr (kHalves) in_halves = sums.same_order && finish.plain;
  sink.open(task, page);
  std::uint32_t left = page.tuples;
  source.fetch(0);
  source.locate(0, 0);

#pragma unroll 1
  for (unsigned tile = 0; tile < source.tiles; ++tile) {
    Word values[Tuple][kRun];
    // The tile's groups are there for the whole warp, and nobody reads the tile before it, or writes
    // its patches, any more.
    __pipeline_wait_prior(0);
    __syncwarp();
    source.fetch(tile + 1);
    auto patches = source.begin_tile(tile);
#pragma unroll
    for (int lane = 0; lane < Tuple; ++lane) {
      auto& run = values[lane];
      source.read(tile, lane, run, patches);
      if (left < Shape::kTileTuples)
        source.refused |= !padding_is_zero(run, static_cast<int>(left) - kRun * thread);
      sums.sum_lane(run, lane, thread);
    }
    if (in_halves) {
      if constexpr (kHalves) {
        sums.sum_in_halves(values, sink.words, thread);
        sink.take_words(left, thread);
      }
    } else {
      sums.sum_lanes(values, thread);
      finish.tile(values, left, thread);
      sink.take(values, left, thread);
    }
    __syncwarp();  // all groups and patches have been read
    source.end_tile(patches);
    sink.store(reinterpret_cast<unsigned char*>(source.bits_of(tile)), left, task, thread);
    left -= Shape::kTileTuples;
  }
  if (__any_sync(device::kWholeWarp, source.refused != 0) && thread == 0)
    report_page(task, page, damaged_at);
  sink.close(task, page, source.tiles, thread);
}

}  // namespace gdelta::cuda
