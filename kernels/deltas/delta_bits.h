// How long residuals of a stretch are at each of the low orders, each by itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

/// bits[q] += bits of the zigzagged residuals of order q, for q = 0 … highest. The first `highest` words
/// are history at every order and do not count.
/// in  words [count], destroyed
template <class Word>
void add_delta_bits(Word* words, std::size_t count, int value_bits, int highest,
                    std::uint64_t* bits);

}  // namespace gdelta
