#include "codec/cuda/container/undo_maps_cuda.h"

#include <type_traits>

#include "formats/gdelta/column_head.h"
#include "kernels/device/column_grid.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/words/finish_value.cuh"
#include "kernels/words/lane_steps.h"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kUndoMapsThreads = 256;
constexpr std::uint32_t kUndoMapsMostRows =
    1 << 14;  // blocks side by side; each takes a task at a time
constexpr std::uint32_t kUndoMapsMaxSlices = 1 << 13;
constexpr int kUndoMapsAhead = 4;  // loads in flight of a thread
// Heads are whole and have been checked: the cursor needs no end.
constexpr std::uint64_t kUndoMapsNoEnd = ~std::uint64_t{0};

/// The maps of a column, as its head says.
struct SharedMaps {
  LaneMapping lanes[kMaxLanes];
  LaneStep steps[format::kMostLaneSteps];
  int num_steps;
};

__device__ void read_maps(const MapTask& maps, int tuple, SharedMaps& shared) {
  const Column column{static_cast<ValueType>(maps.type), static_cast<std::uint8_t>(tuple), false};
  format::Front front;
  std::uint64_t exceptions = 0;
  format::Cursor cursor{maps.value_maps, kUndoMapsNoEnd};
  for (int lane = 0; lane < tuple; ++lane) shared.lanes[lane] = {maps.value_maps[0], 0, 0};
  format::parse_value_maps(
      cursor, column, format::type_bytes(column.type), kUndoMapsNoEnd, front, exceptions,
      [&](int lane, const format::MapFields& fields) {
        shared.lanes[lane] = {static_cast<std::uint8_t>(fields.map), fields.step, fields.offset};
      });
  shared.num_steps = 0;
  cursor = {maps.lane_map, kUndoMapsNoEnd};
  format::parse_lane_map(cursor, column, front, [&](const format::LaneStepFields& step) {
    shared.steps[shared.num_steps++] = {step.target, step.source,
                                        static_cast<LaneStepKind>(step.kind)};
  });
}

/// A thread takes kTuples tuples at a time, kUndoMapsThreads apart.
template <int kTuples, class Word>
__device__ __forceinline__ void undo_steps_of(unsigned char* lanes, std::uint64_t apart,
                                              const SharedMaps& shared, int bytes, bool aligned) {
  for (int number = shared.num_steps; number-- > 0;) {
    const LaneStep step = shared.steps[number];
    Word sources[kTuples], targets[kTuples];
#pragma unroll
    for (int i = 0; i < kTuples; ++i) {
      sources[i] = load_value<Word>(lanes + i * apart + step.source * bytes, bytes, aligned);
      targets[i] = load_value<Word>(lanes + i * apart + step.target * bytes, bytes, aligned);
    }
    with_lane_step(step.kind, [&](auto of_kind) {
#pragma unroll
      for (int i = 0; i < kTuples; ++i)
        targets[i] = of_kind.undo(targets[i], sources[i], 8 * bytes);
    });
#pragma unroll
    for (int i = 0; i < kTuples; ++i)
      store_value(lanes + i * apart + step.target * bytes, bytes, aligned, targets[i]);
  }
}

template <class Word>
__device__ void undo_steps(const ColumnTask& task, const SharedMaps& shared, std::uint32_t begin,
                           std::uint32_t end, bool aligned) {
  const std::uint64_t apart = std::uint64_t{kUndoMapsThreads} * task.record_bytes;
  std::uint32_t tuple = begin + threadIdx.x;
  const auto lanes = [&] {
    return task.out + static_cast<std::uint64_t>(tuple) * task.record_bytes;
  };
  for (; tuple + (kUndoMapsAhead - 1) * kUndoMapsThreads < end;
       tuple += kUndoMapsAhead * kUndoMapsThreads)
    undo_steps_of<kUndoMapsAhead, Word>(lanes(), apart, shared, task.value_bytes, aligned);
  for (; tuple < end; tuple += kUndoMapsThreads)
    undo_steps_of<1, Word>(lanes(), apart, shared, task.value_bytes, aligned);
}

/// A thread takes values of one lane, so that its map is prepared once; neighbours take neighbours.
template <class Word>
__device__ void undo_lanes(const ColumnTask& task, const SharedMaps& shared, bool big_endian,
                           std::uint32_t begin, std::uint32_t end, bool aligned) {
  const std::uint32_t tuples_at_once = kUndoMapsThreads / task.tuple;
  const std::uint32_t lane = threadIdx.x % task.tuple, first = threadIdx.x / task.tuple;
  if (first >= tuples_at_once) return;
  const int bytes = task.value_bytes;
  const std::uint64_t apart = static_cast<std::uint64_t>(tuples_at_once) * task.record_bytes;
  const auto values_at = [&](unsigned char* at, auto count, auto undo) {
    Word values[count()];
#pragma unroll
    for (int i = 0; i < count(); ++i) values[i] = load_value<Word>(at + i * apart, bytes, aligned);
#pragma unroll
    for (int i = 0; i < count(); ++i) {
      values[i] = undo(values[i]);
      if (big_endian) values[i] = swap_value(values[i], bytes);
      store_value(at + i * apart, bytes, aligned, values[i]);
    }
  };
  const auto each_value = [&](auto undo) {
    std::uint32_t tuple = begin + first;
    unsigned char* at =
        task.out + static_cast<std::uint64_t>(tuple) * task.record_bytes + lane * bytes;
    for (; tuple + (kUndoMapsAhead - 1) * tuples_at_once < end;
         tuple += kUndoMapsAhead * tuples_at_once, at += kUndoMapsAhead * apart)
      values_at(at, std::integral_constant<int, kUndoMapsAhead>{}, undo);
    for (; tuple < end; tuple += tuples_at_once, at += apart)
      values_at(at, std::integral_constant<int, 1>{}, undo);
  };
  const LaneMapping mapping = shared.lanes[lane];
  if (mapping.map != 0) {
    with_lane_map(mapping, [&](auto map) {
      each_value([&](Word value) { return map.undo(value, 8 * bytes); });
    });
  } else if (big_endian) {
    each_value([](Word value) { return value; });
  }
}

