// Runs of a column that a block walks along side by side, and tiles of them in shared memory: a row for each run, which
// has its tuples as they lie in memory. The threads of the block load and store rows together; each then walks along a
// lane of the row of its run.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/linear/linear_runs.cuh"

namespace gdelta::cuda {

inline constexpr int kLinearRuns = 32;         // of a block, a thread of each warp one
inline constexpr int kLinearTile = 32;         // tuples
static_assert(kLinearTile >= kMaxLinearTaps);  // the first tile of a run has all its early values

/// Rows of a tile. Each has room for a tuple more, which its thread may read, and words of all rows at the same place
/// are in different banks.
template <int ValueBytes>
struct LinearRows {
  static constexpr int kBankBytes = ValueBytes == 8 ? 8 : 4;

  __host__ __device__ static constexpr int pitch(int tuple) {
    const int bytes = (kLinearTile + 1) * tuple * ValueBytes;
    return ((bytes + kBankBytes - 1) / kBankBytes | 1) * kBankBytes;
  }
  __host__ __device__ static constexpr int bytes(int tuple) { return kLinearRuns * pitch(tuple); }
};

/// The runs of a block, in shared memory: what would be the same in the registers of all threads.
struct LinearGroup {
  unsigned char* first;  // value of the first run
  std::uint64_t run_bytes;
  std::uint32_t record_bytes;
  std::uint32_t run_tuples;
  std::uint32_t last_tuples;  // of the run behind the whole ones; 0: there is none
  int whole_runs;
  int tuple;
  bool by_words;  // tuples lie one behind the other, at multiples of four bytes
  bool aligned;   // values lie at multiples of their width

  __device__ void set(const ColumnTask& task, int run_bits, std::uint64_t first_run) {
    first = task.out + (first_run << run_bits) * task.record_bytes;
    run_bytes = std::uint64_t{task.record_bytes} << run_bits;
    record_bytes = task.record_bytes;
    run_tuples = 1u << run_bits;
    tuple = task.tuple;
    by_words = task.record_bytes == task.tuple_bytes() &&
               (reinterpret_cast<std::uintptr_t>(task.out) & 3) == 0;
    aligned = is_value_aligned(task.out, task.record_bytes, task.value_bytes);
    const std::uint64_t whole = task.records >> run_bits;
    whole_runs = static_cast<int>(min(whole - first_run, std::uint64_t{kLinearRuns}));
    const std::uint64_t behind = (first_run + whole_runs) << run_bits;
    last_tuples = whole_runs < kLinearRuns ? static_cast<std::uint32_t>(task.records - behind) : 0;
  }

  __device__ std::uint32_t longest() const { return whole_runs > 0 ? run_tuples : last_tuples; }
  __device__ bool has(int run) const { return run < whole_runs + (last_tuples > 0 ? 1 : 0); }
  /// How many tuples a run has in the tile from `at` on.
  __device__ int tuples(int run, std::uint32_t at) const {
    if (run < whole_runs) return kLinearTile;
    const std::uint32_t all = run == whole_runs ? last_tuples : 0;
    return all > at ? static_cast<int>(min(all - at, std::uint32_t{kLinearTile})) : 0;
  }
  __device__ unsigned char* memory(std::uint32_t at, int run) const {
    return first + static_cast<std::uint64_t>(at) * record_bytes + run * run_bytes;
  }
};

/// Moves the tiles of a group between memory and shared memory, by a block: a thread the same places each time.
template <int ValueBytes>
class LinearMover {
 public:
  /// Residuals from tuple `at` of each run on; they are there when the copies of all threads have been waited for.
  __device__ static void load(const LinearGroup& group, std::uint32_t at, unsigned char* rows) {
    if (group.by_words) {
      for_each_word(
          group, at, rows,
          [](unsigned char* shared, unsigned char* memory) {
            __pipeline_memcpy_async(shared, memory, 4);
          },
          [](unsigned char* shared, const unsigned char* memory) { *shared = *memory; });
    } else {
      for_each_value(
          group, at, rows, [](unsigned char* shared, const unsigned char* memory, bool aligned) {
            store_value(shared, ValueBytes, kInRow, load_value<Word>(memory, ValueBytes, aligned));
          });
    }
  }

