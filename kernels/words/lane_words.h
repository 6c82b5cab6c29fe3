// Between the bytes of a record stream and the words of one lane. Cannot fail.
//
// A lane's values lie `step_bytes` apart (the record's size), each `value_bytes` wide, any
// alignment. Word is u32 for 1 to 4 bytes and u64 for 8; loads zero the spare bits, stores ignore
// them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdelta {

/// How the values of a lane are stored.
struct LaneFormat {
  int value_bytes = 1;
  bool big_endian = false;
  std::uint8_t map = 0;  ///< the number of a value map (value_maps.h)
};

template <class Word>
void load_lane(const unsigned char* from, std::size_t step_bytes, std::size_t count,
               LaneFormat format, Word* words);

template <class Word>
void store_lane(const Word* words, std::size_t count, LaneFormat format, unsigned char* to,
                std::size_t step_bytes);

/// Load and store all lanes of consecutive tuples, nothing else between them: lane k at words + k × lane_words. Pairs go side by
/// side.
template <class Word>
void load_lanes(const unsigned char* from, int tuple, std::size_t count, LaneFormat format,
                Word* words, std::size_t lane_words);
template <class Word>
void store_lanes(const Word* words, std::size_t lane_words, int tuple, std::size_t count,
                 LaneFormat format, unsigned char* to);

/// The residuals of one lane as byte planes: byte b of word i at planes[b × plane_bytes + i].
template <class Word>
void split_planes(const Word* words, std::size_t count, int value_bytes, unsigned char* planes,
                  std::size_t plane_bytes);
template <class Word>
void merge_planes(const unsigned char* planes, std::size_t plane_bytes, std::size_t count,
                  int value_bytes, Word* words);

}  // namespace gdelta
