// The predictors there are: a row each, as in coders.h.
#pragma once

#include <cstdint>

/// row(name, number). A row needs a page, formats/gdelta/predictors/NAME.md, `parse_NAME` of its fields
/// (formats/gdelta/column_head.h) and `append_NAME` (formats/gdelta/chunk_block.cpp).
// clang-format off: a row is a row
#define GDELTA_PREDICTORS(row) row(deltas, 1) row(linear, 2) row(segments, 3)
// clang-format on

namespace gdelta {

/// What values are taken off each other by. The numbers are those of the format (spec.md, section 4).
enum class Predictor : std::uint8_t {
  none = 0,
#define GDELTA_ENUMERATOR(name, number) name = number,
  GDELTA_PREDICTORS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

#define GDELTA_ONE(name, number) +1
/// With `none`.
inline constexpr int kNumPredictors = 1 GDELTA_PREDICTORS(GDELTA_ONE);
#undef GDELTA_ONE

}  // namespace gdelta
