#include "codec/cuda/container/place_columns_cuda.h"
#include "kernels/device/column_grid.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/words/copy_anywhere.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kPlaceColumnsThreads = 256;
constexpr std::uint32_t kPlaceColumnsMostRows =
    1056;  // blocks side by side; each takes a task at a time
constexpr std::uint32_t kPlaceColumnsMaxSlices = 8192;

/// Four bytes of a tuple that is repeated, from byte `at` of it on.
__device__ std::uint32_t repeated_word(const unsigned char* tuple, std::uint32_t tuple_bytes,
                                       std::uint32_t at) {
  std::uint32_t word = 0;
  for (int b = 0; b < 4; ++b) {
    word |= static_cast<std::uint32_t>(tuple[at]) << (8 * b);
    at = at + 1 == tuple_bytes ? 0 : at + 1;
  }
  return word;
}

/// A column that is a whole record, of equal tuples: one stretch of bytes, written in words.
__device__ void fill_stretch(const ColumnTask& task, std::uint64_t bytes, std::uint64_t first,
                             std::uint64_t step) {
  const std::uint32_t tuple_bytes = task.tuple_bytes();
  const auto misaligned = reinterpret_cast<std::uintptr_t>(task.out) & 3;
  const std::uint64_t head = misaligned == 0 ? 0 : min(std::uint64_t{4} - misaligned, bytes);
  const std::uint64_t words = (bytes - head) / 4;
  auto* out = reinterpret_cast<std::uint32_t*>(task.out + head);
  const auto step_at = static_cast<std::uint32_t>(4 * step % tuple_bytes);
  auto at = static_cast<std::uint32_t>((head + 4 * first) % tuple_bytes);
  std::uint32_t word = repeated_word(task.section, tuple_bytes, at);
  for (std::uint64_t i = first; i < words; i += step) {
    out[i] = word;
    if (step_at == 0) continue;  // a thread's words are the same
    at += step_at;
    if (at >= tuple_bytes) at -= tuple_bytes;
    word = repeated_word(task.section, tuple_bytes, at);
  }
  const std::uint64_t tail = head + 4 * words;
  const auto byte_at = [&](std::uint64_t byte) { return task.section[byte % tuple_bytes]; };
  if (first < head) task.out[first] = byte_at(first);
  if (first < bytes - tail) task.out[tail + first] = byte_at(tail + first);
}

__device__ void place_tuples(const ColumnTask& task, std::uint64_t bytes, std::uint64_t first,
                             std::uint64_t step) {
  const std::uint32_t tuple_bytes = task.tuple_bytes();
  const bool fill = task.path == ColumnPath::fill;
  for (std::uint64_t i = first; i < bytes; i += step) {
    const std::uint64_t tuple = i / tuple_bytes, at = i % tuple_bytes;
    task.out[tuple * task.record_bytes + at] = task.section[fill ? at : i];
  }
}

__global__ void __launch_bounds__(kPlaceColumnsThreads)
    place_columns_kernel(const ColumnTask* tasks, std::uint32_t num_tasks) {
  device::start_successor();
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < num_tasks; i += gridDim.x) {
    const ColumnTask& task = tasks[i];
    if (task.path != ColumnPath::copy && task.path != ColumnPath::fill) continue;
    const std::uint64_t bytes = static_cast<std::uint64_t>(task.records) * task.tuple_bytes();
    const std::uint64_t first = blockIdx.y * kPlaceColumnsThreads + threadIdx.x,
                        step = gridDim.y * kPlaceColumnsThreads;
    if (task.record_bytes != task.tuple_bytes()) {
      place_tuples(task, bytes, first, step);
    } else if (task.path == ColumnPath::fill) {
      fill_stretch(task, bytes, first, step);
    } else {
      copy_long(task.section, task.out, bytes, first, step);
    }
  }
}

}  // namespace

cudaError_t launch_place_columns(const ColumnTask* tasks, std::uint32_t num_tasks,
                                 std::uint64_t bytes, cudaStream_t stream) {
  if (num_tasks == 0) return cudaSuccess;
  const dim3 grid =
      device::column_grid(num_tasks, kPlaceColumnsMostRows, kPlaceColumnsMaxSlices, bytes);
  return device::launch_after<place_columns_kernel>(grid, kPlaceColumnsThreads, stream, tasks,
                                                    num_tasks);
}

}  // namespace gdelta::cuda
