// A block a chunk: all values of a lane are put into a set, sorted and coded, and the indices of sampled groups weighed, as in
// plan_chunks.cu. Sets of values of eight bytes are in shared memory where a block can have so much: all of them together are more
// than the second-level cache holds.
#include "codec/cuda/container/make_dictionaries_cuda.h"

#include <algorithm>

#include "codec/cuda/container/code_table.cuh"
#include "codec/cuda/container/cut_task.cuh"
#include "codec/cuda/container/exact_maps.cuh"
#include "codec/cuda/container/order_costs.cuh"
#include "codec/cuda/container/word_set.cuh"
#include "codec/plan/levels.h"
#include "codec/plan/quick_dictionaries.h"
#include "kernels/bitpack/order_cost.h"
#include "kernels/deltas/lane_residuals.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {
namespace {

/// Of a multiprocessor: one where it has room for one set, and as many threads together.
template <class Word>
constexpr int kMakeDictionariesBlocks = sizeof(Word) == 8 ? 1 : 2;
template <class Word>
constexpr std::uint32_t kMakeDictionariesThreads = 1024 / kMakeDictionariesBlocks<Word>;
template <class Word>
constexpr std::uint32_t kMakeDictionariesWarps = kMakeDictionariesThreads<Word> / 32;
constexpr std::uint32_t kAtOnce = 4;            // values that a thread asks for
constexpr std::uint32_t kPoolBytes = 32 << 10;  // what steps use in turn
constexpr std::uint32_t kTooMany = 1u << 31;    // different words, whatever is added
static_assert(kMostQuickEntries <= 1 << 16 && kMaxLanes <= 64);

template <class Word>
struct DictionaryShared {
  alignas(16) unsigned char pool[kPoolBytes];
  TableShared<kMakeDictionariesWarps<Word>> table;
  std::uint32_t sums[kWeighedOrders];
  std::uint32_t different;  // words of a set
  std::uint32_t taken;
  unsigned long long lanes;  // that may get a dictionary, a bit for each
  PackTask task;

  template <class T>
  __device__ T* as() {
    return reinterpret_cast<T*>(pool);
  }
};

/// That the table of a lane may have; 0: it gets none.
__device__ std::uint32_t most_entries(const MakeDictionariesArgs& args, std::uint32_t chunk,
                                      int lane) {
  const std::uint32_t records = args.shape.records_of(chunk);
  if (records < kGroupValues) return 0;
  const ExactLane& own = args.maps.lanes_of(chunk)[lane];
  const std::uint32_t most =
      most_quick_entries(records, has_exact_map(own.mapping) ? own.bits : own.plain_bits);
  return most >= 2 && may_be_few(args.maps.tables_of(chunk)[lane].seen, most) ? most : 0;
}

/// A lane of a chunk, and what the block knows of it.
template <class Word>
class LaneDictionary {
 public:
  /// `room`: shared memory for the set; null: there is not enough.
  __device__ LaneDictionary(const MakeDictionariesArgs& args, std::uint32_t chunk, int lane,
                            DictionaryShared<Word>& shared, Word* room)
      : args_(args),
        shared_(shared),
        number_(std::uint64_t{chunk} * args.shape.tuple + lane),
        records_(device::warp_uniform(shared.task.records)),
        values_(shared.task, lane, 0),
        lane_(args.maps.lanes_of(chunk)[lane]),
        table_(args.maps.tables_of(chunk)[lane].fields),
        room_(room),
        set_(room != nullptr ? room : args.maps.tables.places_of<Word>(blockIdx.x),
             args.maps.tables.set_size()),
        indices_(args.maps.tables.indices_of(blockIdx.x)),
        unsorted_(args.maps.tables.ranks_of<Word>(blockIdx.x)),
        ranks_(unsorted_ + args.maps.tables.num_ranks() / 2),
        words_(reinterpret_cast<Word*>(args.words + chunk * args.words_pitch) + lane),
        as_{args.type >= ValueType::f16,
            args.type < ValueType::f16 && static_cast<int>(args.type) % 2 == 0,
            8 * args.shape.value_bytes} {}

  /// Whether the lane gets a dictionary.
  __device__ bool make(std::uint32_t most) {
    if (!collect(most)) return false;
    sort();
    const format::TableFields table =
        code_table(ranks_, entries_, as_, args_.maps.tables.coded_of(number_), shared_.table);
    weigh();
    if (!settle(table)) return false;
    look_up();
    return true;
  }

