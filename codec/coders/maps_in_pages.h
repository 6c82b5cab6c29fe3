// Which columns have their maps undone where kernels store values, and which in passes of their own. Shared by host code and CUDA
// kernels.
#pragma once

#include "formats/gdelta/column_head.h"
#include "kernels/words/lane_maps.h"

namespace gdelta {
namespace detail {

constexpr bool are_undone_by_value() {
  for (int map = 0; map < kNumValueMaps; ++map)
    if (!is_undone_by_value(static_cast<std::uint8_t>(map))) return false;
  return true;
}
static_assert(are_undone_by_value());

}  // namespace detail

/// Whether kernels undo the maps of a column where they store its values: those of linear prediction, of the last stride link or,
/// without either, of its pages.
GDELTA_HD inline bool undoes_maps_where_stored(const format::ColumnHead& head,
                                               const Column& column) {
  const format::Front& front = head.model.front;
  const format::DevicePrediction prediction = format::predictor_traits(front.predictor).device;
  if (column.tuple > LaneMaps::kMostLanes || head.lane_steps > LaneMaps::kMostSteps ||
      prediction == format::DevicePrediction::segments)
    return false;
  if (front.num_strides > 0) return head.lane_steps == 0;
  return prediction == format::DevicePrediction::runs ||
         static_cast<int>(head.model.section.coder) == kLaneMapPages ||
         cuda::is_page_of_a_warp(head.model.section.part_groups, column.tuple);
}

/// Whether they look its indices up there, too.
GDELTA_HD inline bool looks_up_where_stored(const format::ColumnHead& head, const Column& column) {
  return undoes_maps_where_stored(head, column) &&
         may_look_up(format::type_bytes(column.type), column.tuple) &&
         head.model.front.num_strides == 0 &&
         format::predictor_traits(head.model.front.predictor).device !=
             format::DevicePrediction::runs;
}

/// Whether maps are left to passes behind the pages, or indices, which are looked up there.
GDELTA_HD inline bool has_map_passes(const format::ColumnHead& head, const Column& column) {
  if (!format::maps_in_a_pass(head.model.front)) return false;
  return !undoes_maps_where_stored(head, column) ||
         (head.table_entries > 0 && !looks_up_where_stored(head, column));
}

}  // namespace gdelta
