// Lanes changed by other lanes of their tuples: the kinds of steps there are, a row each, with the arithmetic of
// kernels/words/maps. They are numbered in the order of the rows.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#include "kernels/words/maps/differences.h"

/// row(name, Type): `apply(target, source, value_bits)` and `undo`, for words of 32 and 64 bits. The kinds of a lane map
/// stand together, those of the map with the lowest number first.
#define GDELTA_LANE_STEPS(row) \
  row(minus, MinusStep) row(minus_half, MinusHalfStep) row(plus_half, PlusHalfStep)

namespace gdelta {

enum class LaneStepKind : std::uint8_t {
#define GDELTA_ENUMERATOR(name, Type) name,
  GDELTA_LANE_STEPS(GDELTA_ENUMERATOR)
#undef GDELTA_ENUMERATOR
};

#define GDELTA_ONE(name, Type) +1
inline constexpr int kNumLaneStepKinds = GDELTA_LANE_STEPS(GDELTA_ONE);
#undef GDELTA_ONE

/// A step of lane `target`, by lane `source`.
struct LaneStep {
  std::uint8_t target = 0;
  std::uint8_t source = 0;
  LaneStepKind kind = LaneStepKind::minus;
};

/// Calls function(step) with an object of the kind's type.
template <class Function>
GDELTA_HD inline void with_lane_step(LaneStepKind kind, const Function& function) {
  switch (kind) {
#define GDELTA_CASE(name, Type) \
  case LaneStepKind::name:      \
    function(Type{});           \
    break;
    GDELTA_LANE_STEPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
}

}  // namespace gdelta
