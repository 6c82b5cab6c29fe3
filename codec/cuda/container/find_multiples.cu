// A block finds the steps that the integers of a lane of a chunk are apart, as hosts do (multiple_map.cpp,
// ColumnValueMap::find_exact).
#include <cstdint>
#include <utility>

#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/sampled_lane.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

__device__ int trailing_zeros(std::uint32_t word) { return __ffs(static_cast<int>(word)) - 1; }
__device__ int trailing_zeros(std::uint64_t word) {
  return __ffsll(static_cast<long long>(word)) - 1;
}

/// The greatest common divisor; either may be 0. Without division (Stein, "Computational problems associated with Racah
/// algebra").
template <class Word>
__device__ Word common_divisor(Word a, Word b) {
  if (a == 0 || b == 0) return a | b;
  const int twos = trailing_zeros(a | b);
  a >>= trailing_zeros(a);
  do {
    b >>= trailing_zeros(b);
    if (a > b) {
      const Word less = b;
      b = a;
      a = less;
    }
    b -= a;
  } while (b != 0);
  return a << twos;
}

template <class Word>
class MultipleSearch {
 public:
  __device__ MultipleSearch(const SampledLane<Word>& lane,
                            Word (&warp_steps)[SampledLane<Word>::kWarps])
      : lane_(lane), warp_steps_(warp_steps), base_(lane.first_value()) {}

  __device__ LaneMapping find() const {
    // Mostly one group a warp has no common step.
    Word step = 0;
    for (const bool all : {false, true}) {
      step = common_step(all, step);
      if (step == 1) return {};
    }
    if (!is_multiple_step(step)) return {};
    for (int number = 0;; ++number) {
      const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::multiple),
                                .step = step,
                                .offset = multiple_offset(number, base_, step)};
      if (number + 1 == kMultipleOffsets || fits(mapping)) return mapping;
    }
  }

 private:
  /// Of all values of the block's groups, and of `known`.
  __device__ Word common_step(bool all, Word known) const {
    Word step = known;
    lane_.for_groups(all, [&](const GroupOfLane<Word>& group) {
#pragma unroll
      for (const Word value : group.values) {
        const Word distance = distance_of(value, base_);
        if (step == 0 || distance % step != 0) step = common_divisor(step, distance);
      }
      __syncwarp();  // the next group is loaded together
      return true;
    });
    for (int distance = 16; distance > 0; distance /= 2) {
      const Word other = __shfl_xor_sync(device::kWholeWarp, step, distance);
      step = common_divisor(step, other);
      __syncwarp();  // threads take turns of different numbers
    }
    if ((threadIdx.x & 31) == 0) warp_steps_[threadIdx.x / 32] = step;
    __syncthreads();  // those of all warps are there
    for (const Word other : warp_steps_) step = common_divisor(step, other);
    __syncthreads();  // and have been read
    return device::warp_uniform(step);
  }

  __device__ bool fits(const LaneMapping& mapping) const {
    const MultipleWords<Word> words{{MultipleMap(mapping), 8 * sizeof(Word)}};
    const bool own = lane_.for_groups(SampledLane<Word>::kAll, [&](const GroupOfLane<Word>& group) {
      bool all_fit = true;
#pragma unroll
      for (const Word value : group.values) {
        Word word = 0;
        all_fit &= words.find(value, word);
      }
      return __all_sync(device::kWholeWarp, all_fit) != 0;
    });
    return device::warp_uniform(__syncthreads_and(own)) != 0;
  }

  const SampledLane<Word>& lane_;
  Word (&warp_steps_)[SampledLane<Word>::kWarps];
  Word base_;
};

template <class Word>
__global__ void __launch_bounds__(SampledLane<Word>::kThreads)
    find_multiples_kernel(PlanArgs args) {
  __shared__ PackTask task;
  __shared__ Word warp_steps[SampledLane<Word>::kWarps];
  for_sampled_lanes<Word>(args, task, [&](const SampledLane<Word>& lane) {
    return MultipleSearch<Word>(lane, warp_steps).find();
  });
}

}  // namespace

cudaError_t launch_find_multiples(const PlanArgs& args, cudaStream_t stream) {
  const auto kernel = args.shape.value_bytes == 8 ? find_multiples_kernel<std::uint64_t>
                                                  : find_multiples_kernel<std::uint32_t>;
  return device::launch_kernel(kernel, sampled_lanes_grid(args.shape),
                               SampledLane<std::uint32_t>::kThreads, stream, args);
}

}  // namespace gdelta::cuda
