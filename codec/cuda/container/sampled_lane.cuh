// The sampled groups of a lane of a chunk, for blocks that look at one each: first at one group, which refuses most lanes, then at
// all of them.
#pragma once

#include <cstdint>

#include "codec/cuda/container/cut_task.cuh"
#include "codec/cuda/container/plan_chunks_cuda.h"
#include "codec/plan/quick_dictionaries.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

inline constexpr int kFindThreads = 256;
inline constexpr std::uint32_t kFindWarps = kFindThreads / 32;
/// Of a multiprocessor: a GiB of chunks all at once, for most blocks only wait for one group.
inline constexpr int kFindBlocks = 8;

/// Of a chunk that has a whole group.
template <class Word>
class SampledLane {
 public:
  __device__ SampledLane(const PackTask& task, const DeviceSample& sample, int lane)
      : values_(task, lane, 0), sample_(sample) {}

  /// Calls look(values) for the values of each group from `first` on, `step` apart, until it gives false. A warp calls it.
  template <class Look>
  __device__ void for_groups(std::uint32_t first, std::uint32_t step, std::uint32_t end,
                             const Look& look) const {
    bool go_on = true;
    for (std::uint32_t k = first; go_on && k < end; k += step) {
      std::uint32_t tuples[kGroupRegisters];
#pragma unroll
      for (int j = 0; j < kGroupRegisters; ++j)
        tuples[j] = sample_.first_tuple(k) + 32 * j + (threadIdx.x & 31);
      Word values[kGroupRegisters];
      values_.load(tuples, values);
      go_on = look(values);
    }
  }
  __device__ std::uint32_t groups() const { return device::warp_uniform(sample_.count); }
  __device__ Word first_value() const {
    const std::uint32_t tuple[1] = {sample_.first_tuple(0)};
    Word value[1];
    values_.load(tuple, value);
    return value[0];
  }

 private:
  LaneView<Word> values_;
  const DeviceSample& sample_;
};

/// Where values of few groups have been, a bit for each place: those of even groups and of odd ones.
struct FewPlaces {
  alignas(16) std::uint32_t bits[2][kFewPlaces / 32];
  PlacesSeen seen;
};

/// Who looks at which groups: a warp at the first one, by itself. What it has found, Result, is `combined` already.
template <class Result>
struct GlanceOfWarp {
  template <class Word, class Look>
  __device__ void for_groups(const SampledLane<Word>& lane, const Look& look) const {
    lane.for_groups(0, 1, 1, look);
  }
  template <class Join>
  __device__ Result combined(const Result& own, const Join&) const {
    return own;
  }
};

/// All warps of the block, at all of them.
template <class Result>
struct LookOfBlock {
  Result (&results)[kFindWarps];  // in shared memory

  template <class Word, class Look>
  __device__ void for_groups(const SampledLane<Word>& lane, const Look& look) const {
    lane.for_groups(device::warp_number(), kFindWarps, lane.groups(), look);
  }
  /// join(result, other) puts what two warps have found together.
  template <class Join>
  __device__ Result combined(const Result& own, const Join& join) const {
    if ((threadIdx.x & 31) == 0) results[threadIdx.x / 32] = own;
    __syncthreads();  // those of all warps are there
    Result all = results[0];
#pragma unroll
    for (std::uint32_t warp = 1; warp < kFindWarps; ++warp) all = join(all, results[warp]);
    __syncthreads();  // and have been read
    return all;
  }
};

/// Counts the places of the values of few_values_groups of a lane, by a block.
template <class Word>
__device__ __attribute__((noinline)) void count_places(const PackTask& task, int number,
                                                       FewPlaces& shared) {
  // By itself, so that searches have all registers.
  const DeviceSample sample = few_values_groups(task.records);
  const SampledLane<Word> lane(task, sample, number);
  for (std::uint32_t i = threadIdx.x; i < sizeof shared.bits / 16; i += kFindThreads)
    reinterpret_cast<uint4*>(shared.bits)[i] = {0, 0, 0, 0};
  if (threadIdx.x == 0) shared.seen.even = shared.seen.odd = shared.seen.both = 0;
  __syncthreads();  // no place is taken
  const std::uint32_t warp = device::warp_number();
  std::uint32_t taken = 0, both = 0;
  static_assert(kFindWarps % 2 == 0);
  lane.for_groups(warp, kFindWarps, lane.groups(), [&](const auto& values) {
#pragma unroll
    for (const Word value : values) {
      const std::uint32_t place = few_place(value), bit = 1u << (place % 32);
      taken += (atomicOr(&shared.bits[warp % 2][place / 32], bit) & bit) == 0 ? 1 : 0;
    }
    return true;
  });
  taken = device::warp_sum(taken);
  if ((threadIdx.x & 31) == 0)
    atomicAdd(warp % 2 == 0 ? &shared.seen.even : &shared.seen.odd, taken);
  __syncthreads();  // all places are taken
  for (std::uint32_t i = threadIdx.x; i < kFewPlaces / 32; i += kFindThreads)
    both += __popc(shared.bits[0][i] & shared.bits[1][i]);
  both = device::warp_sum(both);
  if ((threadIdx.x & 31) == 0) atomicAdd(&shared.seen.both, both);
  __syncthreads();  // all have been counted
}

/// A block a chunk and a lane. Leaves what search.find(lane, looker) gives of lanes of which search.may_have(lane, warp) is true in
/// a warp, of each Search<Word>.
template <class Word, template <class> class Search>
__global__ void __launch_bounds__(kFindThreads, kFindBlocks) find_mappings_kernel(PlanArgs args) {
  using Result = typename Search<Word>::Result;
  __shared__ PackTask task;
  __shared__ Result results[kFindWarps];
  __shared__ FewPlaces few;
  device::start_successor();
  const CutShape& shape = args.shape;
  const Search<Word> search;
  const int number = static_cast<int>(blockIdx.y);
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) task = cut_task(shape, chunk);
    __syncthreads();  // the task is there
    if (args.maps.tables.entries > 0) {
      count_places<Word>(task, number, few);
      if (threadIdx.x == 0) args.maps.tables_of(chunk)[number].seen = few.seen;
    }
    const DeviceSample sample = sample_groups(task.records, shape.tuple, shape.column_groups);
    const SampledLane<Word> lane(task, sample, number);
    bool may_have = false;
    const int warp = device::warp_number();
    if (device::warp_uniform(task.records) >= kGroupValues) may_have = search.may_have(lane, warp);
    LaneMapping found;
    if (device::warp_uniform(__syncthreads_or(may_have)) != 0)
      found = search.find(lane, LookOfBlock<Result>{results});
    if (threadIdx.x == 0) args.maps.lanes_of(chunk)[number].mapping = found;
    __syncthreads();  // the task has been read
  }
}

template <template <class> class Search>
cudaError_t launch_find(const PlanArgs& args, cudaStream_t stream) {
  constexpr std::uint32_t kMostBlocks = 1 << 16;
  const CutShape& shape = args.shape;
  const dim3 grid(shape.num_chunks < kMostBlocks ? shape.num_chunks : kMostBlocks, shape.tuple);
  const auto kernel = shape.value_bytes == 8 ? find_mappings_kernel<std::uint64_t, Search>
                                             : find_mappings_kernel<std::uint32_t, Search>;
  return device::launch_kernel(kernel, grid, kFindThreads, stream, args);
}

}  // namespace gdelta::cuda
