// Sorts the entries of a dictionary and codes them in bins, by a block. Spec: formats/gdelta/maps/dictionary.md.
#pragma once

#include <cstdint>

#include "codec/coders/table_bins.h"
#include "formats/gdelta/maps/table_layout.h"
#include "kernels/bitpack/length_counts.cuh"
#include "kernels/device/block.cuh"
#include "kernels/device/team_sort.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/words/maps/ordered.h"

namespace gdelta::cuda {

/// Words that rise as the entries of a table do, of values of a type: numbers without a sign.
struct EntryRanks {
  bool is_float, is_signed;
  int value_bits;

  template <class Word>
  __device__ Word flipped(Word word) const {
    return is_signed ? word ^ Word { 1 } << (value_bits - 1) : word;
  }
  template <class Word>
  __device__ Word rank_of(Word value) const {
    return is_float ? OrderedMap::apply(value, value_bits) : flipped(value);
  }
  template <class Word>
  __device__ Word value_of(Word rank) const {
    return is_float ? OrderedMap::undo(rank, value_bits) : flipped(rank);
  }
  /// What stands in a table. That of the next rank less this one is as much more, for both turn the highest bit.
  template <class Word>
  __device__ Word entry_of(Word rank) const {
    return flipped(rank);
  }
};

/// Sorts different words by a block: in tiles that shared memory holds, whose words then count how many of the other tiles are lower.
template <class Word, std::uint32_t kTile, std::uint32_t kThreads>
class BlockSort {
 public:
  /// `tile`: shared memory for kTile words; `sorted`: where `count` words go.
  __device__ BlockSort(Word* words, std::uint32_t count, Word* tile, Word* sorted)
      : words_(words), count_(count), tile_(tile), sorted_(sorted) {}

  /// The block calls it when the words are there for all, and waits. Not inlined, as code_table: it takes many registers, and what
  /// surrounds it keeps its own.
  __device__ __attribute__((noinline)) void sort() {
    Word* const to = count_ > kTile ? words_ : sorted_;
    for (std::uint32_t first = 0; first < count_; first += kTile) {
      const std::uint32_t count = min(count_ - first, kTile);
      for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) tile_[i] = words_[first + i];
      __syncthreads();  // the tile is there
      device::TeamSort<Word, kTile / kThreads, kThreads / 32>(tile_).sort(count, count);
      for (std::uint32_t i = threadIdx.x; i < count; i += kThreads) to[first + i] = tile_[i];
      __syncthreads();  // it has been read, and the words are there
    }
    if (count_ > kTile) merge_tiles();
  }

 private:
  static constexpr std::uint32_t kAtOnce = 4;  // words of a thread

  __device__ void merge_tiles() {
    for (std::uint32_t first = threadIdx.x; first < count_; first += kAtOnce * kThreads) {
      Word words[kAtOnce];
      std::uint32_t places[kAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k) {
        const std::uint32_t i = min(first + k * kThreads, count_ - 1);
        words[k] = words_[i];
        places[k] = i % kTile;
      }
      for (std::uint32_t tile = 0; tile < count_; tile += kTile) {
        std::uint32_t lower[kAtOnce];
        count_lower(tile, words, lower);
#pragma unroll
        for (std::uint32_t k = 0; k < kAtOnce; ++k)
          if ((first + k * kThreads) / kTile != tile / kTile) places[k] += lower[k];
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k)
        if (first + k * kThreads < count_) sorted_[places[k]] = words[k];
    }
    __syncthreads();  // all words are there
  }

  /// How many words of a tile are lower than each.
  __device__ void count_lower(std::uint32_t tile, const Word (&words)[kAtOnce],
                              std::uint32_t (&lower)[kAtOnce]) const {
    const std::uint32_t end = min(count_ - tile, kTile);
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k) lower[k] = 0;
    for (std::uint32_t step = kTile / 2; step > 0; step /= 2) {
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k)
        if (lower[k] + step <= end && words_[tile + lower[k] + step - 1] < words[k])
          lower[k] += step;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kAtOnce; ++k)  // all steps together are one less than a tile
      if (lower[k] < end && words_[tile + lower[k]] < words[k]) ++lower[k];
  }

  Word* words_;
  std::uint32_t count_;
  Word* tile_;
  Word* sorted_;
};

/// Puts numbers of bits into words that are zero, the lowest bit first; threads put theirs side by side.
__device__ inline void put_bits(std::uint32_t* words, std::uint64_t at, std::uint64_t number,
                                int bits) {
  while (bits > 0) {
    const int skipped = static_cast<int>(at % 32), taken = min(bits, 32 - skipped);
    atomicOr(&words[at / 32], static_cast<std::uint32_t>(number) << skipped);
    number >>= taken;
    at += static_cast<std::uint64_t>(taken);
    bits -= taken;
  }
}

