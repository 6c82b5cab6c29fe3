// The tables of the ans coder as they stand in a model, read by a warp, with the verdicts of format::parse_ans_fields. A bin
// has three fields, each of which ends with its first byte below 128, so that threads find theirs by counting; a thread
// reads a bin.
#pragma once

#include <cstdint>

#include "formats/gdelta/coders/ans_fields.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {

/// A warp's own in shared memory: where the bins that it reads together begin, and the last one ends.
struct AnsBinStarts {
  std::uint32_t at[33];  // behind the first one's beginning
};

namespace ans_fields {

constexpr std::uint32_t kMostBinBytes = 2 * format::kMaxVarintBytes + 1;

/// Finds `count` bins from the cursor on, 32 at most; false if the bytes do not have them.
__device__ inline bool find_bins(const format::Cursor& cursor, std::uint32_t count,
                                 AnsBinStarts& starts) {
  constexpr std::uint32_t kEach = 4, kFields = 3;  // bytes of a thread; fields of a bin
  const std::uint32_t thread = threadIdx.x & 31;
  const std::uint32_t bytes = static_cast<std::uint32_t>(
      min(cursor.left(), static_cast<std::uint64_t>(kMostBinBytes * count)));
  const format::Byte* const from = cursor.data + cursor.at;
  __syncwarp();  // the bins before these have been read
  if (thread == 0) starts.at[0] = 0;
  std::uint32_t ended = 0;  // fields
#pragma unroll 1
  for (std::uint32_t first = 0; ended < kFields * count; first += 32 * kEach) {
    if (first >= bytes) return false;
    const std::uint32_t mine = first + kEach * thread;
    unsigned ends = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kEach; ++i)
      if (mine + i < bytes && from[mine + i] < 0x80) ends |= 1u << i;
    const std::uint32_t own = __popc(ends), up_to = device::warp_prefix(own);
    std::uint32_t field = ended + up_to - own;
#pragma unroll
    for (std::uint32_t i = 0; i < kEach; ++i) {
      if ((ends >> i & 1) == 0) continue;
      ++field;
      if (field % kFields == 0 && field <= kFields * count)
        starts.at[field / kFields] = mine + i + 1;
    }
    ended += __shfl_sync(device::kWholeWarp, up_to, 31);
  }
  __syncwarp();  // all beginnings are there
  return true;
}

/// The last bin that was read, as the next one needs it.
struct BinBefore {
  std::uint64_t expected_lower = 0;
  std::int64_t lower = 0;
  bool is_one = false;
};

/// Reads `count` bins and takes their slots from those that are left; false if one cannot be used.
__device__ inline bool read_bins(format::Cursor& cursor, std::uint32_t count, int value_bits,
                                 AnsBinStarts& starts, std::uint32_t& slots_left,
                                 BinBefore& before) {
  if (!find_bins(cursor, count, starts)) return false;
  const std::uint32_t thread = threadIdx.x & 31;
  const bool mine = thread < count;
  std::uint64_t frequency = 0, distance = 0;
  int offset_bits = 0;
  bool right = true;
  if (mine) {
    format::Cursor bin{cursor.data, cursor.size, cursor.at + starts.at[thread]};
    frequency = bin.varint();
    offset_bits = bin.byte();
    distance = bin.varint();
    right = !bin.failed && frequency > 0 && frequency <= slots_left && offset_bits <= value_bits;
  }
  if (!__all_sync(device::kWholeWarp, right)) return false;
  const auto slots = device::warp_sum(static_cast<std::uint32_t>(frequency));
  if (slots > slots_left) return false;
  slots_left -= slots;

  const format::AnsBinFields bin{0, static_cast<std::uint32_t>(frequency),
                                 static_cast<std::uint8_t>(offset_bits)};
  const std::uint64_t length = format::expected_lower(bin);
  const std::uint64_t length_before = __shfl_up_sync(device::kWholeWarp, length, 1);
  const std::uint64_t risen =
      device::warp_prefix(zigzag_decode(distance) + (thread > 0 ? length_before : 0));
  const auto lower = static_cast<std::int64_t>(before.expected_lower + risen);
  std::int64_t lower_before = __shfl_up_sync(device::kWholeWarp, lower, 1);
  if (thread == 0) lower_before = before.lower;
  const bool rises = lower > lower_before || (thread == 0 && !before.is_one);
  if (!__all_sync(device::kWholeWarp, !mine || (rises && format::is_residual(lower, value_bits))))
    return false;
  const int last = static_cast<int>(count) - 1;
  before.lower = __shfl_sync(device::kWholeWarp, lower, last);
  before.expected_lower =
      static_cast<std::uint64_t>(before.lower) + __shfl_sync(device::kWholeWarp, length, last);
  before.is_one = true;
  cursor.at += starts.at[count];
  return true;
}

/// Reads `bins` bins, which have all slots of their table.
__device__ inline bool read_table(format::Cursor& cursor, std::uint32_t bins,
                                  std::uint32_t num_slots, int value_bits, AnsBinStarts& starts) {
  BinBefore before;
  std::uint32_t slots_left = num_slots;
#pragma unroll 1
  for (std::uint32_t first = 0; first < bins; first += 32) {
    if (!read_bins(cursor, min(bins - first, 32u), value_bits, starts, slots_left, before))
      return false;
  }
  return slots_left == 0;
}

}  // namespace ans_fields

/// Reads over the tables and checks them. The whole warp calls it, all with the same cursor.
__device__ inline format::HeadError read_ans_fields(format::Cursor& cursor, int value_bits,
                                                    AnsBinStarts& starts) {
  using format::HeadError;
  format::AnsFields fields;
  if (const HeadError error = format::parse_ans_shape(cursor, fields); error != HeadError::none)
    return error;
  std::uint32_t all_bins = 0;
#pragma unroll 1
  for (int table = 0; table < fields.num_tables; ++table) {
    std::uint32_t bins = 0;
    if (const HeadError error = format::parse_ans_bins(cursor, bins, all_bins);
        error != HeadError::none)
      return error;
    if (!ans_fields::read_table(cursor, bins, 1u << fields.slot_bits, value_bits, starts))
      return HeadError::corrupt;
  }
  return HeadError::none;
}

}  // namespace gdelta::cuda
