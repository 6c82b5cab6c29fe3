// A block decodes a column in rounds: each warp a page, then all threads its strides.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/bitpack/stride_pages_cuda.h"
#include "kernels/bitpack/unpack_pages_warp.cuh"
#include "kernels/checksum/part_words.cuh"
#include "kernels/deltas/stride_rounds.cuh"
#include "kernels/device/shared_limit.h"

namespace gdelta::cuda {

// ---- Policy: changes speed, never bytes

/// Of a block, which takes so many pages a round. Fewer pages leave fewer threads for strides; more of them do not stay in
/// the cache.
constexpr int stride_warps(int value_bytes) { return value_bytes == 4 ? 8 : 4; }
/// Of a multiprocessor; registers are kept low enough.
constexpr int stride_blocks(int value_bytes, int tuple) {
  if (value_bytes == 8) return 3;
  if (value_bytes < 4) return value_bytes * tuple > 8 ? 4 : 5;
  return value_bytes * tuple > 16 ? 1 : 2;
}

template <int ValueBytes, int Tuple>
struct StrideBlockShared {
  static constexpr int kWarps = stride_warps(ValueBytes);
  using Rounds = StrideRounds<32 * kWarps, true>;
  typename Rounds::Shared rounds;
  UnpackWarpShared<ValueBytes, Tuple> warps[kWarps];
};

// ---- A column

/// The pages of a column that a warp takes, one of each round: where the next but one lies and the head of the next one are
/// on their way.
template <int ValueBytes, int Tuple>
class StridedColumn {
 public:
  using Shared = StrideBlockShared<ValueBytes, Tuple>;
  static constexpr std::uint32_t kWarps = Shared::kWarps;

  /// The whole block calls it when nobody decodes the column before this one any more.
  __device__ StridedColumn(Shared& of_block, const ColumnTask& in_memory)
      : block_(of_block), mine_(of_block.warps[device::warp_number()]) {
    const std::uint32_t page = device::warp_number();
    fetch_task(mine_, in_memory, min(page, in_memory.num_pages - 1), 0);
    __pipeline_commit();
    Shared::Rounds::open(block_.rounds);
    __pipeline_wait_prior(0);
    __syncwarp();  // the task is there, and where the first page lies
    pages_ = device::warp_uniform(task().num_pages);
    if (page < pages_) fetch_head(mine_.head[0], task(), view_of(page));
    fetch_ends_of(page + kWarps);
    __pipeline_commit();
  }

  __device__ void decode(const LaneMaps* lane_maps, const UnpackArgs& args) {
    const std::uint32_t page_tuples = kGroupValues * task().page_groups;
    const bool verified = task().path == ColumnPath::page_strides_verified;
#pragma unroll 1
    for (std::uint32_t first = 0; first < pages_; first += kWarps) {
      const std::uint32_t page = first + device::warp_number();
      decode_page_of(page, args);
      __syncthreads();  // all pages of the round have been stored
      const TupleRange round{first * page_tuples,
                             min((first + kWarps) * page_tuples, task().records)};
      Shared::Rounds::template undo<ValueBytes>(block_.rounds, task(), lane_maps, round, !verified);
      if (verified && page < pages_) compare(page, args);
    }
  }

 private:
  __device__ const ColumnTask& task() const {
    return *reinterpret_cast<const ColumnTask*>(mine_.tasks[0]);
  }
  __device__ PageView view_of(std::uint32_t page) const {
    return uniform_view(fetched_view(mine_.ends[page / kWarps % 3], task(), page));
  }
  __device__ void fetch_ends_of(std::uint32_t page) {
    if (page < pages_) fetch_ends(mine_.ends[page / kWarps % 3], task(), page);
  }
  __device__ void decode_page_of(std::uint32_t page, const UnpackArgs& args) {
    __pipeline_wait_prior(0);
    __syncwarp();  // the page's head has come, and where the next one lies
    if (page >= pages_) return;
    const std::uint32_t next = page + kWarps;
    if (next < pages_) fetch_head(mine_.head[next / kWarps % 2], task(), view_of(next));
    fetch_ends_of(next + kWarps);
    decode_page<ValueBytes, Tuple>(mine_, task(), view_of(page), mine_.head[page / kWarps % 2],
                                   args.damaged_at, TileStore<ValueBytes, Tuple, false, false>{});
    __pipeline_commit();
  }
  __device__ void compare(std::uint32_t page, const UnpackArgs& args) const {
    const PageView view = page_view(task(), page);
    const PartView part{task().out + static_cast<std::uint64_t>(view.first) * task().record_bytes,
                        view.tuples, task().tuple_bytes(), task().record_bytes, view.tuples};
    const int thread = device::thread_of_warp();
    const std::uint32_t check = check_part(part, power_of_base(thread));
    if (thread == 0 && check != load_u32_anywhere(task().part_checks() + 4 * page))
      report_page(task(), view, args.differs_at);
  }

  Shared& block_;
  UnpackWarpShared<ValueBytes, Tuple>& mine_;
  std::uint32_t pages_;
};

// ---- Kernel and launcher

template <int ValueBytes, int Tuple>
__global__ void __launch_bounds__(32 * stride_warps(ValueBytes), stride_blocks(ValueBytes, Tuple))
    stride_pages_kernel(UnpackArgs args, const LaneMaps* lane_maps) {
  device::start_successor();
  auto& shared = *reinterpret_cast<StrideBlockShared<ValueBytes, Tuple>*>(device::dynamic_shared());
  open_warp_shared(shared.warps[device::warp_number()]);
  device::wait_for_predecessor();
  for (std::uint32_t i = args.first_task + blockIdx.x; i < args.end_task; i += gridDim.x) {
    const ColumnTask& task = args.tasks[i];
    if (!task.is_summed_by_block()) continue;
    __syncthreads();  // nobody decodes the column before any more
    StridedColumn<ValueBytes, Tuple> column(shared, task);
    column.decode(task.map == kMapsOfLanes ? lane_maps + i : nullptr, args);
  }
}

template <int ValueBytes, int Tuple>
cudaError_t launch_stride_pages_of(const UnpackArgs& args, const LaneMaps* lane_maps,
                                   cudaStream_t stream) {
  constexpr auto kKernel = stride_pages_kernel<ValueBytes, Tuple>;
  if (auto error = device::raise_shared_limit(kKernel)) return error;
  int processors = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  const auto most = static_cast<std::uint32_t>(processors * stride_blocks(ValueBytes, Tuple));
  const std::uint32_t blocks = std::min(args.end_task - args.first_task, most);
  if (blocks == 0) return cudaSuccess;
  return device::launch_after_with<kKernel>(blocks, 32 * stride_warps(ValueBytes),
                                            sizeof(StrideBlockShared<ValueBytes, Tuple>), stream,
                                            args, lane_maps);
}

/// Of a block, in bytes.
template <int ValueBytes>
int shared_of_stride_pages(int tuple) {
  std::size_t bytes = 0;
  static_cast<void>(for_narrow_tuple(tuple, [&](auto lanes) {
    bytes = sizeof(StrideBlockShared<ValueBytes, decltype(lanes)::value>);
    return cudaSuccess;
  }));
  return static_cast<int>(bytes);
}

template <int ValueBytes>
cudaError_t launch_stride_pages_width(int tuple, const UnpackArgs& args, const LaneMaps* lane_maps,
                                      cudaStream_t stream) {
  return for_narrow_tuple(tuple, [&](auto lanes) {
    return launch_stride_pages_of<ValueBytes, decltype(lanes)::value>(args, lane_maps, stream);
  });
}

}  // namespace gdelta::cuda
