// Classes of residuals by size: fine ones to find bins, coarse ones to measure by.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/ans/size_class.h"

namespace gdelta {

/// To measure by, the same for every column.
using ResidualClasses = SizeClasses<2, 256>;
inline constexpr int kResidualClasses = ResidualClasses::kCount;

/// To find bins: few of these classes have residuals of two.
using FineClasses = SizeClasses<4, 1024>;
inline constexpr int kFineClasses = FineClasses::kCount;

namespace detail {
constexpr std::array<std::uint16_t, kFineClasses> make_coarse_classes() {
  std::array<std::uint16_t, kFineClasses> coarse{};
  for (int k = 0; k < kFineClasses; ++k) {
    const int number = k < FineClasses::kHalf ? FineClasses::kHalf - 1 - k : k - FineClasses::kHalf;
    // Both have as many classes below as sizes, and then so many to an octave.
    constexpr int kSizes = FineClasses::kPerOctave, kOctaves = 2;
    const int of_coarse =
        number < kSizes
            ? static_cast<int>(ResidualClasses::of(static_cast<std::uint64_t>(number))) -
                  ResidualClasses::kHalf
            : (number - kSizes) / (FineClasses::kPerOctave / ResidualClasses::kPerOctave) +
                  ResidualClasses::kPerOctave * (kOctaves + 1);
    // Fine classes beyond 64 bits have no residuals.
    const int bounded = of_coarse < ResidualClasses::kHalf ? of_coarse : ResidualClasses::kHalf - 1;
    coarse[static_cast<std::size_t>(k)] =
        static_cast<std::uint16_t>(k < FineClasses::kHalf ? ResidualClasses::kHalf - 1 - bounded
                                                          : ResidualClasses::kHalf + bounded);
  }
  return coarse;
}
}  // namespace detail

/// The coarse class that a fine one is part of.
inline constexpr auto kCoarseClass = detail::make_coarse_classes();

/// The fine class of each residual.
template <class Word>
void find_fine_classes(const Word* residuals, std::size_t count, std::uint16_t* classes);

}  // namespace gdelta
