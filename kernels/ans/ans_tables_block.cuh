// The decoding tables of a column, built in shared memory by a block from the fields of its model, which
// have been checked. Spec: coders/ans.md.
#pragma once

#include <cstdint>

#include "kernels/ans/ans_layout.h"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {

template <class Word>
struct AnsBins {
  Word lower;
  std::uint32_t offset_bits;
};

template <class Word>
struct AnsSharedTables {
  std::uint32_t slots[kMaxAnsSlots];
  alignas(16) AnsBins<Word> bins[kMaxAnsBins];
  int slot_bits, span_bits, num_tables;
};

/// What building needs beside, in memory that nobody else uses then.
struct AnsFieldValues {
  static constexpr int kMost = 3 + kMaxAnsTables + 3 * kMaxAnsBins;
  std::uint64_t values[kMost + 1];  // and the field behind the tables
  std::uint32_t warp_values[32];
  std::uint32_t first_value[kMaxAnsTables], first_bin[kMaxAnsTables + 1];
};

/// The varint that ends at `last`. The field before it ends before `first` or anywhere behind.
__device__ inline std::uint64_t varint_ending_at(const unsigned char* first,
                                                 const unsigned char* last) {
  std::uint64_t value = *last;
  while (last != first && (last[-1] & 0x80) != 0) value = value << 7 | (*--last & 0x7f);
  return value;
}

/// All fields are varints, for bytes below 128 are too. Each warp takes a part of the bytes.
__device__ inline void read_field_values(AnsFieldValues& fields, const unsigned char* from,
                                         const unsigned char* end) {
  const int thread = threadIdx.x & 31, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const auto bytes = static_cast<std::uint32_t>(end - from);
  const std::uint32_t share = (bytes + warps - 1) / warps;
  const std::uint32_t begin = min(warp * share, bytes), stop = min(begin + share, bytes);
  std::uint32_t count = 0;
  for (std::uint32_t at = begin; at < stop; at += 32)
    count += __popc(
        __ballot_sync(device::kWholeWarp, at + thread < stop && (from[at + thread] & 0x80) == 0));
  if (thread == 0) fields.warp_values[warp] = count;
  __syncthreads();  // all counts are there
  std::uint32_t number = 0;
  for (int w = 0; w < warp; ++w) number += fields.warp_values[w];
  for (std::uint32_t at = begin; at < stop; at += 32) {
    const bool ends = at + thread < stop && (from[at + thread] & 0x80) == 0;
    const unsigned all = __ballot_sync(device::kWholeWarp, ends);
    const std::uint32_t own = number + __popc(all & ((1u << thread) - 1));
    if (ends && own <= AnsFieldValues::kMost)
      fields.values[own] = varint_ending_at(from, from + at + thread);
    number += __popc(all);
  }
  __syncthreads();  // all values are there
}

/// One table; the whole warp calls it.
template <class Word>
__device__ void build_table(AnsSharedTables<Word>& tables, const AnsFieldValues& fields,
                            int table) {
  const int thread = threadIdx.x & 31;
  const std::uint32_t first_bin = fields.first_bin[table];
  const std::uint32_t bins = fields.first_bin[table + 1] - first_bin;
  std::uint32_t* const slots = tables.slots + (table << tables.slot_bits);
  std::uint32_t slots_before = 0;
  std::uint64_t lower_before = 0;
  for (std::uint32_t first = 0; first < bins; first += 32) {
    const std::uint32_t number = first + thread;
    std::uint32_t frequency = 0, offset_bits = 0;
    std::uint64_t step = 0;
    if (number < bins) {
      const std::uint64_t* const values = fields.values + fields.first_value[table] + 3 * number;
      frequency = static_cast<std::uint32_t>(values[0]);
      offset_bits = static_cast<std::uint32_t>(values[1]);
      step = (values[2] >> 1) ^ (0 - (values[2] & 1));
      if (number > 0 && values[-2] < 64) step += std::uint64_t{1} << values[-2];
    }
    const std::uint32_t slots_behind = slots_before + device::warp_prefix(frequency);
    const std::uint64_t lower = lower_before + device::warp_prefix(step);
    if (number < bins) tables.bins[first_bin + number] = {static_cast<Word>(lower), offset_bits};
    for (int b = 0; b < 32 && first + b < bins; ++b) {
      const std::uint32_t share = __shfl_sync(device::kWholeWarp, frequency, b);
      const std::uint32_t behind = __shfl_sync(device::kWholeWarp, slots_behind, b);
      for (std::uint32_t place = thread; place < share; place += 32)
        slots[behind - share + place] = make_ans_slot(share, place, first_bin + first + b).bits;
    }
    slots_before = __shfl_sync(device::kWholeWarp, slots_behind, 31);
    lower_before = __shfl_sync(device::kWholeWarp, lower, 31);
  }
}

/// The whole block calls it. [from, end): the coder's own fields, with others behind them.
template <class Word>
__device__ void build_tables(AnsSharedTables<Word>& tables, AnsFieldValues& fields,
                             const unsigned char* from, const unsigned char* end) {
  read_field_values(fields, from, end);
  if (threadIdx.x == 0) {
    tables.slot_bits = static_cast<int>(fields.values[0]);
    tables.span_bits = static_cast<int>(fields.values[1]);
    tables.num_tables = static_cast<int>(fields.values[2]);
    std::uint32_t next = 3, bin = 0;
    for (int table = 0; table < tables.num_tables; ++table) {
      const auto bins = static_cast<std::uint32_t>(fields.values[next]) + 1;
      fields.first_value[table] = next + 1;
      fields.first_bin[table] = bin;
      next += 1 + 3 * bins;
      bin += bins;
    }
    fields.first_bin[tables.num_tables] = bin;
  }
  __syncthreads();  // where tables begin is there
  const int warps = blockDim.x / 32;
  for (int table = threadIdx.x / 32; table < tables.num_tables; table += warps)
    build_table(tables, fields, table);
  __syncthreads();  // all tables are there, and the fields are not needed any more
}

}  // namespace gdelta::cuda
