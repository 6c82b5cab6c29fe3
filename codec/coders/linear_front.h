// Linear prediction of a column, on its way to a coder and back. Spec: predictors/linear.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "codec/coders/work.h"
#include "codec/coders/workers.h"
#include "formats/gdelta/model.h"
#include "kernels/linear/linear_model.h"

namespace gdelta {

/// What a coder sees of a column that has been predicted, and what the model says of it.
struct LinearResiduals {
  std::vector<unsigned char> words;  // without gaps
  std::vector<std::byte> fields;

  /// The words as values without map and byte order.
  ColumnBytes column(const ColumnBytes& values) const;
};

/// The mapped values of a column as words without gaps.
std::vector<unsigned char> mapped_words(const ColumnBytes& column, ValueMap map, Workers& workers,
                                        Work* work = nullptr);

/// Whether the words of mapped values are read without a sign.
bool reads_unsigned(ValueType type, ValueMap map);

/// The front of a column that is predicted linearly.
format::Front linear_front(ValueMap map);

/// Fits the coefficients of a model that has a shape alone, and predicts the words.
LinearResiduals predict_front(const ColumnBytes& column, std::vector<unsigned char> words,
                              LinearModel model, Workers& workers, Work* work = nullptr);

}  // namespace gdelta
