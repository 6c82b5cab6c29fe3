#include "codec/cuda/container/undo_dictionaries_cuda.h"
#include "formats/gdelta/column_head.h"
#include "formats/gdelta/maps/table_layout.h"
#include "kernels/device/block.cuh"
#include "kernels/device/column_grid.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kUndoDictionariesThreads = 256;
constexpr int kUndoDictionariesWarps = kUndoDictionariesThreads / 32;
constexpr int kEntriesEach = 4;  // of a thread, one after the other
constexpr std::uint32_t kUndoDictionariesMostRows =
    1056;  // blocks side by side; each takes a task at a time
constexpr std::uint32_t kUndoDictionariesMaxSlices = 1024;
constexpr std::uint32_t kTablesAtOnce = 4;  // of a task
// Heads are whole and have been checked: the cursor needs no end.
constexpr std::uint64_t kUndoDictionariesNoEnd = ~std::uint64_t{0};

struct LaneTable {
  format::TableFields fields;
  std::uint32_t bytes_before;    // of the tables of the lanes before
  std::uint32_t entries_before;  // of those
  std::uint8_t lane;
};

/// The tables of a column, as its head says.
struct SharedTables {
  LaneTable tables[kMaxTuple];
  int count;
};

__device__ void read_tables(const DictionaryTask& dictionary, int tuple, SharedTables& shared) {
  const Column column{static_cast<ValueType>(dictionary.type), static_cast<std::uint8_t>(tuple),
                      false};
  format::Front front;
  std::uint64_t exceptions = 0;
  format::Cursor cursor{dictionary.value_maps, kUndoDictionariesNoEnd};
  std::uint32_t bytes = 0, entries = 0;
  shared.count = 0;
  format::parse_value_maps(cursor, column, format::type_bytes(column.type), kUndoDictionariesNoEnd,
                           front, exceptions, [&](int lane, const format::MapFields& fields) {
                             if (fields.table.entries == 0) return;
                             shared.tables[shared.count++] = {fields.table, bytes, entries,
                                                              static_cast<std::uint8_t>(lane)};
                             bytes += fields.table.bytes;
                             entries += fields.table.entries;
                           });
}

/// The task's tables in shared memory; false if there are none. The whole block calls it.
__device__ bool take_tables(const UndoDictionariesArgs& args, std::uint32_t task,
                            SharedTables& shared) {
  if (args.tasks[task].path < ColumnPath::page_warp ||
      args.dictionaries[task].value_maps == nullptr)
    return false;
  __syncthreads();  // the tables of the task before have been used
  if (threadIdx.x == 0) read_tables(args.dictionaries[task], args.tasks[task].tuple, shared);
  __syncthreads();  // these are there
  return true;
}

// ---- Tables

struct TableScan {
  std::uint64_t warp_bits[kUndoDictionariesWarps];
  std::uint64_t warp_gaps[kUndoDictionariesWarps];
};

/// The value that an entry stands for.
__device__ std::uint64_t value_of(std::uint64_t entry, ValueType type, int value_bytes) {
  return type >= ValueType::f16 ? OrderedMap::undo(entry, 8 * value_bytes) : entry;
}

