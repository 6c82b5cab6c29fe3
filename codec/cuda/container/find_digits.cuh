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

/// Whether all values of a whole group are decimals of so many digits; `span` gets wider by their words. By a warp.
template <class Word>
__device__ bool fit_group(const LaneView<Word>& values, std::uint32_t first, int digits,
                          WordSpan& span) {
  const DecimalMap map(LaneMapping{.step = static_cast<std::uint64_t>(digits)});
  std::uint32_t tuples[kGroupRegisters];
  Word words[kGroupRegisters];
#pragma unroll
  for (int j = 0; j < kGroupRegisters; ++j) tuples[j] = first + 32 * j + (threadIdx.x & 31);
  values.load(tuples, words);
  bool fits = true;
#pragma unroll
  for (int j = 0; j < kGroupRegisters; ++j) {
    Word word = 0;
    fits &= find_steps(map, words[j], 8 * sizeof(Word), word);
    const long long number = static_cast<std::make_signed_t<Word>>(word);
    span.add({number, number});
  }
  return __all_sync(device::kWholeWarp, fits);
}

/// The fewest digits of which all sampled values are decimals, or ExactMaps::kNone. All threads of a block call it, with
/// a span in shared memory.
template <class Word>
__device__ std::uint8_t find_digits(const PackTask& task, const GroupSample& sample, int lane,
                                    WordSpan& shared) {
  if (task.records < kGroupValues) return ExactMaps::kNone;
  const LaneView<Word> values(task, lane, 0);
  const std::uint64_t warps = blockDim.x / 32;
  for (int digits = 0; digits <= most_exact_digits<Word>(); ++digits) {
    if (threadIdx.x == 0) shared = WordSpan::none();
    WordSpan span = WordSpan::none();
    bool fits = true;
    for (std::uint64_t k = threadIdx.x / 32; fits && k < sample.count; k += warps)
      fits = fit_group(values, static_cast<std::uint32_t>(sample.first_tuple(k)), digits, span);
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
