// Finds which whole numbers the floats of a lane of a chunk may be, as hosts do (ColumnValueMap::find_exact).
#include <cstdint>
#include <type_traits>

#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/sampled_lane.cuh"

namespace gdelta::cuda {
namespace {

/// What sampled values are behind a map.
struct Fit {
  long long lowest, highest;  // of the words
  int has_words;              // all of them, if not 0
  int exponent;               // the lowest of the values

  static __device__ Fit none() {
    return {0x7fffffffffffffff, -0x7fffffffffffffff, 1, BinaryScaleMap::kHighest + 1};
  }
  static __device__ Fit join(const Fit& one, const Fit& other) {
    return {min(one.lowest, other.lowest), max(one.highest, other.highest),
            one.has_words & other.has_words, min(one.exponent, other.exponent)};
  }
  /// Of the warp.
  __device__ Fit of_warp() const {
    Fit all = *this;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      all = join(all, {__shfl_xor_sync(device::kWholeWarp, all.lowest, distance),
                       __shfl_xor_sync(device::kWholeWarp, all.highest, distance), all.has_words,
                       __shfl_xor_sync(device::kWholeWarp, all.exponent, distance)});
    return all;
  }
  __device__ std::uint64_t spread() const { return static_cast<std::uint64_t>(highest - lowest); }
};

template <class Word>
struct StepSearch {
  using Result = Fit;

  /// Warps try different maps. More digits than are needed make words that differ more.
  __device__ bool may_have(const SampledLane<Word>& lane, int warp) const {
    constexpr GlanceOfWarp<Fit> looker;
    constexpr int kDecimals = most_exact_digits<Word>() + 1;
    bool any = false;
    for (int number = warp; !any && number <= kDecimals; number += kFindWarps)
      any = device::warp_uniform(
          number == kDecimals ? has_exact_map(find_binary_scale(lane, looker).mapping)
                              : has_little(fit_of(DecimalMap(decimal_of(number)), lane, looker)));
    return any;
  }

  template <class Looker>
  __device__ LaneMapping find(const SampledLane<Word>& lane, const Looker& looker) const {
    const Found decimal = find_decimal(lane, looker), binary = find_binary_scale(lane, looker);
    return binary.spread < decimal.spread ? binary.mapping : decimal.mapping;
  }

 private:
  struct Found {
    LaneMapping mapping;
    std::uint64_t spread = ~std::uint64_t{0};
  };

  static __device__ LaneMapping decimal_of(int digits) {
    return {.map = kMapNumber<DecimalMap>, .step = static_cast<std::uint64_t>(digits)};
  }
  static __device__ bool has_little(const Fit& fit) {
    return fit.has_words != 0 && is_little(static_cast<Word>(fit.spread()));
  }

  template <class Looker>
  __device__ Found find_decimal(const SampledLane<Word>& lane, const Looker& looker) const {
    for (int digits = 0; digits <= most_exact_digits<Word>(); ++digits) {
      const LaneMapping mapping = decimal_of(digits);
      const Fit fit = fit_of(DecimalMap(mapping), lane, looker);
      if (fit.has_words == 0) continue;
      if (has_little(fit)) return {mapping, fit.spread()};
      break;
    }
    return {};
  }

  template <class Looker>
  __device__ Found find_binary_scale(const SampledLane<Word>& lane, const Looker& looker) const {
    Fit of_values = Fit::none();
    looker.for_groups(lane, [&](const Word(&values)[kGroupRegisters]) {
#pragma unroll
      for (const Word value : values)
        of_values.exponent = min(of_values.exponent, lowest_exponent(value));
      return __all_sync(device::kWholeWarp, of_values.exponent >= BinaryScaleMap::kLowest) != 0;
    });
    const int exponent =
        device::warp_uniform(looker.combined(of_values.of_warp(), Fit::join).exponent);
    if (!BinaryScaleMap::has_step(exponent)) return {};
    const LaneMapping mapping{.map = kMapNumber<ScaledMap>,
                              .step = BinaryScaleMap::step_of(exponent)};
    const Fit fit = fit_of(BinaryScaleMap(mapping), lane, looker);
    return has_little(fit) ? Found{mapping, fit.spread()} : Found{};
  }

  template <class Map, class Looker>
  __device__ Fit fit_of(const Map& map, const SampledLane<Word>& lane, const Looker& looker) const {
    Fit fit = Fit::none();
    looker.for_groups(lane, [&](const Word(&values)[kGroupRegisters]) {
      bool all_have = true;
#pragma unroll
      for (const Word value : values) {
        Word word = 0;
        all_have &= find_steps(map, value, 8 * sizeof(Word), word);
        const long long number = static_cast<std::make_signed_t<Word>>(word);
        fit.lowest = min(fit.lowest, number);
        fit.highest = max(fit.highest, number);
      }
      fit.has_words = __all_sync(device::kWholeWarp, all_have);
      return fit.has_words != 0;
    });
    if (device::warp_uniform(fit.has_words) != 0) fit = fit.of_warp();
    return looker.combined(fit, Fit::join);
  }
};

}  // namespace

cudaError_t launch_find_step_maps(const PlanArgs& args, cudaStream_t stream) {
  return launch_find<StepSearch>(args, stream);
}

}  // namespace gdelta::cuda
