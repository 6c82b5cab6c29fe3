// Scan of order 1 of an input that stays on the chip: a thread keeps `kVectors` granules of 16 bytes
// in registers from load to store and, if those do not suffice, `kParked` more in shared memory
// that only it touches. The granules of a warp lie between each other, so that every access is whole
// lines.
//
// Few instructions a warp matter most here: at 2^10 values a launch that does nothing takes half of
// the time. Hence granules stay packed and only sums of warps cross threads through memory.
//
// Exchange and forward progress: see scan_resident.cuh. In a cluster the warps exchange their sums
// themselves, so that one barrier does for both levels.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/scan/on_chip/scan_resident.h"
#include "kernels/scan/tile/scan_exchange.cuh"

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

template <class Algebra, class Word = typename Algebra::Word>
__device__ __forceinline__ Word sum_of_granule(const Algebra& algebra, const uint4& granule) {
  typename Algebra::Storage v[16 / sizeof(typename Algebra::Storage)];
  memcpy(v, &granule, 16);
  Word sum = algebra.load(v[0]);
#pragma unroll
  for (int j = 1; j < static_cast<int>(sizeof v / sizeof v[0]); ++j)
    sum = Algebra::add(sum, algebra.load(v[j]));
  return sum;
}

/// From sums of granules to those of everything before them in the warp, where `total` came before.
template <class Algebra, int N, class Word = typename Algebra::Word>
__device__ __forceinline__ void scan_granules(int thread, Word* sums, Word& total) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
#pragma unroll
    for (int k = 0; k < N; ++k) {
      const Word other = __shfl_up_sync(~0u, sums[k], d);
      if (thread >= d) sums[k] = Algebra::add(other, sums[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < N; ++k) {
    const Word all = __shfl_sync(~0u, sums[k], 31);
    const Word other = __shfl_up_sync(~0u, sums[k], 1);
    sums[k] = thread > 0 ? Algebra::add(total, other) : total;
    total = Algebra::add(total, all);
  }
}

/// The scan of a granule behind `y`.
template <class Algebra, class Word = typename Algebra::Word>
__device__ __forceinline__ uint4 rewrite_granule(const Algebra& algebra, uint4 granule, Word y,
                                                 bool exclusive) {
  typename Algebra::Storage v[16 / sizeof(typename Algebra::Storage)];
  memcpy(v, &granule, 16);
#pragma unroll
  for (int j = 0; j < static_cast<int>(sizeof v / sizeof v[0]); ++j) {
    const Word before = y;
    y = Algebra::add(y, algebra.load(v[j]));
    v[j] = algebra.store(exclusive ? before : y);
  }
  memcpy(&granule, v, 16);
  return granule;
}

template <class Algebra, int kVectors, int kParked>
__global__ void __launch_bounds__(1024, 1)
    direct_scan_kernel(const __grid_constant__ DirectPlan plan,
                       const __grid_constant__ Algebra algebra) {
  using Word = typename Algebra::Word;
  using Storage = typename Algebra::Storage;
  constexpr int kValues = 16 / sizeof(Storage);
  constexpr int kStride = 32 * kValues;  // between the granules of a thread
  constexpr int kGranules = kVectors + kParked;
  __shared__ Word sums[kClusterBlocks * 32];
  __shared__ Word earlier[kMostResidentBlocks / 32];
  unsigned char* const shared = device::dynamic_shared();

  const ResidentExchange& exchange = plan.exchange;
  const int thread = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  const int warps = exchange.warps;
  const int block = blockIdx.x;
  const int unit = block * warps + warp;
  const int first = unit * kGranules * kStride + thread * kValues;
  const bool whole = (unit + 1) * kGranules * kStride <= plan.count;
  const auto here = [&](int k) { return whole ? kValues : plan.count - first - k * kStride; };
  const Storage* const in = static_cast<const Storage*>(plan.in) + first;
  Storage* const out = static_cast<Storage*>(plan.out) + first;
  // Granule k of a thread, then what comes before it.
  uint4* const parked = reinterpret_cast<uint4*>(shared) + threadIdx.x;
  Word* const before_parked =
      reinterpret_cast<Word*>(shared + kParked * blockDim.x * 16) + threadIdx.x;

  device::start_successor();
  if (exchange.clustered()) device::cluster_arrive();  // this block runs and can be written to
  if (!exchange.worded()) device::wait_for_predecessor();

  for (int k = 0; k < kParked; ++k) {
    if (here(k) >= kValues) {
      device::park(parked + k * blockDim.x, in + k * kStride);
    } else {
      parked[k * blockDim.x] = load_granule(in + k * kStride, here(k));
    }
  }
  uint4 granules[kVectors];
  if (whole) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      granules[k] = load_granule(in + (kParked + k) * kStride, kValues);
  } else {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      granules[k] = load_granule(in + (kParked + k) * kStride, here(kParked + k));
  }

  // ---- sums of granules, and before them those of the warp
  Word total = Algebra::identity();
  if constexpr (kParked > 0) {
    constexpr int kBatch = 4;
    device::wait_for_parked();
    for (int first_parked = 0; first_parked < kParked; first_parked += kBatch) {
      Word before[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k)
        before[k] = sum_of_granule(algebra, parked[(first_parked + k) * blockDim.x]);
      scan_granules<Algebra, kBatch>(thread, before, total);
#pragma unroll
      for (int k = 0; k < kBatch; ++k) before_parked[(first_parked + k) * blockDim.x] = before[k];
    }
  }
  Word before[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) before[k] = sum_of_granule(algebra, granules[k]);
  scan_granules<Algebra, kVectors>(thread, before, total);

  // ---- the sum of everything before the warp
  Word base = Algebra::identity();
  if (exchange.clustered()) {
    device::cluster_wait();  // every block of the cluster runs
    if (thread >= block && thread < exchange.blocks)
      device::store_remote(&sums[unit], thread, total);
    device::cluster_arrive();
    device::cluster_wait();  // sums of earlier warps are there
    for (int i = thread; i < unit; i += 32) base = Algebra::add(base, sums[i]);
    combine_across<Algebra, 1, 32>(&base);
  } else if (warps > 1) {
    if (thread == 0) sums[warp] = total;
    __syncthreads();  // sums of warps are there
    Word of_warp = thread < warps ? sums[thread] : Algebra::identity();
    for (int d = 1; d < warps; d *= 2) {
      const Word other = __shfl_up_sync(~0u, of_warp, d);
      if (thread >= d) of_warp = Algebra::add(other, of_warp);
    }
    total = __shfl_sync(~0u, of_warp, warps - 1);
    base = __shfl_sync(~0u, of_warp, (warp + 31) & 31);
    if (warp == 0) base = Algebra::identity();
  }
  if (exchange.worded()) {
    device::wait_for_predecessor();  // scratch is cleared
    if (threadIdx.x == 0) {
      publish<Word, 1>(exchange.sums + block * exchange.slot_words, 1, &total, 1);
    }
    const int chunks = (block + 31) / 32;
    for (int chunk = warps - 1 - warp; chunk < chunks; chunk += warps) {
      const int other = chunk * 32 + thread;
      const unsigned long long* slot =
          other < block ? exchange.sums + other * exchange.slot_words : nullptr;
      const std::uint32_t epoch = 1;
      Word theirs[1][1];
      await<Algebra, 1, 1>(&slot, 1, &epoch, theirs);
      __syncwarp();
      combine_across<Algebra, 1, 32>(theirs[0]);
      if (thread == 0) earlier[chunk] = theirs[0][0];
    }
    __syncthreads();  // sums of earlier blocks are there
    for (int chunk = chunks - 1; chunk >= 0; --chunk) base = Algebra::add(earlier[chunk], base);
  }

  // ---- results
  for (int k = 0; k < kParked; ++k) {
    const uint4 result =
        rewrite_granule(algebra, parked[k * blockDim.x],
                        Algebra::add(base, before_parked[k * blockDim.x]), plan.exclusive);
    store_granule(out + k * kStride, here(k), result);
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    granules[k] =
        rewrite_granule(algebra, granules[k], Algebra::add(base, before[k]), plan.exclusive);
  }
  if (whole) {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      store_granule(out + (kParked + k) * kStride, kValues, granules[k]);
  } else {
#pragma unroll
    for (int k = 0; k < kVectors; ++k)
      store_granule(out + (kParked + k) * kStride, here(kParked + k), granules[k]);
  }
}

template <class Algebra>
cudaError_t launch_direct_kernel(const DirectPlan& plan, const Algebra& algebra,
                                 cudaStream_t stream) {
  using Word = typename Algebra::Word;
  auto* kernel = direct_scan_kernel<Algebra, kDirectVectors, 0>;
  const ResidentExchange& exchange = plan.exchange;
  int shared_bytes = 0;
  if constexpr (can_park(sizeof(typename Algebra::Storage))) {
    if (plan.vectors == kMoreDirectVectors)
      kernel = direct_scan_kernel<Algebra, kMoreDirectVectors, 0>;
    if (plan.vectors > kMoreDirectVectors) {
      kernel = direct_scan_kernel<Algebra, kMoreDirectVectors, kParkedVectors>;
      shared_bytes = 32 * exchange.warps * kParkedVectors * (16 + static_cast<int>(sizeof(Word)));
      const cudaError_t error = device::raise_shared_limit(kernel);
      if (error != cudaSuccess) return error;
    }
  }
  return device::launch_together(kernel, exchange.blocks, 32 * exchange.warps, shared_bytes,
                                 exchange.clustered(), stream, plan, algebra);
}

}  // namespace gdelta::scan
