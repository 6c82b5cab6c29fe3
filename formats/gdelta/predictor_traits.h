// What predictors differ in, as heads show it. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "gdelta/predictors.h"

namespace gdelta::format {

struct PredictorTraits {
  bool has_orders = false;  // of lanes and strides, as Front has them
  bool encodes_on_device = false;
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
  return {.has_orders = true, .encodes_on_device = true};
}

/// What fronts have unless they say otherwise.
inline constexpr Predictor kUsualPredictor{1};
static_assert(predictor_traits(kUsualPredictor).has_orders);

}  // namespace gdelta::format
