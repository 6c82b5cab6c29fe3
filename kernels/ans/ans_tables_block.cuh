// The decoding tables of a column, built in shared memory by a block from the fields of its model, which
// have been checked. Spec: coders/ans.md.
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>

#include "kernels/ans/ans_layout.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

template <class Word>
struct AnsBin {
  Word lower;
  std::uint32_t offset_bits;
};

/// Where the offset bits of a slot are lowest, these count, with room for the sum of a run's.
constexpr std::uint32_t kOffsetBitsMask = 0x1ff;

/// A slot that has its bin with it, so that a symbol is one look: its residuals have 32 bits at most.
struct AnsWholeSlot {
  std::uint32_t bits;  // place, offset bits with room for the sum of a run's, frequency
  std::uint32_t lower;

  __device__ static AnsWholeSlot make(std::uint32_t frequency, std::uint32_t place,
                                      const AnsBin<std::uint32_t>& bin) {
    return {frequency << 20 | bin.offset_bits << 11 | place, bin.lower};
  }
  __device__ std::uint32_t frequency() const { return bits >> 20; }
  __device__ std::uint32_t place() const { return bits & 0x7ff; }
  /// The offset bits, lowest, and others above them.
  __device__ std::uint32_t from_offset_bits() const { return bits >> 11; }
  /// The lower end of the bin, of whose bits those of the value count.
  __device__ std::uint32_t from_lower() const { return lower; }
};

/// The same for residuals of 16 bits at most: a field less to move.
struct AnsNarrowSlot {
  std::uint32_t bits;  // offset bits with room for the sum of a run's, frequency
  std::uint32_t low;   // lower end, place

  __device__ static AnsNarrowSlot make(std::uint32_t frequency, std::uint32_t place,
                                       const AnsBin<std::uint32_t>& bin) {
    return {frequency << 16 | bin.offset_bits, place << 16 | (bin.lower & 0xffff)};
  }
  __device__ std::uint32_t frequency() const { return bits >> 16; }
  __device__ std::uint32_t place() const { return low >> 16; }
  __device__ std::uint32_t from_offset_bits() const { return bits; }
  __device__ std::uint32_t from_lower() const { return low; }
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

/// Slots that have their bins with them take twice the memory. `kTells`: most_offset_bits is wanted.
template <class Word, class OfSlot, bool kTells>
struct AnsSharedTables {
  using Slot = OfSlot;
  static constexpr bool kWhole = !std::is_same_v<Slot, AnsSlot>, kTellsMost = kTells;
  static_assert(!kWhole || sizeof(Word) == 4);

