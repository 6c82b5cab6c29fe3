// The predictors there are: a row each, as in coders.h.
#pragma once

#include <cstdint>

/// row(name, number, sentence, traits...): the sentence explains the name to users, and is empty if
/// orders tell enough; traits set members of PredictorTraits (formats/gdelta/predictor_traits.h). A row
/// needs a page, formats/gdelta/predictors/NAME.md, its fields, NAME_fields.h beside it, which
/// predictor_fields.h there includes, and `NAME_predictor` (codec/coders/predictor.h).
// A row is a row.
// clang-format off
#define GDELTA_PREDICTORS(row)                                                                        \
  row(deltas, 1, "",                                                                                  \
      .has_orders = true, .device = DevicePrediction::orders, .device_encodes_plans = true)           \
  row(linear, 2, "predicted from the values before, and from those of other lanes",                   \
      .device = DevicePrediction::runs)                                                               \
  row(segments, 3, "differences are taken inside segments", .device = DevicePrediction::segments)
// clang-format on

namespace gdelta {

/// What values are taken off each other by. The numbers are those of the format (spec.md, section 4).
enum class Predictor : std::uint8_t {
  none = 0,
#define GDELTA_ENUMERATOR(name, number, ...) name = number,
  GDELTA_PREDICTORS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

#define GDELTA_ONE(name, number, ...) +1
/// `none` is counted, too.
inline constexpr int kNumPredictors = 1 GDELTA_PREDICTORS(GDELTA_ONE);
#undef GDELTA_ONE

}  // namespace gdelta
