#include "kernels/words/lane_words.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/cpu/cpu_targets.h"
#if GDELTA_HAS_AVX2_CODE
#include "kernels/cpu/avx512.h"
#endif
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

template <int kBytes, class Word>
GDELTA_ALWAYS_INLINE void load_words(const unsigned char* __restrict from, std::size_t step_bytes,
                                     std::size_t count, Word* __restrict words) {
  using Value = PackedValue<kBytes>;
  if (step_bytes == kBytes) {
    for (std::size_t i = 0; i < count; ++i) words[i] = Value::load(from + i * kBytes);
  } else {
    for (std::size_t i = 0; i < count; ++i) words[i] = Value::load(from + i * step_bytes);
  }
}

template <class Map, class Word>
GDELTA_ALWAYS_INLINE void map_words(Word* words, std::size_t count, int value_bits) {
  for (std::size_t i = 0; i < count; ++i) words[i] = Map::apply(words[i], value_bits);
}

#if GDELTA_HAS_AVX2_CODE
// Values of 2 or 4 bytes, each in the low end of `kDwords` words of 32 bits that come one behind the other: sixteen
// at a time are picked from the vectors that hold them. Returns how many are done; vectors do not reach behind the
// last value.
template <int kBytes, int kDwords>
GDELTA_AVX512 std::size_t load_spaced(const unsigned char* from, std::size_t count,
                                      std::uint32_t* words) {
  constexpr int kAtOnce = 16, kPairs = (kDwords + 1) / 2;
  __m512i places[kPairs];  // in a pair of vectors
  __mmask16 is_there[kPairs];
  const __m512i numbers =
      _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(kDwords));
  for (int pair = 0; pair < kPairs; ++pair) {
    places[pair] = _mm512_sub_epi32(numbers, _mm512_set1_epi32(2 * kAtOnce * pair));
    is_there[pair] = _mm512_cmplt_epu32_mask(places[pair], _mm512_set1_epi32(2 * kAtOnce));
  }
  const __m512i value = _mm512_set1_epi32(kBytes == 2 ? 0xffff : -1);
  std::size_t i = 0;
  for (; i + kAtOnce < count; i += kAtOnce, from += std::size_t{4} * kDwords * kAtOnce) {
    __m512i found = _mm512_setzero_si512();
#pragma GCC unroll 3
    for (int pair = 0; pair < kPairs; ++pair) {
      const int second = std::min(2 * pair + 1, kDwords - 1);
      found = _mm512_or_si512(found, _mm512_maskz_permutex2var_epi32(
                                         is_there[pair], _mm512_loadu_si512(from + 128 * pair),
                                         places[pair], _mm512_loadu_si512(from + 64 * second)));
    }
    _mm512_storeu_si512(words + i, _mm512_and_si512(found, value));
  }
  return i;
}

// Of common tuples; none if they are not.
template <int kBytes>
std::size_t load_some_spaced(const unsigned char* from, std::size_t step_bytes, std::size_t count,
                             std::uint32_t* words) {
  if constexpr (kBytes == 2 || kBytes == 4) {
    switch (step_bytes) {
      case 4:
        return kBytes == 2 ? load_spaced<kBytes, 1>(from, count, words) : 0;
      case 8:
        return load_spaced<kBytes, 2>(from, count, words);
      case 12:
        return load_spaced<kBytes, 3>(from, count, words);
      case 16:
        return load_spaced<kBytes, 4>(from, count, words);
      case 24:
        return load_spaced<kBytes, 6>(from, count, words);
    }
  }
  return 0;
}

template <int kBytes, class Word>
GDELTA_AVX2 void load_words_avx2(const unsigned char* from, std::size_t step_bytes,
                                 std::size_t count, Word* words) {
  load_words<kBytes>(from, step_bytes, count, words);
}

template <class Map, class Word>
GDELTA_AVX2 void map_words_avx2(Word* words, std::size_t count, int value_bits) {
  map_words<Map>(words, count, value_bits);
}
#endif

template <class Word, int kBytes>
void store_words(const Word* words, std::size_t count, unsigned char* to, std::size_t step_bytes) {
  using Value = PackedValue<kBytes>;
  if (step_bytes == kBytes) {
    if constexpr (kBytes == sizeof(Word) && std::endian::native == std::endian::little) {
      std::memcpy(to, words, count * kBytes);
    } else {
      for (std::size_t i = 0; i < count; ++i) Value::store(to + i * kBytes, words[i]);
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) Value::store(to + i * step_bytes, words[i]);
  }
}

