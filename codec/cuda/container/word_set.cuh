// Words that have places in memory: each is put there once, and found again. Threads may put words at the same time.
#pragma once

#include <cstdint>
#include <type_traits>

namespace gdelta::cuda {

template <class Word>
class WordSet {
 public:
  /// `places`: room(size) words, filled by clear.
  __device__ WordSet(Word* places, std::uint32_t size) : places_(places), size_(size) {}

  /// One place more is for the word that an empty place looks like.
  static __host__ __device__ constexpr std::uint32_t room(std::uint32_t size) { return size + 1; }

  /// Threads share the work.
  __device__ void clear(std::uint32_t thread, std::uint32_t threads) const {
    for (std::uint32_t place = thread; place <= size_; place += threads) put(place, kEmpty);
    if (thread == size_ % threads) put(size_, 0);
  }

  enum class Added { before, now, no_room };

  __device__ Added add(Word word) const {
    if (word == kEmpty)
      return atomicExch(cell(size_), Cell{1}) == 0 ? Added::now : Added::before;
    std::uint32_t place = first_place(word);
    for (std::uint32_t tried = 0; tried < size_; ++tried, place = next(place)) {
      const Word was = atomicCAS(cell(place), Cell{kEmpty}, Cell{word});
      if (was == kEmpty) return Added::now;
      if (was == word) return Added::before;
    }
    return Added::no_room;
  }

  /// Whether a word is where it is looked for first, in memory that others may just be changing: if so it is there.
  __device__ bool is_first(Word word) const {
    return word != kEmpty && places_[first_place(word)] == word;
  }

  /// The place of a word; that behind all if it is not there.
  __device__ std::uint32_t find(Word word) const {
    if (word == kEmpty) return places_[size_] != 0 ? size_ : size_ + 1;
    std::uint32_t place = first_place(word);
    for (std::uint32_t tried = 0; tried < size_; ++tried, place = next(place)) {
      const Word there = places_[place];
      if (there == word) return place;
      if (there == kEmpty) break;
    }
    return size_ + 1;
  }

  /// Whether a place has a word, which it becomes.
  __device__ bool take(std::uint32_t place, Word& word) const {
    word = place < size_ ? places_[place] : kEmpty;
    return place < size_ ? word != kEmpty : places_[size_] != 0;
  }

 private:
  using Cell = std::conditional_t<sizeof(Word) == 8, unsigned long long, unsigned>;
  static constexpr Word kEmpty = ~Word{0};

  __device__ Cell* cell(std::uint32_t place) const {
    return reinterpret_cast<Cell*>(places_ + place);
  }
  __device__ void put(std::uint32_t place, Word word) const { places_[place] = word; }
  __device__ std::uint32_t next(std::uint32_t place) const {
    return place + 1 == size_ ? 0 : place + 1;
  }
  __device__ std::uint32_t first_place(Word word) const {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    const std::uint64_t spread = (word ^ static_cast<std::uint64_t>(word) >> 32) * kSpread;
    return static_cast<std::uint32_t>(((spread >> 32) * size_) >> 32);
  }

  Word* places_;
  std::uint32_t size_;
};

}  // namespace gdelta::cuda