 private:
  __device__ std::uint32_t set_size() const { return args_.maps.tables.set_size(); }

  /// The values of a group; of the last one more than once.
  __device__ void load(std::uint32_t first, std::uint32_t (&tuples)[kGroupRegisters],
                       Word (&values)[kGroupRegisters]) const {
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j)
      tuples[j] = min(first + 32 * j + (threadIdx.x & 31), records_ - 1);
    values_.load(tuples, values);
  }

  /// Counts the words of a group that the set did not have, and leaves in the place of each where it is in the set.
  __device__ void add_group(std::uint32_t first, std::uint32_t most) {
    std::uint32_t tuples[kGroupRegisters], places[kGroupRegisters];
    Word values[kGroupRegisters];
    load(first, tuples, values);
    // Few are left, and threads of a warp take theirs together.
    for (std::uint32_t left = set_.find_at_once(values, places); left != 0; left &= left - 1) {
      const int own = __ffs(static_cast<int>(left)) - 1;
      Word word = values[0];
#pragma unroll
      for (int j = 1; j < kGroupRegisters; ++j)
        if (j == own) word = values[j];
      std::uint32_t place = 0;
      bool is_new = false;
      if (!set_.add(word, place, is_new, [&] { return count_different() > most; }))
        atomicOr(&shared_.different, kTooMany);
      if (is_new) atomicAdd(&shared_.different, 1u);
#pragma unroll
      for (int j = 0; j < kGroupRegisters; ++j)
        if (j == own) places[j] = place;
    }
#pragma unroll
    for (int j = 0; j < kGroupRegisters; ++j) words_[tuples[j] * args_.shape.tuple] = places[j];
  }

  /// Different words, as far as they have been counted.
  __device__ std::uint32_t count_different() const { return atomicOr(&shared_.different, 0u); }
  /// Tells a warp.
  __device__ std::uint32_t different() const {
    std::uint32_t count = 0;
    if ((threadIdx.x & 31) == 0) count = count_different();
    return device::warp_uniform(count);
  }

  /// Puts all values into the set; false if they are too many.
  __device__ bool collect(std::uint32_t most) {
    if (threadIdx.x == 0) shared_.different = shared_.taken = 0;
    set_.clear(threadIdx.x, kMakeDictionariesThreads<Word>);
    __syncthreads();  // the set is empty
    constexpr std::uint32_t kStep = kMakeDictionariesWarps<Word> * kGroupValues;
    for (std::uint32_t first = device::warp_number() * kGroupValues;
         first < records_ && different() <= most; first += kStep)
      add_group(first, most);
    __syncthreads();  // all have been counted
    entries_ = different();
    return entries_ <= most;
  }