// Both values of a pair in one number, which vectors load and store.
template <int kBytes>
using Pair = std::conditional_t<kBytes == 2, std::uint32_t, std::uint64_t>;

template <int kBytes>
constexpr bool kHasPair = (kBytes == 2 || kBytes == 4) && std::endian::native
                                                              == std::endian::little;

template <int kBytes>
void load_pairs(const unsigned char* from, std::size_t count, std::uint32_t* first,
                std::uint32_t* second) {
  constexpr Pair<kBytes> kLow = ~Pair<kBytes>{0} >> (8 * kBytes);
  for (std::size_t i = 0; i < count; ++i) {
    Pair<kBytes> pair;
    std::memcpy(&pair, from + i * sizeof pair, sizeof pair);
    first[i] = static_cast<std::uint32_t>(pair & kLow);
    second[i] = static_cast<std::uint32_t>(pair >> (8 * kBytes));
  }
}

template <int kBytes>
void store_pairs(const std::uint32_t* first, const std::uint32_t* second, std::size_t count,
                 unsigned char* to) {
  constexpr Pair<kBytes> kLow = ~Pair<kBytes>{0} >> (8 * kBytes);
  for (std::size_t i = 0; i < count; ++i) {
    const Pair<kBytes> pair = (first[i] & kLow) | static_cast<Pair<kBytes>>(second[i])
                                                      << (8 * kBytes);
    std::memcpy(to + i * sizeof pair, &pair, sizeof pair);
  }
}

template <int kBytes, int kTuple, class Word>
GDELTA_ALWAYS_INLINE void load_tuples(const unsigned char* __restrict from, std::size_t count,
                                      Word* __restrict words, std::size_t lane_words) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t lane = 0; lane < kTuple; ++lane)
      words[lane * lane_words + i] = PackedValue<kBytes>::load(from + (i * kTuple + lane) * kBytes);
}

template <int kBytes, int kTuple, class Word>
GDELTA_ALWAYS_INLINE void store_tuples(const Word* __restrict words, std::size_t lane_words,
                                       std::size_t count, unsigned char* __restrict to) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t lane = 0; lane < kTuple; ++lane)
      PackedValue<kBytes>::store(to + (i * kTuple + lane) * kBytes, words[lane * lane_words + i]);
}

#if GDELTA_HAS_AVX2_CODE
template <int kBytes, int kTuple, class Word>
GDELTA_AVX512 void load_tuples_avx512(const unsigned char* from, std::size_t count, Word* words,
                                      std::size_t lane_words) {
  load_tuples<kBytes, kTuple>(from, count, words, lane_words);
}

template <int kBytes, int kTuple, class Word>
GDELTA_AVX512 void store_tuples_avx512(const Word* words, std::size_t lane_words, std::size_t count,
                                       unsigned char* to) {
  store_tuples<kBytes, kTuple>(words, lane_words, count, to);
}
#endif

/// Calls function(bytes, lanes), both integral constants, for tuples that one loop loads or stores as a whole.
/// Returns whether it has.
template <class Word, class Function>
bool for_common_tuples(int value_bytes, int tuple, const Function& function) {
  bool done = false;
  for_value_bytes(value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    if constexpr (kBytes == sizeof(Word) || kBytes == 2) {
      if constexpr ((kBytes == 8) == (sizeof(Word) == 8)) {
        const auto call = [&](auto lanes) { done = (function(bytes, lanes), true); };
        switch (tuple) {
          case 2:
            return call(std::integral_constant<int, 2>{});
          case 3:
            return call(std::integral_constant<int, 3>{});
          case 4:
            return call(std::integral_constant<int, 4>{});
          case 6:
            return call(std::integral_constant<int, 6>{});
          case 8:
            return call(std::integral_constant<int, 8>{});
        }
      }
    }
  });
  return done;
}

#ifdef __SSE2__
// Words as wide as values, sixteen at a time: bytes of neighbouring planes are paired, then the pairs. Returns how
// many words are done.
template <class Word>
std::size_t merge_whole_planes(const unsigned char* planes, std::size_t plane_bytes,
                               std::size_t count, Word* words) {
  constexpr std::size_t kBytes = sizeof(Word);
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    __m128i bytes[kBytes], pairs[kBytes], quads[kBytes];  // of words in order, part after part
#pragma GCC unroll 8
    for (std::size_t b = 0; b < kBytes; ++b)
      bytes[b] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(planes + b * plane_bytes + i));
