// The coders there are: a row each. Everything that depends on which coders there are comes from here:
// the enumeration, names, options, what heads may say, who decodes what.
#pragma once

#include <cstdint>

/// row(name, number, chosen_by, traits...). The number is that of the format, counted from 0 without gaps.
/// Encoders choose it for the reason behind it (ChosenBy, formats/gdelta/coder_traits.h). What follows sets
/// members of CoderTraits (formats/gdelta/coder_traits.h) that are not as usual.
/// A row needs a page, formats/gdelta/coders/NAME.md, and `NAME_coder` (codec/coders/coder.h).
//
// A row is a row.
// clang-format off
#define GDELTA_CODERS(row)                                                                            \
  row(raw, 0, no_gain, .can_be_asked = true, .bound = SectionBound::tuples,                           \
      .device = DeviceDecoding::copy, .device_encodes_plans = true)                                   \
  row(constant, 1, equal_tuples, .parts = PartRule::one, .bound = SectionBound::one_tuple,            \
      .device = DeviceDecoding::fill, .device_encodes_plans = true)                                   \
  row(pack, 2, widths, .can_be_asked = true, .codes_residuals = true, .states_of_segments = true,     \
      .parts = PartRule::pages, .device = DeviceDecoding::warp_pages, .device_encodes_plans = true)   \
  row(zstd, 3, stretches, .can_be_asked = true, .codes_residuals = true, .arrangements = 3,           \
      .bound = SectionBound::frames)                                                                  \
  row(ans, 4, trial, .can_be_asked = true, .codes_residuals = true, .fields = CoderFields::ans,       \
      .parts = PartRule::pages, .bound = SectionBound::symbols, .device = DeviceDecoding::pages)      \
  row(lzma, 5, patience, .can_be_asked = true, .codes_residuals = true, .codes_tables = true,         \
      .bound = SectionBound::frames)                                                                  \
  row(adaptive, 6, patience, .can_be_asked = true, .codes_residuals = true,                           \
      .bound = SectionBound::symbols)
// clang-format on

namespace gdelta {

/// Last stage of a column. The numbers are those of the format (spec.md, section 4); number 0 takes every
/// column as it is.
enum class Coder : std::uint8_t {
#define GDELTA_ENUMERATOR(name, number, ...) name = number,
  GDELTA_CODERS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

#define GDELTA_ONE(name, number, ...) +1
inline constexpr int kNumCoders = GDELTA_CODERS(GDELTA_ONE);
#undef GDELTA_ONE

}  // namespace gdelta
