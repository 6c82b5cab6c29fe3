// The fields of linear prediction as they stand in a model: one parser, for host and device. Spec:
// predictors/linear.md.
#pragma once

#include "formats/gdelta/model.h"
#include "formats/gdelta/tags.h"

namespace gdelta::format {

inline constexpr int kMinLinearRunBits = 8, kMaxLinearRunBits = 16;
inline constexpr int kNumLinearReadings = 2;
inline constexpr int kMaxLinearTaps = 32;  // of a lane, on itself and on others
inline constexpr int kMaxLinearSources = 2;
inline constexpr int kMaxLinearShift = 15;
inline constexpr int kLinearCoefficientBits = 16;

namespace detail {

/// A byte that may be larger in a later version.
GDELTA_HD inline HeadError parse_at_most(Cursor& cursor, int most, int& value) {
  value = cursor.byte();
  if (cursor.failed) return HeadError::corrupt;
  return value > most ? HeadError::unsupported : HeadError::none;
}

/// Another lane that is looked at; `taps` grows by those on it.
GDELTA_HD inline HeadError parse_linear_source(Cursor& cursor, int lane, int& before, int& taps) {
  const int source = cursor.byte();
  if (cursor.failed || source <= before || source >= lane) return HeadError::corrupt;
  before = source;
  const int more = cursor.byte();
  if (cursor.failed || more == 0) return HeadError::corrupt;
  taps += more;
  return taps > kMaxLinearTaps ? HeadError::unsupported : HeadError::none;
}

/// The fields of a lane; `coefficient_bits` grows by what a run has for it.
GDELTA_HD inline HeadError parse_linear_lane(Cursor& cursor, int lane,
                                             std::uint64_t& coefficient_bits) {
  int taps = 0, sources = 0, shift = 0, before = -1;
  HeadError error = parse_at_most(cursor, kMaxLinearTaps, taps);
  if (error == HeadError::none) error = parse_at_most(cursor, kMaxLinearSources, sources);
  if (error == HeadError::none) error = parse_at_most(cursor, kMaxLinearShift, shift);
  for (int number = 0; number < sources && error == HeadError::none; ++number)
    error = parse_linear_source(cursor, lane, before, taps);
  for (int tap = 0; tap < taps && error == HeadError::none; ++tap) {
    int width = 0;
    cursor.fixed(2);  // the base
    error = parse_at_most(cursor, kLinearCoefficientBits, width);
    coefficient_bits += static_cast<std::uint64_t>(width);
  }
  return error;
}

}  // namespace detail

/// Reads over the fields, with the table of coefficients, and checks that they can be used. Orders of the front
/// stay zero and strides none, so that coders see what they see without a predictor.
GDELTA_HD inline HeadError parse_linear_fields(Cursor& cursor, const PredictedColumn& column,
                                               Front&) {
  int run_bits = 0, reading = 0;
  HeadError error = detail::parse_at_most(cursor, kMaxLinearRunBits, run_bits);
  if (error == HeadError::none && run_bits < kMinLinearRunBits) error = HeadError::unsupported;
  if (error == HeadError::none)
    error = detail::parse_at_most(cursor, kNumLinearReadings - 1, reading);
  std::uint64_t bits_of_run = 0;
  for (int lane = 0; lane < column.tuple && error == HeadError::none; ++lane)
    error = detail::parse_linear_lane(cursor, lane, bits_of_run);
  if (error != HeadError::none) return error;
  // At most 2^20 runs of 2^15 bits.
  const std::uint64_t bits = ((column.records - 1) >> run_bits) * bits_of_run + bits_of_run;
  if (!cursor.skip((bits + 7) / 8)) return HeadError::corrupt;
  const bool padded = (bits & 7) != 0 && cursor.data[cursor.at - 1] >> (bits & 7) != 0;
  return padded ? HeadError::corrupt : HeadError::none;
}

}  // namespace gdelta::format