  /// Sorts the set's words, and tells each its index.
  __device__ void sort() {
    for (std::uint32_t first = threadIdx.x; first <= set_size();
         first += kAtOnce * kMakeDictionariesThreads<Word>) {
      Word words[kAtOnce];
      bool are_there[kAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        const std::uint32_t place = first + k * kMakeDictionariesThreads<Word>;
        are_there[k] = place <= set_size() && set_.take(place, words[k]);
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k)
        if (are_there[k]) unsorted_[atomicAdd(&shared_.taken, 1u)] = as_.rank_of(words[k]);
    }
    __syncthreads();  // all words are there
    BlockSort<Word, kPoolBytes / sizeof(Word), kMakeDictionariesThreads<Word>>(
        unsorted_, entries_, shared_.template as<Word>(), ranks_)
        .sort();
    for (std::uint32_t first = threadIdx.x; first < entries_;
         first += kAtOnce * kMakeDictionariesThreads<Word>) {
      Word words[kAtOnce];
      std::uint32_t places[kAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k)
        words[k] =
            as_.value_of(ranks_[min(first + k * kMakeDictionariesThreads<Word>, entries_ - 1)]);
      set_.find(words, places);
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k)
        if (first + k * kMakeDictionariesThreads<Word> < entries_)
          indices_[places[k]] =
              static_cast<std::uint16_t>(first + k * kMakeDictionariesThreads<Word>);
    }
    __syncthreads();  // all have their index
  }

  __device__ DeviceSample sample() const {
    return sample_groups(records_, args_.shape.tuple, args_.shape.column_groups);
  }

  /// Adds up what the indices of sampled groups take at each order.
  __device__ void weigh() {
    const CutShape& shape = args_.shape;
    using Rows = CostRows<Word>;
    constexpr std::uint32_t kWeighing = kPoolBytes / sizeof(Rows) < kMakeDictionariesWarps<Word>
                                            ? kPoolBytes / sizeof(Rows)
                                            : kMakeDictionariesWarps<Word>;
    const std::uint32_t warp = device::warp_number();
    if (threadIdx.x < kWeighedOrders) shared_.sums[threadIdx.x] = 0;
    Rows* const rows = shared_.template as<Rows>() + warp;
    if (warp < kWeighing) rows->clear();
    __syncthreads();  // all sums are zero
    GroupCosts<Word> costs(shape, *rows, shared_.sums);
    for (std::uint32_t k = warp; warp < kWeighing && k < sample().count; k += kWeighing) {
      const std::uint32_t first = sample().first_tuple(k);
      bool differs = false;
      GroupValues<Word> group =
          load_group<false>(shared_.task, values_, first, costs.history(), Word{0}, differs);
      std::uint32_t places[kGroupRegisters + 1];
      set_.find(group.words, places);
#pragma unroll
      for (int j = 0; j <= kGroupRegisters; ++j) group.words[j] = indices_[places[j]];
      costs.add(group, first, records_, 0);
    }
    if (warp < kWeighing) costs.finish();
    __syncthreads();  // all groups are weighed
  }

  /// Leaves what the lane is behind the dictionary, if that saves enough. All threads get the same.
  __device__ bool settle(const format::TableFields& table) {
    const auto [best, least] = cheapest_order(args_.shape, shared_.sums, sample(), records_);
    const std::uint64_t bits = has_exact_map(lane_.mapping) ? lane_.bits : lane_.plain_bits;
    const bool pays = dictionary_pays(table.bytes, least, bits);
    __syncthreads();  // what the lane was has been read
    if (pays && threadIdx.x == 0) {
      lane_.mapping = {.map = kMapNumber<DictionaryMap>};
      lane_.bits = least;
      lane_.order = static_cast<std::uint8_t>(best);
      table_ = table;
    }
    return pays;
  }

  /// Brings the indices to where the set was, which nobody asks any more.
  __device__ void bring_indices() {
    if (room_ == nullptr) return;
    auto* const brought = reinterpret_cast<std::uint16_t*>(room_);
    for (std::uint32_t place = threadIdx.x; place <= set_size();
         place += kMakeDictionariesThreads<Word>)
      brought[place] = indices_[place];
    indices_ = brought;
    __syncthreads();  // all are there
  }

  /// Leaves indices in the place of words.
  __device__ void look_up() {
    bring_indices();
    const std::uint32_t tuple = args_.shape.tuple;
    for (std::uint32_t first = threadIdx.x; first < records_;
         first += kAtOnce * kMakeDictionariesThreads<Word>) {
      Word places[kAtOnce];
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i)
        places[i] = words_[min(first + i * kMakeDictionariesThreads<Word>, records_ - 1) * tuple];
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        if (first + i * kMakeDictionariesThreads<Word> < records_)
          words_[(first + i * kMakeDictionariesThreads<Word>)*tuple] = indices_[places[i]];
      }
    }
  }

  const MakeDictionariesArgs& args_;
  DictionaryShared<Word>& shared_;
  std::uint64_t number_;  // of the lane, of all chunks
  std::uint32_t records_;
  LaneView<Word> values_;
  ExactLane& lane_;
  format::TableFields& table_;
  Word* room_;
  WordSet<Word> set_;
  std::uint16_t* indices_;
  Word *unsorted_, *ranks_;
  Word* words_;  // of the lane, those of a tuple side by side
  EntryRanks as_;
  std::uint32_t entries_ = 0;
};

