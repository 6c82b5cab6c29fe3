// Words behind maps that give every value of a lane back (codec/plan/exact_maps.h).
#pragma once

#include <cstdint>

#include "codec/cuda/container/plan_chunks_cuda.h"
#include "kernels/words/maps/exact_maps.h"

namespace gdelta::cuda {

/// Words that are whole numbers of steps.
template <class Word, class Map>
struct StepWords {
  Map map;

  /// False if the value has no word, which then is any.
  __device__ bool find(Word value, Word& word) const {
    return find_steps(map, value, 8 * sizeof(Word), word);
  }
};

template <class Word>
struct MultipleWords {
  MultipleMap::Search<Word> search;

  __device__ bool find(Word value, Word& word) const { return search.find(value, word) == 0; }
};

/// Calls function(words) with the words of a lane that has such a map.
template <class Word, class Function>
__device__ void with_exact_words(const LaneMapping& mapping, const Function& function) {
  switch (mapping.map) {
    case kMapNumber<DecimalMap>:
      return function(StepWords<Word, DecimalMap>{DecimalMap(mapping)});
    case kMapNumber<ScaledMap>:
      return function(StepWords<Word, BinaryScaleMap>{BinaryScaleMap(mapping)});
    case kMapNumber<MultipleMap>:
      return function(MultipleWords<Word>{{MultipleMap(mapping), 8 * sizeof(Word)}});
    default:
      return;
  }
}

__device__ inline bool has_exact_map(const LaneMapping& mapping) { return mapping.map != 0; }

/// Whether its words are indices.
__device__ inline bool has_table(const ExactLane& lane) {
  return lane.mapping.map == kMapNumber<DictionaryMap>;
}

}  // namespace gdelta::cuda
