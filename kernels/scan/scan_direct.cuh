// Scan of order 1 of an input that fits into the registers of the device: a thread keeps `kVectors`
// granules of 16 bytes from load to store. The granules of a warp lie between each other, so that
// every access is whole lines.
//
// Few instructions a warp matter most here: at 2^10 values a launch that does nothing takes half of
// the time. Hence no shared memory but for sums of warps, and granules stay packed.
//
// Exchange and forward progress: see scan_resident.cuh. In a cluster the warps exchange their sums
// themselves, so that one barrier does for both levels.
#pragma once

#include "kernels/scan/scan_cluster.cuh"
#include "kernels/scan/scan_exchange.cuh"
#include "kernels/scan/scan_resident.h"

namespace gdelta::scan {

/// Reads a granule of which `here` values exist. What stands for the others comes after all that
/// exist and reaches no result.
template <class Storage>
__device__ __forceinline__ uint4 load_granule(const Storage* values, int here) {
  constexpr int kValues = 16 / sizeof(Storage);
  uint4 granule = make_uint4(0, 0, 0, 0);
  if (here >= kValues) {
    granule = __ldcs(reinterpret_cast<const uint4*>(values));
  } else if (here > 0) {
    Storage v[kValues];
    memcpy(v, &granule, 16);
#pragma unroll
    for (int j = 0; j < kValues; ++j) {
      if (j < here) v[j] = values[j];
    }
    memcpy(&granule, v, 16);
  }
  return granule;
}

template <class Storage>
__device__ __forceinline__ void store_granule(Storage* values, int here, const uint4& granule) {
  constexpr int kValues = 16 / sizeof(Storage);
  if (here >= kValues) {
    __stcs(reinterpret_cast<uint4*>(values), granule);
  } else if (here > 0) {
    Storage v[kValues];
    memcpy(v, &granule, 16);
#pragma unroll
    for (int j = 0; j < kValues; ++j) {
      if (j < here) values[j] = v[j];
    }
  }
}

template <class Algebra, int kVectors>
__global__ void __launch_bounds__(1024, 1)
    direct_scan_kernel(const __grid_constant__ DirectPlan plan,
                       const __grid_constant__ Algebra algebra) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kValues = 16 / sizeof(Storage);
  constexpr int kStride = 32 * kValues;  // between the granules of a thread
  __shared__ Word sums[kClusterBlocks * 32];
  __shared__ Word earlier[kMostResidentBlocks / 32];

  const ResidentExchange& exchange = plan.exchange;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int warps = exchange.warps;
  const int block = blockIdx.x;
  const int unit = block * warps + warp;
  const int first = unit * kVectors * kStride + lane * kValues;
  const int left = plan.count - first;
  const bool whole = (unit + 1) * kVectors * kStride <= plan.count;
  const Storage* const in = static_cast<const Storage*>(plan.in) + first;
  Storage* const out = static_cast<Storage*>(plan.out) + first;

  start_successor();
  if (exchange.clustered()) cluster_arrive();  // this block runs and can be written to
  if (!exchange.worded()) wait_for_predecessor();

  uint4 granules[kVectors];
  if (whole) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) granules[k] = load_granule(in + k * kStride, kValues);
  } else {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      granules[k] = load_granule(in + k * kStride, left - k * kStride);
  }

  // ---- sums of granules, and before them those of the warp
  Word before[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    Storage v[kValues];
    memcpy(v, &granules[k], 16);
    before[k] = algebra.load(v[0]);
#pragma unroll
    for (int j = 1; j < kValues; ++j) before[k] = Algebra::add(before[k], algebra.load(v[j]));
  }
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      const Word other = __shfl_up_sync(~0u, before[k], d);
      if (lane >= d) before[k] = Algebra::add(other, before[k]);
    }
  }
  Word total = Algebra::identity();
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const Word all = __shfl_sync(~0u, before[k], 31);
    const Word other = __shfl_up_sync(~0u, before[k], 1);
    before[k] = lane > 0 ? Algebra::add(total, other) : total;
    total = Algebra::add(total, all);
  }

  // ---- the sum of everything before the warp
  Word base = Algebra::identity();
  if (exchange.clustered()) {
    cluster_wait();  // every block of the cluster runs
    if (lane >= block && lane < exchange.blocks) store_remote(&sums[unit], lane, total);
    cluster_arrive();
    cluster_wait();  // sums of earlier warps are there
    for (int i = lane; i < unit; i += 32) base = Algebra::add(base, sums[i]);
    combine_across<Algebra, 1, 32>(&base);
  } else if (warps > 1) {
    if (lane == 0) sums[warp] = total;
    __syncthreads();  // sums of warps are there
    Word of_warp = lane < warps ? sums[lane] : Algebra::identity();
    for (int d = 1; d < warps; d *= 2) {
      const Word other = __shfl_up_sync(~0u, of_warp, d);
      if (lane >= d) of_warp = Algebra::add(other, of_warp);
    }
    total = __shfl_sync(~0u, of_warp, warps - 1);
    base = __shfl_sync(~0u, of_warp, (warp + 31) & 31);
    if (warp == 0) base = Algebra::identity();
  }
  if (exchange.worded()) {
    wait_for_predecessor();  // scratch is cleared
    if (threadIdx.x == 0) {
      publish<Word, 1>(exchange.sums + block * exchange.slot_words, 1, &total, 1);
    }
    const int chunks = (block + 31) / 32;
    for (int chunk = warps - 1 - warp; chunk < chunks; chunk += warps) {
      const int other = chunk * 32 + lane;
      const unsigned long long* slot =
          other < block ? exchange.sums + other * exchange.slot_words : nullptr;
      const std::uint32_t epoch = 1;
      Word theirs[1][1];
      await<Algebra, 1, 1>(&slot, 1, &epoch, theirs);
      __syncwarp();
      combine_across<Algebra, 1, 32>(theirs[0]);
      if (lane == 0) earlier[chunk] = theirs[0][0];
    }
    __syncthreads();  // sums of earlier blocks are there
    for (int chunk = chunks - 1; chunk >= 0; --chunk) base = Algebra::add(earlier[chunk], base);
  }

  // ---- results
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    Storage v[kValues];
    memcpy(v, &granules[k], 16);
    Word y = Algebra::add(base, before[k]);
#pragma unroll
    for (int j = 0; j < kValues; ++j) {
      const Word exclusive = y;
      y = Algebra::add(y, algebra.load(v[j]));
      v[j] = algebra.store(plan.exclusive ? exclusive : y);
    }
    memcpy(&granules[k], v, 16);
  }
  if (whole) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k) store_granule(out + k * kStride, kValues, granules[k]);
  } else {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      store_granule(out + k * kStride, left - k * kStride, granules[k]);
  }
}

template <class Algebra>
cudaError_t launch_direct_kernel(const DirectPlan& plan, const Algebra& algebra,
                                 cudaStream_t stream) {
  auto* kernel = direct_scan_kernel<Algebra, kDirectVectors>;
  if constexpr (more_direct_vectors(sizeof(typename Algebra::Storage)) > kDirectVectors) {
    if (plan.vectors > kDirectVectors)
      kernel = direct_scan_kernel<Algebra, more_direct_vectors(sizeof(typename Algebra::Storage))>;
  }
  const ResidentExchange& exchange = plan.exchange;
  return launch_together(kernel, exchange.blocks, 32 * exchange.warps, 0, exchange.clustered(),
                         stream, plan, algebra);
}

}  // namespace gdelta::scan
