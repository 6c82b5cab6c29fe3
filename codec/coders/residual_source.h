// The front half of encoding a column: value map, stride links and deltas, for any stretch of
// tuples. Encoder and planner read residuals from here, so that trials and output agree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/coders/column_bytes.h"
#include "formats/gdelta/model.h"

namespace gdelta {

/// What differences see before the chunk.
enum class History { zero, first_value };

class ResidualSource {
 public:
  /// Only the map and the strides of `front` matter here. Reads `column` as it goes, copies nothing.
  ResidualSource(const ColumnBytes& column, const format::Front& front)
      : ResidualSource(column, front.map, std::span(front.strides, front.num_strides)) {}
  ResidualSource(const ColumnBytes& column, ValueMap map,
                 std::span<const format::StrideLink> strides);

  const ColumnBytes& column() const { return column_; }
  std::uint64_t records() const { return column_.records; }

  /// Tuples [first, first + count) of a lane after map and strides.
  template <class Word>
  void values(int lane, std::uint64_t first, std::uint64_t count, Word* words) const;

  /// Gives them with the `before` tuples that precede them; words has room for before + count.
  template <class Word>
  void values_with_history(int lane, std::uint64_t first, std::uint64_t count, int before,
                           History history, Word* words) const;

  /// Zigzagged residuals of order `order`, and the state y1 … yq before them. `words` has room for
  /// order + count.
  template <class Word>
  void residuals(int lane, std::uint64_t first, std::uint64_t count, int order, History history,
                 Word* words, Word* states) const;

  /// Gives them sign-extended instead, apart from `words`.
  template <class Word>
  void signed_residuals(int lane, std::uint64_t first, std::uint64_t count, int order,
                        History history, Word* words, Word* states, Word* residuals) const;

 private:
  // All links multiplied out: x'[i] is the sum of coefficient × x[i - distance].
  struct Term {
    std::uint64_t distance;
    std::uint64_t coefficient;
  };

  ColumnBytes column_;
  ValueMap map_;
  std::vector<Term> terms_;
};

}  // namespace gdelta
