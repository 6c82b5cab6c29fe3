// The decoding tables of a column, built in shared memory by a block from the fields of its model, which
// have been checked. Spec: coders/ans.md.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/ans/ans_layout.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {

template <class Word>
struct AnsBin {
  Word lower;
  std::uint32_t offset_bits;
};

/// A slot that has its bin with it, so that a symbol is one look: its residuals have 32 bits at most.
struct AnsWholeSlot {
  std::uint32_t bits;  // place, offset bits with room for the sum of a run's, frequency
  std::uint32_t lower;
  static constexpr std::uint32_t kOffsetMask = 0x1ff;
  __device__ std::uint32_t frequency() const { return bits >> 20; }
  __device__ std::uint32_t place() const { return bits & 0x7ff; }
  __device__ std::uint32_t offset_bits() const { return bits >> 11 & kOffsetMask; }
  /// The offset bits, lowest, and others above them.
  __device__ std::uint32_t from_offset_bits() const { return bits >> 11; }
};

template <class Slot>
__device__ inline Slot load_slot(device::SharedPlace place) {
  if constexpr (sizeof(Slot) == 8) {
    const uint2 words = place.load_eight();
    return {words.x, words.y};
  } else {
    return {place.load_four()};
  }
}

/// `kWhole`: of AnsWholeSlot, which take twice the memory. `kTells`: most_offset_bits is wanted.
template <class Word, bool kWhole, bool kTells>
struct AnsSharedTables {
  static_assert(!kWhole || sizeof(Word) == 4);
  static constexpr bool kWholeSlots = kWhole, kTellsMost = kTells;
  using Slot = std::conditional_t<kWhole, AnsWholeSlot, AnsSlot>;

  __device__ AnsBin<Word> bin_of(const Slot& slot) const {
    if constexpr (kWhole) {
      return {slot.lower, slot.offset_bits()};
    } else {
      return {lowers[slot.bin()], offset_bits[slot.bin()]};
    }
  }
  /// The same in few instructions. Of `bits` the low ones are the offset bits, with room for the sum of a run's.
  __device__ void find_bin(const Slot& slot, std::uint32_t& bits, Word& lower) const {
    if constexpr (kWhole) {
      bits = slot.from_offset_bits();
      lower = slot.lower;
    } else {
      // One place of both, which the compiler would compute twice.
      const int bin = device::forget(static_cast<int>(slot.bin()));
      bits = offset_bits[bin];
      lower = lowers[bin];
    }
  }
  __device__ void set_bin(std::uint32_t number, const AnsBin<Word>& bin) {
    if constexpr (!kWhole) {
      lowers[number] = bin.lower;
      offset_bits[number] = static_cast<std::uint8_t>(bin.offset_bits);
    }
  }
  __device__ static Slot make_slot(std::uint32_t frequency, std::uint32_t place,
                                   std::uint32_t number, const AnsBin<Word>& bin) {
    if constexpr (kWhole) {
      return {frequency << 20 | bin.offset_bits << 11 | place, bin.lower};
    } else {
      return make_ans_slot(frequency, place, number);
    }
  }

