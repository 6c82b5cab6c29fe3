// A block a chunk. The widest lane is searched: in windows of it threads compare samples with the values before them, each at a
// few distances, whose costs stay in registers. The distances that cost least are weighed by few groups of all lanes.
#include <cstdint>

#include "codec/cuda/container/lane_weigher.cuh"
#include "codec/cuda/container/plan_strides_cuda.h"
#include "codec/plan/levels.h"
#include "codec/plan/stride_rules.h"
#include "kernels/device/highest_bit.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_min.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kFindStridesWarps = 8, kFindStridesThreads = 32 * kFindStridesWarps;
constexpr std::uint32_t kFindStridesMostBlocks = 1 << 16;
constexpr StridePolicy kPolicy = level_policy(kDeviceLevel).strides;
constexpr int kMostWindow = static_cast<int>(kPolicy.longest) + 1;
constexpr int kMostLength = static_cast<int>(StrideWindows::most_length(kPolicy.longest));
constexpr int kMostFound = 2 * kStridesOfSignal;
static_assert(level_policy(kDeviceLevel).orders.highest <= kQuickOrder);

/// Costs of distances, and minima among them: a cost and its distance in a word, so that of equals the shortest comes first.
struct SignalCosts {
  std::uint32_t costs[kMostWindow + 1];
  std::uint32_t minima[kMostWindow / 2 + 1];  // of two neighbours one at most
  std::uint32_t num_minima;
};
static_assert(kMostWindow < 1 << 16);

/// A block searches a lane.
struct SearchShared {
  union {
    // Narrowed values of a window, whose differences keep their leading bits; at both ends there are places whose values do
    // not count.
    std::uint32_t places[1 + kMostLength + 31];
    SignalCosts signals[2];  // of values, and of differences
  };
  __device__ std::uint32_t* window() { return places + 1; }
  unsigned widest[2];  // bits of a difference to a window's first value, in turns
};

template <class Word>
struct FindShared {
  union {
    LaneWeigher<Word, kFindStridesWarps> weigher;
    SearchShared search;
  };
  std::uint32_t found[kMostFound];
  int num_found;
  PackTask task;
};

// ---- Windows

/// What a thread has of a window, on its way there.
template <class Word, bool kSteps>
class WindowLoader {
 public:
  __device__ WindowLoader(const PackTask& task, int lane, const StrideWindows& windows)
      : values_(task, lane, task.map), windows_(windows) {}

  __device__ void load(std::uint32_t k) {
    const auto first = static_cast<std::uint32_t>(windows_.place(k));
    const auto last = first + static_cast<std::uint32_t>(windows_.length()) - 1;
    first_word_ = values_.load_one(first);
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      std::uint32_t tuples[kPart];
#pragma unroll
      for (int j = 0; j < kPart; ++j)
        tuples[j] = min(first + (i * kPart + j) * kFindStridesThreads + threadIdx.x, last);
      values_.load(tuples, words_[i]);
    }
  }

  /// Leaves it in shared memory. The block calls it; all have compared the one before.
  __device__ void leave(SearchShared& shared, std::uint32_t k) const {
    int spare = 32 - 8 * values_.value_bytes;
    if constexpr (sizeof(Word) == 8) {
      atomicMax(&shared.widest[k % 2], bits_of_differences());
      __syncthreads();  // every thread has told how many bits its values need
      spare = max(static_cast<int>(shared.widest[k % 2]) - 31, 0);
    }
#pragma unroll
    for (int i = 0; i < kParts * kPart; ++i) {
      const int at = i * kFindStridesThreads + static_cast<int>(threadIdx.x);
      const Word word = words_[i / kPart][i % kPart];
      if (at >= static_cast<int>(windows_.length())) continue;
      if constexpr (sizeof(Word) == 8) {
        shared.window()[at] = static_cast<std::uint32_t>((word - first_word_) >> spare);
      } else {
        shared.window()[at] = word << spare;
      }
    }
    __syncthreads();  // all of the window is there
    if (threadIdx.x == 0) shared.widest[(k + 1) % 2] = 0;
  }

 private:
  static constexpr int kPart = 4;  // under way together
  static constexpr int kParts =
      (kMostLength + kPart * kFindStridesThreads - 1) / (kPart * kFindStridesThreads);

  __device__ unsigned bits_of_differences() const {
    Word spread = 0;
#pragma unroll
    for (const auto& part : words_) {
#pragma unroll
      for (const Word word : part) {
        const Word difference = word - first_word_;
        spread |= difference ^ (0 - (difference >> (8 * sizeof(Word) - 1)));
      }
    }
    return static_cast<unsigned>(device::highest_bit(spread) + 1);
  }

  LaneView<Word, kSteps> values_;
  const StrideWindows& windows_;
  Word first_word_, words_[kParts][kPart];
};

// ---- Costs of distances

