// Built without contraction of products and sums, so that every machine finds the same whole numbers.
#include "kernels/words/map_lane.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/cpu_targets.h"
#include "kernels/words/maps/exact_maps.h"
#include "kernels/words/value_maps.h"

namespace gdelta {
namespace {

/// Maps that know no words themselves say about how many steps a value has.
template <class Word, class Map>
bool find_word(const Map& map, Word value, int value_bits, Word& word) {
  if constexpr (requires { map.find(value, value_bits, word); }) {
    return map.find(value, value_bits, word);
  } else {
    return find_steps(map, value, value_bits, word);
  }
}

template <class Word>
GDELTA_ALWAYS_INLINE void unmap_words(Word* words, std::size_t count, int value_bits,
                                      const LaneMapping& mapping) {
  with_lane_map(mapping, [&](auto map) {
    for (std::size_t i = 0; i < count; ++i) words[i] = map.undo(words[i], value_bits);
  });
}

// A loop for each kind, so that each is one of vectors.
template <class Word>
GDELTA_ALWAYS_INLINE void unstep_words(Word* target, const Word* source, std::size_t count,
                                       int value_bits, LaneStepKind kind) {
  with_lane_step(kind, [&](auto step) {
    for (std::size_t i = 0; i < count; ++i) target[i] = step.undo(target[i], source[i], value_bits);
  });
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX512 void unmap_words_avx512(Word* words, std::size_t count, int value_bits,
                                      const LaneMapping& mapping) {
  unmap_words(words, count, value_bits, mapping);
}

template <class Word>
GDELTA_AVX512 void unstep_words_avx512(Word* target, const Word* source, std::size_t count,
                                       int value_bits, LaneStepKind kind) {
  unstep_words(target, source, count, value_bits, kind);
}
#endif

constexpr std::size_t kBlock = 128;

template <class Map, class Word>
constexpr bool kHasSearch = requires {
  typename Map::template Search<Word>;
};

/// Gives the words of so many values, as `find_word` does but without branches, so that vectors can; false if
/// one of them has none.
template <class Map, class Word>
GDELTA_ALWAYS_INLINE bool find_words(const Map& map, const Word* values, std::size_t count,
                                     int value_bits, Word* words) {
  Word wrong = 0;
  if constexpr (kHasSearch<Map, Word>) {
    const typename Map::template Search<Word> search(map, value_bits);
    for (std::size_t i = 0; i < count; ++i) wrong |= search.find(values[i], words[i]);
  } else {
    constexpr double kMost = sizeof(Word) == 8 ? 9007199254740992.0 : 2147483647.0;
    for (std::size_t i = 0; i < count; ++i) {
      const double steps = map.steps(float_of(values[i]));
      const bool fits = steps > -kMost && steps < kMost;
      const double half = sizeof(Word) == 4 || std::abs(steps) < 0x1p52 ? 0.5 : 0.0;
      const double near = (fits ? steps : 0.0) + (steps < 0 ? -half : half);
      words[i] = static_cast<Word>(static_cast<std::make_signed_t<Word>>(near));
      wrong |= (map.undo(words[i], value_bits) ^ values[i]) | (fits ? 0u : 1u);
    }
  }
  return wrong == 0;
}

#if GDELTA_HAS_AVX2_CODE
template <class Map>
GDELTA_AVX2 bool find_words_avx2(const Map& map, const std::uint32_t* values, std::size_t count,
                                 int value_bits, std::uint32_t* words) {
  return find_words(map, values, count, value_bits, words);
}
template <class Map, class Word>
GDELTA_AVX512 bool find_words_avx512(const Map& map, const Word* values, std::size_t count,
                                     int value_bits, Word* words) {
  return find_words(map, values, count, value_bits, words);
}
#endif

template <class Map, class Word>
bool find_words_fast(const Map& map, const Word* values, std::size_t count, int value_bits,
                     Word* words) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return find_words_avx512(map, values, count, value_bits, words);
  if constexpr (sizeof(Word) == 4)  // there are no products and conversions of 64 bits
    if (cpu_has_avx2()) return find_words_avx2(map, values, count, value_bits, words);
#endif
  return find_words(map, values, count, value_bits, words);
}

/// Maps a block if all of its values have words and vectors find them.
template <class Map, class Word>
bool map_block(const Map& map, Word* values, std::size_t count, int value_bits) {
  if constexpr (kHasSearch<Map, Word>) {
    if (!Map::template Search<Word>::suits(map)) return false;
  } else if constexpr (!kHasSteps<Map>) {
    return false;
  }
  if constexpr (kHasSearch<Map, Word> || kHasSteps<Map>) {
    Word words[kBlock];
    if (!find_words_fast(map, values, count, value_bits, words)) return false;
    std::copy_n(words, count, values);
  }
  return true;
}

}  // namespace

template <class Word>
void map_lane(Word* words, std::size_t count, int value_bits, const LaneMapping& mapping,
              std::uint64_t first, std::vector<std::uint64_t>& exceptions) {
  with_lane_map(mapping, [&](auto map) {
    using Map = decltype(map);
    if constexpr (requires { Map::apply(*words, value_bits); }) {
      for (std::size_t i = 0; i < count; ++i) words[i] = Map::apply(words[i], value_bits);
    } else {
      Word before = 0;
      for (std::size_t at = 0; at < count; at += kBlock) {
        const std::size_t end = std::min(at + kBlock, count);
        if (map_block(map, words + at, end - at, value_bits)) {
          before = words[end - 1];
          continue;
        }
        for (std::size_t i = at; i < end; ++i) {
          Word word;
          if (find_word(map, words[i], value_bits, word)) {
            before = word;
          } else {
            exceptions.push_back(first + i);
          }
          words[i] = before;
        }
      }
    }
  });
}

template <class Word>
void unmap_lane(Word* words, std::size_t count, int value_bits, const LaneMapping& mapping) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return unmap_words_avx512(words, count, value_bits, mapping);
#endif
  unmap_words(words, count, value_bits, mapping);
}

template <class Word>
void step_lane(Word* target, const Word* source, std::size_t count, int value_bits,
               LaneStepKind kind) {
  with_lane_step(kind, [&](auto step) {
    for (std::size_t i = 0; i < count; ++i)
      target[i] = step.apply(target[i], source[i], value_bits);
  });
}

template <class Word>
void unstep_lane(Word* target, const Word* source, std::size_t count, int value_bits,
                 LaneStepKind kind) {
#if GDELTA_HAS_AVX2_CODE
  if (cpu_has_avx512()) return unstep_words_avx512(target, source, count, value_bits, kind);
#endif
  unstep_words(target, source, count, value_bits, kind);
}

#define GDELTA_INSTANTIATE(Word)                                                     \
  template void map_lane(Word*, std::size_t, int, const LaneMapping&, std::uint64_t, \
                         std::vector<std::uint64_t>&);                               \
  template void unmap_lane(Word*, std::size_t, int, const LaneMapping&);             \
  template void step_lane(Word*, const Word*, std::size_t, int, LaneStepKind);       \
  template void unstep_lane(Word*, const Word*, std::size_t, int, LaneStepKind);
GDELTA_INSTANTIATE(std::uint32_t)
GDELTA_INSTANTIATE(std::uint64_t)
#undef GDELTA_INSTANTIATE

}  // namespace gdelta
