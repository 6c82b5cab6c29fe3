// What lanes of a chunk cost as they are, and less strides, by sampled groups: what a block weighs strides by.
#pragma once

#include <cstdint>

#include "codec/cuda/container/order_costs.cuh"
#include "kernels/device/warp_uniform.cuh"

namespace gdelta::cuda {

/// In shared memory. The whole block calls what is not const, and waits in it.
template <class Word, int kWarps>
class LaneWeigher {
 public:
  static_assert(32 * kWarps >= kMaxLanes);

  /// Before the first time; the block waits before it weighs.
  __device__ void open() { rows_[threadIdx.x / 32].clear(); }

  /// Weighs all lanes of a task by these groups; as they are, or less its strides.
  __device__ void weigh(const CutShape& shape, const PackTask& task, bool strided,
                        const DeviceSample& sample) {
    for (int i = threadIdx.x; i < shape.tuple * kWeighedOrders; i += 32 * kWarps) sums_[i] = 0;
    if (threadIdx.x == 0) bits_ = 0;
    __syncthreads();  // all sums are zero
    if (device::warp_uniform(task.has_steps())) {
      weigh_groups<true>(shape, task, strided, sample);
    } else {
      weigh_groups<false>(shape, task, strided, sample);
    }
    __syncthreads();  // all groups are weighed
    for (int lane = threadIdx.x; lane < shape.tuple; lane += 32 * kWarps) {
      const auto [order, bits] =
          cheapest_order(shape, sums_ + lane * kWeighedOrders, sample, task.records);
      orders_[lane] = static_cast<std::uint8_t>(order);
      atomicAdd(&bits_, 0ull + bits);
    }
    __syncthreads();  // every lane has its order
  }

  /// Of all lanes, each at its order.
  __device__ std::uint64_t bits() const { return bits_; }
  /// The one with the least cost, of equals the lowest.
  __device__ std::uint8_t order(int lane) const { return orders_[lane]; }
  /// What groups of a lane cost at an order that has been weighed.
  __device__ std::uint32_t sum(const CutShape& shape, int lane, int order) const {
    return sums_[lane * kWeighedOrders + order - shape.lowest_order()];
  }

 private:
  template <bool kSteps>
  __device__ void weigh_groups(const CutShape& shape, const PackTask& task, bool strided,
                               const DeviceSample& sample) {
    const int warp = device::warp_number();
    const std::uint32_t count = device::warp_uniform(sample.count);
    const std::uint32_t items = device::warp_uniform(shape.tuple * count);
    GroupCosts<Word> costs(shape, rows_[warp], sums_);
    for (std::uint32_t item = warp; item < items; item += kWarps) {
      const auto lane = static_cast<int>(item / count);
      const std::uint32_t first = sample.first_tuple(item - lane * count);
      LaneView<Word, kSteps> values(task, lane, task.map);
      values.has_strides = strided;
      bool differs = false;
      costs.add(load_group<false>(task, values, first, costs.history(), Word{0}, differs), first,
                task.records, lane * kWeighedOrders);
    }
    costs.finish();
  }

  CostRows<Word> rows_[kWarps];
  std::uint32_t sums_[kMaxLanes * kWeighedOrders];
  unsigned long long bits_;
  std::uint8_t orders_[kMaxLanes];
};

}  // namespace gdelta::cuda
