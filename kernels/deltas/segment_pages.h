// What the pages of a column that is predicted inside segments know of each other. It lies where the residuals of
// the column's last tuples would, which such a column does not keep: they are summed where they are decoded.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#include "kernels/pages/column_task.h"

namespace gdelta::cuda {

/// Sums of higher orders are left to the kernels of segment_undo_cuda.h.
inline constexpr int kSummedOrders = 2;

struct alignas(16) SegmentPage {
  std::uint64_t check;         // of the part of this number, its polynomial so far
  std::uint32_t heads_before;  // of segments that begin before its first tuple that is no head
  std::uint32_t has_head;      // one of its tuples is the first behind a head
  // Of its tuples behind the last head, or of all; only if the next page goes on in the same segment.
  std::uint64_t sums[kWarpPathTuple][kSummedOrders];
};

/// Where they lie, from the first byte of the column's residuals on.
GDELTA_HD inline std::uint64_t segment_pages_at(const ColumnTask& task) {
  const std::uint64_t end = static_cast<std::uint64_t>(task.records) * task.tuple_bytes();
  return (end - task.num_pages * sizeof(SegmentPage)) / 16 * 16;
}

/// Of a column's residuals, which begin at a multiple of 16.
GDELTA_HD inline SegmentPage* segment_pages(const ColumnTask& task, unsigned char* residuals) {
  return reinterpret_cast<SegmentPage*>(residuals + segment_pages_at(task));
}

/// Whether the sums are taken where pages are decoded. A warp stores the heads among the tuples of its page, so they
/// must not be most of all.
GDELTA_HD inline bool sums_in_pages(const ColumnTask& task, std::uint32_t heads) {
  const std::uint64_t of_pages = task.num_pages * sizeof(SegmentPage) + 15;
  const std::uint64_t of_others =
      static_cast<std::uint64_t>(task.records - heads) * task.tuple_bytes();
  return task.path == ColumnPath::page_segments && heads <= task.records / 2 &&
         of_pages <= of_others;
}

/// The orders of a column inside segments and along heads, as they stand in the head.
struct SegmentOrders {
  static constexpr std::uint8_t kByLane = 255;  // an order for each lane follows
  const std::uint8_t* said;
  int tuple;

  GDELTA_HD bool by_lane() const { return said[0] == kByLane; }
  GDELTA_HD int of_lane(int lane) const { return said[by_lane() ? 1 + lane : 0]; }
  GDELTA_HD int of_heads() const { return said[by_lane() ? 1 + tuple : 1]; }
  GDELTA_HD int highest() const {
    int most = 0;
    for (int lane = 0; lane < tuple; ++lane) most = of_lane(lane) > most ? of_lane(lane) : most;
    return most;
  }
};

/// Whether all tuples are heads whose sums are taken where pages are decoded: as those of one segment without a head, whose
/// order is that along heads.
GDELTA_HD inline bool is_one_stretch(const ColumnTask& task, std::uint32_t heads) {
  const std::uint64_t of_pages = task.num_pages * sizeof(SegmentPage) + 15;
  return task.path == ColumnPath::page_segments && heads == task.records &&
         of_pages <= static_cast<std::uint64_t>(task.records) * task.tuple_bytes() &&
         SegmentOrders{task.segments.orders, task.tuple}.of_heads() <= kSummedOrders;
}

}  // namespace gdelta::cuda
