// Pages before each task, for every way of decoding them, and parts with a check: running sums, a block
// each. There is an item for each column of a chunk, that is one for
// about a megabyte: few, so latency is what counts. Tickets are cleared on the way.
#include "codec/cuda/container/chunk_decode_cuda.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/warp.cuh"

namespace gdelta::cuda {
namespace {

constexpr int kCountPagesThreads = 1024;
constexpr int kCountPagesWarps = kCountPagesThreads / 32;
constexpr int kEach = 8;                // consecutive items of a thread
static_assert(kCountPagesWarps == 32);  // a warp scans the sums of all warps

__device__ void load_counts(const std::uint32_t* counts, bool whole, std::uint64_t left,
                            std::uint32_t (&mine)[kEach]) {
  if (whole) {
    const auto* from = reinterpret_cast<const uint4*>(counts);
    const uint4 a = from[0], b = from[1];
    const std::uint32_t all[kEach] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < kEach; ++i) mine[i] = all[i];
  } else {
#pragma unroll
    for (int i = 0; i < kEach; ++i) mine[i] = i < left ? counts[i] : 0;
  }
}

/// Sums of a value over the threads of the warp up to each.
__device__ std::uint64_t sum_of_warp(std::uint64_t sum) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) device::add_from_below(sum, distance);
  return sum;
}

/// starts[i] = sum of counts[0 ... i - 1]; starts[items] the sum of all.
__device__ void sum_counts(const std::uint32_t* counts, std::uint64_t items, std::uint64_t* starts,
                           std::uint64_t (&warp_sums)[2][kCountPagesWarps]) {
  const int of_block = threadIdx.x, thread = of_block & 31, warp = of_block / 32;
  std::uint64_t carry = 0;
  int turn = 0;
  for (std::uint64_t first = 0; first < items; first += kCountPagesThreads * kEach, turn ^= 1) {
    const std::uint64_t begin = first + kEach * of_block;
    const std::uint64_t left = begin < items ? items - begin : 0;
    const bool whole = left >= kEach;
    std::uint32_t mine[kEach];
    load_counts(counts + begin, whole, left, mine);
    std::uint64_t own = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) own += mine[i];
    const std::uint64_t in_warp = sum_of_warp(own);
    if (thread == 31) warp_sums[turn][warp] = in_warp;
    // The sums of all warps are there, and nobody reads those of the round before last any more.
    __syncthreads();
    const std::uint64_t of_warps = sum_of_warp(warp_sums[turn][thread]);
    const std::uint64_t warps_before = __shfl_sync(device::kWholeWarp, of_warps, (warp + 31) % 32);
    std::uint64_t start = carry + (warp > 0 ? warps_before : 0) + in_warp - own;
    carry += __shfl_sync(device::kWholeWarp, of_warps, 31);
    if (whole) {
      auto* const to = reinterpret_cast<ulonglong2*>(starts + begin);
#pragma unroll
      for (int i = 0; i < kEach; i += 2) {
        const std::uint64_t next = start + mine[i];
        to[i / 2] = make_ulonglong2(start, next);
        start = next + mine[i + 1];
      }
    } else {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        if (i < left) starts[begin + i] = start;
        start += mine[i];
      }
    }
  }
  if (of_block == 0) starts[items] = carry;
}

__global__ void __launch_bounds__(kCountPagesThreads) count_pages_kernel(CountArgs args) {
  device::start_successor();
  __shared__ std::uint64_t warp_sums[2][kCountPagesWarps];
  device::wait_for_predecessor();
  if (blockIdx.x == 0) {
    for (std::uint32_t i = threadIdx.x; i < args.num_tickets; i += kCountPagesThreads)
      args.tickets[i] = 0;
    sum_counts(args.counts.warp_pages, args.num_tasks, args.warp_starts, warp_sums);
  } else if (blockIdx.x == 1) {
    sum_counts(args.counts.map_pages, args.num_tasks, args.map_starts, warp_sums);
  } else if (blockIdx.x == 2) {
    sum_counts(args.counts.block_pages, args.num_tasks, args.block_starts, warp_sums);
  } else if (blockIdx.x == 3) {
    sum_counts(args.counts.parts, args.num_tasks, args.part_starts, warp_sums);
  } else {
    sum_counts(args.counts.segment_pages, args.num_tasks, args.segment_starts, warp_sums);
  }
}

}  // namespace

cudaError_t launch_count_pages(const CountArgs& args, cudaStream_t stream) {
  const unsigned sums = args.counts.segment_pages == nullptr ? 4 : 5;
  return device::launch_after<count_pages_kernel>(sums, kCountPagesThreads, stream, args);
}

}  // namespace gdelta::cuda
