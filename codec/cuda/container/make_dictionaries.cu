// A block a chunk and a lane: it looks at few groups, which refuse most lanes; then all values are put into a set, sorted and coded,
// and the indices of sampled groups weighed, as in plan_chunks.cu.
#include "codec/cuda/container/make_dictionaries_cuda.h"

#include <algorithm>
#include <cstddef>

#include "codec/cuda/container/code_table.cuh"
#include "codec/cuda/container/cut_task.cuh"
#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/planned_lengths.cuh"
#include "codec/cuda/container/word_set.cuh"
#include "codec/plan/levels.h"
#include "codec/plan/quick_dictionaries.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

constexpr std::uint32_t kThreads = 512;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kMostBlocks = 1 << 16;
constexpr int kTriedOrders = level_policy(kDeviceLevel).orders.highest + 1;
constexpr std::uint32_t kPoolBytes = 32 << 10;  // what steps use in turn
constexpr std::uint32_t kTooMany = 1u << 31;   // different words, whatever is added
constexpr std::uint32_t kGlancePlaces = 2 * kFewValuesGroups * kGroupValues;
static_assert(kFewValuesGroups <= kWarps && kMostQuickEntries <= 1 << 16);

template <class Word>
struct DictionaryShared {
  alignas(16) unsigned char pool[kPoolBytes];
  TableShared<kWarps> table;
  std::uint16_t row_sums[kWarps][kUnitGroups];  // which sum a row's cost goes to
  std::uint32_t sums[kTriedOrders];
  std::uint32_t different;  // words of a set
  std::uint32_t taken;
  PackTask task;

  template <class T>
  __device__ T* as() {
    return reinterpret_cast<T*>(pool);
  }
};

/// A lane of a chunk, and what the block knows of it.
template <class Word>
class LaneDictionary {
 public:
  __device__ LaneDictionary(const MakeDictionariesArgs& args, std::uint32_t chunk, int lane,
                            DictionaryShared<Word>& shared)
      : args_(args),
        shared_(shared),
        values_(shared.task, lane, 0),
        lane_(args.maps.lanes_of(chunk)[lane]),
        set_(args.maps.tables.places_of<Word>(number_of(args, chunk, lane)),
             args.maps.tables.set_size()),
        indices_(args.maps.tables.indices_of(number_of(args, chunk, lane))),
        coded_(args.maps.tables.coded_of(number_of(args, chunk, lane))),
        // A lane has eight values or more for each entry, so that sorted ones, filled up to a power of two, find room among words.
        ranks_(reinterpret_cast<Word*>(args.words + chunk * args.words_pitch) +
               static_cast<std::uint32_t>(lane) * (shared.task.records / 4)),
        as_{args.type >= ValueType::f16,
            args.type < ValueType::f16 && static_cast<int>(args.type) % 2 == 0,
            8 * args.shape.value_bytes} {}

  /// Whether the lane gets a dictionary.
  __device__ bool make() {
    const std::uint32_t records = device::warp_uniform(shared_.task.records);
    if (records < kGroupValues) return false;
    const std::uint64_t bits = has_exact_map(lane_.mapping) ? lane_.bits : lane_.plain_bits;
    const std::uint32_t most = device::warp_uniform(most_quick_entries(records, bits));
    if (most < 2 || !looks_few(records, most) || !collect(records, most)) return false;
    sort();
    code_table<kThreads>(ranks_, entries_, as_, coded_, shared_.table);
    return weigh(records, bits);
  }

 private:
  static __device__ std::uint64_t number_of(const MakeDictionariesArgs& args, std::uint32_t chunk,
                                            int lane) {
    return std::uint64_t{chunk} * args.shape.tuple + static_cast<std::uint32_t>(lane);
  }

