// The runs of a column that is predicted linearly, and how its words are read as numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/linear/linear_shape.h"
#include "kernels/pages/column_task.h"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

/// Words as signed numbers (linear_shape.h).
template <int ValueBytes>
using NumberOf = std::conditional_t<ValueBytes == 8, std::int64_t, std::int32_t>;

/// What the fields of a column say of all lanes, and where it goes on.
struct LinearHead {
  const unsigned char* lanes;
  const unsigned char* table;
  std::uint32_t bits_of_run;
  int run_bits;
  bool is_unsigned;
};

__device__ inline LinearHead read_head(const ColumnTask& task) {
  LinearHead head{.lanes = task.linear + 2,
                  .table = nullptr,
                  .bits_of_run = 0,
                  .run_bits = task.linear[0],
                  .is_unsigned = task.linear[1] != 0};
  const unsigned char* at = head.lanes;
  for (int number = 0; number < task.tuple; ++number) {
    LinearLane lane;
    at = read_linear_lane(at, lane);
    for (int tap = lane.taps(); tap > 0; --tap, at += kLinearTapBytes) head.bits_of_run += at[2];
  }
  head.table = at;
  return head;
}

template <int ValueBytes>
struct Reading {
  using Word = WordOf<ValueBytes>;
  using Number = NumberOf<ValueBytes>;
  static constexpr int kSpare = static_cast<int>(8 * sizeof(Word)) - 8 * ValueBytes;

  __device__ explicit Reading(bool is_unsigned)
      : bias(is_unsigned ? Word{1} << (8 * ValueBytes - 1) : 0) {}
  __device__ Number number(Word word) const {
    return static_cast<Number>((word ^ bias) << kSpare) >> kSpare;
  }

  Word bias;
};

/// A run of a column.
struct Run {
  std::uint64_t first;  // tuple
  std::uint32_t tuples;
  std::uint64_t bit;  // of its coefficients in the table
};

__device__ inline Run run_of(const ColumnTask& task, const LinearHead& head, std::uint64_t number) {
  Run run{number << head.run_bits, 0, number * head.bits_of_run};
  if (run.first < task.records)
    run.tuples = static_cast<std::uint32_t>(
        min(std::uint64_t{1} << head.run_bits, task.records - run.first));
  return run;
}

__device__ inline unsigned char* value_at(const ColumnTask& task, std::uint64_t tuple, int lane) {
  return task.out + tuple * task.record_bytes + lane * task.value_bytes;
}

}  // namespace gdelta::cuda
