// The digits of a lane of decimals, from the groups that orders are chosen by, as hosts find them (find_exact of the map).
#pragma once

#include <cstdint>
#include <type_traits>

#include "codec/cuda/container/plan_chunks_cuda.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/words/maps/exact_decimal.h"

namespace gdelta::cuda {

/// The least and the greatest word of a lane.
struct WordSpan {
  long long lowest, highest;

  static __device__ WordSpan none() { return {0x7fffffffffffffff, -0x7fffffffffffffff}; }

  __device__ void add(const WordSpan& other) {
    lowest = min(lowest, other.lowest);
    highest = max(highest, other.highest);
  }
};

/// The values of a whole group in the registers of a warp.
template <class Word>
struct GroupToFit {
  Word values[kGroupRegisters];

  __device__ GroupToFit(const LaneView<Word>& lane, std::uint64_t first) {
    std::uint32_t tuples[kGroupRegisters];
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j)
      tuples[j] = static_cast<std::uint32_t>(first) + 32 * j + (threadIdx.x & 31);
    lane.load(tuples, values);
  }
  /// Whether all of them are decimals of so many digits; `span` gets wider by their words.
  __device__ bool fits(const DecimalMap& map, WordSpan& span) const {
    bool all = true;
#pragma unroll
    for (const Word value : values) {
      Word word = 0;
      all &= find_steps(map, value, 8 * sizeof(Word), word);
      const long long number = static_cast<std::make_signed_t<Word>>(word);
      span.add({number, number});
    }
    return __all_sync(device::kWholeWarp, all);
  }
};

/// The fewest digits of which all sampled values are decimals, or ExactMaps::kNone. All threads of a block call it, with
/// a span in shared memory.
template <class Word>
__device__ std::uint8_t find_digits(const PackTask& task, const GroupSample& sample, int lane,
                                    WordSpan& shared) {
  if (task.records < kGroupValues) return ExactMaps::kNone;
  const LaneView<Word> values(task, lane, 0);
  const std::uint64_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
  // Digits are mostly refused by the first group.
  const GroupToFit<Word> first(values, sample.first_tuple(min(warp, sample.count - 1)));
  for (int digits = 0; digits <= most_exact_digits<Word>(); ++digits) {
    const DecimalMap map(LaneMapping{.step = static_cast<std::uint64_t>(digits)});
    WordSpan span = WordSpan::none();
    if (!__syncthreads_and(first.fits(map, span))) continue;
    if (threadIdx.x == 0) shared = WordSpan::none();
    bool fits = true;
    for (std::uint64_t k = warp + warps; fits && k < sample.count; k += warps)
      fits = GroupToFit<Word>(values, sample.first_tuple(k)).fits(map, span);
    if (!__syncthreads_and(fits)) continue;
    atomicMin(&shared.lowest, span.lowest);
    atomicMax(&shared.highest, span.highest);
    __syncthreads();  // all have been added
    const bool may_pay = spans_little<Word>(static_cast<std::make_signed_t<Word>>(shared.lowest),
                                            static_cast<std::make_signed_t<Word>>(shared.highest));
    __syncthreads();  // and looked at
    return may_pay ? static_cast<std::uint8_t>(digits) : ExactMaps::kNone;
  }
  return ExactMaps::kNone;
}

}  // namespace gdelta::cuda
