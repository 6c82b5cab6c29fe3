// The model of a column: which stages turn its values into a section of the payload. Spec: spec.md,
// section 4. Plain data, shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/map_traits.h"
#include "formats/gdelta/predictor_traits.h"
#include "gdelta/types.h"

namespace gdelta::format {

enum class Arrangement : std::uint8_t { values = 0, planes = 1, plane_frames = 2 };

inline constexpr int kGroupValues = 128;
inline constexpr int kMaxPageGroups = 2048;  // part_groups × tuple, of pack
inline constexpr std::uint64_t kMaxPartGroups = 1ull << 22;
inline constexpr Byte kOrdersPerLane = 255;

struct StrideLink {
  std::uint32_t stride;  // in tuples
  std::uint8_t order;    // 1..8
};

/// Points to the orders of lanes and to the strides behind them.
struct DeltaLinks {
  int tuple = 1;
  const std::uint8_t* orders = nullptr;  // one for each lane
  int num_strides = 0;
  const StrideLink* strides = nullptr;
};

/// What happens to values before a coder of residuals sees them.
struct Front {
  ValueMap map = ValueMap::none;
  LaneMap lane_map = LaneMap::none;
  Predictor predictor = kUsualPredictor;
  std::uint8_t num_strides = 0;
  std::uint8_t orders[kMaxTuple] = {};  // one for each lane
  StrideLink strides[kMaxStrides] = {};
  // Of deltas inside segments:
  bool says_states = false;      // pages begin with them
  std::uint8_t page_states = 0;  // so many of each lane

  GDELTA_HD DeltaLinks links(int tuple) const {
    return {.tuple = tuple, .orders = orders, .num_strides = num_strides, .strides = strides};
  }
};

/// Whether there are maps with fields, or steps of lanes: hosts undo them in a pass behind coder and strides, not value by value.
GDELTA_HD constexpr bool maps_in_a_pass(const Front& front) {
  return front.map == ValueMap::by_lane || has_fields(front.map) || front.lane_map != LaneMap::none;
}

/// Whether there are kernels that decode columns of this coder and predictor; the host decodes others.
GDELTA_HD constexpr bool decodes_on_device(Coder coder, Predictor predictor) {
  return coder_traits(coder).device != DeviceDecoding::none &&
         predictor_traits(predictor).device != DevicePrediction::none;
}

/// The predictor to write: orders that are all zero are none.
GDELTA_HD inline Predictor needed_predictor(Predictor predictor, const DeltaLinks& links) {
  if (!predictor_traits(predictor).has_orders || links.num_strides > 0) return predictor;
  for (int lane = 0; lane < links.tuple; ++lane)
    if (links.orders[lane] > 0) return predictor;
  return Predictor::none;
}

/// How a coder stores what it gets.
struct Section {
  Coder coder = {};
  Arrangement arrangement = Arrangement::values;  // the variant, of coders that have several
  std::uint32_t part_groups = 0;                  // tuples of a part / 128; 0: one part has all
};

/// What the encoder decides for a column, and what the decoder needs to know first.
struct ColumnModel {
  Front front;  // of coders of residuals
  Section section;
};

/// Whether a model says where its parts end: that of one part follows from the section's length, but kernels look up
/// those of pages.
GDELTA_HD constexpr bool says_part_ends(Coder coder, std::uint64_t parts) {
  const CoderTraits traits = coder_traits(coder);
  return traits.codes_residuals && (parts > 1 || traits.parts == PartRule::pages);
}

/// Tuples in every part but the last.
GDELTA_HD inline std::uint64_t part_tuples(const Section& section, std::uint64_t records) {
  return section.part_groups == 0 ? records
                                  : static_cast<std::uint64_t>(kGroupValues) * section.part_groups;
}
GDELTA_HD inline std::uint64_t num_parts(const Section& section, std::uint64_t records) {
  if (section.part_groups == 0) return 1;
  static_assert(kMaxChunkBytes + kGroupValues * kMaxPartGroups < 1ull << 32);
  const auto tuples = static_cast<std::uint32_t>(part_tuples(section, records));
  return (static_cast<std::uint32_t>(records) + tuples - 1) / tuples;
}

}  // namespace gdelta::format