  __device__ void load(std::uint32_t first, Word (&values)[kGroupRegisters]) const {
    std::uint32_t tuples[kGroupRegisters];
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j)
      tuples[j] = min(first + 32 * j + (threadIdx.x & 31), values_.records - 1);
    values_.load(tuples, values);
  }

  /// Counts the words of a group that a set did not have. kLooksFirst: mostly it has them; not in shared memory, where that would
  /// be a race.
  template <bool kLooksFirst>
  __device__ void add_group(const WordSet<Word>& set, std::uint32_t first) {
    Word values[kGroupRegisters];
    load(first, values);
    bool is_there[kGroupRegisters] = {};
    if constexpr (kLooksFirst) {
#pragma unroll
      for (int j = 0; j < kGroupRegisters; ++j) is_there[j] = set.is_first(values[j]);
    }
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) {
      if (is_there[j]) continue;
      const auto what = set.add(values[j]);
      if (what == WordSet<Word>::Added::now) atomicAdd(&shared_.different, 1u);
      if (what == WordSet<Word>::Added::no_room) atomicOr(&shared_.different, kTooMany);
    }
  }

  __device__ void begin_count() {
    if (threadIdx.x > 0) return;
    shared_.different = 0;
    shared_.taken = 0;
  }

  /// As far as they have been counted.
  __device__ std::uint32_t different() const {
    std::uint32_t count = 0;
    if ((threadIdx.x & 31) == 0) count = atomicOr(&shared_.different, 0u);
    return device::warp_uniform(count);
  }

  __device__ bool looks_few(std::uint32_t records, std::uint32_t most) {
    const DeviceSample sample = few_values_groups(records);
    const WordSet<Word> set(shared_.template as<Word>(), kGlancePlaces);
    static_assert(sizeof(Word) * WordSet<Word>::room(kGlancePlaces) <= kPoolBytes);
    begin_count();
    set.clear(threadIdx.x, kThreads);
    __syncthreads();  // the set is empty
    const std::uint32_t warp = device::warp_number();
    if (warp < sample.count) add_group<false>(set, sample.first_tuple(warp));
    __syncthreads();  // all have been counted
    const std::uint32_t count = different();
    __syncthreads();  // that has been read
    return count <= most && may_be_few(count, sample.count);
  }

  /// Puts all values into the set; false if they are too many.
  __device__ bool collect(std::uint32_t records, std::uint32_t most) {
    begin_count();
    set_.clear(threadIdx.x, kThreads);
    __syncthreads();  // the set is empty
    constexpr std::uint32_t kStep = kWarps * kGroupValues;
    for (std::uint32_t first = device::warp_number() * kGroupValues;
         first < records && different() <= most; first += kStep)
      add_group<true>(set_, first);
    __syncthreads();  // all have been counted
    entries_ = different();
    return entries_ <= most;
  }

  /// Sorts the set's words, and tells each its index.
  __device__ void sort() {
    std::uint32_t count = 1;
    while (count < entries_) count *= 2;
    for (std::uint32_t i = entries_ + threadIdx.x; i < count; i += kThreads) ranks_[i] = ~Word{0};
    for (std::uint32_t place = threadIdx.x; place < args_.maps.tables.places_of_lane();
         place += kThreads) {
      Word word;
      if (place <= args_.maps.tables.set_size() && set_.take(place, word))
        ranks_[atomicAdd(&shared_.taken, 1u)] = as_.rank_of(word);
    }
    __syncthreads();  // all words are there
    BlockSort<Word, kPoolBytes / sizeof(Word), kThreads>(ranks_, count, shared_.template as<Word>())
        .sort();
    for (std::uint32_t i = threadIdx.x; i < entries_; i += kThreads)
      indices_[set_.find(as_.value_of(ranks_[i]))] = static_cast<std::uint16_t>(i);
    __syncthreads();  // all have their index
  }

  /// Leaves the lane's order and bits behind the dictionary, if that saves enough.
  __device__ bool weigh(std::uint32_t records, std::uint64_t bits_without) {
    const CutShape& shape = args_.shape;
    using Counts = PlannedLengths<Word>;
    constexpr std::uint32_t kWeighing =
        kPoolBytes / sizeof(Counts) < kWarps ? kPoolBytes / sizeof(Counts) : kWarps;
    const std::uint32_t warp = device::warp_number();
    if (threadIdx.x < kTriedOrders) shared_.sums[threadIdx.x] = 0;
    const DeviceSample sample = sample_groups(records, shape.tuple, shape.column_groups);
    Counts* const counts = shared_.template as<Counts>() + min(warp, kWeighing - 1);
    if (warp < kWeighing) counts->clear();
    __syncthreads();  // all sums are zero
    const int value_bits = 8 * shape.value_bytes;
    const int last = shape.asked_order >= 0 ? shape.asked_order : shape.max_order;
    int rows = 0;
    for (std::uint32_t k = warp; warp < kWeighing && k < sample.count; k += kWeighing) {
      const std::uint32_t first = sample.first_tuple(k);
      bool differs = false;
      GroupValues<Word> group =
          load_group<false>(shared_.task, values_, first, last, Word{0}, differs);
#pragma unroll
      for (Word& word : group.words) word = indices_[set_.find(word)];
      for (int order = 0; order <= last; ++order) {
        if (order > 0) group.difference();
        if (shape.asked_order >= 0 && order < last) continue;
        Word residuals[kGroupRegisters];
        group.residuals(first, records, value_bits, residuals);
        if ((threadIdx.x & 31) == 0)
          shared_.row_sums[warp][rows] =
              static_cast<std::uint16_t>(shape.asked_order >= 0 ? 0 : order);
        counts->add_group(residuals, rows);
        ++rows;
      }
      if (rows + kTriedOrders > kUnitGroups) {
        add_costs(*counts, shared_.row_sums[warp], rows, value_bits, shared_.sums);
        rows = 0;
      }
    }
    if (warp < kWeighing)
      add_costs(*counts, shared_.row_sums[warp], rows, value_bits, shared_.sums);
    __syncthreads();  // all groups are weighed
    return settle(sample, bits_without);
  }

  __device__ bool settle(const DeviceSample& sample, std::uint64_t bits_without) {
    const CutShape& shape = args_.shape;
    const bool asked = shape.asked_order >= 0;
    const std::uint32_t pages = shape.pages_of(shared_.task.records);
    int best = 0;
    std::uint64_t least = ~std::uint64_t{0};
    for (int tried = 0; tried <= (asked ? 0 : shape.max_order); ++tried) {
      const int order = asked ? shape.asked_order : tried;
      const std::uint64_t bits = lane_cost_bits(device::warp_uniform(shared_.sums[tried]), sample,
                                                pages, order, 8 * shape.value_bytes);
      if (bits >= least) continue;
      least = bits;
      best = order;
    }
    const format::TableFields& table = shared_.table.fields;
    if (!dictionary_pays(table.bytes, least, bits_without)) return false;
    if (threadIdx.x == 0) {
      lane_.mapping = {.map = kMapNumber<DictionaryMap>};
      lane_.bits = least;
      lane_.order = static_cast<std::uint8_t>(best);
      lane_.table = table;
    }
    return true;
  }

  const MakeDictionariesArgs& args_;
  DictionaryShared<Word>& shared_;
  LaneView<Word> values_;
  ExactLane& lane_;
  WordSet<Word> set_;
  std::uint16_t* indices_;
  std::uint32_t* coded_;
  Word* ranks_;
  EntryRanks as_;
  std::uint32_t entries_ = 0;
};

