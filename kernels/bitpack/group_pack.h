// One group of the pack coder: 128 residuals as b-bit fields, transposed (residual 8l + i in slot
// 16i + l), so that half a warp unpacks it with eight consecutive residuals a thread. Spec: spec.md,
// section 6. Word is u32 for values of up to 32 bits, u64 for 64. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pages/page_limits.h"

namespace gdelta {

/// Bytes that `unpack_slots` may read beyond the 16 × width of a group.
inline constexpr std::size_t kUnpackSlack = 16;

constexpr int slot_of_residual(int position) { return 16 * (position & 7) + (position >> 3); }

/// counts[b] becomes how many of the 128 residuals need exactly b bits; counts has 65 entries.
template <class Word>
void count_bit_lengths(const Word* residuals, std::uint8_t* counts);

/// Writes the low `width` bits of 128 residuals as 16 × width bytes.
template <class Word>
void pack_group(const Word* residuals, int width, unsigned char* packed);

/// Reads 128 fields, in the order of slots. Up to kUnpackSlack bytes behind the group are read and
/// ignored.
template <class Word>
void unpack_slots(const unsigned char* packed, int width, Word* slots);

/// Zigzagged residuals in slots become 128 values in order; `states` y1 … y`order` move on by a
/// group.
template <class Word>
void sum_slots(const Word* slots, int order, Word* states, Word* values);

}  // namespace gdelta
