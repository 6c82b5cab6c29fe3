#include "codec/coders/predictor.h"

namespace gdelta {

const ColumnPredictor& column_predictor(Predictor predictor) {
  static constexpr const ColumnPredictor* kPredictors[] = {
#define GDELTA_ADDRESS(name, ...) &name##_predictor,
      GDELTA_PREDICTORS(GDELTA_ADDRESS)
#undef GDELTA_ADDRESS
  };
  if (predictor == Predictor::none) predictor = format::kUsualPredictor;
  return *kPredictors[static_cast<int>(predictor) - 1];
}

}  // namespace gdelta
