#include "kernels/words/lane_words.h"

#include <algorithm>

#include "kernels/words/packed_value.h"
#include "kernels/words/value_maps.h"

namespace gdelta {
namespace {

template <class Word>
Word swap_bytes(Word word) {
  if constexpr (sizeof(Word) == 8) {
    return __builtin_bswap64(word);
  } else {
    return __builtin_bswap32(word);
  }
}

template <class Word>
void swap_words(Word* words, std::size_t count, int value_bytes) {
  const int spare = static_cast<int>(8 * sizeof(Word)) - 8 * value_bytes;
  for (std::size_t i = 0; i < count; ++i) words[i] = swap_bytes(words[i]) >> spare;
}

template <class Word, int kBytes>
void store_words(const Word* words, std::size_t count, unsigned char* to, std::size_t step_bytes) {
  using Value = PackedValue<kBytes>;
  if (step_bytes == kBytes) {
    for (std::size_t i = 0; i < count; ++i) Value::store(to + i * kBytes, words[i]);
  } else {
    for (std::size_t i = 0; i < count; ++i) Value::store(to + i * step_bytes, words[i]);
  }
}

}  // namespace

template <class Word>
void load_lane(const unsigned char* from, std::size_t step_bytes, std::size_t count,
               LaneFormat format, Word* words) {
  for_value_bytes(format.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    using Value = PackedValue<kBytes>;
    if constexpr ((kBytes == 8) == (sizeof(Word) == 8)) {
      if (step_bytes == kBytes) {
        for (std::size_t i = 0; i < count; ++i) words[i] = Value::load(from + i * kBytes);
      } else {
        for (std::size_t i = 0; i < count; ++i) words[i] = Value::load(from + i * step_bytes);
      }
    }
  });
  if (format.big_endian) swap_words(words, count, format.value_bytes);
  with_map(format.map, [&](auto map) {
    for (std::size_t i = 0; i < count; ++i)
      words[i] = decltype(map)::apply(words[i], 8 * format.value_bytes);
  });
}

template <class Word>
void store_lane(const Word* words, std::size_t count, LaneFormat format, unsigned char* to,
                std::size_t step_bytes) {
  // Through a small buffer if words change, so that `words` can stay const and in cache.
  constexpr std::size_t kPiece = 256;
  const int value_bits = 8 * format.value_bytes;
  for_value_bytes(format.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    if constexpr ((kBytes == 8) == (sizeof(Word) == 8)) {
      if (!format.big_endian && format.map == 0) {
        store_words<Word, kBytes>(words, count, to, step_bytes);
        return;
      }
      Word piece[kPiece];
      for (std::size_t at = 0; at < count; at += kPiece) {
        const std::size_t length = count - at < kPiece ? count - at : kPiece;
        std::copy_n(words + at, length, piece);
        with_map(format.map, [&](auto map) {
          for (std::size_t i = 0; i < length; ++i)
            piece[i] = decltype(map)::undo(piece[i], value_bits);
        });
        if (format.big_endian) swap_words(piece, length, format.value_bytes);
        store_words<Word, kBytes>(piece, length, to + at * step_bytes, step_bytes);
      }
    }
  });
}

template <class Word>
void split_planes(const Word* words, std::size_t count, int value_bytes, unsigned char* planes,
                  std::size_t plane_bytes) {
  for (int b = 0; b < value_bytes; ++b) {
    unsigned char* plane = planes + b * plane_bytes;
    for (std::size_t i = 0; i < count; ++i)
      plane[i] = static_cast<unsigned char>(words[i] >> (8 * b));
  }
}

template <class Word>
void merge_planes(const unsigned char* planes, std::size_t plane_bytes, std::size_t count,
                  int value_bytes, Word* words) {
  for (std::size_t i = 0; i < count; ++i) words[i] = planes[i];
  for (int b = 1; b < value_bytes; ++b) {
    const unsigned char* plane = planes + b * plane_bytes;
    for (std::size_t i = 0; i < count; ++i) words[i] |= static_cast<Word>(plane[i]) << (8 * b);
  }
}

#define GDELTA_INSTANTIATE(Word)                                                               \
  template void load_lane(const unsigned char*, std::size_t, std::size_t, LaneFormat, Word*);  \
  template void store_lane(const Word*, std::size_t, LaneFormat, unsigned char*, std::size_t); \
  template void split_planes(const Word*, std::size_t, int, unsigned char*, std::size_t);      \
  template void merge_planes(const unsigned char*, std::size_t, std::size_t, int, Word*);
GDELTA_INSTANTIATE(std::uint32_t)
GDELTA_INSTANTIATE(std::uint64_t)
#undef GDELTA_INSTANTIATE

}  // namespace gdelta
