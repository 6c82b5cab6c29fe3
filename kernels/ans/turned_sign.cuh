// Signed numbers as unsigned ones that sort alike.
#pragma once

namespace gdelta::cuda {

/// Turns the highest bit, so that signed numbers sort as unsigned ones, and back.
template <class Word>
__device__ inline Word turn_sign(Word word) {
  return word ^ static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
}

}  // namespace gdelta::cuda
