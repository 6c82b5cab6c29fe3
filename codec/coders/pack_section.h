// The pack coder's section: pages of states, descriptors, groups and exceptions. Spec: coders/pack.md.
#pragma once

#include <cstdint>

#include "formats/gdelta/model.h"

namespace gdelta {

/// Values of one lane that a page of this column has at most, whole groups of them: a short column
/// needs no more room than it has groups. Pages are so many tuples apart.
std::uint64_t page_values_of(const format::Section& section, std::uint64_t records);

/// One page as it lies in the block.
struct PageBytes {
  const unsigned char* data = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t readable = 0;  // bytes from `data` to the end of the block
};

/// Decodes a page of `tuples` tuples: lane after lane, `lane_words` apart, of values before map and
/// strides are undone. `words` has room for tuple × lane_words, lane_words a multiple of 128.
/// Returns false if the page breaks a rule of check 6; then `words` is unspecified.
template <class Word>
bool decode_page(PageBytes page, const Column& column, const format::Front& front,
                 std::uint64_t tuples, Word* words, std::uint64_t lane_words);

}  // namespace gdelta
