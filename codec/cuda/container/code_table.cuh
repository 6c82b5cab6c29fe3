// Sorts the entries of a dictionary and codes them in bins, by a block. Spec: formats/gdelta/maps/dictionary.md.
#pragma once

#include <cstdint>

#include "codec/coders/table_bins.h"
#include "formats/gdelta/maps/table_layout.h"
#include "kernels/bitpack/length_counts.cuh"
#include "kernels/device/block.cuh"
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

/// Sorts a power of two of words by a block, in tiles that shared memory holds: the merges of two sorted halves compare one with the
/// other turned round, then halves of halves, so that all compares put the lower word first. The block calls it when the words are
/// there for all.
template <class Word, std::uint32_t kTile, std::uint32_t kThreads>
class BlockSort {
 public:
  /// `tile`: shared memory for kTile words.
  __device__ BlockSort(Word* words, std::uint32_t count, Word* tile)
      : words_(words), count_(count), tile_words_(min(count, kTile)), tile_(tile) {}

  __device__ void sort() {
    for_tiles([&] {
      for (std::uint32_t run = 2; run <= tile_words_; run *= 2)
        merge_turned(tile_, tile_words_, run);
    });
    for (std::uint32_t run = 2 * tile_words_; run <= count_; run *= 2) {
      turn(words_, count_, run);
      for (std::uint32_t half = run / 4; half >= tile_words_; half /= 2)
        merge(words_, count_, half);
      for_tiles([&] { merge_all(tile_, tile_words_, tile_words_ / 2); });
    }
  }

 private:
  template <class Function>
  __device__ void for_tiles(const Function& function) {
    for (std::uint32_t first = 0; first < count_; first += tile_words_) {
      for (std::uint32_t i = threadIdx.x; i < tile_words_; i += kThreads)
        tile_[i] = words_[first + i];
      __syncthreads();  // the tile is there
      function();
      for (std::uint32_t i = threadIdx.x; i < tile_words_; i += kThreads)
        words_[first + i] = tile_[i];
      __syncthreads();  // it has been read, and the words are there
    }
  }

  __device__ static void order(Word& low, Word& high) {
    const Word a = low, b = high;
    if (a <= b) return;
    low = b;
    high = a;
  }
  /// Runs of `run`, whose halves are sorted: each word with the one as far from the other end.
  __device__ static void turn(Word* words, std::uint32_t count, std::uint32_t run) {
    const std::uint32_t half = run / 2;
    for (std::uint32_t i = threadIdx.x; i < count / 2; i += kThreads) {
      const std::uint32_t place = i & (half - 1), begin = 2 * (i - place);
      order(words[begin + place], words[begin + run - 1 - place]);
    }
    __syncthreads();  // all are in order
  }
  /// Each word with the one `half` behind it.
  __device__ static void merge(Word* words, std::uint32_t count, std::uint32_t half) {
    for (std::uint32_t i = threadIdx.x; i < count / 2; i += kThreads) {
      const std::uint32_t place = i & (half - 1), low = 2 * (i - place) + place;
      order(words[low], words[low + half]);
    }
    __syncthreads();  // all are in order
  }
  __device__ static void merge_all(Word* words, std::uint32_t count, std::uint32_t half) {
    for (; half > 0; half /= 2) merge(words, count, half);
  }
  __device__ static void merge_turned(Word* words, std::uint32_t count, std::uint32_t run) {
    turn(words, count, run);
    merge_all(words, count, run / 4);
  }

  Word* words_;
  std::uint32_t count_, tile_words_;
  Word* tile_;
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
  std::uint32_t counts[kMostGapBits + 1];
  std::uint64_t warp_bits[kWarps];
};

/// Codes a table of sorted ranks of different entries, one or more, by a block. The block calls it when the ranks are there for all.
template <class Word, int kWarps>
__device__ format::TableFields code_table(const Word* ranks, std::uint32_t entries,
                                          const EntryRanks& as, std::uint32_t* coded,
                                          TableShared<kWarps>& shared) {
  constexpr std::uint32_t kThreads = 32 * kWarps;
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
  const BinSearch search(bins);
  if (thread == 0) put_bits(coded, 0, as.entry_of(ranks[0]), 8 * kValueBytes);
  std::uint64_t bits_before = 8 * bins.offsets_at();
  for (std::uint32_t first = 1; first < entries; first += kThreads) {
    const std::uint32_t i = first + thread;
    const bool mine = i < entries;
    const Word gap = mine ? gap_of(i) : Word{0};
    const int bin = search.find(gap), bits = mine ? fields.bin_bits[bin] : 0;
    const std::uint64_t end =
        device::block_prefix(static_cast<std::uint64_t>(bits), shared.warp_bits, bits_before);
    if (!mine) continue;
    put_bits(coded, 8 * bins.selectors_at() + std::uint64_t{i - 1} * fields.selector_bits, bin,
             fields.selector_bits);
    put_bits(coded, end - bits, gap - bins.starts[bin], bits);
  }
  __syncthreads();  // all are there
  // A bin of several lengths reaches a little into the next one.
  fields.bytes = static_cast<std::uint32_t>((bits_before + 7) / 8);
  return fields;
}

}  // namespace gdelta::cuda
