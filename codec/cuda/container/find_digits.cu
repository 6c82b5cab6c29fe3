// A block finds the digits of a lane of a chunk, as hosts do (ColumnValueMap::find_exact).
#include <cstdint>
#include <type_traits>

#include "codec/cuda/container/cut_task.cuh"
#include "codec/cuda/container/plan_chunks_cuda.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/words/maps/exact_decimal.h"

namespace gdelta::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kMostBlocks = 1 << 16;

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

  __device__ GroupToFit(const LaneView<Word>& lane, std::uint32_t first) {
    std::uint32_t tuples[kGroupRegisters];
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) tuples[j] = first + 32 * j + (threadIdx.x & 31);
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

/// The fewest digits of which all sampled values are decimals, or ExactMaps::kNone. The block calls it, with a span in
/// shared memory.
template <class Word>
__device__ std::uint8_t find_digits(const PackTask& task, const DeviceSample& sample, int lane,
                                    WordSpan& shared) {
  if (device::warp_uniform(task.records) < kGroupValues) return ExactMaps::kNone;
  const std::uint32_t count = device::warp_uniform(sample.count);
  const LaneView<Word> values(task, lane, 0);
  const std::uint32_t warp = device::warp_number();
  // Digits are mostly refused by the first group.
  const GroupToFit<Word> first(values, sample.first_tuple(min(warp, count - 1)));
  for (int digits = 0; digits <= most_exact_digits<Word>(); ++digits) {
    const DecimalMap map(LaneMapping{.step = static_cast<std::uint64_t>(digits)});
    WordSpan span = WordSpan::none();
    if (!device::warp_uniform(__syncthreads_and(first.fits(map, span)))) continue;
    if (threadIdx.x == 0) shared = WordSpan::none();
    bool fits = true;
    for (std::uint32_t k = warp + kWarps; fits && k < count; k += kWarps)
      fits = GroupToFit<Word>(values, sample.first_tuple(k)).fits(map, span);
    if (!device::warp_uniform(__syncthreads_and(fits))) continue;
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

template <class Word>
__global__ void __launch_bounds__(kThreads) find_digits_kernel(PlanArgs args) {
  __shared__ PackTask task;
  __shared__ WordSpan span;
  const CutShape& shape = args.shape;
  const int lane = static_cast<int>(blockIdx.y);
  for (std::uint32_t chunk = blockIdx.x; chunk < shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) task = cut_task(shape, chunk);
    __syncthreads();  // the task is there
    const DeviceSample sample = sample_groups(task.records, shape.tuple, shape.column_groups);
    const std::uint8_t digits = find_digits<Word>(task, sample, lane, span);
    if (threadIdx.x == 0) args.maps[chunk].digits[lane] = digits;
    __syncthreads();  // the task has been read
  }
}

}  // namespace

cudaError_t launch_find_digits(const PlanArgs& args, cudaStream_t stream) {
  if (args.shape.num_chunks == 0) return cudaSuccess;
  const auto kernel = args.shape.value_bytes == 8 ? find_digits_kernel<std::uint64_t>
                                                  : find_digits_kernel<std::uint32_t>;
  const dim3 grid(args.shape.num_chunks < kMostBlocks ? args.shape.num_chunks : kMostBlocks,
                  args.shape.tuple);
  return device::launch_kernel(kernel, grid, kThreads, stream, args);
}

}  // namespace gdelta::cuda
