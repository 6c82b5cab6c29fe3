// Where the bins of a table of the ans coder begin, while it is not known yet what lies between those of
// the sample: every residual is in one of them, and finding it takes a few comparisons.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/ans/ans_bins.h"
#include "kernels/ans/ans_layout.h"
#include "kernels/ans/residual_classes.h"

namespace gdelta {

/// Bins that follow each other without gaps: those of the sample, and what lies between them.
template <class Word>
class AnsCuts {
 public:
  using Signed = std::make_signed_t<Word>;
  static constexpr std::uint8_t kUnknown = 255;

  /// `bins`: kMaxTableBins / 2 - 1 at most, from the lowest up.
  explicit AnsCuts(std::span<const ResidualRange> bins);

  int size() const { return size_; }
  Signed first(int bin) const {
    return bin == 0 ? std::numeric_limits<Signed>::min()
                    : static_cast<Signed>(lasts_[static_cast<std::size_t>(bin) - 1] + 1);
  }
  Signed last(int bin) const { return lasts_[static_cast<std::size_t>(bin)]; }
  /// kUnknown of what the sample did not have.
  std::uint8_t offset_bits(int bin) const { return offset_bits_[static_cast<std::size_t>(bin)]; }

  /// The bin of each residual, of which `classes` are the fine classes.
  void find(std::span<const Word> residuals, const std::uint16_t* classes,
            std::uint8_t* bins) const;

  /// Which of up to 32 residuals, of whose bins these are the numbers, are in bins that the sample did not have: a bit each.
  std::uint32_t unknown_of(const std::uint8_t* bins, std::size_t count) const;

 private:
  void add(std::int64_t first, int bits);
  void find_bins_of_classes();

  int size_ = 0;
  int highest_step_ = 0;  // of the search among the bins of a class: a power of two, or 0
  std::array<std::uint8_t, kMaxTableBins> offset_bits_;
  std::array<std::uint8_t, kMaxTableBins / 8> is_unknown_{};  // a bit for each bin
  // Padded, so that a search for a bin stays inside, and so do loads of 4 bytes.
  std::array<Signed, 2 * kMaxTableBins> lasts_;
  // The bin of the lowest residual of a class, and above it how many begin behind that in the class.
  std::array<std::uint16_t, kFineClasses + 1> bins_of_class_;
};

}  // namespace gdelta