  __device__ static void store(const LinearGroup& group, std::uint32_t at, unsigned char* rows) {
    if (group.by_words) {
      for_each_word(
          group, at, rows,
          [](const unsigned char* shared, unsigned char* memory) {
            *reinterpret_cast<std::uint32_t*>(memory) =
                *reinterpret_cast<const std::uint32_t*>(shared);
          },
          [](const unsigned char* shared, unsigned char* memory) { *memory = *shared; });
    } else {
      for_each_value(
          group, at, rows, [](const unsigned char* shared, unsigned char* memory, bool aligned) {
            store_value(memory, ValueBytes, aligned, load_value<Word>(shared, ValueBytes, kInRow));
          });
    }
  }

 private:
  using Word = WordOf<ValueBytes>;
  static constexpr bool kInRow = ValueBytes != 3;  // values lie at multiples of their width

  /// Calls word(shared, memory) for each word, and byte(shared, memory) for the bytes behind the last whole word of the
  /// column.
  template <class OfWord, class OfByte>
  __device__ static void for_each_word(const LinearGroup& group, std::uint32_t at,
                                       unsigned char* rows, const OfWord& word,
                                       const OfByte& byte) {
    const int pitch = LinearRows<ValueBytes>::pitch(group.tuple);
    // Short rows are moved several at once by a warp.
    const int words = kLinearTile * ValueBytes / 4 * group.tuple;
    const int across = words == 8 || words == 16 ? words : 32;
    const auto thread = static_cast<int>(threadIdx.x);
    const int first_row = thread / across, step = static_cast<int>(blockDim.x) / across;
    const int whole_runs = group.whole_runs;
    const std::uint64_t memory_step = step * group.run_bytes;
    for (int w = thread % across; w < words; w += across) {
      unsigned char* memory = group.memory(at, first_row) + 4 * w;
      unsigned char* shared = rows + first_row * pitch + 4 * w;
#pragma unroll 4
      for (int row = first_row; row < whole_runs; row += step) {
        word(shared, memory);
        shared += step * pitch;
        memory += memory_step;
      }
    }
    if (whole_runs == kLinearRuns) return;
    const int bytes = group.tuples(whole_runs, at) * group.tuple * ValueBytes;
    unsigned char* const memory = group.memory(at, whole_runs);
    unsigned char* const shared = rows + whole_runs * pitch;
    const auto threads = static_cast<int>(blockDim.x);
    for (int at_byte = 4 * thread; at_byte < bytes; at_byte += 4 * threads) {
      if (at_byte + 4 <= bytes) {
        word(shared + at_byte, memory + at_byte);
      } else {
        for (int b = at_byte; b < bytes; ++b) byte(shared + b, memory + b);
      }
    }
  }

  /// Calls move(shared, memory, whether memory is aligned) for each value; a thread takes the same one of all rows.
  template <class Move>
  __device__ static void for_each_value(const LinearGroup& group, std::uint32_t at,
                                        unsigned char* rows, const Move& move) {
    const int pitch = LinearRows<ValueBytes>::pitch(group.tuple);
    const int tuple = group.tuple, last = group.tuples(group.whole_runs, at);
    const bool aligned = group.aligned;
    const std::uint64_t run_bytes = group.run_bytes;
    for (int value = static_cast<int>(threadIdx.x); value < kLinearTile * tuple;
         value += static_cast<int>(blockDim.x)) {
      const int i = value / tuple;
      unsigned char* memory = group.memory(at + i, 0) + (value - i * tuple) * ValueBytes;
      unsigned char* shared = rows + value * ValueBytes;
      const int end = group.whole_runs + (group.whole_runs < kLinearRuns && i < last ? 1 : 0);
#pragma unroll 4
      for (int row = 0; row < end; ++row) {
        move(shared, memory, aligned);
        shared += pitch;
        memory += run_bytes;
      }
    }
  }
};

}  // namespace gdelta::cuda
