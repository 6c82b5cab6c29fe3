// A block finds which whole numbers the floats of a lane of a chunk may be, as hosts do (decimal_map.cpp and scaled_map.cpp,
// ColumnValueMap::find_exact).
#include <cstdint>
#include <type_traits>

#include "codec/cuda/container/cut_task.cuh"
#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/sampled_lane.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

/// The least and the greatest word of a lane.
struct WordSpan {
  long long lowest, highest;

  static __device__ WordSpan none() { return {0x7fffffffffffffff, -0x7fffffffffffffff}; }

  __device__ void add(long long number) {
    lowest = min(lowest, number);
    highest = max(highest, number);
  }
};

struct StepShared {
  WordSpan span;
  int exponent;
};

/// What sampled values are behind a map.
struct Fit {
  bool has_words;        // all of them
  std::uint64_t spread;  // of the words
};

template <class Word>
class StepSearch {
 public:
  __device__ StepSearch(const SampledLane<Word>& lane, StepShared& shared)
      : lane_(lane), shared_(shared) {}

  __device__ LaneMapping find() const {
    const Found decimal = find_decimal(), binary = find_binary_scale();
    return binary.spread < decimal.spread ? binary.mapping : decimal.mapping;
  }

 private:
  struct Found {
    LaneMapping mapping;
    std::uint64_t spread = ~std::uint64_t{0};
  };

  __device__ Found find_decimal() const {
    for (int digits = 0; digits <= most_exact_digits<Word>(); ++digits) {
      const LaneMapping mapping{.map = static_cast<std::uint8_t>(ValueMap::decimal),
                                .step = static_cast<std::uint64_t>(digits)};
      const Fit fit = fit_of(DecimalMap(mapping), SampledLane<Word>::kAll);
      if (!fit.has_words) continue;
      if (is_little(static_cast<Word>(fit.spread))) return {mapping, fit.spread};
      break;
    }
    return {};
  }
  /// Mostly one group a warp refuses it.
  __device__ Found find_binary_scale() const {
    Found found;
    for (const bool all : {false, true}) {
      const int exponent = lowest_exponent_of(all);
      if (!BinaryScaleMap::has_step(exponent)) return {};
      found.mapping = {.map = static_cast<std::uint8_t>(ValueMap::scaled),
                       .step = BinaryScaleMap::step_of(exponent)};
      const Fit fit = fit_of(BinaryScaleMap(found.mapping), all);
      if (!fit.has_words || !is_little(static_cast<Word>(fit.spread))) return {};
      found.spread = fit.spread;
    }
    return found;
  }

  __device__ int lowest_exponent_of(bool all) const {
    int exponent = BinaryScaleMap::kHighest + 1;
    lane_.for_groups(all, [&](const GroupOfLane<Word>& group) {
#pragma unroll
      for (const Word value : group.values) exponent = min(exponent, lowest_exponent(value));
      return true;
    });
    if (threadIdx.x == 0) shared_.exponent = BinaryScaleMap::kHighest + 1;
    __syncthreads();  // it is there
    atomicMin(&shared_.exponent, exponent);
    __syncthreads();  // all have been added
    const int lowest = device::warp_uniform(shared_.exponent);
    __syncthreads();  // and looked at
    return lowest;
  }

  template <class Map>
  __device__ Fit fit_of(const Map& map, bool all) const {
    WordSpan span = WordSpan::none();
    const auto fits = [&](const GroupOfLane<Word>& group) {
      bool all_fit = true;
#pragma unroll
      for (const Word value : group.values) {
        Word word = 0;
        all_fit &= find_steps(map, value, 8 * sizeof(Word), word);
        span.add(static_cast<std::make_signed_t<Word>>(word));
      }
      return __all_sync(device::kWholeWarp, all_fit) != 0;
    };
    if (!device::warp_uniform(__syncthreads_and(fits(lane_.first())))) return {};
    if (threadIdx.x == 0) shared_.span = WordSpan::none();
    if (!device::warp_uniform(__syncthreads_and(!all || lane_.for_others(fits)))) return {};
    atomicMin(&shared_.span.lowest, span.lowest);
    atomicMax(&shared_.span.highest, span.highest);
    __syncthreads();  // all have been added
    const auto spread = static_cast<std::uint64_t>(shared_.span.highest - shared_.span.lowest);
    __syncthreads();  // and looked at
    return {true, spread};
  }

  const SampledLane<Word>& lane_;
  StepShared& shared_;
};

template <class Word>
__global__ void __launch_bounds__(SampledLane<Word>::kThreads)
    find_step_maps_kernel(PlanArgs args) {
  __shared__ PackTask task;
  __shared__ StepShared shared;
  for_sampled_lanes<Word>(args, task, [&](const SampledLane<Word>& lane) {
    return StepSearch<Word>(lane, shared).find();
  });
}

}  // namespace

cudaError_t launch_find_step_maps(const PlanArgs& args, cudaStream_t stream) {
  const auto kernel = args.shape.value_bytes == 8 ? find_step_maps_kernel<std::uint64_t>
                                                  : find_step_maps_kernel<std::uint32_t>;
  return device::launch_kernel(kernel, sampled_lanes_grid(args.shape),
                               SampledLane<std::uint32_t>::kThreads, stream, args);
}

}  // namespace gdelta::cuda