#pragma GCC unroll 4
    for (std::size_t b = 0; b < kBytes; b += 2) {
      pairs[b] = _mm_unpacklo_epi8(bytes[b], bytes[b + 1]);
      pairs[b + 1] = _mm_unpackhi_epi8(bytes[b], bytes[b + 1]);
    }
#pragma GCC unroll 2
    for (std::size_t b = 0; b < kBytes; b += 4)
#pragma GCC unroll 2
      for (std::size_t half = 0; half < 2; ++half) {
        quads[b + 2 * half] = _mm_unpacklo_epi16(pairs[b + half], pairs[b + 2 + half]);
        quads[b + 2 * half + 1] = _mm_unpackhi_epi16(pairs[b + half], pairs[b + 2 + half]);
      }
    auto* const to = reinterpret_cast<__m128i*>(words + i);
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; ++quarter) {
      if constexpr (kBytes == 4) {
        _mm_storeu_si128(to + quarter, quads[quarter]);
      } else {
        _mm_storeu_si128(to + 2 * quarter, _mm_unpacklo_epi32(quads[quarter], quads[quarter + 4]));
        _mm_storeu_si128(to + 2 * quarter + 1,
                         _mm_unpackhi_epi32(quads[quarter], quads[quarter + 4]));
      }
    }
  }
  return i;
}
#endif

// Byte `number` of each word.
template <class Word>
GDELTA_ALWAYS_INLINE void split_plane(const Word* words, std::size_t count, int number,
                                      unsigned char* plane) {
  const int shift = 8 * number;
  for (std::size_t i = 0; i < count; ++i) plane[i] = static_cast<unsigned char>(words[i] >> shift);
}

#if GDELTA_HAS_AVX2_CODE
template <class Word>
GDELTA_AVX512 void split_plane_avx512(const Word* words, std::size_t count, int number,
                                      unsigned char* plane) {
  split_plane(words, count, number, plane);
}
#endif

// Tuples that a first cache holds while each lane is taken out of them, or put there.
constexpr std::size_t kCachedBytes = 16 << 10;

/// Consecutive values of a lane.
struct LaneStretch {
  std::size_t byte;        // of the first one among the tuples
  std::size_t step_bytes;  // from one to the next
  std::size_t word;        // number of the first one among the words
  std::size_t count;
};

/// Calls visit(LaneStretch) for all values of all lanes.
template <class Visit>
void for_cached_lanes(int tuple, std::size_t count, std::size_t lane_words, LaneFormat format,
                      const Visit& visit) {
  const auto value_bytes = static_cast<std::size_t>(format.value_bytes);
  const std::size_t lanes = static_cast<std::size_t>(tuple), tuple_bytes = lanes * value_bytes;
  const std::size_t at_once = kCachedBytes / tuple_bytes;
  for (std::size_t first = 0; first < count; first += at_once) {
    for (std::size_t lane = 0; lane < lanes; ++lane)
      visit(LaneStretch{.byte = first * tuple_bytes + lane * value_bytes,
                        .step_bytes = tuple_bytes,
                        .word = lane * lane_words + first,
                        .count = std::min(at_once, count - first)});
  }
}

bool is_plain(const LaneFormat& format) { return !format.big_endian && format.map == 0; }

/// Calls function(bytes), an integral constant, for pairs of narrow values that are loaded or stored at once.
/// Returns whether it has.
template <class Function>
bool for_pairs(const LaneFormat& format, int tuple, const Function& function) {
  if (tuple != 2 || !is_plain(format)) return false;
  bool done = false;
  for_value_bytes(format.value_bytes, [&](auto bytes) {
    if constexpr (kHasPair<decltype(bytes)::value>) done = (function(bytes), true);
  });
  return done;
}

}  // namespace

template <class Word>
void load_lanes(const unsigned char* from, int tuple, std::size_t count, LaneFormat format,
                Word* words, std::size_t lane_words) {
  if constexpr (sizeof(Word) == 4) {
    if (for_pairs(format, tuple, [&](auto bytes) {
          load_pairs<decltype(bytes)::value>(from, count, words, words + lane_words);
        }))
      return;
  }
  if (is_plain(format) &&
      for_common_tuples<Word>(format.value_bytes, tuple, [&](auto bytes, auto lanes) {
        constexpr int kBytes = decltype(bytes)::value, kTuple = decltype(lanes)::value;
#if GDELTA_HAS_AVX2_CODE
        if (cpu_has_avx512())
          return load_tuples_avx512<kBytes, kTuple>(from, count, words, lane_words);
#endif
        load_tuples<kBytes, kTuple>(from, count, words, lane_words);
      }))
    return;
  for_cached_lanes(tuple, count, lane_words, format, [&](const LaneStretch& of) {
    load_lane(from + of.byte, of.step_bytes, of.count, format, words + of.word);
  });
}

