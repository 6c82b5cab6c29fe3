// Finds the steps that the integers of a lane of a chunk are apart, as hosts do (ColumnValueMap::find_exact).
#include <cstdint>

#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/sampled_lane.cuh"

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
  while (a != 1) {
    b >>= trailing_zeros(b);
    if (a > b) {
      const Word less = b;
      b = a;
      a = less;
    }
    b -= a;
    if (b == 0) break;
  }
  return a << twos;
}

template <class Word>
struct MultipleSearch {
  using Result = Word;

  /// One warp says it.
  __device__ bool may_have(const SampledLane<Word>& lane, int warp) const {
    return warp == 0 && common_step(lane, GlanceOfWarp<Word>{}) != 1;
  }

  template <class Looker>
  __device__ LaneMapping find(const SampledLane<Word>& lane, const Looker& looker) const {
    const Word step = device::warp_uniform(common_step(lane, looker));
    if (!is_multiple_step(step, ~Word{0})) return {};
    for (int number = 0;; ++number) {
      const LaneMapping mapping{.map = kMapNumber<MultipleMap>,
                                .step = step,
                                .offset = multiple_offset(number, lane.first_value(), step)};
      if (number + 1 == kMultipleOffsets || fits(mapping, lane, looker)) return mapping;
    }
  }

 private:
  /// Of all values that are looked at; 1 at once where any two of a thread's have no other.
  template <class Looker>
  __device__ Word common_step(const SampledLane<Word>& lane, const Looker& looker) const {
    const Word base = lane.first_value();
    Word step = 0;
    looker.for_groups(lane, [&](const Word(&values)[kGroupRegisters]) {
#pragma unroll
      for (const Word value : values) {
        const Word distance = distance_of(value, base);
        // Most are multiples, if there is a step.
        if (step == 0 || distance % step != 0) step = common_divisor(step, distance);
        if (__any_sync(device::kWholeWarp, step == 1)) {
          step = 1;
          return false;
        }
      }
      return true;
    });
    for (int distance = 16; distance > 0; distance /= 2) {
      const Word other = __shfl_xor_sync(device::kWholeWarp, step, distance);
      step = common_divisor(step, other);
      __syncwarp();  // threads take turns of different numbers
    }
    return looker.combined(step, [](Word one, Word other) { return common_divisor(one, other); });
  }

  template <class Looker>
  __device__ bool fits(const LaneMapping& mapping, const SampledLane<Word>& lane,
                       const Looker& looker) const {
    const MultipleWords<Word> words{{MultipleMap(mapping), 8 * sizeof(Word)}};
    Word all_fit = 1;
    looker.for_groups(lane, [&](const Word(&values)[kGroupRegisters]) {
      bool have_words = true;
#pragma unroll
      for (const Word value : values) {
        Word word = 0;
        have_words &= words.find(value, word);
      }
      all_fit = __all_sync(device::kWholeWarp, have_words) != 0 ? 1 : 0;
      return all_fit != 0;
    });
    return looker.combined(all_fit, [](Word one, Word other) { return one & other; }) != 0;
  }
};

}  // namespace

cudaError_t launch_find_multiples(const PlanArgs& args, cudaStream_t stream) {
  return launch_find<MultipleSearch>(args, stream);
}

}  // namespace gdelta::cuda
