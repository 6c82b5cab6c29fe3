#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/words/undo_lane_maps.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kBlocksPerSm = 2;
constexpr std::uint32_t kMostRows = 1 << 14;  // blocks side by side; each takes a task at a time
constexpr std::uint32_t kMaxSlices = 256;
/// Loads in flight of a thread; while it stores, twice as many.
template <class Word>
constexpr std::uint32_t kAhead = 32 / sizeof(Word);

/// The values `stride` tuples apart from one value on: what one running sum covers.
struct StrideColumn {
  unsigned char* first;
  int lane;
  std::uint32_t rows;
};

__device__ StrideColumn stride_column(const ColumnTask& task, std::uint32_t stride,
                                      std::uint32_t column) {
  const std::uint32_t tuple = column / task.tuple, lane = column % task.tuple;
  return {
      task.out + static_cast<std::uint64_t>(tuple) * task.record_bytes + lane * task.value_bytes,
      static_cast<int>(lane), (task.records - tuple + stride - 1) / stride};
}

/// How values stand in memory. What differs between columns is decided once for several rows.
struct Rows {
  int value_bytes;
  bool aligned;
  std::uint8_t map;
  bool big_endian;
  const LaneMaps* lane_maps;  // null: all lanes have `map`
  std::uint64_t step_bytes;

  template <class Word, int kRows>
  __device__ void load(const unsigned char* p, Word (&values)[kRows]) const {
    if (aligned && value_bytes == sizeof(Word)) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        values[i] = *reinterpret_cast<const Word*>(p + i * step_bytes);
      return;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      values[i] = load_value<Word>(p + i * step_bytes, value_bytes, aligned);
  }
  /// `last`: as the column has them, without map and in its byte order.
  template <class Word, int kRows>
  __device__ void store(unsigned char* p, int lane, Word (&values)[kRows], bool last) const {
    if (last && lane_maps != nullptr) undo_lane_map(*lane_maps, lane, value_bytes, values);
    if (last && map != 0)
      with_map(map, [&](auto of) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) values[i] = decltype(of)::undo(values[i], 8 * value_bytes);
      });
    if (last && big_endian)
#pragma unroll
      for (int i = 0; i < kRows; ++i) values[i] = swap_value(values[i], value_bytes);
    if (aligned && value_bytes == sizeof(Word)) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) *reinterpret_cast<Word*>(p + i * step_bytes) = values[i];
      return;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      store_value(p + i * step_bytes, value_bytes, aligned, values[i]);
  }
};

/// Some rows of a column that have been loaded become their running sums.
template <int kRows, class Word>
__device__ __forceinline__ void store_sums(unsigned char* p, int lane, const Rows& rows, bool last,
                                           Word (&values)[kRows], Word& sum) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) values[i] = sum += values[i];
  rows.store(p, lane, values, last);
}

/// The same of all rows from `p` on, whose sum before them is `sum`. What comes next is on its way while rows are
/// stored.
template <class Word>
__device__ __forceinline__ void add_rows(unsigned char* p, int lane, std::uint32_t count,
                                         const Rows& rows, bool last, Word sum) {
  constexpr std::uint32_t kMany = kAhead<Word>;
  const std::uint64_t step = kMany * rows.step_bytes;
  Word next[kMany];
  if (count >= kMany) rows.load(p, next);
  for (; count >= kMany; count -= kMany, p += step) {
    Word values[kMany];
#pragma unroll
    for (int i = 0; i < kMany; ++i) values[i] = next[i];
    if (count >= 2 * kMany) rows.load(p + step, next);
    store_sums(p, lane, rows, last, values, sum);
  }
  for (; count > 0; --count, p += rows.step_bytes) {
    Word value[1];
    rows.load(p, value);
    store_sums(p, lane, rows, last, value, sum);
  }
}

/// Each thread walks down its own columns.
template <class Word>
__device__ void walk_down(const ColumnTask& task, std::uint32_t stride, std::uint32_t columns,
                          const Rows& rows, bool last) {
  const std::uint32_t threads = gridDim.y * kThreads;
  for (std::uint32_t c = blockIdx.y * kThreads + threadIdx.x; c < columns; c += threads) {
    const StrideColumn column = stride_column(task, stride, c);
    add_rows<Word>(column.first, column.lane, column.rows, rows, last, 0);
  }
}

