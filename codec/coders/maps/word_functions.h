// A function of words of either width: u32, or u64 for values of 8 bytes.
#pragma once

#include <cstdint>
#include <type_traits>

namespace gdelta {

/// `Function` is an alias template of the pointers.
template <template <class Word> class Function>
struct WordFunctions {
  Function<std::uint32_t> narrow = nullptr;
  Function<std::uint64_t> wide = nullptr;

  template <class Word>
  Function<Word> of() const {
    if constexpr (std::is_same_v<Word, std::uint64_t>) {
      return wide;
    } else {
      return narrow;
    }
  }
};

}  // namespace gdelta
