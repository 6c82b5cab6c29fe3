// Which columns kernels join where they decode pages: those whose pages say their states, so that each page is joined alone.
// Shared by host code and CUDA kernels.
#pragma once

#include "formats/gdelta/model.h"
#include "kernels/deltas/segment_pages.h"

namespace gdelta {

/// Whether there are kernels that join pages of such a column, if they say states. The orders are those of all lanes and
/// along the heads.
GDELTA_HD inline bool pages_can_be_joined(int value_bytes, int tuple, int highest_order,
                                          const format::Front& front,
                                          const format::Section& section) {
  return cuda::fits_segment_pages(value_bytes, tuple, highest_order) &&
         cuda::is_page_of_a_warp(section.part_groups, tuple) && !format::maps_in_a_pass(front);
}

/// Whether a column that may be decoded has pages that say states, and no kernels for them.
GDELTA_HD inline bool host_joins_pages(int value_bytes, int tuple,
                                       const format::ColumnModel& model) {
  return model.front.says_states &&
         !pages_can_be_joined(value_bytes, tuple, model.front.page_states, model.front,
                              model.section);
}

}  // namespace gdelta