/// `parts` threads share a column, a stretch of rows each.
template <class Word>
__device__ void walk_in_parts(const ColumnTask& task, std::uint32_t stride, std::uint32_t columns,
                              const Rows& rows, bool last, Word* sums) {
  const std::uint32_t parts = kThreads / columns;
  const std::uint32_t c = threadIdx.x % columns, part = threadIdx.x / columns;
  const bool works = part < parts;
  const StrideColumn column = stride_column(task, stride, c);
  const std::uint32_t part_rows = (column.rows + parts - 1) / parts;
  const std::uint32_t begin = min(part * part_rows, column.rows);
  const std::uint32_t end = works ? min(begin + part_rows, column.rows) : begin;
  unsigned char* const first = column.first + begin * rows.step_bytes;
  Word sum = 0;
  std::uint32_t row = begin;
  const unsigned char* from = first;
  constexpr std::uint32_t kMany = 2 * kAhead<Word>;
  for (; row + kMany <= end; row += kMany, from += kMany * rows.step_bytes) {
    Word values[kMany];
    rows.load(from, values);
#pragma unroll
    for (int i = 0; i < kMany; ++i) sum += values[i];
  }
  for (; row < end; ++row, from += rows.step_bytes) {
    Word value[1];
    rows.load(from, value);
    sum += value[0];
  }
  if (works) sums[threadIdx.x] = sum;
  __syncthreads();  // all sums are there
  Word before = 0;
  for (std::uint32_t i = 0; works && i < part; ++i) before += sums[i * columns + c];
  add_rows(first, column.lane, end - begin, rows, last, before);
  __syncthreads();  // the sums have been read
}

template <class Word>
__device__ void undo_link(const ColumnTask& task, const LaneMaps* lane_maps, int link, Word* sums) {
  const std::uint32_t stride = task.strides[link].stride;
  const int order = static_cast<int>(task.strides[link].order);
  const std::uint32_t columns = stride * task.tuple;
  const Rows rows{.value_bytes = task.value_bytes,
                  .aligned = is_value_aligned(task.out, task.record_bytes, task.value_bytes),
                  .map = task.map,
                  .big_endian = task.big_endian,
                  .lane_maps = lane_maps,
                  .step_bytes = static_cast<std::uint64_t>(stride) * task.record_bytes};
  // Orders of strides are seldom more than one, so each is a walk of its own.
  for (int k = 1; k <= order; ++k) {
    const bool last = link == 0 && k == order;
    if (columns > kThreads / 2) {
      walk_down<Word>(task, stride, columns, rows, last);
    } else if (blockIdx.y == 0) {
      walk_in_parts<Word>(task, stride, columns, rows, last, sums);
    }
  }
}

__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    stride_undo_kernel(const ColumnTask* tasks, const LaneMaps* all_maps, std::uint32_t num_tasks,
                       int link) {
  device::start_successor();
  __shared__ std::uint64_t sums[kThreads];
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || !task.has_link(link)) continue;
    const LaneMaps* const maps = task.map == kMapsOfLanes ? all_maps + i : nullptr;
    if (task.value_bytes == 8) {
      undo_link<std::uint64_t>(task, maps, link, sums);
    } else {
      undo_link<std::uint32_t>(task, maps, link, reinterpret_cast<std::uint32_t*>(sums));
    }
  }
}

}  // namespace

cudaError_t launch_stride_undo(const ColumnTask* tasks, const LaneMaps* lane_maps,
                               std::uint32_t num_tasks, int link, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  const dim3 grid(num_tasks < kMostRows ? num_tasks : kMostRows,
                  num_tasks < kMaxSlices ? kMaxSlices / num_tasks : 1);
  return device::launch_after<stride_undo_kernel>(grid, kThreads, stream, tasks, lane_maps,
                                                  num_tasks, link);
}

}  // namespace gdelta::cuda
