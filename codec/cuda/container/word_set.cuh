// Different words in device memory or shared memory, found by a warp in few steps: some side by side are a bucket, which is loaded at
// once, and a word is in the first one with room from where its bits say. Threads may put words at the same time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/device/host_device.h"
#include "kernels/words/spread_bits.h"

namespace gdelta::cuda {

template <class Word>
class WordSet {
 public:
  static constexpr std::uint32_t kBucket = 16 / sizeof(Word);

  /// `places`: room(size) words at a multiple of 16 bytes, filled by clear. `size`: a multiple of kBucket.
  __device__ WordSet(Word* places, std::uint32_t size) : places_(places), size_(size) {}

  /// One place more is for the word that an empty place looks like.
  static GDELTA_HD constexpr std::uint32_t room(std::uint32_t size) { return size + 1; }

  /// Threads share the work.
  __device__ void clear(std::uint32_t thread, std::uint32_t threads) const {
    for (std::uint32_t place = thread; place <= size_; place += threads)
      places_[place] = place < size_ ? kEmpty : 0;
  }

  /// Puts a word that may be there already; false if there is no room, or gives_up() while it looks for some. `place` becomes its
  /// own.
  template <class GivesUp>
  __device__ bool add(Word word, std::uint32_t& place, bool& is_new,
                      const GivesUp& gives_up) const {
    if (word == kEmpty) {
      place = size_;
      is_new = atomicExch(cell(size_), Cell{1}) == 0;
      return true;
    }
    place = first_place(word);
    for (std::uint32_t tried = 0; tried < size_;
         ++tried, place = place + 1 == size_ ? 0 : place + 1) {
      Word there = places_[place];
      if (there == kEmpty) there = atomicCAS(cell(place), Cell{kEmpty}, Cell{word});
      is_new = there == kEmpty;
      if (is_new || there == word) return true;
      if (tried % kProbesAtOnce == kProbesAtOnce - 1 && gives_up()) return false;
    }
    return false;
  }

  /// The places of words that are in the first bucket where they may be; of others, a bit each, what add needs to be asked for.
  template <int kCount>
  __device__ std::uint32_t find_at_once(const Word (&words)[kCount],
                                        std::uint32_t (&places)[kCount]) const {
    Word there[kCount][kBucket];
#pragma unroll
    for (int j = 0; j < kCount; ++j) load(first_place(words[j]), there[j]);
    std::uint32_t left = 0;
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      look(words[j], first_place(words[j]), there[j], places[j]);
      if (places[j] > size_) left |= 1u << j;
    }
    return left;
  }

  /// The places of words, below room; room of those that are not there. Nobody puts any meanwhile.
  template <int kCount>
  __device__ void find(const Word (&words)[kCount], std::uint32_t (&places)[kCount]) const {
    std::uint32_t begin[kCount];
    Word there[kCount][kBucket];
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      begin[j] = first_place(words[j]);
      load(begin[j], there[j]);
    }
    bool goes_on[kCount];
#pragma unroll
    for (int j = 0; j < kCount; ++j) goes_on[j] = !look(words[j], begin[j], there[j], places[j]);
      // Few words are behind their first bucket, and a load takes the longer the more threads ask for something.
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      for (std::uint32_t tried = kBucket; goes_on[j] && tried < size_; tried += kBucket) {
        begin[j] = begin[j] + kBucket == size_ ? 0 : begin[j] + kBucket;
        Word next[kBucket];
        load(begin[j], next);
        goes_on[j] = !look(words[j], begin[j], next, places[j]);
      }
    }
  }

  /// Whether a place has a word, which it becomes.
  __device__ bool take(std::uint32_t place, Word& word) const {
    word = place < size_ ? places_[place] : kEmpty;
    return place < size_ ? word != kEmpty : places_[size_] != 0;
  }

 private:
  using Cell = std::conditional_t<sizeof(Word) == 8, unsigned long long, unsigned>;
  static constexpr Word kEmpty = ~Word{0};
  static constexpr std::uint32_t kProbesAtOnce = 32;

  __device__ Cell* cell(std::uint32_t place) const {
    return reinterpret_cast<Cell*>(places_ + place);
  }
  __device__ void load(std::uint32_t begin, Word (&words)[kBucket]) const {
    const uint4 bucket = *reinterpret_cast<const uint4*>(places_ + begin);
    static_assert(sizeof words == sizeof bucket);
    std::memcpy(words, &bucket, sizeof words);
  }
  /// Looks for a word in a bucket; false if it may be in the next one.
  __device__ bool look(Word word, std::uint32_t begin, const Word (&there)[kBucket],
                       std::uint32_t& place) const {
    place = room(size_);
    if (word == kEmpty) {
      if (places_[size_] != 0) place = size_;
      return true;
    }
    bool ends = false;
#pragma unroll
    for (std::uint32_t i = 0; i < kBucket; ++i) {
      if (there[i] == word) place = begin + i;
      ends |= there[i] == word || there[i] == kEmpty;
    }
    return ends;
  }
  /// That of a bucket.
  __device__ std::uint32_t first_place(Word word) const {
    return static_cast<std::uint32_t>(((spread_bits(word) >> 32) * (size_ / kBucket)) >> 32) *
           kBucket;
  }

  Word* places_;
  std::uint32_t size_;
};

}  // namespace gdelta::cuda
