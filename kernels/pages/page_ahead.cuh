// Pages fetched ahead: asynchronous copies of what a column says and of where a page lies, so that a
// warp does not wait for one before it can ask for the next.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_view.cuh"

namespace gdelta::cuda {

/// Asks for the words of the directory that say where a page lies.
__device__ inline void fetch_ends(std::uint32_t* ends, const ColumnTask& task, std::uint32_t page) {
  const int thread = threadIdx.x & 31;
  const unsigned char* from = task.directory + (page == 0 ? 0 : 4 * (page - 1));
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const int words = (page == 0 ? 1 : 2) + ((address & 3) != 0 ? 1 : 0);
  if (thread < words)
    __pipeline_memcpy_async(
        ends + thread,
        reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3}) + thread, 4);
}

/// page_view from what fetch_ends has brought.
__device__ inline PageView fetched_view(const std::uint32_t* ends, const ColumnTask& task,
                                        std::uint32_t page) {
  const unsigned shift = 8 * (reinterpret_cast<std::uintptr_t>(task.directory) & 3);
  const std::uint32_t first = __funnelshift_r(ends[0], ends[1], shift);
  PageView view;
  view.section_begin = page == 0 ? 0 : first;
  view.num_bytes =
      (page == 0 ? first : __funnelshift_r(ends[1], ends[2], shift)) - view.section_begin;
  view.bytes = task.section + view.section_begin;
  view.find_tuples(task, page);
  return view;
}

/// The view with what branches go by said to be alike in the warp, which calls it.
__device__ inline PageView uniform_view(PageView view) {
  view.num_bytes = device::warp_uniform(view.num_bytes);
  view.tuples = device::warp_uniform(view.tuples);
  view.groups = device::warp_uniform(view.groups);
  return view;
}

/// Asks for a page's states and descriptors, as far as the page goes.
__device__ inline void fetch_head(unsigned char* head, const ColumnTask& task,
                                  const PageView& page) {
  const std::uint32_t skew = reinterpret_cast<std::uintptr_t>(page.bytes) & 15;
  const std::uint32_t bytes =
      min(task.state_bytes + 2 * page.groups * task.tuple, page.num_bytes) + skew;
#pragma unroll 1
  for (std::uint32_t at = 16 * (threadIdx.x & 31); at < bytes; at += 512)
    __pipeline_memcpy_async(head + at, page.bytes - skew + at, 16);
}

/// The task of a page that does not lie before `task`; the whole warp calls it and gets it.
__device__ inline std::uint32_t advance_task(const std::uint64_t* starts, std::uint32_t end_task,
                                             std::uint32_t task, std::uint64_t page, int thread) {
  const std::uint32_t probe = task + 1 + thread;
  const unsigned before =
      __ballot_sync(device::kWholeWarp, probe < end_task && starts[probe] <= page);
  if (before == device::kWholeWarp)
    return device::warp_uniform(device::find_start(starts, task + 32, end_task, page));
  return task + __popc(before);
}

}  // namespace gdelta::cuda
