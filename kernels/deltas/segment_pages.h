// What there is of the pages of a column that is joined where they are decoded, beside the pages themselves, which begin with
// their states. It lies behind the residuals of the column's heads, where those of other tuples would, which such a column
// does not keep.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// Sums of higher orders are left to the kernels of segment_undo_cuda.h.
inline constexpr int kSummedOrders = 2;

/// Whether there are kernels for such a column, of pages of a warp and at most this order in a lane and along heads.
GDELTA_HD constexpr bool fits_segment_pages(int value_bytes, int tuple, int most_order) {
  return (value_bytes == 2 || value_bytes == 4 || value_bytes == 8) && !is_wide(tuple) &&
         most_order <= kSummedOrders;
}

struct alignas(16) SegmentPage {
  std::uint64_t check;         // of the part of this number, its polynomial so far
  std::uint32_t heads_before;  // of segments that begin before its first tuple that is no head
};

/// Whether so many of the tuples may be heads: a warp stores the heads among the tuples of its page.
GDELTA_HD constexpr bool may_be_heads(std::uint32_t heads, std::uint32_t records) {
  return heads <= records / 2 || heads == records;
}

/// Room that a column needs behind its residuals: pages are few beside half of the tuples, but for the shortest columns.
inline constexpr int kSegmentPagesRoom = 32;

/// Of a column's residuals, which begin at a multiple of 16: behind at most half of them.
GDELTA_HD inline SegmentPage* segment_pages(const ColumnTask& task, unsigned char* residuals) {
  const std::uint64_t end = static_cast<std::uint64_t>(task.records) * task.tuple_bytes();
  return reinterpret_cast<SegmentPage*>(residuals + end / 16 * 16 + kSegmentPagesRoom -
                                        task.num_pages * sizeof(SegmentPage));
}

/// The orders of a column inside segments and along heads, as they stand in the head.
struct SegmentOrders {
  static constexpr std::uint8_t kByLane = 255;       // an order for each lane follows
  static constexpr std::uint8_t kOrderOfHeads = 15;  // bits of it; another says states
  const std::uint8_t* said;
  int tuple;

  GDELTA_HD bool by_lane() const { return said[0] == kByLane; }
  GDELTA_HD int of_lane(int lane) const { return said[by_lane() ? 1 + lane : 0]; }
  GDELTA_HD int of_heads() const { return said[by_lane() ? 1 + tuple : 1] & kOrderOfHeads; }
  GDELTA_HD int highest() const {
    int most = 0;
    for (int lane = 0; lane < tuple; ++lane) most = of_lane(lane) > most ? of_lane(lane) : most;
    return most;
  }
};

/// Whether all tuples are heads and summed where pages are decoded: as those of one segment without a head, whose order is
/// that along heads.
GDELTA_HD inline bool is_one_stretch(const ColumnTask& task, std::uint32_t heads) {
  return task.path == ColumnPath::page_segments && heads == task.records;
}

}  // namespace gdelta::cuda
