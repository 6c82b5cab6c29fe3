// The front half of encoding a column: value map, stride links and deltas, a stretch at a time.
// Encoder and planner read residuals from here, so that trials and output agree.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/column_bytes.h"
#include "formats/gdelta/model.h"

namespace gdelta {

/// What differences see before the chunk.
enum class History { zero, first_value };

class ResidualSource {
 public:
  /// Applies the model's map and strides to a copy of the column where there are strides; otherwise
  /// reads `column` as it goes.
  ResidualSource(const ColumnBytes& column, const format::ColumnModel& model);

  /// Zigzagged residuals of tuples [first, first + count) of a lane, and the state y1 … yq before
  /// them. `words` has room for kMaxOrder + count.
  template <class Word>
  void residuals(int lane, std::uint64_t first, std::uint64_t count, int order, History history,
                 Word* words, Word* states) const;

 private:
  ColumnBytes source_;
  bool ordered_ = false;
  std::vector<unsigned char> strided_;
};

}  // namespace gdelta
