// What coders have in common and where they differ, as heads show it. Shared by host code and CUDA
// kernels.
#pragma once

#include <string_view>

#include "formats/gdelta/bytes.h"
#include "gdelta/coders.h"

namespace gdelta::format {

/// How many parts a column may have (spec.md, section 4).
enum class PartRule : std::uint8_t {
  any,    // one, or parts of equal length
  one,    // no more
  pages,  // parts of equal length, bounded: part_groups is not 0
};

/// How long a section is, or is at most.
enum class SectionBound : std::uint8_t {
  tuples,     // just the tuples
  one_tuple,  // just one
  groups,     // every group at the width of the type, with descriptors and states
  frames,     // frames of zstd that do not shrink
  symbols,    // every residual with a word of 16 bits and an offset of the type's width
};

/// How a device decodes it.
enum class DeviceDecoding : std::uint8_t {
  none,        // the host does
  copy,        // tuples as they are
  fill,        // one tuple everywhere
  pages,       // a block a page
  warp_pages,  // and short pages of narrow tuples by a warp each
};

/// What models say of a section beside what all of them say.
enum class CoderFields : std::uint8_t {
  none,
  ans_tables,  // coders/ans_fields.h
};

struct CoderTraits {
  bool can_be_asked = false;      // by the options of an encoder
  bool codes_residuals = false;   // its models have a front, and its parts have ends
  std::uint8_t arrangements = 0;  // of which a field of its own chooses one; 0: there is no field
  CoderFields fields = CoderFields::none;
  PartRule parts = PartRule::any;
  SectionBound bound = SectionBound::groups;
  DeviceDecoding device = DeviceDecoding::none;
  bool encodes_on_device = false;  // others are encoded by the host
};

/// Precondition: a number below kNumCoders.
GDELTA_HD constexpr CoderTraits coder_traits(Coder coder) {
  switch (coder) {
#define GDELTA_CASE(name, number, ...) \
  case Coder::name:                    \
    return {__VA_ARGS__};
    GDELTA_CODERS(GDELTA_CASE)
#undef GDELTA_CASE
  }
  return {};
}

/// Whether a section holds residuals, so that the model has a front.
GDELTA_HD constexpr bool codes_residuals(Coder coder) {
  return coder_traits(coder).codes_residuals;
}

}  // namespace gdelta::format
