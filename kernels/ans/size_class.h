// Residuals by sign and size: so many classes to an octave, small sizes one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace gdelta {

/// 2^kBits classes to an octave, numbered from the lowest residual up. `kHalf`, a power of two, is the
/// class of residual 0; -1 has size 0, too.
template <int kBits, int kHalfClasses>
struct SizeClasses {
  static constexpr int kHalf = kHalfClasses;
  static constexpr int kCount = 2 * kHalf;
  static constexpr int kPerOctave = 1 << kBits;
  static_assert((64 - kBits + 1) * kPerOctave <= kHalf);

  /// Precondition: sign-extended.
  template <class Word>
  static constexpr unsigned of(Word residual) {
    using Signed = std::make_signed_t<Word>;
    const auto sign = static_cast<Word>(static_cast<Signed>(residual) >> (8 * sizeof(Word) - 1));
    const std::uint64_t size = residual ^ sign;
    const int exponent = 63 - __builtin_clzll(size | kPerOctave);
    const unsigned number = size < std::uint64_t{kPerOctave}
                                ? static_cast<unsigned>(size)
                                : static_cast<unsigned>(kPerOctave * (exponent - kBits + 1)) +
                                      ((size >> (exponent - kBits)) & (kPerOctave - 1));
    return (kHalf + number) ^ (sign != 0 ? kCount - 1 : 0);
  }

  /// Bits that tell the residuals of a class apart.
  static constexpr int offset_bits(int residual_class) {
    const int number = residual_class < kHalf ? kHalf - 1 - residual_class : residual_class - kHalf;
    return number < 2 * kPerOctave ? 0 : number / kPerOctave - 1;
  }

  /// The lowest residual of a class; those beyond the type are its end.
  template <class Signed>
  static Signed lowest(int residual_class) {
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<Signed>::max());
    if (residual_class >= kHalf)
      return static_cast<Signed>(std::min(size_from(residual_class - kHalf), most));
    const std::uint64_t below = size_from(kHalf - residual_class);
    return below > most ? std::numeric_limits<Signed>::min()
                        : static_cast<Signed>(-static_cast<Signed>(below));
  }

 private:
  static constexpr std::uint64_t size_from(int number) {
    return number < kPerOctave ? static_cast<std::uint64_t>(number)
           : number >= (64 - kBits + 1) * kPerOctave
               ? ~std::uint64_t{0}
               : std::uint64_t(kPerOctave + number % kPerOctave) << (number / kPerOctave - 1);
  }
};

}  // namespace gdelta