/// All of a table; a thread takes neighbouring entries. False if it is damaged.
__device__ bool expand_table(const format::TableBins& bins, const unsigned char* coded,
                             ValueType type, unsigned char* values, TableScan& scan) {
  const int value_bytes = bins.value_bytes;
  const bool aligned = is_value_aligned(values, value_bytes, value_bytes);
  const std::uint64_t end = 8 * (bins.fields.bytes - bins.offsets_at());
  std::uint64_t bits_before = 0, entry_before = format::load_le(coded, value_bytes);
  if (threadIdx.x == 0)
    store_value<std::uint64_t>(values, value_bytes, aligned && value_bytes == 8,
                               value_of(entry_before, type, value_bytes));
  for (std::uint32_t tile = 1; tile < bins.fields.entries;
       tile += kUndoDictionariesThreads * kEntriesEach) {
    const std::uint32_t first = tile + threadIdx.x * kEntriesEach;
    int chosen[kEntriesEach] = {};
    std::uint64_t bits = 0;
    for (int k = 0; k < kEntriesEach; ++k) {
      if (first + k >= bins.fields.entries) break;
      chosen[k] = bins.bin_of(coded, first + k);
      bits += bins.fields.bin_bits[chosen[k]];
    }
    std::uint64_t at = device::block_prefix(bits, scan.warp_bits, bits_before) - bits;
    std::uint64_t gaps[kEntriesEach] = {};
    std::uint64_t sum = 0;
    for (int k = 0; k < kEntriesEach; ++k) {
      if (first + k >= bins.fields.entries) break;
      const int offset_bits = bins.fields.bin_bits[chosen[k]];
      sum += 1 + bins.starts[chosen[k]];
      if (at + offset_bits <= end)
        sum += format::load_bits(coded + bins.offsets_at(), at, offset_bits);
      at += offset_bits;
      gaps[k] = sum;
    }
    const std::uint64_t entry = device::block_prefix(sum, scan.warp_gaps, entry_before) - sum;
    for (int k = 0; k < kEntriesEach; ++k) {
      if (first + k >= bins.fields.entries) break;
      store_value<std::uint64_t>(values + std::uint64_t{first + k} * value_bytes, value_bytes,
                                 aligned && value_bytes == 8,
                                 value_of(entry + gaps[k], type, value_bytes));
    }
  }
  return bins.ends_well(coded, bits_before);
}

__global__ void __launch_bounds__(kUndoDictionariesThreads)
    expand_tables_kernel(UndoDictionariesArgs args) {
  device::start_successor();
  __shared__ SharedTables shared;
  __shared__ format::TableBins bins;
  __shared__ TableScan scan;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    if (!take_tables(args, i, shared)) continue;
    const DictionaryTask& dictionary = args.dictionaries[i];
    const int value_bytes = args.tasks[i].value_bytes;
    for (int number = blockIdx.y; number < shared.count; number += gridDim.y) {
      const LaneTable& table = shared.tables[number];
      __syncthreads();  // the bins of the table before have been used
      if (threadIdx.x == 0) bins = format::TableBins(table.fields, value_bytes);
      __syncthreads();  // these are there
      const bool whole = expand_table(
          bins, dictionary.coded + table.bytes_before, static_cast<ValueType>(dictionary.type),
          dictionary.values + std::uint64_t{table.entries_before} * value_bytes, scan);
      if (!whole && threadIdx.x == 0)
        atomicMin(&args.damaged_at[args.tasks[i].chunk], dictionary.tables_at + table.bytes_before);
    }
  }
}

// ---- Indices

constexpr int kUndoDictionariesAhead = 4;  // words of a thread that are looked up together

/// What the values of a lane are looked up in.
template <class Word>
struct LookUp {
  const unsigned char* values;
  std::uint32_t entries;
  int bytes;  // of a value
  bool is_table_aligned, aligned, big_endian;

  /// Whether values are words, and lie as such.
  __device__ bool of_words() const {
    return bytes == sizeof(Word) && is_table_aligned && aligned && !big_endian;
  }
  /// kUndoDictionariesAhead of these, each `apart` bytes behind the one before; false if an index is past the table.
  __device__ bool undo_words(unsigned char* at, std::uint64_t apart) const {
    Word words[kUndoDictionariesAhead];
    bool whole = true;
#pragma unroll
    for (int i = 0; i < kUndoDictionariesAhead; ++i)
      words[i] = *reinterpret_cast<const Word*>(at + i * apart);
#pragma unroll
    for (int i = 0; i < kUndoDictionariesAhead; ++i) {
      if (words[i] < entries) {
        words[i] = reinterpret_cast<const Word*>(values)[static_cast<std::uint32_t>(words[i])];
      } else {
        whole = false;
      }
    }
#pragma unroll
    for (int i = 0; i < kUndoDictionariesAhead; ++i)
      *reinterpret_cast<Word*>(at + i * apart) = words[i];
    return whole;
  }
  /// A value of any kind.
  __device__ bool undo(unsigned char* at) const {
    Word word = load_value<Word>(at, bytes, aligned);
    if (big_endian) word = swap_value(word, bytes);
    if (word >= entries) return false;
    word = load_value<Word>(values + static_cast<std::uint64_t>(word) * bytes, bytes,
                            is_table_aligned);
    if (big_endian) word = swap_value(word, bytes);
    store_value(at, bytes, aligned, word);
    return true;
  }
};

