// The residuals of a warp's runs in a tile of the ans coder: symbols from states, offsets behind them, and the sums of
// a lane's order, in registers. Spec: coders/ans.md.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/ans/ans_tables_block.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda::ans_page {

// ---- Words of two bytes in shared memory, a number of them behind the next one

/// From any address.
struct AnyWords {
  const unsigned char* next;
  __device__ std::uint32_t operator[](std::uint32_t n) const {
    return next[2 * n] | next[2 * n + 1] << 8;
  }
  __device__ void operator+=(std::uint32_t n) { next += 2 * n; }
  __device__ std::uint32_t bytes_behind(const AnyWords& words) const {
    return static_cast<std::uint32_t>(next - words.next);
  }
};
struct EvenWords {
  device::SharedPlace next;
  __device__ std::uint32_t operator[](std::uint32_t n) const { return (next + 2 * n).load_two(); }
  __device__ void operator+=(std::uint32_t n) { next += 2 * n; }
  __device__ std::uint32_t bytes_behind(const EvenWords& words) const {
    return static_cast<std::uint32_t>(next.at - words.next.at);
  }
};
/// From the second half of one place and the first of the one behind it.
struct OddWords {
  device::SharedPlace before;
  __device__ std::uint32_t operator[](std::uint32_t n) const {
    const device::SharedPlace place = before + 2 * n;
    return __byte_perm(place.load_two(), place.load_two<2>(), 0x2241);
  }
  __device__ void operator+=(std::uint32_t n) { before += 2 * n; }
  __device__ std::uint32_t bytes_behind(const OddWords& words) const {
    return static_cast<std::uint32_t>(before.at - words.before.at);
  }
};

/// A thread's next slot of the table that begins at `table`; the whole warp calls it. `below`: a bit for each thread before
/// this one. Moves `words` behind those that the warp has taken.
template <bool kAll, class Slot, class Words>
__device__ Slot decode_symbol(device::SharedPlace table, int slot_bits, std::uint32_t slot_mask,
                              Words& words, bool active, unsigned below, std::uint32_t& x) {
  const Slot slot = load_slot<Slot>(table + sizeof(Slot) * (x & slot_mask));
  const std::uint32_t moved = slot.frequency() * (x >> slot_bits) + slot.place();
  const bool low = (kAll || active) && moved < kAnsLowest;
  const unsigned lows = __ballot_sync(device::kWholeWarp, low);
  const std::uint32_t word = words[__popc(lows & below)];
  if (kAll || active) x = low ? (moved << 16) + word : moved;
  words += __popc(lows);
  return slot;
}

/// The slots of the thread's run. Threads without a state, and runs that end early, have `count` below 8.
template <bool kWhole, class Slot, class Words>
__device__ void decode_symbols(device::SharedPlace table, int slot_bits, std::uint32_t slot_mask,
                               Words& words, int count, unsigned below, std::uint32_t& state,
                               Slot (&slots)[kAnsRun]) {
  std::uint32_t x = state;
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i)
    slots[i] = decode_symbol<kWhole, Slot>(table, slot_bits, slot_mask, words, i < count, below, x);
  state = x;
}

/// Adds the offsets of the thread's run, which stand one after the other from bit `bit` on. `word_at` gives
/// four bytes, by their number.
template <class Word, class WordAt>
__device__ void add_fields(const std::uint32_t (&bits)[kAnsRun], std::uint32_t bit,
                           const WordAt& word_at, Word (&values)[kAnsRun]) {
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i) {
    const std::uint32_t w0 = word_at(bit / 32), w1 = word_at(bit / 32 + 1);
    const std::uint32_t low = __funnelshift_r(w0, w1, bit);
    if constexpr (sizeof(Word) == 4) {
      values[i] += bits[i] == 0 ? 0 : low & (0xffffffffu >> (32 - bits[i]));
    } else {
      const std::uint32_t high = __funnelshift_r(w1, word_at(bit / 32 + 2), bit);
      const std::uint64_t field = static_cast<std::uint64_t>(high) << 32 | low;
      values[i] += bits[i] == 0 ? 0 : field & (~std::uint64_t{0} >> (64 - bits[i]));
    }
    bit += bits[i];
  }
}

/// The same for residuals kFirst … kFirst + kCount - 1, if these have at most 64 bits.
template <int kFirst, int kCount, class Word, class WordAt>
__device__ void add_short_fields(const std::uint32_t (&bits)[kAnsRun], std::uint32_t bit,
                                 const WordAt& word_at, Word (&values)[kAnsRun]) {
  const std::uint32_t w0 = word_at(bit / 32), w1 = word_at(bit / 32 + 1),
                      w2 = word_at(bit / 32 + 2);
  std::uint64_t fields =
      static_cast<std::uint64_t>(__funnelshift_r(w1, w2, bit)) << 32 | __funnelshift_r(w0, w1, bit);
#pragma unroll
  for (int i = kFirst; i < kFirst + kCount; ++i) {
    if constexpr (sizeof(Word) == 4) {
      values[i] += static_cast<std::uint32_t>(fields) & ~__funnelshift_lc(0, 0xffffffffu, bits[i]);
      fields >>= bits[i];  // 32 at most
    } else {
      values[i] += bits[i] == 0 ? 0 : fields & (~std::uint64_t{0} >> (64 - bits[i]));
      fields = bits[i] == 64 ? 0 : fields >> bits[i];
    }
  }
}