template <class Word>
void store_lanes(const Word* words, std::size_t lane_words, int tuple, std::size_t count,
                 LaneFormat format, unsigned char* to) {
  if constexpr (sizeof(Word) == 4) {
    if (for_pairs(format, tuple, [&](auto bytes) {
          store_pairs<decltype(bytes)::value>(words, words + lane_words, count, to);
        }))
      return;
  }
  if (is_plain(format) &&
      for_common_tuples<Word>(format.value_bytes, tuple, [&](auto bytes, auto lanes) {
        constexpr int kBytes = decltype(bytes)::value, kTuple = decltype(lanes)::value;
#if GDELTA_HAS_AVX2_CODE
        if (cpu_has_avx512())
          return store_tuples_avx512<kBytes, kTuple>(words, lane_words, count, to);
#endif
        store_tuples<kBytes, kTuple>(words, lane_words, count, to);
      }))
    return;
  for_cached_lanes(tuple, count, lane_words, format, [&](const LaneStretch& of) {
    store_lane(words + of.word, of.count, format, to + of.byte, of.step_bytes);
  });
}

template <class Word>
void load_lane(const unsigned char* from, std::size_t step_bytes, std::size_t count,
               LaneFormat format, Word* words) {
  for_value_bytes(format.value_bytes, [&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    if constexpr ((kBytes == 8) == (sizeof(Word) == 8)) {
      std::size_t done = 0;
#if GDELTA_HAS_AVX2_CODE
      if constexpr (sizeof(Word) == 4) {
        if (cpu_has_avx512()) done = load_some_spaced<kBytes>(from, step_bytes, count, words);
      }
      if (cpu_has_avx2())
        return load_words_avx2<kBytes>(from + done * step_bytes, step_bytes, count - done,
                                       words + done);
#endif
      load_words<kBytes>(from + done * step_bytes, step_bytes, count - done, words + done);
    }
  });
  if (format.big_endian) swap_words(words, count, format.value_bytes);
  with_map(format.map, [&](auto map) {
#if GDELTA_HAS_AVX2_CODE
    if (cpu_has_avx2()) return map_words_avx2<decltype(map)>(words, count, 8 * format.value_bytes);
#endif
    map_words<decltype(map)>(words, count, 8 * format.value_bytes);
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
#if GDELTA_HAS_AVX2_CODE
    if (cpu_has_avx512()) {
      split_plane_avx512(words, count, b, planes + b * plane_bytes);
      continue;
    }
#endif
    split_plane(words, count, b, planes + b * plane_bytes);
  }
}

template <class Word>
void merge_planes(const unsigned char* planes, std::size_t plane_bytes, std::size_t count,
                  int value_bytes, Word* words) {
  std::size_t done = 0;
#ifdef __SSE2__
  if (value_bytes == static_cast<int>(sizeof(Word)))
    done = merge_whole_planes(planes, plane_bytes, count, words);
#endif
  for (std::size_t i = done; i < count; ++i) words[i] = planes[i];
  for (int b = 1; b < value_bytes; ++b) {
    const unsigned char* plane = planes + b * plane_bytes;
    for (std::size_t i = done; i < count; ++i) words[i] |= static_cast<Word>(plane[i]) << (8 * b);
  }
}

#define GDELTA_INSTANTIATE(Word)                                                               \
  template void load_lanes(const unsigned char*, int, std::size_t, LaneFormat, Word*,          \
                           std::size_t);                                                       \
  template void store_lanes(const Word*, std::size_t, int, std::size_t, LaneFormat,            \
                            unsigned char*);                                                   \
  template void load_lane(const unsigned char*, std::size_t, std::size_t, LaneFormat, Word*);  \
  template void store_lane(const Word*, std::size_t, LaneFormat, unsigned char*, std::size_t); \
  template void split_planes(const Word*, std::size_t, int, unsigned char*, std::size_t);      \
  template void merge_planes(const unsigned char*, std::size_t, std::size_t, int, Word*);
GDELTA_INSTANTIATE(std::uint32_t)
GDELTA_INSTANTIATE(std::uint64_t)
#undef GDELTA_INSTANTIATE

}  // namespace gdelta
