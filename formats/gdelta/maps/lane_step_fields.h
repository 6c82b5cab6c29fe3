// What models say of one lane changed by another. Shared by host code and CUDA kernels.
#pragma once

#include <span>

#include "formats/gdelta/bytes.h"
#include "gdelta/lane_maps.h"

namespace gdelta::format {

/// Steps of a lane map.
inline constexpr int kMostLaneSteps = 64;

struct LaneStepFields {
  std::uint8_t target = 0;
  std::uint8_t source = 0;
  std::uint8_t kind = 0;
};

}  // namespace gdelta::format
