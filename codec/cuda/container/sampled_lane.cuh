// The sampled groups of a lane of a chunk, for blocks that look at one each.
#pragma once

#include <cstdint>

#include "codec/cuda/container/cut_task.cuh"
#include "codec/cuda/container/plan_chunks_cuda.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

/// The values of a whole group in the registers of a warp.
template <class Word>
struct GroupOfLane {
  Word values[kGroupRegisters];

  __device__ GroupOfLane(const LaneView<Word>& lane, std::uint32_t first) {
    std::uint32_t tuples[kGroupRegisters];
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) tuples[j] = first + 32 * j + (threadIdx.x & 31);
    lane.load(tuples, values);
  }
};

/// Of a chunk that has a whole group. A warp of the block has every eighth group.
template <class Word>
class SampledLane {
 public:
  static constexpr int kThreads = 256;
  static constexpr std::uint32_t kWarps = kThreads / 32;
  static constexpr bool kAll = true;

  __device__ SampledLane(const PackTask& task, const DeviceSample& sample, int lane)
      : values_(task, lane, 0),
        sample_(sample),
        count_(device::warp_uniform(sample.count)),
        warp_(device::warp_number()),
        first_(values_, sample.first_tuple(min(warp_, count_ - 1))) {}

  /// The warp's first group; if there are fewer groups than warps, the last one.
  __device__ const GroupOfLane<Word>& first() const { return first_; }

  /// Calls look(group) for the other groups of the warp until it gives false; gives what the last call gave.
  template <class Look>
  __device__ bool for_others(const Look& look) const {
    bool go_on = true;
    for (std::uint32_t k = warp_ + kWarps; go_on && k < count_; k += kWarps)
      go_on = look(GroupOfLane<Word>(values_, sample_.first_tuple(k)));
    return go_on;
  }
  /// The same, from the first one on; of the first alone unless `all`.
  template <class Look>
  __device__ bool for_groups(bool all, const Look& look) const {
    return look(first_) && (!all || for_others(look));
  }
  /// The lane's first sampled value.
  __device__ Word first_value() const {
    const std::uint32_t tuple[1] = {sample_.first_tuple(0)};
    Word value[1];
    values_.load(tuple, value);
    return value[0];
  }

 private:
  LaneView<Word> values_;
  const DeviceSample& sample_;
  std::uint32_t count_, warp_;
  GroupOfLane<Word> first_;
};

/// A block a chunk and a lane.
inline dim3 sampled_lanes_grid(const CutShape& shape) {
  constexpr std::uint32_t kMostBlocks = 1 << 16;
  return dim3(shape.num_chunks < kMostBlocks ? shape.num_chunks : kMostBlocks, shape.tuple);
}

/// Leaves what find(lane) gives of lanes that have a whole group, for the block's chunks. The block calls it, with a task in
/// shared memory.
template <class Word, class Find>
__device__ void for_sampled_lanes(const PlanArgs& args, PackTask& task, const Find& find) {
  const CutShape& shape = args.shape;
  const int lane = static_cast<int>(blockIdx.y);
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) task = cut_task(shape, chunk);
    __syncthreads();  // the task is there
    LaneMapping found;
    if (device::warp_uniform(task.records) >= kGroupValues) {
      const DeviceSample sample = sample_groups(task.records, shape.tuple, shape.column_groups);
      found = find(SampledLane<Word>(task, sample, lane));
    }
    if (threadIdx.x == 0) args.maps.lanes_of(chunk)[lane].mapping = found;
    __syncthreads();  // the task has been read
  }
}

}  // namespace gdelta::cuda
