// The model of a column: which stages turn its values into a section of the payload. Spec: spec.md,
// section 4. Plain data, shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/bytes.h"
#include "gdelta/types.h"

namespace gdelta::format {

inline constexpr int kNumCoders = 4;
enum class ValueMap : std::uint8_t { none = 0, ordered = 1 };
enum class Arrangement : std::uint8_t { values = 0, planes = 1 };

inline constexpr int kGroupValues = 128;
inline constexpr int kMaxPageGroups = 2048;  // page_groups × tuple
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
  Arrangement arrangement = Arrangement::values;  // zstd only
  std::uint8_t orders[kMaxTuple] = {};            // pack and zstd: one for each lane
  StrideLink strides[kMaxStrides] = {};
  std::uint32_t page_groups = 1;         // pack only
  std::uint32_t frame_bytes = 1u << 20;  // zstd only
};

/// Tuples in a page; pack only.
GDELTA_HD inline std::uint64_t page_tuples(const ColumnModel& model) {
  return static_cast<std::uint64_t>(kGroupValues) * model.page_groups;
}
GDELTA_HD inline std::uint64_t num_pages(const ColumnModel& model, std::uint64_t records) {
  return (records + page_tuples(model) - 1) / page_tuples(model);
}
GDELTA_HD inline std::uint64_t num_frames(const ColumnModel& model, std::uint64_t column_bytes) {
  return (column_bytes + model.frame_bytes - 1) / model.frame_bytes;
}

}  // namespace gdelta::format
