// What lanes cost at each order that is weighed, by sampled groups: the part that all planners of a device have in common. Costs
// are those of kernels/bitpack/order_cost.h.
#pragma once

#include <cstdint>

#include "codec/cuda/container/plan_chunks_cuda.h"
#include "codec/cuda/container/planned_lengths.cuh"
#include "codec/plan/levels.h"
#include "kernels/deltas/lane_residuals.cuh"

namespace gdelta::cuda {

/// So many orders are weighed at most, from CutShape::lowest_order on.
inline constexpr int kWeighedOrders = level_policy(kDeviceLevel).orders.highest + 1;

/// Lengths of groups at some order each, and which sum what they cost goes to. In shared memory, a warp's; clear before and behind.
template <class Word>
struct CostRows {
  PlannedLengths<Word> lengths;
  std::uint16_t sums[kUnitGroups];

  __device__ void clear() { lengths.clear(); }
};

/// Adds up what groups cost, some together. A warp has one, and calls it.
template <class Word>
class GroupCosts {
 public:
  /// `sums`: in shared memory; those of all warps.
  __device__ GroupCosts(const CutShape& shape, CostRows<Word>& rows, std::uint32_t* sums)
      : shape_(shape), rows_(rows), sums_(sums) {}

  /// Values that must be known before a group.
  __device__ int history() const { return shape_.highest_order(); }

  /// A group that begins at tuple `first` of so many; what it costs at the lowest order is for sum number `sum`, at others for
  /// those behind it.
  __device__ void add(GroupValues<Word> group, std::uint32_t first, std::uint32_t records,
                      int sum) {
#pragma unroll 1
    for (int order = 0; order <= shape_.highest_order(); ++order) {
      if (order > 0) group.difference();
      if (order < shape_.lowest_order()) continue;
      Word residuals[kGroupRegisters];
      group.residuals(first, records, 8 * shape_.value_bytes, residuals);
      if ((threadIdx.x & 31) == 0) rows_.sums[count_] = static_cast<std::uint16_t>(sum);
      rows_.lengths.add_group(residuals, count_);
      ++sum;
      ++count_;
    }
    if (count_ + kWeighedOrders > kUnitGroups) finish();
  }

  /// Behind the last group.
  __device__ void finish() {
    const int thread = threadIdx.x & 31;
    __syncwarp();  // all groups are counted
    if (thread < count_) {
      atomicAdd(&sums_[rows_.sums[thread]],
                fewest_group_bits(rows_.lengths.row(thread), 8 * shape_.value_bytes));
      rows_.lengths.clear_row(thread);
    }
    __syncwarp();  // rows may be filled again
    count_ = 0;
  }

 private:
  const CutShape& shape_;
  CostRows<Word>& rows_;
  std::uint32_t* sums_;
  int count_ = 0;
};

/// What a lane costs at an order, if `sum` is that of its groups.
__device__ inline std::uint64_t lane_cost_at(const CutShape& shape, std::uint32_t sum,
                                             const DeviceSample& sample, std::uint32_t records,
                                             int order) {
  return lane_cost_bits(sum, sample, shape.pages_of(records), order, 8 * shape.value_bytes);
}

struct OrderCost {
  int order;
  std::uint64_t bits;
};

/// The order at which a lane costs least, ties to the lower, and what it costs there. `sums`: from the lowest order on.
__device__ inline OrderCost cheapest_order(const CutShape& shape, const std::uint32_t* sums,
                                           const DeviceSample& sample, std::uint32_t records) {
  OrderCost best{0, ~std::uint64_t{0}};
  for (int order = shape.lowest_order(); order <= shape.highest_order(); ++order) {
    const std::uint64_t bits =
        lane_cost_at(shape, sums[order - shape.lowest_order()], sample, records, order);
    if (bits < best.bits) best = {order, bits};
  }
  return best;
}

}  // namespace gdelta::cuda