/// A place of a row of bins, by a warp.
__device__ inline void make_bin(BinRows& rows, int bin, int last) {
  const int thread = static_cast<int>(threadIdx.x & 31);
  if (bin == 0) {
    if (thread == 0) rows.make_first(last);
    return;
  }
  std::uint64_t fewest = ~std::uint64_t{0};
  int best = 0;
  for (int other = thread; other < last; other += 32) {
    const std::uint64_t bits = rows.bits_behind(bin, other, last);
    if (bits >= fewest) continue;
    fewest = bits;
    best = other;
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const std::uint64_t bits = __shfl_xor_sync(device::kWholeWarp, fewest, distance);
    const int other = __shfl_xor_sync(device::kWholeWarp, best, distance);
    if (bits > fewest || (bits == fewest && other >= best)) continue;
    fewest = bits;
    best = other;
  }
  if (thread == 0) rows.set_best(bin, last, best, fewest);
}

template <int kWarps>
struct TableShared {
  BinRows rows;
  BinSearch search;
  std::uint32_t counts[kMostGapBits + 1];
  std::uint64_t warp_bits[kWarps];
};

/// Codes a table of sorted ranks of different entries, one or more, by a block. The block calls it when the ranks are there for all.
template <class Word, int kWarps>
__device__ __attribute__((noinline)) format::TableFields code_table(const Word* ranks,
                                                                    std::uint32_t entries,
                                                                    const EntryRanks& as,
                                                                    std::uint32_t* coded,
                                                                    TableShared<kWarps>& shared) {
  constexpr std::uint32_t kThreads = 32 * kWarps;
  constexpr std::uint32_t kEach = 4;  // consecutive entries of a thread
  constexpr int kValueBytes = sizeof(Word);
  const std::uint32_t thread = threadIdx.x;
  const auto gap_of = [&](std::uint32_t i) {  // all bits of a word are of the value
    return static_cast<Word>(ranks[i] - ranks[i - 1] - 1);
  };
  for (std::uint32_t i = thread; i <= kMostGapBits; i += kThreads) shared.counts[i] = 0;
  __syncthreads();  // they are zero
  for (std::uint32_t i = 1 + thread; i < entries; i += kThreads)
    atomicAdd(&shared.counts[bit_length(gap_of(i))], 1u);
  __syncthreads();  // all gaps are counted
  if (thread == 0) shared.rows.begin(shared.counts);
  __syncthreads();  // rows have begun
  format::TableFields fields;
  fields.entries = entries;
  const std::uint64_t offset_bits = choose_bins(shared.rows, fields, [&](int bin) {
    for (int last = device::warp_number(); last <= shared.rows.longest; last += kWarps)
      make_bin(shared.rows, bin, last);
    __syncthreads();  // the row is there
  });
  const format::TableBins bins(fields, kValueBytes);
  const std::uint64_t most_bytes = bins.offsets_at() + (offset_bits + 7) / 8;
  for (std::uint32_t i = thread; i < (most_bytes + 3) / 4; i += kThreads) coded[i] = 0;
  __syncthreads();  // nothing is set
  if (thread == 0) {
    shared.search = BinSearch(bins);
    put_bits(coded, 0, as.entry_of(ranks[0]), 8 * kValueBytes);
  }
  __syncthreads();  // bins can be found
  std::uint64_t bits_before = 8 * bins.offsets_at();
  for (std::uint32_t first = 1 + kEach * thread; first - kEach * thread < entries;
       first += kEach * kThreads) {
    const std::uint32_t count = first < entries ? min(entries - first, kEach) : 0;
    Word gaps[kEach] = {};
    int chosen[kEach] = {};
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k)
      if (k < count) gaps[k] = gap_of(first + k);
    std::uint64_t bits = 0, selectors = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (k >= count) continue;
      chosen[k] = shared.search.find(gaps[k]);
      bits += fields.bin_bits[chosen[k]];
      selectors |= static_cast<std::uint64_t>(chosen[k]) << k * fields.selector_bits;
    }
    std::uint64_t at = device::block_prefix(bits, shared.warp_bits, bits_before) - bits;
    put_bits(coded, 8 * bins.selectors_at() + std::uint64_t{first - 1} * fields.selector_bits,
             selectors, static_cast<int>(count) * fields.selector_bits);
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (k >= count) continue;
      const int offset_bits = fields.bin_bits[chosen[k]];
      put_bits(coded, at, gaps[k] - bins.starts[chosen[k]], offset_bits);
      at += offset_bits;
    }
  }
  __syncthreads();  // all are there
  // A bin of several lengths reaches a little into the next one.
  fields.bytes = static_cast<std::uint32_t>((bits_before + 7) / 8);
  return fields;
}

}  // namespace gdelta::cuda
