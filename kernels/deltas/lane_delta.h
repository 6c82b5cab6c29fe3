// Differences of any order along one lane, and their sums. Spec: spec.md, section 5.
//
// Word is u32 for values of 8 to 32 bits and u64 for 64: arithmetic modulo 2^32 is right modulo
// 2^w, and only zigzag looks at the sign. Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/pages/page_limits.h"

namespace gdelta {

/// Takes differences `order` times, in place, and zigzags.
/// in   words [order + count]: the `order` values before the stretch, then the stretch
/// out  words [count]: zigzagged residuals, from words[0] on;  states [order]: y1 … yq before the
///      stretch (what `sum_lane` starts from)
template <class Word>
void difference_lane(Word* words, std::size_t count, int order, int value_bits, Word* states);

/// Takes differences alone: `residuals` [count], sign-extended, overlap with nothing else; `words` are destroyed.
template <class Word>
void difference_residuals(Word* words, std::size_t count, int order, int value_bits, Word* states,
                          Word* residuals);

/// Takes sums alone, `order` times, in place: words [count] of residuals become values. `states` [order] moves
/// on by `count` values.
template <class Word>
void sum_residuals(Word* words, std::size_t count, int order, Word* states);

/// Undoes differences and zigzag: words [count] of zigzagged residuals become values; `states` [order] moves on by
/// `count` values.
template <class Word>
void sum_lane(Word* words, std::size_t count, int order, Word* states);

}  // namespace gdelta
