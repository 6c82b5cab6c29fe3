// Linear prediction of a whole column on the host: its lanes, and the coefficients of every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/linear/linear_shape.h"

namespace gdelta {

struct LinearModel {
  int run_bits = 12;
  bool is_unsigned = false;  // how words are read
  std::vector<LinearLane> lanes;
  std::vector<std::int16_t>
      coefficients;  // of each run: of each lane, as its taps lie in the format

  std::uint64_t run_tuples() const { return std::uint64_t{1} << run_bits; }
  std::uint64_t runs(std::uint64_t tuples) const { return (tuples + run_tuples() - 1) >> run_bits; }
  /// Counts the taps of all lanes.
  std::size_t taps() const;
};

/// The fields of a model of `tuples` tuples, as they stand in a head.
std::vector<std::byte> linear_fields(const LinearModel& model, std::uint64_t tuples);
/// Precondition: the fields have been checked.
LinearModel read_linear_fields(const unsigned char* fields, int tuple, std::uint64_t tuples);

/// A column without gaps: packed little-endian words of `value_bytes` each, tuple after tuple.
struct LinearColumn {
  unsigned char* words;
  std::uint64_t tuples;
  int value_bytes;  // 1, 2, 3, 4 or 8
};

/// Replaces words by their residuals, in runs [begin, end). Runs may be done by several threads.
void predict_linear(const LinearColumn& column, const LinearModel& model, std::uint64_t begin,
                    std::uint64_t end);
/// Replaces residuals by the words.
void undo_linear(const LinearColumn& column, const LinearModel& model, std::uint64_t begin,
                 std::uint64_t end);
/// Runs that `undo_linear` does side by side.
inline constexpr int kLinearSide = 8;
/// What `undo_linear` holds for each lane, at most.
inline constexpr std::uint64_t kLinearLaneBytes = 16 << 10;

}  // namespace gdelta
