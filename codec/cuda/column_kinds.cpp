#include "codec/cuda/column_kinds.h"

#include <algorithm>

#include "codec/coders/maps_in_pages.h"
#include "codec/coders/segments_in_pages.h"
#include "formats/gdelta/coder_traits.h"
#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

void add_column(ChunkKinds& kinds, Coder coder, int tuple, std::uint64_t page_groups,
                FrontPasses passes) {
  using format::DeviceDecoding;
  const DeviceDecoding decoding = format::coder_traits(coder).device;
  if (decoding == DeviceDecoding::pages || decoding == DeviceDecoding::warp_pages) {
    if (decoding == DeviceDecoding::pages || !fits_warp_path(page_groups, tuple)) {
      kinds.page_coders |= 1u << static_cast<int>(coder);
      kinds.page_groups = std::max(kinds.page_groups, page_groups);
    } else {
      kinds.warp_pages = true;
    }
    kinds.strides |= passes.strides > 0;
    kinds.stride_pairs |= passes.strides > 1;
    kinds.stride_columns += passes.strides > 0 ? 1 : 0;
    kinds.linear |= passes.linear;
    kinds.segment_pages |= passes.segments == SegmentJoin::pages;
    kinds.segment_passes |= passes.segments == SegmentJoin::passes;
    kinds.maps |= passes.maps;
    kinds.map_passes |= passes.map_passes;
    kinds.exceptions |= passes.exceptions;
    kinds.dictionaries |= passes.dictionaries;
  } else {
    kinds.placed = true;
  }
}

bool add_column(ChunkKinds& kinds, const format::ColumnHead& head, const Column& column) {
  const format::ColumnModel& model = head.model;
  if (!head.decodes_on_device() || host_joins_pages(value_bytes(column.type), column.tuple, model))
    return false;
  add_column(kinds, model.section.coder, column.tuple, model.section.part_groups,
             {.strides = model.front.num_strides,
              .linear = format::predictor_traits(model.front.predictor).device ==
                        format::DevicePrediction::runs,
              .segments = segment_join_of(model.front.predictor, model.front.says_states),
              .maps = format::maps_in_a_pass(model.front),
              .map_passes = has_map_passes(head, column),
              .exceptions = head.exceptions > 0,
              .dictionaries = head.table_entries > 0});
  return true;
}

}  // namespace gdelta::cuda
