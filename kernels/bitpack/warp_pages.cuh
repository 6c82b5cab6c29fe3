// The pages of a launch, each to a warp. Warps draw tickets for their pages, because not all are equally
// fast. A warp fetches what a page's column says and where the page lies two pages ahead and its states and
// descriptors one page ahead, so that it does not wait for one before it can ask for the next.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "kernels/bitpack/page_groups.cuh"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/bitpack/unpack_warp_shape.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_ahead.cuh"

namespace gdelta::cuda {

/// Asks for a page's task and for where the page lies.
template <int ValueBytes, int Tuple, class Room>
__device__ inline void fetch_task(UnpackWarpShared<ValueBytes, Tuple, Room>& shared,
                                  const ColumnTask& task, std::uint32_t page, int slot) {
  static_assert(sizeof(ColumnTask) % 16 == 0);
  const int at = 16 * (threadIdx.x & 31);
  const auto* from = reinterpret_cast<const unsigned char*>(&task);
  if (at < static_cast<int>(sizeof(ColumnTask)))
    __pipeline_memcpy_async(shared.tasks[slot] + at, from + at, 16);
  fetch_ends(shared.ends[slot], task, page);
}

/// Before the first page of a warp.
template <int ValueBytes, int Tuple, class Room>
__device__ inline void open_warp_shared(UnpackWarpShared<ValueBytes, Tuple, Room>& mine) {
  using Shape = UnpackWarpShape<ValueBytes, Tuple>;
  const int thread = device::thread_of_warp();
  if constexpr (Room::kKeepsPatches)
    clear_patches<WordOf<ValueBytes>, Shape::kPatchLanes * Shape::kRunTuples>(mine.room.patch[0],
                                                                              thread);
  if constexpr (Room::kKeepsGroups) {
    for (auto& bits : mine.bits) {
      if (thread < 3) bits[Shape::kZeroWord + thread] = 0;
    }
  }
  __syncwarp();
}

/// Of pages that need nothing but their heads.
struct NothingAhead {
  __device__ void operator()(const ColumnTask&, std::uint32_t) const {}
};

/// Calls decode(task, page, head) with each page of the launch that this warp gets; `head` has the page's
/// states and descriptors from its misalignment on. `mine` is the warp's, of `warps_per_block`. `ahead(task, number)` is
/// called one page ahead, and may ask for more by asynchronous copies.
template <int ValueBytes, int Tuple, class Room, class Decode, class Ahead = NothingAhead>
__device__ inline void for_each_page(UnpackWarpShared<ValueBytes, Tuple, Room>& mine,
                                     const UnpackArgs& args, int warps_per_block, Decode decode,
                                     Ahead ahead = {}) {
  const int warp = device::warp_number(), thread = device::thread_of_warp();
  open_warp_shared(mine);
  device::wait_for_predecessor();

  // Two pages of a warp are given, those behind them are drawn: a ticket is there before it is
  // needed. Warps of different blocks come first, so that few pages use many multiprocessors.
  const std::uint64_t first_page = args.starts[args.first_task];
  const std::uint64_t end = args.starts[args.end_task];
  const std::uint64_t warps = static_cast<std::uint64_t>(gridDim.x) * warps_per_block;
  const std::uint64_t first_drawn = first_page + 2 * warps;
  const std::uint64_t page = first_page + static_cast<std::uint64_t>(warp) * gridDim.x + blockIdx.x;
  unsigned long long ticket = 0;  // of thread 0
  if (thread == 0 && first_drawn < end) ticket = atomicAdd(args.tickets, 1ull);

  const auto task_in = [&](int slot) -> const ColumnTask& {
    return *reinterpret_cast<const ColumnTask*>(mine.tasks[slot]);
  };
  const auto number_in = [&](std::uint32_t task, std::uint64_t of_page) {
    return device::warp_uniform(static_cast<std::uint32_t>(of_page - args.starts[task]));
  };
  const auto view_of = [&](int slot, std::uint32_t number) {
    return uniform_view(fetched_view(mine.ends[slot], task_in(slot), number));
  };
  const auto slot_behind = [](int slot) { return slot == 2 ? 0 : slot + 1; };
  if (page < end) {
    std::uint32_t task =
        device::warp_uniform(device::find_start(args.starts, args.first_task, args.end_task, page));
    std::uint32_t number = number_in(task, page), next_number = 0;
    fetch_task(mine, args.tasks[task], number, 0);
    bool more = page + warps < end;  // there is a page behind this one
    if (more) {
      task = advance_task(args.starts, args.end_task, task, page + warps, thread);
      next_number = number_in(task, page + warps);
      fetch_task(mine, args.tasks[task], next_number, 1);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();  // both have come
    fetch_head(mine.head[0], task_in(0), view_of(0, number));
    ahead(task_in(0), number);
    __pipeline_commit();
    int next_slot = 0;
    for (bool last = false; !last;) {
      __pipeline_wait_prior(0);
      __syncwarp();  // this page's head has come, and the next one's task and where it lies
      const int slot = next_slot;
      const PageView view = view_of(slot, number);
      last = !more;
      if (!last) {
        next_slot = slot_behind(slot);
        number = next_number;
        fetch_head(mine.head[next_slot], task_in(next_slot), view_of(next_slot, number));
        ahead(task_in(next_slot), number);
        const std::uint64_t next_page = first_drawn + __shfl_sync(device::kWholeWarp, ticket, 0);
        more = next_page < end;
        if (more) {
          if (thread == 0) ticket = atomicAdd(args.tickets, 1ull);
          task = advance_task(args.starts, args.end_task, task, next_page, thread);
          next_number = number_in(task, next_page);
          fetch_task(mine, args.tasks[task], next_number, slot_behind(next_slot));
        }
      }
      decode(task_in(slot), view, mine.head[slot]);
      __pipeline_commit();
    }
  }
  // If tickets are drawn, every warp draws one for which there is no page; the last of those makes
  // the count zero again.
  if (thread == 0 && first_drawn < end && ticket == end - first_drawn + warps - 1)
    *args.tickets = 0;
}

}  // namespace gdelta::cuda
