// The model of a column: which stages turn its values into a section of the payload. Spec: spec.md,
// section 4. Plain data, shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "formats/gdelta/coder_traits.h"
#include "formats/gdelta/map_traits.h"
#include "gdelta/types.h"

namespace gdelta::format {

enum class LaneMap : std::uint8_t { none = 0 };
enum class Predictor : std::uint8_t { none = 0, deltas = 1 };
enum class Arrangement : std::uint8_t { values = 0, planes = 1, plane_frames = 2 };

inline constexpr int kGroupValues = 128;
inline constexpr int kMaxPageGroups = 2048;  // part_groups × tuple, of pack
inline constexpr std::uint64_t kMaxPartGroups = 1ull << 22;
inline constexpr Byte kOrdersPerLane = 255;

struct StrideLink {
  std::uint32_t stride;  // in tuples
  std::uint8_t order;    // 1..8
};

/// What the encoder decides for a column, and what the decoder needs to know first.
struct ColumnModel {
  Coder coder = Coder::raw;
  ValueMap map = ValueMap::none;
  std::uint8_t num_strides = 0;
  Arrangement arrangement = Arrangement::values;  // of coders that have arrangements
  std::uint8_t orders[kMaxTuple] = {};            // coders of residuals: one for each lane
  StrideLink strides[kMaxStrides] = {};
  std::uint32_t part_groups = 0;  // tuples of a part / 128; 0: one part has all
};

/// Tuples in every part but the last.
GDELTA_HD inline std::uint64_t part_tuples(const ColumnModel& model, std::uint64_t records) {
  return model.part_groups == 0 ? records
                                : static_cast<std::uint64_t>(kGroupValues) * model.part_groups;
}
GDELTA_HD inline std::uint64_t num_parts(const ColumnModel& model, std::uint64_t records) {
  return model.part_groups == 0
             ? 1
             : (records + part_tuples(model, records) - 1) / part_tuples(model, records);
}

}  // namespace gdelta::format