/// The lanes of a chunk that may get one, in turn.
template <class Word>
__device__ void make_dictionaries(const MakeDictionariesArgs& args, std::uint32_t chunk,
                                  DictionaryShared<Word>& shared, Word* room) {
  if (threadIdx.x == 0) {
    shared.task = cut_task(args.shape, chunk);
    shared.lanes = 0;
  }
  __syncthreads();  // the task is there
  const int tuple = args.shape.tuple;
  if (threadIdx.x < tuple && most_entries(args, chunk, threadIdx.x) > 0)
    atomicOr(&shared.lanes, 1ull << threadIdx.x);
  __syncthreads();  // all lanes have been looked at
  const std::uint64_t may_have = device::warp_uniform(std::uint64_t{shared.lanes});
  for (int lane = 0; lane < tuple; ++lane) {
    if ((may_have >> lane & 1) == 0) continue;
    const std::uint32_t most = most_entries(args, chunk, lane);
    if (LaneDictionary<Word>(args, chunk, lane, shared, room).make(most) && threadIdx.x == 0)
      args.maps.chunks[chunk].lanes = ~std::uint64_t{0} >> (kMaxLanes - tuple);
    __syncthreads();  // shared memory has been read
  }
}

/// A block takes each gridDim.x-th chunk: most have nothing for it, which its threads see side by side.
template <class Word, bool kSetInShared>
__global__ void __launch_bounds__(kMakeDictionariesThreads<Word>, kMakeDictionariesBlocks<Word>)
    make_dictionaries_kernel(const __grid_constant__ MakeDictionariesArgs args) {
  __shared__ DictionaryShared<Word> shared;
  Word* const room = kSetInShared ? reinterpret_cast<Word*>(device::dynamic_shared()) : nullptr;
  device::wait_for_predecessor();
  device::start_successor();
  const std::uint32_t chunks = args.shape.num_chunks, tuple = args.shape.tuple;
  const std::uint32_t step = gridDim.x * (kMakeDictionariesThreads<Word> / kMaxLanes);
  for (std::uint32_t first = blockIdx.x; first < chunks; first += step) {
    const std::uint32_t own = first + gridDim.x * (threadIdx.x / tuple);
    const bool has_lane =
        threadIdx.x / tuple < kMakeDictionariesThreads<Word> / kMaxLanes && own < chunks;
    const bool may_pay = has_lane && most_entries(args, own, threadIdx.x % tuple) > 0;
    if (!__syncthreads_or(may_pay)) continue;
    for (std::uint32_t chunk = first; chunk < min(first + step, chunks); chunk += gridDim.x)
      make_dictionaries<Word>(args, chunk, shared, room);
  }
}

template <class Word, bool kSetInShared>
cudaError_t launch_make(const MakeDictionariesArgs& args, std::size_t shared_bytes,
                        cudaStream_t stream) {
  constexpr auto kKernel = make_dictionaries_kernel<Word, kSetInShared>;
  int processors = 0;
  if (auto error = device::device_attribute<cudaDevAttrMultiProcessorCount>(processors))
    return error;
  const auto resident = static_cast<std::uint32_t>(kMakeDictionariesBlocks<Word> * processors);
  if (shared_bytes > 0) {
    if (auto error = device::raise_shared_limit(kKernel)) return error;
  }
  const unsigned grid = std::min(args.maps.tables.blocks, resident);
  return device::launch_after_with<kKernel>(grid, kMakeDictionariesThreads<Word>, shared_bytes,
                                            stream, args);
}

cudaError_t launch_make_of_8(const MakeDictionariesArgs& args, cudaStream_t stream) {
  using Word = std::uint64_t;
  const std::size_t set_bytes = sizeof(Word) * WordSet<Word>::room(args.maps.tables.set_size());
  int most = 0;
  if (auto error = device::device_attribute<cudaDevAttrMaxSharedMemoryPerBlockOptin>(most))
    return error;
  return set_bytes + sizeof(DictionaryShared<Word>) <= static_cast<std::size_t>(most)
             ? launch_make<Word, true>(args, set_bytes, stream)
             : launch_make<Word, false>(args, 0, stream);
}

}  // namespace

cudaError_t launch_make_dictionaries(const MakeDictionariesArgs& args, cudaStream_t stream) {
  if (args.shape.num_chunks == 0 || args.maps.tables.entries == 0) return cudaSuccess;
  return args.shape.value_bytes == 8 ? launch_make_of_8(args, stream)
                                     : launch_make<std::uint32_t, false>(args, 0, stream);
}

}  // namespace gdelta::cuda
