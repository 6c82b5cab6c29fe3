// The groups of a page of the pack coder as a warp reads them: where they lie, fields out of shared
// memory, exceptions. Spec: formats/gdelta/spec.md, section 6.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/bitpack/group_layout.h"
#include "kernels/deltas/zigzag.h"
#include "kernels/device/warp.cuh"
#include "kernels/pages/page_limits.h"

namespace gdelta::cuda {

/// Where a group is in its page, in one word so that one shuffle brings it.
struct GroupPlace {
  std::uint32_t word;
  __device__ static GroupPlace make(int width, int units, std::uint32_t units_before) {
    return {static_cast<std::uint32_t>(width) | (static_cast<std::uint32_t>(units) << 8) |
            (units_before << 16)};
  }
  __device__ int width() const { return word & 0xff; }
  __device__ int units() const { return (word >> 8) & 0xff; }  // of 16 bytes, that it touches
  __device__ std::uint32_t units_before() const { return word >> 16; }
};

/// Where a group's exceptions are among those of the page, in one word likewise.
struct ExceptionPlace {
  std::uint32_t word;
  __device__ static ExceptionPlace make(GroupDescriptor group, std::uint32_t bytes_before) {
    return {bytes_before | (group.bits >> 7 << 16)};
  }
  __device__ std::uint32_t bytes_before() const { return word & 0xffff; }
  __device__ int count() const { return (word >> 16) & 0x7f; }
  __device__ int log2_high_bytes() const { return word >> 23; }
};

/// Patches of a thread that are read at once, of at most 16 bytes.
template <class Patch, int Run>
inline constexpr int kPatchVector = 16 / sizeof(Patch) < Run ? 16 / sizeof(Patch) : Run;

/// Where residual `position` of group `part` of a strip keeps its patch: thread after thread, in
/// vectors that a warp reads without bank conflicts.
template <class Patch, int Run>
__device__ inline int patch_slot(int part, std::uint32_t position) {
  constexpr int kVector = kPatchVector<Patch, Run>;
  const int thread = kGroupValues / Run * part + position / Run, i = position % Run;
  return (i / kVector) * (32 * kVector) + thread * kVector + i % kVector;
}

/// What the exceptions of group `part` of a strip add to its residuals: with
/// z = low | high << width and width > 0, undoing zigzag gives that of `low` XOR
/// high << (width - 1); with width 0 it is that of `high` alone.
/// This thread takes every `Threads`th from its `first` on; `last` becomes the slot of the last one. The
/// whole warp calls it, and writes if all that it has is valid: then no position stands twice in a group,
/// and each slot is written once. `refused` becomes 1 if one of this thread's is not valid, else it stays. Returns whether a
/// thread of the warp has more than one, or one that is not valid.
template <class Word, int Run, int Threads, class Patch>
__device__ inline bool scatter_exceptions(Patch* patch, int part, const unsigned char* exceptions,
                                          ExceptionPlace place, int width, int value_bits,
                                          int first, int& last, int& refused) {
  const unsigned char* positions = exceptions + place.bytes_before();
  const int log2_bytes = place.log2_high_bytes(), count = place.count();
  const Word largest = largest_high<Word>(width, value_bits);
  int slot = 0;
  Word bits = 0;
  const auto is_wrong = [&](int index) {
    const int position = positions[index], before = index == 0 ? -1 : positions[index - 1];
    const unsigned char* bytes = positions + count + (index << log2_bytes);
    Word high = bytes[0];
#pragma unroll 1  // seldom more than one: short code is worth more
    for (int i = 1; i < 1 << log2_bytes; ++i) high |= static_cast<Word>(bytes[i]) << (8 * i);
    slot = patch_slot<Patch, Run>(part, position);
    bits = width == 0 ? zigzag_decode(high) : high << (width - 1);
    return valid_exception(before, position, high, largest) ? 0 : 1;
  };
  int wrong = first < count ? is_wrong(first) : 0;  // numbers: bools would be packed into bytes
  const bool seldom = __any_sync(device::kWholeWarp, wrong != 0 || count > Threads) != 0;
  if (!seldom) {
    if (first < count) patch[last = slot] = static_cast<Patch>(bits);
    return false;
  }
#pragma unroll 1
  for (int index = first + Threads; index < count; index += Threads) wrong |= is_wrong(index);
  refused |= wrong;
  if (!__any_sync(device::kWholeWarp, wrong != 0)) {
#pragma unroll 1
    for (int index = first; index < count; index += Threads) {
      is_wrong(index);
      patch[last = slot] = static_cast<Patch>(bits);
    }
  }
  return true;
}

/// The same for patches that are all made zero before each tile: every exception is read once, and scattered if it is valid.
/// If others are not, the page is refused, and whatever its tiles become is of no use.
template <class Word, int Run, int Threads, class Patch>
__device__ inline void scatter_valid_exceptions(Patch* patch, int part,
                                                const unsigned char* exceptions,
                                                ExceptionPlace place, int width, int value_bits,
                                                int first, int& refused) {
  const unsigned char* positions = exceptions + place.bytes_before();
  const int log2_bytes = place.log2_high_bytes(), count = place.count();
  const Word largest = largest_high<Word>(width, value_bits);
#pragma unroll 1
  for (int index = first; index < count; index += Threads) {
    const int position = positions[index], before = index == 0 ? -1 : positions[index - 1];
    const unsigned char* bytes = positions + count + (index << log2_bytes);
    Word high = bytes[0];
#pragma unroll 1  // seldom more than one: short code is worth more
    for (int i = 1; i < 1 << log2_bytes; ++i) high |= static_cast<Word>(bytes[i]) << (8 * i);
    if (valid_exception(before, position, high, largest)) {
      patch[patch_slot<Patch, Run>(part, position)] =
          static_cast<Patch>(width == 0 ? zigzag_decode(high) : high << (width - 1));
    } else {
      refused = 1;
    }
  }
}

/// Zigzag undone for the field that starts `shift` (0 ... 31) bits into words[0]; `half_mask` is
/// the field's mask without its top bit. The sign is the field's lowest bit, moved to the top of its
/// word, by a product with `to_top` = 2^(31 - shift) because shifts are what there is most of, and
/// down again; the rest is read a bit further up.
template <class Word>
__device__ inline Word read_residual(const std::uint32_t* words, unsigned shift,
                                     std::uint32_t to_top, Word half_mask) {
  const std::uint32_t w0 = words[0], w1 = words[1];
  const auto sign = static_cast<std::int32_t>(w0 * to_top) >> 31;
  const std::uint32_t low = __funnelshift_rc(w0, w1, shift + 1);
  if constexpr (sizeof(Word) == 4) {
    return (low & half_mask) ^ static_cast<std::uint32_t>(sign);
  } else {
    const Word high = __funnelshift_rc(w1, words[2], shift + 1);
    return ((low | (high << 32)) & half_mask) ^ static_cast<Word>(static_cast<std::int64_t>(sign));
  }
}

/// The thread's run of a group whose fields begin `first_bit` bits into `bits`. Neighbouring values of
/// eight lie 16 fields apart; every other one of them starts at one bit of its word.
template <class Word, int Run>
__device__ inline void read_run(const std::uint32_t* bits, unsigned first_bit, int width,
                                Word (&run)[Run], int thread) {
  const Word half_mask = (Word{1} << ((width - 1) & (8 * sizeof(Word) - 1))) - 1;
#pragma unroll
  for (int eight = 0; eight < Run; eight += 8) {
#pragma unroll
    for (int odd = 0; odd < 2; ++odd) {
      const int field = Run / 8 * (thread % (kGroupValues / Run)) + eight / 8 + 16 * odd;
      const unsigned bit = first_bit + field * width;
      const std::uint32_t* words = bits + (bit >> 5);
      const std::uint32_t to_top = 0x80000000u >> (bit & 31);
#pragma unroll
      for (int i = eight + odd; i < eight + 8; i += 2) {
        run[i] = read_residual<Word>(words, bit & 31, to_top, half_mask);
        words += width;
      }
    }
  }
}

/// Makes the thread's patches zero, `Count` of them.
template <class Patch, int Count>
__device__ inline void clear_patches(Patch* patch, int thread) {
  constexpr int kVector = 16 / sizeof(Patch);
#pragma unroll
  for (int i = 0; i < Count; i += kVector)
    reinterpret_cast<uint4*>(patch + 32 * i)[thread] = make_uint4(0, 0, 0, 0);
}

/// Applies the thread's patches. Where they are narrower than words, bits above the values' become rubbish.
template <class Word, int Run, class Patch>
__device__ inline void take_patches(const Patch* patch, Word (&run)[Run], int thread) {
  constexpr int kVector = kPatchVector<Patch, Run>, kOfWord = sizeof(Word) / sizeof(Patch);
  using Vector = std::conditional_t<kVector * sizeof(Patch) == 16, uint4, uint2>;
  static_assert(sizeof(Vector) == kVector * sizeof(Patch));
#pragma unroll
  for (int i = 0; i < Run; i += kVector) {
    union {
      Vector all;
      Word words[sizeof(Vector) / sizeof(Word)];
    } read;
    read.all = reinterpret_cast<const Vector*>(patch + 32 * i)[thread];
#pragma unroll
    for (int j = 0; j < kVector; ++j)
      run[i + j] ^= read.words[j / kOfWord] >> (8 * sizeof(Patch) * (j % kOfWord));
  }
}

/// Whether the thread's residuals from number `used` on, which may be below 0, are zero as far as `mask` goes. A
/// residual is zero if and only if its zigzagged number is.
template <class Word, int Run>
__device__ inline bool padding_is_zero(const Word (&run)[Run], int used, Word mask = ~Word{0}) {
  Word padding = 0;
#pragma unroll
  for (int i = 0; i < Run; ++i) padding |= i >= used ? run[i] : Word{0};
  return (padding & mask) == 0;
}

}  // namespace gdelta::cuda
