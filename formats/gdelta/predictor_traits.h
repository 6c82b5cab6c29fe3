// What predictors differ in, as heads show it. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "gdelta/predictors.h"

namespace gdelta::format {

/// How a device undoes it.
enum class DevicePrediction : std::uint8_t {
  none,      // the host undoes it
  orders,    // with the pages as they are decoded, and a pass for each stride
  runs,      // a pass over runs of tuples, by coefficients
  segments,  // with the pages as they are decoded, if they say states, else a pass over segments
};

struct PredictorTraits {
  bool has_orders = false;  // of lanes and strides, as Front has them
  DevicePrediction device = DevicePrediction::none;
  bool device_encodes_plans = false;  // as that of CoderTraits
};

/// Precondition: a number below kNumPredictors.
GDELTA_HD constexpr PredictorTraits predictor_traits(Predictor predictor) {
  switch (predictor) {
    case Predictor::none:
      break;
#define GDELTA_CASE(name, number, sentence, ...) \
  case Predictor::name:                          \
    return {__VA_ARGS__};
      GDELTA_PREDICTORS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {.has_orders = true, .device = DevicePrediction::orders, .device_encodes_plans = true};
}

/// A column as predictors read their fields.
struct PredictedColumn {
  int tuple = 1;
  std::uint64_t records = 0;
  bool in_segments = false;     // the chunk says its segments
  bool may_say_states = false;  // pages of its coder may begin with those of deltas inside segments
};

/// What fronts have unless they say otherwise.
inline constexpr Predictor kUsualPredictor{1};
static_assert(predictor_traits(kUsualPredictor).has_orders);

}  // namespace gdelta::format
