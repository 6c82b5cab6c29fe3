// The check of a part from its values in memory. Its words come in rows: each thread of a warp one word of a row, or four if
// the part lies at a multiple of 16 bytes. A thread goes over its words from the last to the first by Horner's
// rule, and the warp adds up. Words of columns that stand between others are gathered.
#pragma once

#include <cstdint>

#include "kernels/checksum/part_check.h"
#include "kernels/device/warp.cuh"
#include "kernels/words/load_anywhere.cuh"

namespace gdelta::cuda {

/// The tuples of a part.
struct PartView {
  const unsigned char* first;
  std::uint32_t tuples;
  std::uint32_t tuple_bytes;
  std::uint32_t record_bytes;
  std::uint32_t counted_tuples;  // more in a constant, of which one is there

  __device__ std::uint32_t num_bytes() const { return tuples * tuple_bytes; }
  __device__ bool is_whole_record() const { return tuple_bytes == record_bytes; }
};

/// Reads up to four bytes as a number.
__device__ inline std::uint32_t load_few(const unsigned char* from, std::uint32_t count) {
  std::uint32_t word = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i)
    if (i < count) word |= static_cast<std::uint32_t>(from[i]) << (8 * i);
  return word;
}

/// The words of a part whose tuples follow each other, from an address that is a multiple of 16.
struct AlignedWords {
  static constexpr int kEach = 4;  // words of a thread in a row
  static constexpr int kRows = 4;  // loaded at once
  const unsigned char* first;
  std::uint32_t num_bytes;

  __device__ explicit AlignedWords(const PartView& part)
      : first(part.first), num_bytes(part.num_bytes()) {}
  /// How many words can be loaded as they lie.
  __device__ std::uint32_t num_whole() const { return num_bytes / 4; }
  __device__ void load(std::uint32_t word, std::uint32_t (&words)[kEach]) const {
    const uint4 four = *reinterpret_cast<const uint4*>(first + 4 * word);
    words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
  }
  __device__ std::uint32_t load_bytes(std::uint32_t at, std::uint32_t count) const {
    return load_few(first + at, count);
  }
};

/// Reads from any address. Aligned loads for the last words might reach beyond the part.
struct ContiguousWords {
  static constexpr int kEach = 1;
  static constexpr int kRows = 8;
  const unsigned char* first;
  std::uint32_t num_bytes;

  __device__ explicit ContiguousWords(const PartView& part)
      : first(part.first), num_bytes(part.num_bytes()) {}
  __device__ std::uint32_t num_whole() const { return num_bytes < 4 ? 0 : (num_bytes - 3) / 4; }
  __device__ void load(std::uint32_t word, std::uint32_t (&words)[kEach]) const {
    words[0] = load_u32_anywhere(first + 4 * word);
  }
  __device__ std::uint32_t load_bytes(std::uint32_t at, std::uint32_t count) const {
    return load_few(first + at, count);
  }
};

/// And of one whose tuples stand in records.
struct GatheredWords {
  static constexpr int kEach = 1;
  static constexpr int kRows = 8;
  PartView part;
  std::uint32_t num_bytes;

  __device__ explicit GatheredWords(const PartView& of) : part(of), num_bytes(of.num_bytes()) {}
  __device__ std::uint32_t num_whole() const { return num_bytes / 4; }
  __device__ void load(std::uint32_t word, std::uint32_t (&words)[kEach]) const {
    words[0] = load_bytes(4 * word, 4);
  }
  __device__ std::uint32_t load_bytes(std::uint32_t at, std::uint32_t count) const {
    std::uint32_t tuple = at / part.tuple_bytes, byte = at - tuple * part.tuple_bytes;
    std::uint32_t word = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t record = static_cast<std::uint64_t>(tuple) * part.record_bytes;
      word |= static_cast<std::uint32_t>(part.first[record + byte]) << (8 * i);
      if (++byte == part.tuple_bytes) byte = 0, ++tuple;
    }
    return word;
  }
};

/// Loads as Words::load does, if some of these words may lie behind the part's end: they are zero.
template <class Words>
__device__ void load_to_end(const Words& words, std::uint32_t word,
                            std::uint32_t (&loaded)[Words::kEach]) {
  if (word + Words::kEach <= words.num_whole()) return words.load(word, loaded);
#pragma unroll
  for (std::uint32_t i = 0; i < Words::kEach; ++i) {
    const std::uint32_t at = 4 * (word + i);
    loaded[i] = at < words.num_bytes ? words.load_bytes(at, min(words.num_bytes - at, 4u)) : 0;
  }
}

/// The polynomial over this thread's words of some rows, but for the power of the first.
template <int kRows, int kEach>
__device__ std::uint64_t sum_rows(const std::uint32_t (&words)[kRows][kEach]) {
  std::uint64_t sum = 0;
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) sum += words[row][i] * check_power(32 * kEach * row + i);
  }
  return sum;
}

/// The polynomial over the words of a part, this thread's share of it. `power` is that of its number
/// in the warp.
template <class Words>
__device__ std::uint64_t sum_words(const PartView& part, std::uint64_t power) {
  constexpr int kEach = Words::kEach, kRows = Words::kRows;
  constexpr std::uint32_t kRowWords = 32 * kEach, kStepWords = kRows * kRowWords;
  constexpr std::uint64_t kRowPower = check_power(kRowWords);
  constexpr std::uint64_t kStepPower = check_power(kStepWords);
  const Words words(part);
  const std::uint32_t num_words = (words.num_bytes + 3) / 4;
  const std::uint32_t whole_steps = words.num_whole() / kStepWords;
  const std::uint32_t mine = kEach * (threadIdx.x & 31);
  std::uint64_t sum = 0;
  const std::uint32_t rest = whole_steps * kStepWords;
#pragma unroll 1
  for (std::uint32_t row = (num_words - rest + kRowWords - 1) / kRowWords; row-- > 0;) {
    std::uint32_t loaded[1][kEach];
    load_to_end(words, rest + row * kRowWords + mine, loaded[0]);
    sum = sum * kRowPower + sum_rows(loaded);
  }
  for (std::uint32_t step = whole_steps; step-- > 0;) {
    std::uint32_t loaded[kRows][kEach];
#pragma unroll
    for (int row = 0; row < kRows; ++row)
      words.load(step * kStepWords + row * kRowWords + mine, loaded[row]);
    sum = sum * kStepPower + sum_rows(loaded);
  }
#pragma unroll
  for (int each = 1; each < kEach; each *= 2) power *= power;
  return sum * power;
}

/// The thread's share of the polynomial over the words of a part. `power`: kCheckBase to that of the thread's number in the warp.
__device__ inline std::uint64_t sum_part(const PartView& part, std::uint64_t power) {
  const bool aligned = (reinterpret_cast<std::uintptr_t>(part.first) & 15) == 0;
  return !part.is_whole_record() ? sum_words<GatheredWords>(part, power)
         : aligned               ? sum_words<AlignedWords>(part, power)
                                 : sum_words<ContiguousWords>(part, power);
}

/// The check of a part; the whole warp calls it and gets it. `power` as sum_part takes it.
__device__ inline std::uint32_t check_part(const PartView& part, std::uint64_t power) {
  return finish_check(part.counted_tuples, device::warp_sum(sum_part(part, power)));
}

}  // namespace gdelta::cuda