  __device__ AnsBin<Word> bin_of(const Slot& slot) const {
    if constexpr (kWhole) {
      return {slot.from_lower(), slot.from_offset_bits() & kOffsetBitsMask};
    } else {
      return {lowers[slot.bin()], offset_bits[slot.bin()]};
    }
  }
  /// The same in few instructions. Of `bits` the low ones are the offset bits, with room for the sum of a run's.
  __device__ void find_bin(const Slot& slot, std::uint32_t& bits, Word& lower) const {
    if constexpr (kWhole) {
      bits = slot.from_offset_bits();
      lower = slot.from_lower();
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
      return Slot::make(frequency, place, bin);
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
  static constexpr int kColumnFields = 3;  // before the tables
  static constexpr int kMost = kColumnFields + kMaxAnsTables + 3 * kMaxAnsBins;
  std::uint64_t values[kMost + 1];  // and the field behind the tables
  std::uint32_t warp_values[32];
  std::uint32_t first_bin[kMaxAnsTables + 1];
  std::uint32_t heads[kMaxAnsSlots / 32];  // a bit for each slot of all tables: a bin begins there

  /// Where the three of a bin begin, which is counted over all tables. A table says first how many bins it has.
  __device__ static std::uint32_t of_bin(std::uint32_t table, std::uint32_t bin) {
    return kColumnFields + 1 + table + 3 * bin;
  }
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
  const int thread = threadIdx.x & 31, warp = device::warp_number(), warps = blockDim.x / 32;
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

/// The bins of a table, whose fields become first slot and frequency, offset bits, and lower end; the whole warp calls it.
/// Gives whether a bin of the thread has offsets of more than `most` bits.
template <class Tables>
__device__ bool place_bins(Tables& tables, AnsFieldValues& fields, int table, std::uint32_t most) {
  using Word = decltype(tables.bin_of({}).lower);
  const int thread = threadIdx.x & 31;
  const std::uint32_t first_bin = fields.first_bin[table];
  const std::uint32_t bins = fields.first_bin[table + 1] - first_bin;
  std::uint32_t slots_before = 0;
  std::uint64_t lower_before = 0;
  bool has_long_offsets = false;
  for (std::uint32_t first = 0; first < bins; first += 32) {
    const std::uint32_t number = first + thread;
    std::uint64_t* const values = fields.values + AnsFieldValues::of_bin(table, first_bin + number);
    std::uint32_t frequency = 0, offset_bits = 0;
    std::uint64_t step = 0;
    if (number < bins) {
      frequency = static_cast<std::uint32_t>(values[0]);
      offset_bits = static_cast<std::uint32_t>(values[1]);
      step = zigzag_decode(values[2]);
      if (number > 0 && values[-2] < 64) step += std::uint64_t{1} << values[-2];
    }
    const std::uint32_t slots_behind = slots_before + device::warp_prefix(frequency);
    const std::uint64_t lower = lower_before + device::warp_prefix(step);
    has_long_offsets |= offset_bits > most;
    if constexpr (Tables::kTellsMost) atomicMax(&tables.most_offset_bits, offset_bits);
    if (number < bins) {
      tables.set_bin(first_bin + number, {static_cast<Word>(lower), offset_bits});
      const std::uint32_t slot = (table << tables.slot_bits) + slots_behind - frequency;
      values[0] = static_cast<std::uint64_t>(slot) << 32 | frequency;
      values[2] = lower;
      atomicOr(&fields.heads[slot / 32], 1u << slot % 32);
    }
    slots_before = __shfl_sync(device::kWholeWarp, slots_behind, 31);
    lower_before = __shfl_sync(device::kWholeWarp, lower, 31);
  }
  return has_long_offsets;
}

/// The slots of all tables: each warp takes a stretch of them, however long bins are. The whole block calls it.
template <class Tables>
__device__ void fill_slots(Tables& tables, const AnsFieldValues& fields) {
  using Word = decltype(tables.bin_of({}).lower);
  const std::uint32_t thread = threadIdx.x & 31, warp = device::warp_number(),
                      warps = blockDim.x / 32;
  const std::uint32_t slots = static_cast<std::uint32_t>(tables.num_tables) << tables.slot_bits;
  const std::uint32_t words = (slots + 31) / 32;
  const std::uint32_t share = (words + warps - 1) / warps;
  const std::uint32_t begin = min(warp * share, words), end = min(begin + share, words);
  std::uint32_t before = 0;
  for (std::uint32_t word = thread; word < begin; word += 32) before += __popc(fields.heads[word]);
  std::uint32_t bins = device::warp_sum(before);  // that begin before a word
  // What a thread has under way here takes registers from the loops of tiles (docs/ans.md).
  constexpr int kUnderWay = Tables::kWhole && !Tables::kTellsMost ? 1 : 4;
#pragma unroll kUnderWay
  for (std::uint32_t word = begin; word < end; ++word) {
    const std::uint32_t heads = fields.heads[word], slot = 32 * word + thread;
    const std::uint32_t bin = bins + __popc(heads & ((2u << thread) - 1)) - 1;
    bins += __popc(heads);
    // Never, of tables of 32 slots or more; docs/ans.md says what the compiler makes without it.
    if (slot >= slots) break;
    const std::uint64_t* const values =
        fields.values + AnsFieldValues::of_bin(slot >> tables.slot_bits, bin);
    tables.slots[slot] = Tables::make_slot(
        static_cast<std::uint32_t>(values[0]), slot - static_cast<std::uint32_t>(values[0] >> 32),
        bin, {static_cast<Word>(values[2]), static_cast<std::uint32_t>(values[1])});
  }
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
  for (std::uint32_t i = threadIdx.x; i < std::size(fields.heads); i += blockDim.x)
    fields.heads[i] = 0;
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
    std::uint32_t bin = 0;
    for (int table = 0; table < tables.num_tables; ++table) {
      fields.first_bin[table] = bin;
      bin += static_cast<std::uint32_t>(fields.values[AnsFieldValues::of_bin(table, bin) - 1]) + 1;
    }
    fields.first_bin[tables.num_tables] = bin;
  }
  __syncthreads();  // where tables begin is there
  const int warps = blockDim.x / 32;
  bool has_long_offsets = false;
  for (int table = device::warp_number(); table < device::warp_uniform(tables.num_tables);
       table += warps)
    has_long_offsets |= place_bins(tables, fields, table, most);
  const bool any = __syncthreads_or(has_long_offsets) != 0;  // all bins have places
  fill_slots(tables, fields);
  __syncthreads();  // all slots are there, and the fields are not needed any more
  return any;
}

}  // namespace gdelta::cuda