/// A thread takes values of one lane; neighbours take neighbours.
template <class Word>
__device__ void look_up(const ColumnTask& task, const DictionaryTask& dictionary,
                        const SharedTables& shared, unsigned long long* damaged_at) {
  const auto slice = [&](std::uint32_t number) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(task.records) * number /
                                      gridDim.y);
  };
  const int bytes = task.value_bytes;
  const std::uint32_t tuples_at_once = kUndoDictionariesThreads / shared.count;
  const std::uint32_t first = threadIdx.x / shared.count;
  if (first >= tuples_at_once) return;
  const LaneTable& table = shared.tables[threadIdx.x % shared.count];
  const unsigned char* const values =
      dictionary.values + std::uint64_t{table.entries_before} * bytes;
  const LookUp<Word> look_up{.values = values,
                             .entries = table.fields.entries,
                             .bytes = bytes,
                             .is_table_aligned = is_value_aligned(values, bytes, bytes),
                             .aligned = is_value_aligned(task.out, task.record_bytes, bytes),
                             .big_endian = dictionary.big_endian};
  const std::uint64_t apart = static_cast<std::uint64_t>(tuples_at_once) * task.record_bytes;
  std::uint32_t tuple = slice(blockIdx.y) + first;
  const std::uint32_t end = slice(blockIdx.y + 1);
  unsigned char* at =
      task.out + static_cast<std::uint64_t>(tuple) * task.record_bytes + table.lane * bytes;
  bool whole = true;
  if (look_up.of_words())
    for (; tuple + (kUndoDictionariesAhead - 1) * tuples_at_once < end;
         tuple += kUndoDictionariesAhead * tuples_at_once, at += kUndoDictionariesAhead * apart)
      whole &= look_up.undo_words(at, apart);
  for (; tuple < end; tuple += tuples_at_once, at += apart) whole &= look_up.undo(at);
  if (!whole) atomicMin(damaged_at, dictionary.tables_at + table.bytes_before);
}

__global__ void __launch_bounds__(kUndoDictionariesThreads)
    look_up_kernel(UndoDictionariesArgs args) {
  device::start_successor();
  __shared__ SharedTables shared;
  device::wait_for_predecessor();
  for (std::uint32_t i = blockIdx.x; i < args.num_tasks; i += gridDim.x) {
    if (args.dictionaries[i].looked_up_before || !take_tables(args, i, shared)) continue;
    const ColumnTask& task = args.tasks[i];
    if (task.value_bytes == 8) {
      look_up<std::uint64_t>(task, args.dictionaries[i], shared, &args.damaged_at[task.chunk]);
    } else {
      look_up<std::uint32_t>(task, args.dictionaries[i], shared, &args.damaged_at[task.chunk]);
    }
  }
}

}  // namespace

cudaError_t launch_expand_tables(const UndoDictionariesArgs& args, std::uint64_t bytes,
                                 cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  const dim3 grid = device::column_grid(args.num_tasks, kUndoDictionariesMostRows,
                                        kUndoDictionariesMaxSlices, bytes);
  return device::launch_after<expand_tables_kernel>(dim3(grid.x, kTablesAtOnce),
                                                    kUndoDictionariesThreads, stream, args);
}

cudaError_t launch_look_up(const UndoDictionariesArgs& args, std::uint64_t bytes,
                           cudaStream_t stream) {
  if (args.num_tasks == 0) return cudaSuccess;
  const dim3 grid = device::column_grid(args.num_tasks, kUndoDictionariesMostRows,
                                        kUndoDictionariesMaxSlices, bytes);
  return device::launch_after<look_up_kernel>(grid, kUndoDictionariesThreads, stream, args);
}

}  // namespace gdelta::cuda
