#include "kernels/words/lane_words.h"

#include "kernels/words/packed_value.h"

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

// All ones below and at the sign bit where it is set, else the sign bit alone.
template <class Word>
Word flip_mask(Word sign, int value_bits) {
  const Word top = Word{1} << (value_bits - 1);
  return (Word{0} - sign) | top;
}

template <class Word>
void order_words(Word* words, std::size_t count, int value_bits) {
  for (std::size_t i = 0; i < count; ++i)
    words[i] ^= flip_mask<Word>((words[i] >> (value_bits - 1)) & 1, value_bits);
}

template <class Word>
Word unorder_word(Word word, int value_bits) {
  return word ^ flip_mask<Word>(~(word >> (value_bits - 1)) & 1, value_bits);
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
  if (format.ordered) order_words(words, count, 8 * format.value_bytes);
}

template <class Word>
void store_lane(const Word* words, std::size_t count, LaneFormat format, unsigned char* to,
                std::size_t step_bytes) {
  // Through a small buffer where words change, so that `words` can stay const and in cache.
  constexpr std::size_t kPiece = 256;
  const int value_bits = 8 * format.value_bytes;
  for_value_bytes(format.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    if constexpr ((kBytes == 8) == (sizeof(Word) == 8)) {
      if (!format.big_endian && !format.ordered) {
        store_words<Word, kBytes>(words, count, to, step_bytes);
        return;
      }
      Word piece[kPiece];
      for (std::size_t at = 0; at < count; at += kPiece) {
        const std::size_t length = count - at < kPiece ? count - at : kPiece;
        for (std::size_t i = 0; i < length; ++i)
          piece[i] = format.ordered ? unorder_word(words[at + i], value_bits) : words[at + i];
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
