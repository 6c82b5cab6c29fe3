#include "kernels/deltas/stride_undo_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/pages/page_limits.h"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 512;
constexpr std::uint32_t kMostRows = 528;  // blocks side by side; each takes a task at a time
constexpr std::uint32_t kMaxSlices = 256;
constexpr int kAhead = 4;  // loads in flight of a thread that walks down

/// The values `stride` tuples apart from one value on: what one running sum covers.
struct StrideColumn {
  unsigned char* first;
  std::uint64_t step_bytes;
  std::uint32_t rows;
};

__device__ StrideColumn stride_column(const ColumnTask& task, std::uint32_t stride,
                                      std::uint32_t column) {
  const std::uint32_t tuple = column / task.tuple, lane = column % task.tuple;
  return {
      task.out + static_cast<std::uint64_t>(tuple) * task.record_bytes + lane * task.value_bytes,
      static_cast<std::uint64_t>(stride) * task.record_bytes,
      (task.records - tuple + stride - 1) / stride};
}

struct Finish {
  int value_bytes;
  bool aligned;
  std::uint8_t map;
  bool big_endian;
  template <class Word>
  __device__ void store(unsigned char* p, Word value, bool last) const {
    if (last) value = finish_value(value, value_bytes, map, big_endian);
    store_value(p, value_bytes, aligned, value);
  }
};

/// Every order at once: each thread walks down its own columns.
template <class Word>
__device__ void walk_down(const ColumnTask& task, std::uint32_t stride, int order,
                          std::uint32_t columns, bool last_link, Finish finish) {
  const std::uint32_t threads = gridDim.y * kThreads;
  for (std::uint32_t c = blockIdx.y * kThreads + threadIdx.x; c < columns; c += threads) {
    const StrideColumn column = stride_column(task, stride, c);
    Word state[kMaxDeltaOrder] = {};
    unsigned char* p = column.first;
    for (std::uint32_t row = 0; row < column.rows; row += kAhead) {
      Word values[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        values[i] = row + i < column.rows ? load_value<Word>(p + i * column.step_bytes,
                                                             finish.value_bytes, finish.aligned)
                                          : Word{0};
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        Word value = values[i];
#pragma unroll
        for (int k = 0; k < kMaxDeltaOrder; ++k) {
          if (k < order) {
            state[k] += value;
            value = state[k];
          }
        }
        if (row + i < column.rows) finish.store(p + i * column.step_bytes, value, last_link);
      }
      p += kAhead * column.step_bytes;
    }
  }
}

/// One order after the other: `parts` threads share a column, a stretch of rows each.
template <class Word>
__device__ void walk_in_parts(const ColumnTask& task, std::uint32_t stride, int order,
                              std::uint32_t columns, bool last_link, Finish finish, Word* sums) {
  const std::uint32_t parts = kThreads / columns;
  const std::uint32_t c = threadIdx.x % columns, part = threadIdx.x / columns;
  const bool works = part < parts;
  const StrideColumn column = stride_column(task, stride, c);
  const std::uint32_t part_rows = (column.rows + parts - 1) / parts;
  const std::uint32_t begin = min(part * part_rows, column.rows);
  const std::uint32_t end = works ? min(begin + part_rows, column.rows) : begin;
  for (int k = 0; k < order; ++k) {
    Word sum = 0;
    for (std::uint32_t row = begin; row < end; ++row)
      sum += load_value<Word>(column.first + row * column.step_bytes, finish.value_bytes,
                              finish.aligned);
    if (works) sums[threadIdx.x] = sum;
    __syncthreads();  // all sums are there
    Word before = 0;
    for (std::uint32_t i = 0; works && i < part; ++i) before += sums[i * columns + c];
    for (std::uint32_t row = begin; row < end; ++row) {
      unsigned char* p = column.first + row * column.step_bytes;
      before += load_value<Word>(p, finish.value_bytes, finish.aligned);
      finish.store(p, before, last_link && k == order - 1);
    }
    __syncthreads();  // the values of this pass are in memory, and the sums have been read
  }
}

template <class Word>
__device__ void undo_link(const ColumnTask& task, int link, Word* sums) {
  const std::uint32_t stride = task.strides[link].stride;
  const int order = static_cast<int>(task.strides[link].order);
  const std::uint32_t columns = stride * task.tuple;
  const Finish finish{task.value_bytes,
                      is_value_aligned(task.out, task.record_bytes, task.value_bytes), task.map,
                      task.big_endian};
  if (columns > kThreads / 2) {
    walk_down<Word>(task, stride, order, columns, link == 0, finish);
  } else if (blockIdx.y == 0) {
    walk_in_parts<Word>(task, stride, order, columns, link == 0, finish, sums);
  }
}

__global__ void __launch_bounds__(kThreads)
    stride_undo_kernel(const ColumnTask* tasks, std::uint32_t num_tasks, int link) {
  device::start_successor();
  __shared__ std::uint64_t sums[kThreads];
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path < ColumnPath::page_warp || !task.has_link(link)) continue;
    if (task.value_bytes == 8) {
      undo_link<std::uint64_t>(task, link, sums);
    } else {
      undo_link<std::uint32_t>(task, link, reinterpret_cast<std::uint32_t*>(sums));
    }
  }
}

}  // namespace

cudaError_t launch_stride_undo(const ColumnTask* tasks, std::uint32_t num_tasks, int link,
                               cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  const dim3 grid(num_tasks < kMostRows ? num_tasks : kMostRows,
                  num_tasks < kMaxSlices ? kMaxSlices / num_tasks : 1);
  return device::launch_after<stride_undo_kernel>(grid, kThreads, stream, tasks, num_tasks, link);
}

}  // namespace gdelta::cuda