template <class Word>
__device__ void undo_column(const ColumnTask& task, const SharedMaps& shared, bool big_endian) {
  const auto begin =
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(task.records) * blockIdx.y / gridDim.y);
  const auto end = static_cast<std::uint32_t>(static_cast<std::uint64_t>(task.records) *
                                              (blockIdx.y + 1) / gridDim.y);
  const bool aligned = is_value_aligned(task.out, task.record_bytes, task.value_bytes);
  // With steps piece by piece, so that the second look finds values in the cache.
  const std::uint32_t length =
      shared.num_steps > 0 ? 2 * kUndoMapsAhead * kUndoMapsThreads : end - begin;
  for (std::uint32_t piece = begin; piece < end; piece += length) {
    const std::uint32_t piece_end = min(piece + length, end);
    if (shared.num_steps > 0) {
      undo_steps<Word>(task, shared, piece, piece_end, aligned);
      __syncthreads();  // lanes are read by other threads than those that have written them
    }
    undo_lanes<Word>(task, shared, big_endian, piece, piece_end, aligned);
  }
}

__global__ void __launch_bounds__(kUndoMapsThreads, 4) undo_maps_kernel(UndoMapsArgs args) {
  device::start_successor();
  __shared__ SharedMaps shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    const ColumnTask& task = args.tasks[i];
    const MapTask& maps = args.maps[i];
    if (task.path < ColumnPath::page_warp || maps.value_maps == nullptr || maps.undone_before)
      continue;
    __syncthreads();  // the maps of the task before have been used
    if (threadIdx.x == 0) read_maps(maps, task.tuple, shared);
    __syncthreads();  // these are there
    if (task.value_bytes == 8) {
      undo_column<std::uint64_t>(task, shared, maps.big_endian);
    } else {
      undo_column<std::uint32_t>(task, shared, maps.big_endian);
    }
  }
}

__global__ void __launch_bounds__(kUndoMapsThreads) place_exceptions_kernel(UndoMapsArgs args) {
  device::start_successor();
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    const ColumnTask& task = args.tasks[i];
    const MapTask& maps = args.maps[i];
    if (task.path < ColumnPath::page_warp || maps.value_maps == nullptr) continue;
    const std::uint64_t values = static_cast<std::uint64_t>(task.records) * task.tuple;
    const unsigned char* const from =
        maps.exceptions + format::kExceptionPlaceBytes * maps.num_exceptions;
    for (std::uint32_t k = blockIdx.y * kUndoMapsThreads + threadIdx.x; k < maps.num_exceptions;
         k += gridDim.y * kUndoMapsThreads) {
      const unsigned char* const place = maps.exceptions + format::kExceptionPlaceBytes * k;
      const std::uint32_t number = load_u32_anywhere(place);
      const bool rises = k == 0 || load_u32_anywhere(place - format::kExceptionPlaceBytes) < number;
      if (!rises || number >= values) {
        atomicMin(&args.damaged_at[task.chunk], maps.exceptions_at);
        continue;
      }
      unsigned char* const to =
          task.out + static_cast<std::uint64_t>(number / task.tuple) * task.record_bytes +
          number % task.tuple * task.value_bytes;
      for (int b = 0; b < task.value_bytes; ++b)
        to[b] = from[static_cast<std::uint64_t>(k) * task.value_bytes + b];
    }
  }
}

}  // namespace

cudaError_t launch_undo_maps(const UndoMapsArgs& args, std::uint64_t bytes, cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  const dim3 grid =
      device::column_grid(args.num_tasks, kUndoMapsMostRows, kUndoMapsMaxSlices, bytes);
  return device::launch_after<undo_maps_kernel>(grid, kUndoMapsThreads, stream, args);
}

cudaError_t launch_place_exceptions(const UndoMapsArgs& args, std::uint64_t bytes,
                                    cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  const dim3 grid =
      device::column_grid(args.num_tasks, kUndoMapsMostRows, kUndoMapsMaxSlices, bytes);
  return device::launch_after<place_exceptions_kernel>(grid, kUndoMapsThreads, stream, args);
}

}  // namespace gdelta::cuda