/// Those that a thread compares by: `k` of a window and kFindStridesThreads more each.
struct DistanceCosts {
  static constexpr int kDistances = (kMostWindow + kFindStridesThreads - 1) / kFindStridesThreads;
  std::uint32_t of_values[kDistances] = {}, of_differences[kDistances] = {};

  __device__ void add(const std::uint32_t* window, const StrideWindows& windows) {
    const auto count = static_cast<std::uint32_t>(windows.window);
    const std::uint32_t first_of_warp = device::warp_uniform(threadIdx.x & ~31u);
#pragma unroll 1
    for (int j = 0; j < kStrideSamples; ++j, window += windows.spacing) {
      const std::uint32_t sample = window[count], grown = sample - window[count - 1];
      const std::uint32_t* const mine = window + threadIdx.x;
#pragma unroll
      for (int i = 0; i < kDistances; ++i) {
        if (i * kFindStridesThreads + first_of_warp >= count) break;
        const std::uint32_t word = mine[i * kFindStridesThreads],
                            before = mine[i * kFindStridesThreads - 1];
        of_values[i] += stride_cost_of(sample - word);
        of_differences[i] += stride_cost_of(grown - (word - before));
      }
    }
  }

  /// The block calls it when nobody looks at windows any more.
  __device__ void leave(SearchShared& shared, const StrideWindows& windows) const {
    const auto count = static_cast<std::uint32_t>(windows.window);
    if (threadIdx.x < 2) shared.signals[threadIdx.x].num_minima = 0;
#pragma unroll
    for (int i = 0; i < kDistances; ++i) {
      const std::uint32_t k = i * kFindStridesThreads + threadIdx.x;
      if (k >= count) continue;
      shared.signals[0].costs[count - k] = of_values[i];
      shared.signals[1].costs[count - k] = of_differences[i];  // the first value has none
    }
    __syncthreads();  // all costs are there
  }
};

/// Lists the minima of a signal that are worth a look, of distances less than `end`. The block calls it.
__device__ void list_minima(SignalCosts& signal, std::uint32_t end, std::uint32_t limit) {
  for (std::uint32_t stride = 2 + threadIdx.x; stride + 1 < end; stride += kFindStridesThreads) {
    const std::uint32_t cost = signal.costs[stride];
    if (cost < limit && cost < signal.costs[stride - 1] && cost <= signal.costs[stride + 1])
      signal.minima[atomicAdd(&signal.num_minima, 1u)] = cost << 16 | stride;
  }
}

/// The least that comes behind `last`; all bits are set if there is none. A warp calls it.
__device__ std::uint32_t next_minimum(const SignalCosts& signal, std::uint32_t last) {
  std::uint32_t least = ~0u;
  for (std::uint32_t i = threadIdx.x & 31; i < signal.num_minima; i += 32)
    if (signal.minima[i] > last) least = min(least, signal.minima[i]);
  return device::warp_min(least);
}

/// The strides that are worth weighing, most promising first; by values, then by differences. A warp calls it.
template <class Word>
__device__ void choose_candidates(FindShared<Word>& shared) {
  int count = 0;
  for (const SignalCosts& signal : shared.search.signals) {
    std::uint32_t last = 0;
    for (int i = 0; i < kStridesOfSignal; ++i) {
      last = next_minimum(signal, last);
      if (last == ~0u) break;
      const std::uint32_t stride = last & 0xffff;
      bool is_new = true;
      for (int c = 0; c < count; ++c) is_new &= shared.found[c] != stride;
      __syncwarp();  // all threads have looked
      if (is_new && (threadIdx.x & 31) == 0) shared.found[count] = stride;
      count += is_new ? 1 : 0;
      __syncwarp();  // it is there
    }
  }
  if ((threadIdx.x & 31) == 0) shared.num_found = count;
}

/// Looks for strides of a lane. The block calls it.
template <bool kSteps, class Word>
__device__ void search(FindShared<Word>& shared, int lane, const StrideWindows& windows) {
  if (threadIdx.x == 0) shared.search.widest[0] = 0;
  WindowLoader<Word, kSteps> loader(shared.task, lane, windows);
  DistanceCosts costs;
  loader.load(0);
  __syncthreads();  // nothing has been told of widths
  for (std::uint32_t k = 0; k < windows.count; ++k) {
    loader.leave(shared.search, k);
    if (k + 1 < windows.count) loader.load(k + 1);
    costs.add(shared.search.window(), windows);
    __syncthreads();  // all have compared
  }
  costs.leave(shared.search, windows);
  const auto window = static_cast<std::uint32_t>(windows.window);
  const std::uint32_t limit = most_stride_cost(shared.search.signals[0].costs[1]);
  list_minima(shared.search.signals[0], window + 1, limit);
  list_minima(shared.search.signals[1], window, limit);
  __syncthreads();  // all minima are there
  if (device::warp_number() == 0) choose_candidates(shared);
  __syncthreads();  // strides have been found
}

// ---- Weighing

