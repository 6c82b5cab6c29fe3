// Whether a mapping gives every value of a lane back, and how far apart its words are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/words/map_lane.h"

namespace gdelta {

/// The least and the greatest word.
template <class Word>
struct WordSpan {
  using Signed = std::make_signed_t<Word>;
  Signed lowest = std::numeric_limits<Signed>::max();
  Signed highest = std::numeric_limits<Signed>::min();

  void add(Word word) {
    lowest = std::min(lowest, static_cast<Signed>(word));
    highest = std::max(highest, static_cast<Signed>(word));
  }
  Word spread() const { return static_cast<Word>(highest) - static_cast<Word>(lowest); }
};

/// False if a value has no word; else `span` gets wider by the words. Looks at some values after the others, for most mappings
/// fail at once.
template <class Word>
bool gives_back(std::span<const Word> values, int value_bits, const LaneMapping& mapping,
                WordSpan<Word>& span) {
  constexpr std::size_t kGlance = 128;
  std::vector<std::uint64_t> exceptions;
  for (std::size_t first = 0; first < values.size(); first += kGlance) {
    Word words[kGlance];
    const std::size_t count = std::min(kGlance, values.size() - first);
    std::copy_n(values.data() + first, count, words);
    map_lane(words, count, value_bits, mapping, 0, exceptions);
    if (!exceptions.empty()) return false;
    for (const Word word : std::span(words, count)) span.add(word);
  }
  return true;
}

}  // namespace gdelta
