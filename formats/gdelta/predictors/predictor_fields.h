// What models say of a predictor: a header of this folder for each, NAME_fields.h, whose parse_NAME_fields checks
// every field. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/predictors/deltas_fields.h"
#include "formats/gdelta/predictors/linear_fields.h"
#include "formats/gdelta/predictors/segments_fields.h"

namespace gdelta::format {

/// Reads over the fields of the front's predictor; the front gets orders and strides, if it has such.
GDELTA_HD inline HeadError parse_predictor_fields(Cursor& cursor, const PredictedColumn& column,
                                                  Front& front) {
  switch (front.predictor) {
    case Predictor::none:
      break;
#define GDELTA_CASE(name, number, ...) \
  case Predictor::name:                \
    return parse_##name##_fields(cursor, column, front);
      GDELTA_PREDICTORS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return HeadError::none;
}

}  // namespace gdelta::format
