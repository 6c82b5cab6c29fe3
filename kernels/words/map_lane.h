// Value maps over words of one lane, and lane steps over words of two. Cannot fail.
//
// Words are u32 for values of 1 to 4 bytes and u64 for 8, as lane_words.h gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/words/lane_steps.h"
#include "kernels/words/maps/lane_mapping.h"

namespace gdelta {

/// Maps `count` words in place. A value that its map cannot give back leaves the word of the one before
/// it, 0 at the start, and its index + `first` is appended to `exceptions`.
template <class Word>
void map_lane(Word* words, std::size_t count, int value_bits, const LaneMapping& mapping,
              std::uint64_t first, std::vector<std::uint64_t>& exceptions);

template <class Word>
void unmap_lane(Word* words, std::size_t count, int value_bits, const LaneMapping& mapping);

template <class Word>
void step_lane(Word* target, const Word* source, std::size_t count, int value_bits,
               LaneStepKind kind);

template <class Word>
void unstep_lane(Word* target, const Word* source, std::size_t count, int value_bits,
                 LaneStepKind kind);

}  // namespace gdelta
