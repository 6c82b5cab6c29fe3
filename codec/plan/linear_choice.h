// Whether linear prediction suits a column, and in which shape: runs of which length, how many taps.
#pragma once

#include <cstdint>
#include <optional>

#include "codec/coders/work.h"
#include "codec/coders/workers.h"
#include "codec/plan/levels.h"
#include "kernels/linear/linear_model.h"

namespace gdelta {

struct LinearChoice {
  LinearModel model;          // without coefficients
  std::uint64_t saved_bytes;  // about, against deltas without strides
};

/// Nothing if deltas without strides are expected to do as well. `words` are the column's mapped values; they stay
/// as they are.
std::optional<LinearChoice> choose_linear(const LinearColumn& words, int tuple, bool is_unsigned,
                                          const LinearPolicy& policy, Workers& workers,
                                          Work* work = nullptr);

}  // namespace gdelta
