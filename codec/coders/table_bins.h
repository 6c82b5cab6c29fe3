// The bins of a dictionary's table: which take the fewest bits, and which one a gap is in. A rule that the format leaves to
// encoders, on hosts and devices. Spec: formats/gdelta/maps/dictionary.md.
#pragma once

#include <cstdint>

#include "formats/gdelta/maps/table_layout.h"
#include "kernels/device/host_device.h"

namespace gdelta {

inline constexpr int kMostGapBits = 64;
inline constexpr int kMostBins = 1 << format::kMostSelectorBits;

/// Bits of the offsets of a bin for gaps of up to `last` bits behind those of up to `before` (none: -1). Of one length
/// alone the highest bit is known.
GDELTA_HD constexpr int bits_of_bin(int before, int last) {
  return last == before + 1 && last > 0 ? last - 1 : last;
}

/// What all offsets take at least, a row for each number of bins; in a row a place for each length of gaps, up to which those
/// are counted. A row is made of the one before, place by place: threads may share it.
struct BinRows {
  int longest;                           // length that a gap has
  std::uint64_t fewest_bits;             // in any number of bins
  std::uint64_t sums[kMostGapBits + 2];  // gaps that are shorter
  std::uint64_t least[kMostBins][kMostGapBits + 1];
  std::uint8_t before[kMostBins][kMostGapBits + 1];  // the longest that are not in the last bin

  /// Of `counts` gaps of each length.
  template <class Count>
  GDELTA_HD void begin(const Count (&counts)[kMostGapBits + 1]) {
    longest = kMostGapBits;
    while (longest > 0 && counts[longest] == 0) --longest;
    fewest_bits = sums[0] = 0;
    for (int length = 0; length <= kMostGapBits; ++length) {
      sums[length + 1] = sums[length] + counts[length];
      fewest_bits += counts[length] * static_cast<std::uint64_t>(bits_of_bin(length - 1, length));
    }
  }

  /// One bin for lengths up to `last`.
  GDELTA_HD void make_first(int last) {
    least[0][last] = sums[last + 1] * static_cast<std::uint64_t>(bits_of_bin(-1, last));
  }

  /// What lengths up to `last` take if `bin` bins are for those up to `other`, and one for the rest.
  GDELTA_HD std::uint64_t bits_behind(int bin, int other, int last) const {
    return least[bin - 1][other] + (sums[last + 1] - sums[other + 1]) *
                                       static_cast<std::uint64_t>(bits_of_bin(other, last));
  }

  /// The best that they take behind others, the shortest of equals. One bin fewer is better if it takes no more.
  GDELTA_HD void set_best(int bin, int last, int other, std::uint64_t bits) {
    const bool pays = bits < least[bin - 1][last];
    least[bin][last] = pays ? bits : least[bin - 1][last];
    before[bin][last] = static_cast<std::uint8_t>(pays ? other : last);
  }

  /// The place of lengths up to `last` in the row of `bin` + 1 bins; up to `longest` they are asked for.
  void make(int bin, int last) {
    if (bin == 0) return make_first(last);
    std::uint64_t fewest = ~std::uint64_t{0};
    int best = 0;
    for (int other = 0; other < last; ++other) {
      const std::uint64_t bits = bits_behind(bin, other, last);
      if (bits >= fewest) continue;
      fewest = bits;
      best = other;
    }
    set_best(bin, last, best, fewest);
  }

  GDELTA_HD std::uint64_t bits(int bins) const { return least[bins - 1][longest]; }

  /// Their bits, in `bins` places. Precondition: their rows are there.
  GDELTA_HD void put(int bins, std::uint8_t* bin_bits) const {
    std::uint8_t ends[kMostBins];  // lengths, the longest first
    int count = 0, last = longest;
    for (int bin = bins - 1; bin >= 0; --bin) {
      if (bin == 0 || before[bin][last] != last) ends[count++] = static_cast<std::uint8_t>(last);
      if (bin > 0) last = before[bin][last];
    }
    int end_before = -1;
    for (int bin = 0; bin < bins; ++bin) {
      const int end = bin < count ? ends[count - 1 - bin] : 0;
      bin_bits[bin] = bin < count ? static_cast<std::uint8_t>(bits_of_bin(end_before, end)) : 0;
      end_before = end;
    }
  }
};

/// Sets the bins of a table that take the fewest bits; returns what all offsets take at most. make_row(bin) makes a row, place by
/// place; rows have begun.
template <class MakeRow>
GDELTA_HD std::uint64_t choose_bins(const BinRows& rows, format::TableFields& fields,
                                    const MakeRow& make_row) {
  const std::uint64_t gaps = fields.entries - 1;
  std::uint64_t least = ~std::uint64_t{0}, offset_bits = 0;
  int made = 0;
  for (int selector_bits = 0; selector_bits <= format::kMostSelectorBits; ++selector_bits) {
    const int bins = 1 << selector_bits;
    const std::uint64_t others =
        gaps * static_cast<std::uint64_t>(selector_bits) + 8 * static_cast<std::uint64_t>(bins);
    if (rows.fewest_bits + others >= least) break;
    for (; made < bins; ++made) make_row(made);
    const std::uint64_t bits = rows.bits(bins) + others;
    if (bits >= least) continue;
    least = bits;
    offset_bits = rows.bits(bins);
    fields.selector_bits = static_cast<std::uint8_t>(selector_bits);
    rows.put(bins, fields.bin_bits);
  }
  return offset_bits;
}

/// Finds the first bin that a gap is in.
class BinSearch {
 public:
  BinSearch() = default;
  GDELTA_HD explicit BinSearch(const format::TableBins& bins) {
    // Bins follow each other without gaps, up to one that nothing is beyond.
    bool beyond = false;
    for (int bin = 0; bin < kMostBins; ++bin) {
      beyond |= bin >= 1 << bins.fields.selector_bits;
      starts_[bin] = beyond ? ~std::uint64_t{0} : bins.starts[bin];
      beyond |= bins.fields.bin_bits[bin] == kMostGapBits;
    }
  }

  /// Precondition: there is one, and a gap is below 2^64 - 1.
  GDELTA_HD int find(std::uint64_t gap) const {
    int bin = 0;
    for (int step = kMostBins / 2; step > 0; step /= 2)
      bin += gap >= starts_[bin + step] ? step : 0;
    return bin;
  }

 private:
  std::uint64_t starts_[kMostBins];
};

}  // namespace gdelta
