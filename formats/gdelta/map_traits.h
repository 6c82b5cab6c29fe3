// What value maps differ in, as heads show it. Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "gdelta/types.h"

namespace gdelta::format {

struct ValueMapTraits {
  bool floats_alone = false;  // integers have no use for it
  int tried_from_level = 1;   // by the planner
};

/// Precondition: a number below kNumValueMaps.
GDELTA_HD constexpr ValueMapTraits map_traits(ValueMap map) {
  switch (map) {
    case ValueMap::none:
      break;
#define GDELTA_CASE(name, number, sentence, ...) \
  case ValueMap::name:                           \
    return {__VA_ARGS__};
      GDELTA_VALUE_MAPS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {};
}

/// Whether values of this type may go through it.
GDELTA_HD constexpr bool map_takes(ValueMap map, ValueType type) {
  return !map_traits(map).floats_alone || type >= ValueType::f16;
}

}  // namespace gdelta::format
