// Whole tiles of a lane alone whose values go to neighbouring places as they are summed: most of what is decoded. The
// loop has nothing at hand that only other tiles need, so that it takes few registers and instructions.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/ans/ans_page_check.cuh"
#include "kernels/ans/ans_run.cuh"
#include "kernels/ans/ans_store.cuh"

namespace gdelta::cuda::ans_page {

/// Words whose first byte is `first`, of the parity that they are for.
template <class Words>
__device__ Words words_from(const unsigned char* first);
template <>
__device__ inline EvenWords words_from<EvenWords>(const unsigned char* first) {
  return {device::SharedPlace(first)};
}
template <>
__device__ inline OddWords words_from<OddWords>(const unsigned char* first) {
  return {device::SharedPlace(first - 1)};
}

/// Ones from bit `n` on, n being the low five bits of `bits`.
__device__ inline std::uint32_t ones_from(std::uint32_t bits) {
  return __funnelshift_l(0, 0xffffffffu, bits);
}

/// Adds the offsets of residuals kFirst to kFirst + kCount - 1, which are the low bits of `high` and `low`. Of `bits` the
/// low five count.
template <int kFirst, int kCount>
__device__ void take_fields(const std::uint32_t (&bits)[kAnsRun], std::uint32_t low,
                            std::uint32_t high, std::uint32_t (&values)[kAnsRun]) {
#pragma unroll
  for (int i = kFirst; i < kFirst + kCount; ++i) {
    values[i] += low & ~ones_from(bits[i]);
    low = __funnelshift_r(low, high, bits[i]);
    high = __funnelshift_r(high, 0, bits[i]);
  }
}

/// Adds the offsets of the thread's run, which have 31 bits at most and stand from bit `bit` of the ring on.
template <class Ring>
__device__ void add_ring_offsets(const std::uint32_t (&bits)[kAnsRun], const unsigned char* ring,
                                 std::uint32_t bit, std::uint32_t first_half, std::uint32_t total,
                                 std::uint32_t (&values)[kAnsRun]) {
  constexpr int kHalf = kAnsRun / 2;
  const auto words_at = [ring](std::uint32_t at) {
    return reinterpret_cast<const std::uint32_t*>(ring + (at / 8 & (Ring::kBytes - 4)));
  };
  const auto take = [&](auto first, auto count, std::uint32_t at) {
    const std::uint32_t* const words = words_at(at);
    take_fields<first(), count()>(bits, __funnelshift_r(words[0], words[1], at),
                                  __funnelshift_r(words[1], words[2], at), values);
  };
  using Zero = std::integral_constant<int, 0>;
  using Half = std::integral_constant<int, kHalf>;
  if (__all_sync(device::kWholeWarp, total <= 64)) {
    take(Zero{}, std::integral_constant<int, kAnsRun>{}, bit);
  } else if (__all_sync(device::kWholeWarp, first_half <= 64 && total - first_half <= 64)) {
    take(Zero{}, Half{}, bit);
    take(Half{}, Half{}, bit + first_half);
  } else {
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      const std::uint32_t* const words = words_at(bit);
      values[i] += __funnelshift_r(words[0], words[1], bit) & ~ones_from(bits[i]);
      bit += bits[i] & AnsWholeSlot::kOffsetMask;
    }
  }
}

/// Decodes `tiles` of them and stores them from `out` on. `states` are the lane's, as in `sum_lane`. If kChecks, adds them
/// to `check`.
template <int ValueBytes, bool kChecks, class Words, class Tables, class Shared, class Selectors,
          class Page>
__device__ void decode_whole_tiles(const Tables& tables, Shared& shared, Selectors& selectors,
                                   int order, std::uint32_t tiles, Page& page,
                                   std::uint32_t* states, unsigned char* out,
                                   AnsPageCheck& check) {
  using Ring = decltype(page.offsets);
  constexpr std::uint32_t kMostBytes = kMaxAnsTile * ValueBytes + 8;  // of offsets, read for a tile
  static_assert(kMostBytes <= Ring::kBytes - Ring::kSegment);
  const int thread = device::thread_of_warp(), slot_bits = page.slot_bits;
  const unsigned below = (1u << thread) - 1;
  const std::uint32_t slot_mask = (1u << slot_bits) - 1;
  out += kAnsRun * ValueBytes * thread;
  __syncwarp();  // the states have been loaded
  std::uint32_t state = order == 1 ? states[0] : 0;
#pragma unroll 1
  for (; tiles > 0; --tiles) {
    __pipeline_wait_prior(0);
    __syncwarp();  // what was asked for a tile ago is there for all
    const bool is_there = page.words.has_asked(page.word + 2 * kMaxAnsTile) &&
                          page.offsets.has_asked(page.bit / 8 + kMostBytes);
    page.words.advance(shared.words, page.base, page.word, thread);
    page.offsets.advance(shared.offsets, page.base, page.bit / 8, thread);
    __pipeline_commit();
    if (!is_there) {
      __pipeline_wait_prior(0);
      __syncwarp();  // and what was asked for just now
    }
    AnsWholeSlot slots[kAnsRun];
    const Words first = words_from<Words>(shared.words + page.word % decltype(page.words)::kBytes);
    Words next = first;
    decode_symbols<true>(device::SharedPlace(tables.slots + (selectors.next() << slot_bits)),
                         slot_bits, slot_mask, next, kAnsRun, below, page.x, slots);
    page.word += next.bytes_behind(first);

    std::uint32_t bits[kAnsRun], values[kAnsRun];
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) {
      bits[i] = slots[i].from_offset_bits();
      values[i] = slots[i].lower;
    }
    const std::uint32_t half = bits[0] + bits[1] + bits[2] + bits[3];
    const std::uint32_t total =
        (half + bits[4] + bits[5] + bits[6] + bits[7]) & AnsWholeSlot::kOffsetMask;
    std::uint32_t sum = total;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
    const std::uint32_t bit = page.bit + sum - total;
    page.bit += __shfl_sync(device::kWholeWarp, sum, 31);
    add_ring_offsets<Ring>(bits, shared.offsets, bit, half & AnsWholeSlot::kOffsetMask, total,
                           values);
    if (order == 1) {
      std::uint32_t own = 0;
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) own += values[i];
      sum = own;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
      own = state + sum - own;
      state += __shfl_sync(device::kWholeWarp, sum, 31);
#pragma unroll
      for (int i = 0; i < kAnsRun; ++i) values[i] = own += values[i];
    } else {
      sum_lane(values, states, order, kMaxAnsStates - 1);
    }
    RunWords<ValueBytes> run;
    pack_lane<ValueBytes>(values, run);
    if constexpr (kChecks) check.add_of_all_states(run);
    store_run<ValueBytes>(run, out);
    out += kMaxAnsTile * ValueBytes;
  }
  if (order == 1 && thread == 0) states[0] = state;
  __syncwarp();  // the state is there for a tile that is not whole
}

}  // namespace gdelta::cuda::ans_page