template <class Word>
__global__ void __launch_bounds__(kThreads)
    make_dictionaries_kernel(const __grid_constant__ MakeDictionariesArgs args) {
  __shared__ DictionaryShared<Word> shared;
  device::wait_for_predecessor();
  device::start_successor();
  const int lane = static_cast<int>(blockIdx.y);
  for (std::uint32_t chunk = blockIdx.x; chunk < args.shape.num_chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) shared.task = cut_task(args.shape, chunk);
    __syncthreads();  // the task is there
    if (LaneDictionary<Word>(args, chunk, lane, shared).make() && threadIdx.x == 0)
      args.maps.chunks[chunk].lanes = ~std::uint64_t{0} >> (kMaxLanes - args.shape.tuple);
    __syncthreads();  // the task has been read
  }
}

}  // namespace

cudaError_t launch_make_dictionaries(const MakeDictionariesArgs& args, cudaStream_t stream) {
  const std::uint32_t chunks = args.shape.num_chunks;
  if (chunks == 0 || args.maps.tables.entries == 0) return cudaSuccess;
  const dim3 grid(std::min(chunks, kMostBlocks), args.shape.tuple);
  return args.shape.value_bytes == 8
             ? device::launch_after<make_dictionaries_kernel<std::uint64_t>>(grid, kThreads, stream,
                                                                            args)
             : device::launch_after<make_dictionaries_kernel<std::uint32_t>>(grid, kThreads, stream,
                                                                            args);
}

}  // namespace gdelta::cuda