  alignas(16) Slot slots[kMaxAnsSlots];
  Word lowers[kWhole ? 1 : kMaxAnsBins];
  std::uint8_t offset_bits[kWhole ? 1 : kMaxAnsBins];
  int slot_bits, span_bits, num_tables;
  std::uint32_t slot_mask;         // of slot_bits
  std::uint32_t most_offset_bits;  // of a bin, if kTells
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

/// One table; the whole warp calls it. Gives whether a bin of the thread has offsets of more than `most` bits.
template <class Tables>
__device__ bool build_table(Tables& tables, const AnsFieldValues& fields, int table,
                            std::uint32_t most) {
  using Bin = decltype(tables.bin_of({}));
  using Word = decltype(Bin::lower);
  const int thread = threadIdx.x & 31;
  const std::uint32_t first_bin = fields.first_bin[table];
  const std::uint32_t bins = fields.first_bin[table + 1] - first_bin;
  auto* const slots = tables.slots + (table << tables.slot_bits);
  std::uint32_t slots_before = 0;
  std::uint64_t lower_before = 0;
  bool has_long_offsets = false;
  for (std::uint32_t first = 0; first < bins; first += 32) {
    const std::uint32_t number = first + thread;
    std::uint32_t frequency = 0, offset_bits = 0;
    std::uint64_t step = 0;
    if (number < bins) {
      const std::uint64_t* const values = fields.values + fields.first_value[table] + 3 * number;
      frequency = static_cast<std::uint32_t>(values[0]);
      offset_bits = static_cast<std::uint32_t>(values[1]);
      step = zigzag_decode(values[2]);
      if (number > 0 && values[-2] < 64) step += std::uint64_t{1} << values[-2];
    }
    const std::uint32_t slots_behind = slots_before + device::warp_prefix(frequency);
    const std::uint64_t lower = lower_before + device::warp_prefix(step);
    const auto own_lower = static_cast<Word>(lower);
    has_long_offsets |= offset_bits > most;
    if constexpr (Tables::kTellsMost) atomicMax(&tables.most_offset_bits, offset_bits);
    if (number < bins) tables.set_bin(first_bin + number, {own_lower, offset_bits});
    for (int b = 0; b < 32 && first + b < bins; ++b) {
      const std::uint32_t share = __shfl_sync(device::kWholeWarp, frequency, b);
      const std::uint32_t behind = __shfl_sync(device::kWholeWarp, slots_behind, b);
      Bin bin{};
      if constexpr (Tables::kWholeSlots)
        bin = {__shfl_sync(device::kWholeWarp, own_lower, b),
               __shfl_sync(device::kWholeWarp, offset_bits, b)};
      for (std::uint32_t place = thread; place < share; place += 32)
        slots[behind - share + place] = Tables::make_slot(share, place, first_bin + first + b, bin);
    }
    slots_before = __shfl_sync(device::kWholeWarp, slots_behind, 31);
    lower_before = __shfl_sync(device::kWholeWarp, lower, 31);
  }
  return has_long_offsets;
}

/// Copies bytes, which lie in whole vectors of readable memory, to `room` if they have room; gives where they
/// are. The whole block calls it.
template <std::size_t kRoom>
__device__ inline const unsigned char* stage_fields(const unsigned char* from,
                                                    const unsigned char* end,
                                                    unsigned char (&room)[kRoom]) {
  const auto skew = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) & 15);
  const auto vectors = static_cast<std::uint32_t>((end - from) + skew + 15) / 16;
  if (16 * vectors > kRoom) return from;
  const auto* const all = reinterpret_cast<const uint4*>(from - skew);
  for (std::uint32_t i = threadIdx.x; i < vectors; i += blockDim.x)
    reinterpret_cast<uint4*>(room)[i] = all[i];
  __syncthreads();  // the bytes are there
  return room + skew;
}

/// The whole block calls it. [from, end): the coder's own fields, with others behind them. Gives whether there are
/// offsets of more than `most` bits.
template <class Tables>
__device__ bool build_tables(Tables& tables, AnsFieldValues& fields, const unsigned char* from,
                             const unsigned char* end, std::uint32_t most) {
  // Slots are written when the fields have been read.
  const unsigned char* const staged = stage_fields(
      from, end, reinterpret_cast<unsigned char(&)[sizeof tables.slots]>(tables.slots));
  read_field_values(fields, staged, staged + (end - from));
  if (threadIdx.x == 0) {
    tables.slot_bits = static_cast<int>(fields.values[0]);
    tables.slot_mask = (1u << tables.slot_bits) - 1;
    tables.span_bits = static_cast<int>(fields.values[1]);
    tables.num_tables = static_cast<int>(fields.values[2]);
    if constexpr (Tables::kTellsMost) tables.most_offset_bits = 0;
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
  bool has_long_offsets = false;
  for (int table = threadIdx.x / 32; table < tables.num_tables; table += warps)
    has_long_offsets |= build_table(tables, fields, table, most);
  // All tables are there then, and the fields are not needed any more.
  return __syncthreads_or(has_long_offsets) != 0;
}

}  // namespace gdelta::cuda