/// Weighs strides one after the other, and keeps the best. The block calls it.
template <class Word>
class BestStride {
 public:
  __device__ BestStride(const CutShape& shape, FindShared<Word>& shared, const DeviceSample& sample)
      : shape_(shape), shared_(shared), sample_(sample) {}

  __device__ bool becomes(std::uint32_t stride) {
    if (threadIdx.x == 0) shared_.task.strides[0].stride = stride;
    shared_.weigher.weigh(shape_, shared_.task, true, sample_);
    const std::uint64_t bits = shared_.weigher.bits();
    __syncthreads();  // every thread knows that
    if (bits >= least_) return false;
    least_ = bits;
    best_ = stride;
    return true;
  }
  __device__ void move_to_neighbours() {
    const std::uint32_t found = best_;
    const auto longest = static_cast<std::uint32_t>(longest_stride(shared_.task.records));
    while (best_ - 1 >= 2 && becomes(best_ - 1)) continue;
    if (best_ == found)
      while (best_ + 1 <= longest && becomes(best_ + 1)) continue;
  }
  __device__ std::uint32_t stride() const { return best_; }
  __device__ std::uint64_t bits() const { return least_; }

 private:
  const CutShape& shape_;
  FindShared<Word>& shared_;
  const DeviceSample& sample_;
  std::uint64_t least_ = ~std::uint64_t{0};
  std::uint32_t best_ = 0;
};

/// The lane that costs most as it is, of equals the first: it gains most from a stride. All threads find it.
template <class Word>
__device__ int widest_lane(const CutShape& shape, const FindShared<Word>& shared,
                           const DeviceSample& sample) {
  int widest = 0;
  std::uint64_t most = 0;
  for (int lane = 0; lane < shape.tuple; ++lane) {
    const int order = shared.task.orders[lane];
    const std::uint64_t bits = lane_cost_at(shape, shared.weigher.sum(shape, lane, order), sample,
                                            shared.task.records, order);
    if (bits <= most) continue;
    most = bits;
    widest = lane;
  }
  return widest;
}

/// The stride of a chunk, or 0. The block calls it.
template <class Word>
__device__ std::uint32_t find_stride(const CutShape& shape, FindShared<Word>& shared) {
  const std::uint64_t longest = min(longest_stride(shared.task.records), kPolicy.longest);
  if (longest < 3) return 0;
  const DeviceSample sample =
      sample_groups(shared.task.records, shape.tuple,
                    static_cast<std::uint32_t>(quick_groups(shape.column_groups)));
  shared.weigher.open();
  shared.weigher.weigh(shape, shared.task, false, sample);
  const std::uint64_t without = shared.weigher.bits();
  const int lane = widest_lane(shape, shared, sample);
  __syncthreads();  // every thread knows both
  const StrideWindows windows =
      StrideWindows::of(shared.task.records, longest, kPolicy.comparisons);
  if (device::warp_uniform(shared.task.has_steps())) {
    search<true>(shared, lane, windows);
  } else {
    search<false>(shared, lane, windows);
  }
  shared.weigher.open();
  BestStride<Word> best(shape, shared, sample);
  const int count = shared.num_found;
  for (int i = 0; i < count; ++i) best.becomes(shared.found[i]);
  if (count == 0 || !is_near_stride(best.bits(), without)) return 0;
  best.move_to_neighbours();
  return best.bits() < without ? best.stride() : 0;
}

template <class Word>
inline constexpr int kFindStridesBlocks = sizeof(Word) == 8 ? 2 : 3;  // of a multiprocessor

template <class Word>
__global__ void __launch_bounds__(kFindStridesThreads, kFindStridesBlocks<Word>)
    find_strides_kernel(const __grid_constant__ PlanStridesArgs args) {
  __shared__ FindShared<Word> shared;
  device::wait_for_predecessor();
  device::start_successor();
  for (std::uint32_t chunk = blockIdx.x; chunk < args.shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) {
      shared.task = args.tasks[chunk];
      shared.task.num_strides = 1;
      shared.task.strides[0] = {0, 1};
    }
    __syncthreads();  // the task is there
    const std::uint32_t stride = find_stride(args.shape, shared);
    if (threadIdx.x == 0) args.found[chunk] = stride;
    __syncthreads();  // nobody looks at the task any more
  }
}

}  // namespace

cudaError_t launch_find_strides(const PlanStridesArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0 || args.found == nullptr) return cudaSuccess;
  const std::uint32_t grid = chunks < kFindStridesMostBlocks ? chunks : kFindStridesMostBlocks;
  const auto launch =
      args.shape.value_bytes == 8
          ? device::launch_after<find_strides_kernel<std::uint64_t>, PlanStridesArgs>
          : device::launch_after<find_strides_kernel<std::uint32_t>, PlanStridesArgs>;
  return launch(grid, kFindStridesThreads, stream, args);
}

}  // namespace gdelta::cuda