/// The residuals of the thread's run.
template <bool kWhole, class Word, class Tables, class Page>
__device__ void add_offsets(const Tables& tables, const unsigned char* ring,
                            const typename Tables::Slot (&slots)[kAnsRun], int count, Page& page,
                            Word (&values)[kAnsRun]) {
  std::uint32_t bits[kAnsRun], total = 0;
#pragma unroll
  for (int i = 0; i < kAnsRun; ++i) {
    const AnsBin<Word> bin = tables.bin_of(slots[i]);
    const bool there = kWhole || i < count;
    values[i] = there ? bin.lower : 0;
    bits[i] = there ? bin.offset_bits : 0;
    total += bits[i];
  }
  std::uint32_t sum = total;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
  const std::uint32_t bit = page.bit + sum - total;
  page.bit += __shfl_sync(device::kWholeWarp, sum, 31);
  const std::uint32_t behind = page.bit / 8 + 8;  // what reading words may touch
  if (!page.offsets.has(behind)) {
    __pipeline_wait_prior(0);
    __syncwarp();  // what was asked for just now is there for all
    page.offsets.land();
    page.words.land();
    if (!page.offsets.has(behind)) {
      add_fields(
          bits, bit, [&](std::uint32_t n) { return page.offsets.memory_word(page.base, n); },
          values);
      return;
    }
  }
  const auto word_at = [ring](std::uint32_t n) {
    return reinterpret_cast<const std::uint32_t*>(ring)[n % (decltype(page.offsets)::kBytes / 4)];
  };
  constexpr int kHalf = kAnsRun / 2;
  const std::uint32_t first_half = bits[0] + bits[1] + bits[2] + bits[3];
  if (__all_sync(device::kWholeWarp, total <= 64)) {
    add_short_fields<0, kAnsRun>(bits, bit, word_at, values);
  } else if (__all_sync(device::kWholeWarp, first_half <= 64 && total - first_half <= 64)) {
    add_short_fields<0, kHalf>(bits, bit, word_at, values);
    add_short_fields<kHalf, kHalf>(bits, bit + first_half, word_at, values);
  } else {
    add_fields(bits, bit, word_at, values);
  }
}

// ---- States of lanes, y1 … yq of each, lane after lane

/// In shared memory; `at`: those of a lane.
template <class Word>
struct SharedStates {
  Word* at;
  __device__ explicit SharedStates(void* shared) : at(static_cast<Word*>(shared)) {}
  __device__ void set(std::uint32_t place, Word state) { at[place] = state; }
  __device__ SharedStates of_first_lane() const { return *this; }
  __device__ void skip(int order) { at += order; }

  /// Adds the sum of thread `last` to state `k` of the lane; gives it as it was.
  __device__ Word add(int k, Word sum, int last) const {
    const Word carry = at[k];
    __syncwarp();  // all threads have read the state
    if (device::thread_of_warp() == last) at[k] = carry + sum;
    return carry;
  }
  /// Before the next tile reads the new states.
  __device__ void settle() const { __syncwarp(); }
};

/// In registers, one a thread: a few lanes have no more.
template <class Word>
struct ThreadStates {
  Word own = 0;
  __device__ explicit ThreadStates(void*) {}
  __device__ void set(std::uint32_t, Word state) { own = state; }

  struct OfLane {
    Word& own;
    int first = 0;
    __device__ void skip(int order) { first += order; }
    __device__ Word add(int k, Word sum, int last) const {
      const int place = first + k;
      const Word carry = __shfl_sync(device::kWholeWarp, own, place);
      const Word after = carry + __shfl_sync(device::kWholeWarp, sum, last);
      if (device::thread_of_warp() == place) own = after;
      return carry;
    }
    __device__ void settle() const {}
  };
  __device__ OfLane of_first_lane() { return {own}; }
};

/// Sums of a lane's order over the warp's runs. Threads behind `last` have no part in the lane, and get what nobody wants.
template <class Word, class States>
__device__ void sum_lane(Word (&values)[kAnsRun], const States& states, int order, int last) {
#pragma unroll 1
  for (int k = 0; k < order; ++k) {
    Word own = 0;
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) own += values[i];
    Word sum = own;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
    const Word carry = states.add(k, sum, last);
    Word state = carry + sum - own;
#pragma unroll
    for (int i = 0; i < kAnsRun; ++i) values[i] = state += values[i];
  }
  states.settle();
}

}  // namespace gdelta::cuda::ans_page
