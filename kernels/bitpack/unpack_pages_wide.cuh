// Pages of tuples of more than four lanes. A block decodes a page, tile by tile; a warp
// takes a slab of it at a time, neighbouring lanes of at most 32 bytes. It unpacks a few lanes of a
// tile of 128 tuples, a group of each (or, of odd slabs, one lane of a longer tile), sums them in registers and puts them into shared memory beside the lanes before
// them; when the slab of the tile is whole, it leaves in vectors of 16 bytes if addresses allow that. The
// block has a warp for each slab, at most four, so that all of small tuples are decoded by blocks of one warp.
//
// Half a warp decodes a group as unpack_pages_warp.cuh does it, while the next ones come by asynchronous
// copies; the other half has other lanes. Thread k of each half keeps y(k+1) of its lane's state. The number of
// lanes is known at run time, so what all of them need lies in shared memory: states, and where each group
// and its exceptions are.
//
// Blocks draw tickets for their pages. The first warp fetches what a page's column says and where the page
// lies two pages ahead and its states and descriptors one page ahead.
#pragma once

#include <cuda_pipeline_primitives.h>

#include <algorithm>

#include "kernels/bitpack/group_layout.h"
#include "kernels/bitpack/page_groups.cuh"
#include "kernels/bitpack/unpack_pages_cuda.h"
#include "kernels/bitpack/unpack_wide_shape.cuh"
#include "kernels/device/kernel_facts.cuh"
#include "kernels/device/launch.cuh"
#include "kernels/device/ptx.cuh"
#include "kernels/device/shared_limit.h"
#include "kernels/device/warp_uniform.cuh"
#include "kernels/pages/page_ahead.cuh"
#include "kernels/pages/page_tile.cuh"
#include "kernels/pages/page_view.cuh"
#include "kernels/pages/slab_stage.cuh"
#include "kernels/words/finish_value.cuh"

namespace gdelta::cuda {

// ---- A warp's part of a page

/// Says which lanes of which tile are next.
struct WideStep {
  int slab;      // its first lane
  int slab_end;  // behind its last lane
  int tile;
  int lane;  // the batch's first
};

template <int ValueBytes, int kTile>
struct WidePage {
  using Shape = WideShape<ValueBytes, kTile>;
  using Word = WordOf<ValueBytes>;
  static constexpr int kLanes = Shape::kLanes, kRun = Shape::kRun, kSpan = Shape::kSpan;

  const WideShared<ValueBytes, kTile>& shared;
  WideWarpShared<ValueBytes, kTile>& mine;
  SlabStage<kRun> stage;
  const ColumnTask& task;
  const PageView& page;
  int team;  // warps of the block
  int thread;
  int tuple = device::warp_uniform<int>(task.tuple);
  int groups = static_cast<int>(page.groups);  // of each lane
  int tiles = (groups + Shape::kTileGroups - 1) / Shape::kTileGroups;
  const uint4* first_unit = nullptr;
  const unsigned char* exceptions = nullptr;
  int skew = 0;                        // bytes of the first unit that are not the groups'
  int most_lanes = Shape::kSlabLanes;  // of a slab
  bool refused = false;

  __device__ void find_groups() {
    const unsigned char* groups = page.bytes + task.state_bytes + 2 * page.groups * task.tuple;
    exceptions = groups + 16 * shared.pages->units;
    skew = static_cast<int>(reinterpret_cast<std::uintptr_t>(groups) & 15);
    first_unit = reinterpret_cast<const uint4*>(groups - skew);
  }
  /// A column that has the records for itself is one slab if there is room: its rows follow each other.
  __device__ void find_slabs(unsigned slab_bytes) {
    const unsigned tuple_bytes = task.tuple_bytes();
    if (device::warp_uniform(task.record_bytes) == tuple_bytes && tuple_bytes % kSlabBytes != 0 &&
        tuple_bytes <= slab_bytes)
      most_lanes = tuple;
  }

  __device__ WideStep first_step(int slab) const {
    return {.slab = slab, .slab_end = min(slab + most_lanes, tuple), .tile = 0, .lane = slab};
  }
  __device__ bool exists(const WideStep& step) const { return step.slab < tuple; }
  __device__ bool ends_slab(const WideStep& step) const {
    return step.lane + Shape::kBatchLanes >= step.slab_end;
  }
  __device__ WideStep behind(WideStep step) const {
    if (!ends_slab(step)) {
      step.lane += Shape::kBatchLanes;
      return step;
    }
    step.lane = step.slab;
    return ++step.tile < tiles ? step : first_step(step.slab + team * most_lanes);
  }

  /// The number of the batch's group `of_batch` among those of the page; -1: there is none.
  __device__ int group_of(const WideStep& step, int of_batch) const {
    const int lane = step.lane + of_batch / Shape::kTileGroups;
    const int group = step.tile * Shape::kTileGroups + of_batch % Shape::kTileGroups;
    return lane < step.slab_end && group < groups ? lane * groups + group : -1;
  }
  __device__ WidePlace place(int group) const {
    return group >= 0 ? shared.places[group] : WidePlace{0};
  }

  /// Asks for the groups of a batch and their exceptions, each by kGroupThreads threads.
  __device__ void fetch(const WideStep& step, int half) const {
    constexpr int kThreads = Shape::kGroupThreads;
    const int of_batch = thread / kThreads, group = group_of(step, of_batch);
    const WidePlace from = place(group);
    const GroupDescriptor descriptor = from.descriptor();
    const int width = descriptor.width();
    const int units = width + (width > 0 && skew != 0 ? 1 : 0);
    std::uint32_t* const to = mine.bits[half] + 4 * Shape::kGroupUnits * of_batch;
    const uint4* const units_from = first_unit + from.units_before();
#pragma unroll 1
    for (int unit = thread % kThreads; unit < units; unit += kThreads)
      __pipeline_memcpy_async(to + 4 * unit, units_from + unit, 16);
    if (descriptor.exceptions() > 0) {
      const StagedExceptions staged(*this, descriptor, group);
      if (16 * (thread % kThreads) < staged.bytes && staged.fits())
        __pipeline_memcpy_async(mine.exceptions[half][of_batch] + 16 * (thread % kThreads),
                                staged.from + 16 * (thread % kThreads), 16);
    }
  }

  /// Where a group's exceptions are, from the last multiple of 16 on.
  struct StagedExceptions {
    const unsigned char* from;
    int skew, bytes;
    __device__ StagedExceptions(const WidePage& page, GroupDescriptor group, int number)
        : from(page.exceptions + page.shared.exceptions_at[number]),
          skew(static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15)),
          bytes(skew + group.exception_bytes()) {
      from -= skew;
    }
    __device__ bool fits() const {
      return bytes <= min(kStagedExceptions, 16 * Shape::kGroupThreads);
    }
  };

  /// What scatter has left: the thread's last patch, and whether some thread has more.
  struct Patches {
    bool any;
    bool many;
    int last;
  };
  /// Exceptions of a batch, each group's by kGroupThreads threads.
  __device__ Patches scatter(const WideStep& step, int half) {
    constexpr int kThreads = Shape::kGroupThreads;
    const int of_batch = thread / kThreads, of_lane = of_batch % Shape::kTileGroups;
    const int batch_lane = of_batch / Shape::kTileGroups, lane = batch_lane % kLanes;
    const int group = group_of(step, of_batch);
    const GroupDescriptor descriptor = place(group).descriptor();
    if (!__any_sync(device::kWholeWarp, descriptor.exceptions() > 0)) return {false, false, 0};
    const StagedExceptions staged(*this, descriptor, max(group, 0));
    const unsigned char* from =
        (staged.fits() ? mine.exceptions[half][of_batch] : staged.from) + staged.skew;
    Patches patches{true, false, 0};
    bool valid = true;
    patches.many = scatter_exceptions<Word, kRun, kThreads>(
        mine.patch[lane], batch_lane / kLanes * Shape::kTileGroups + of_lane, from,
        ExceptionPlace::make(descriptor, 0), descriptor.width(), 8 * ValueBytes, thread % kThreads,
        patches.last, valid);
    refused |= !valid;
    patches.last += lane * 32 * kRun;
    __syncwarp();  // all patches are in: a vote orders no memory
    return patches;
  }
  __device__ void clear(const Patches& patches) const {
    if (patches.many) {
      clear_patches<Word, kLanes * kRun>(mine.patch[0], thread);
    } else {
      mine.patch[0][patches.last] = 0;
    }
  }

  /// The first of the thread's lanes among those of the batch.
  __device__ int own_lane() const { return thread / kSpan * kLanes; }

  /// The thread's residuals of a batch, zigzag undone; zero for lanes that are not there.
  __device__ void unpack(const WideStep& step, int half, Word (&values)[kLanes][kRun]) {
    const Patches patches = scatter(step, half);
    const auto used = static_cast<int>(page.tuples) - kTile * step.tile;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      auto& run = values[lane];
      const int of_batch =
          (own_lane() + lane) * Shape::kTileGroups + thread % kSpan / Shape::kGroupSpan;
      const int width = place(group_of(step, of_batch)).descriptor().width();
      const unsigned first_bit =
          width == 0 ? 32 * Shape::kZeroWord : 128 * Shape::kGroupUnits * of_batch + 8 * skew;
      read_run<Word, kRun>(mine.bits[half], first_bit, width, run, thread);
      if (patches.any) take_patches<Word, kRun>(mine.patch[lane], run, width == 0, thread);
      if (used < kTile) refused |= !padding_is_zero(run, used - kRun * (thread % kSpan));
    }
    if (patches.any) {
      __syncwarp();  // all patches have been read
      clear(patches);
    }
  }

  /// Sums of the batch's lanes, each by its half of the warp; a lane that is not there is as the first.
  __device__ void sum(const WideStep& step, Word (&values)[kLanes][kRun]) const {
    const int first = step.lane + own_lane();
    const int of_first = device::warp_uniform<int>(shared.orders[step.lane]);
    int orders[kLanes];
    Word states[kLanes];
    bool same = true;
    Word* const kept = shared.states + first * kMaxDeltaOrder + thread % kSpan;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      orders[lane] = first + lane < step.slab_end ? shared.orders[first + lane] : of_first;
      states[lane] = has_state(step, first + lane, orders[lane]) ? kept[lane * kMaxDeltaOrder] : 0;
      same &= orders[lane] == of_first;
    }
    if (__all_sync(device::kWholeWarp, same)) {
      sum_alike(values, states, of_first);
    } else {
      sum_mixed(values, states, orders);
    }
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      if (has_state(step, first + lane, orders[lane])) kept[lane * kMaxDeltaOrder] = states[lane];
    }
  }
  /// Whether the thread keeps a word of the lane's state.
  __device__ bool has_state(const WideStep& step, int lane, int order) const {
    return lane < step.slab_end && thread % kSpan < order;
  }
  __device__ void sum_alike(Word (&values)[kLanes][kRun], Word (&states)[kLanes], int order) const {
    constexpr int kAtOnce = kLanes < 2 ? 1 : 2;  // so many fit the registers
#pragma unroll 1
    for (int k = 0; k < order; ++k) {
#pragma unroll
      for (int lane = 0; lane < kLanes; lane += kAtOnce)
        sum_tile<Word, kAtOnce, kRun, kSpan>(reinterpret_cast<Word(&)[kAtOnce][kRun]>(values[lane]),
                                             reinterpret_cast<Word(&)[kAtOnce]>(states[lane]), k,
                                             thread % kSpan);
    }
  }
  /// Lanes of different orders: the whole warp adds, and keeps what is asked for.
  __device__ void sum_mixed(Word (&values)[kLanes][kRun], Word (&states)[kLanes],
                            const int (&orders)[kLanes]) const {
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
#pragma unroll 1
      for (int k = 0; __any_sync(device::kWholeWarp, k < orders[lane]); ++k) {
        Word run[1][kRun], state[1] = {states[lane]};
#pragma unroll
        for (int i = 0; i < kRun; ++i) run[0][i] = values[lane][i];
        sum_tile<Word, 1, kRun, kSpan>(run, state, k, thread % kSpan);
        if (k >= orders[lane]) continue;
        states[lane] = state[0];
#pragma unroll
        for (int i = 0; i < kRun; ++i) values[lane][i] = run[0][i];
      }
    }
  }

  __device__ void finish(Word (&values)[kLanes][kRun]) const {
    if (task.is_finished_later() || (task.map == 0 && !task.big_endian)) return;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
#pragma unroll
      for (int i = 0; i < kRun; ++i)
        values[lane][i] = finish_value(values[lane][i], ValueBytes, task.map, task.big_endian);
    }
  }

  /// The warp's slabs of the page. Returns the thread's part of the sum of the page's check if kVerify.
  template <bool kVerify>
  __device__ std::uint64_t decode(int warp) {
    find_groups();
    std::uint64_t sum_of_check = 0;
    WideStep step = first_step(warp * most_lanes);
    int half = 0;
    if (exists(step)) fetch(step, half);
    __pipeline_commit();
    while (exists(step)) {
      SlabCopy<ValueBytes, kTile, kRun, kLanes, kVerify> copy(task, page, step.slab, step.slab_end,
                                                              thread);
      const int slab = step.slab;
#pragma unroll 1
      while (step.slab == slab) {
        // The batch's groups are there for the whole warp, and nobody reads the batch before it, or the
        // tile that has been stored, any more.
        __pipeline_wait_prior(0);
        __syncwarp();
        const WideStep next = behind(step);
        if (exists(next)) fetch(next, half ^ 1);
        __pipeline_commit();
        Word values[kLanes][kRun];
        unpack(step, half, values);
        sum(step, values);
        finish(values);
        copy.put(stage, values, step.lane + own_lane(), thread % kSpan);
        if (ends_slab(step)) {
          __syncwarp();  // the slab of the tile is whole
          copy.store(stage,
                     min(page.tuples - kTile * step.tile, static_cast<std::uint32_t>(kTile)));
        }
        step = next;
        half ^= 1;
      }
      sum_of_check += copy.sum();
    }
    return sum_of_check;
  }
};

// ---- Pages ahead

/// Asks for a page's task and for where the page lies.
__device__ inline void fetch_task(WidePages& pages, const ColumnTask& task, std::uint32_t number,
                                  int slot, int thread) {
  const auto* from = reinterpret_cast<const unsigned char*>(&task);
  if (16 * thread < static_cast<int>(sizeof(ColumnTask)))
    __pipeline_memcpy_async(pages.tasks[slot] + 16 * thread, from + 16 * thread, 16);
  fetch_ends(pages.ends[slot], task, number);
}

__device__ inline int slot_behind(int slot) { return slot == 2 ? 0 : slot + 1; }

/// What the first warp of a block knows of the pages that are the block's.
struct WideQueue {
  const UnpackArgs& args;
  WidePages& pages;
  int thread;
  std::uint64_t end;
  std::uint64_t first_drawn;
  unsigned long long ticket = 0;  // of thread 0
  std::uint32_t task = 0;         // of the last page that has been asked for
  bool more = true;               // there is a page behind that one

  __device__ WideQueue(const UnpackArgs& of_args, WidePages& of_pages, int of_thread)
      : args(of_args),
        pages(of_pages),
        thread(of_thread),
        end(args.starts[args.end_task]),
        first_drawn(args.starts[args.first_task] + 2 * std::uint64_t{gridDim.x}) {}

  /// Two pages of a block are given, those behind them are drawn: a ticket is there before it is needed.
  __device__ void begin(unsigned char* head) {
    if (thread == 0 && first_drawn < end) ticket = atomicAdd(args.tickets, 1ull);
    const std::uint64_t page = args.starts[args.first_task] + blockIdx.x;
    task = args.first_task;
    if (page < end)
      task = device::warp_uniform(
          device::find_start(args.starts, args.first_task, args.end_task, page));
    ask(page, 0);
    ask(page + gridDim.x, 1);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();  // both have come
    ask_head(head, 0);
    __pipeline_commit();
  }
  /// Asks for the head of the page in `slot` and for the task of the one behind it.
  __device__ void go_on(unsigned char* head, int slot) {
    ask_head(head, slot);
    if (more) {
      const std::uint64_t page = first_drawn + __shfl_sync(device::kWholeWarp, ticket, 0);
      if (thread == 0 && page < end) ticket = atomicAdd(args.tickets, 1ull);
      ask(page, slot_behind(slot));
    } else if (thread == 0) {
      pages.numbers[slot_behind(slot)] = kNoPage;
    }
    __pipeline_commit();
  }
  /// If tickets are drawn, every block draws one for which there is no page; the last of those makes the
  /// count zero again.
  __device__ void end_tickets() const {
    if (thread == 0 && first_drawn < end && ticket == end - first_drawn + gridDim.x - 1)
      *args.tickets = 0;
  }

 private:
  __device__ void ask(std::uint64_t page, int slot) {
    more = page < end;
    if (!more) {
      if (thread == 0) pages.numbers[slot] = kNoPage;
      return;
    }
    task = advance_task(args.starts, args.end_task, task, page, thread);
    const auto number = static_cast<std::uint32_t>(page - args.starts[task]);
    if (thread == 0) pages.numbers[slot] = number;
    fetch_task(pages, args.tasks[task], number, slot, thread);
  }
  __device__ void ask_head(unsigned char* head, int slot) const {
    const std::uint32_t number = device::warp_uniform(pages.numbers[slot]);
    if (number == kNoPage) return;
    const ColumnTask& of = pages.task(slot);
    fetch_head(head, of, fetched_view(pages.ends[slot], of, number));
  }
};

// ---- Kernel and launcher

template <int ValueBytes, int kTile, bool kVerify>
__global__ void __launch_bounds__(32 * kMostTeam, wide_teams_per_sm(ValueBytes, kTile))
    unpack_pages_wide_kernel(UnpackArgs args, WideBlock block) {
  device::start_successor();
  const int warp = device::warp_number(), team = block.warps, thread = device::thread_of_warp();
  using Shape = WideShape<ValueBytes, kTile>;
  WideShared<ValueBytes, kTile> shared;
  shared.lay_out(device::dynamic_shared(), block);
  WidePages& pages = *shared.pages;
  auto& mine = shared.warps[warp];
  const SlabStage<Shape::kRun> stage{
      reinterpret_cast<std::uint32_t*>(shared.stages + warp * shared.stage_bytes)};
  clear_patches<WordOf<ValueBytes>, Shape::kLanes * Shape::kRun>(mine.patch[0], thread);
  for (auto& bits : mine.bits) {
    if (thread < 3) bits[Shape::kZeroWord + thread] = 0;
  }
  device::wait_for_predecessor();
  WideQueue queue(args, pages, thread);
  if (warp == 0) queue.begin(shared.head);
  for (int slot = 0;; slot = slot_behind(slot)) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the page's head has come, the next one's task too; nobody works on the one before
    const std::uint32_t number = device::warp_uniform(pages.numbers[slot]);
    if (number == kNoPage) break;
    const ColumnTask& task = pages.task(slot);
    const PageView view = uniform_view(fetched_view(pages.ends[slot], task, number));
    if (warp == 0) {
      const bool whole = open_page(shared, task, view, thread);
      if (thread == 0) pages.whole = whole;
    }
    __syncthreads();  // the page is open, and its head has been read
    if (warp == 0) queue.go_on(shared.head, slot_behind(slot));
    if (device::warp_uniform<int>(pages.whole) == 0) {
      if (threadIdx.x == 0) report_page(task, view, args.damaged_at);
      continue;
    }
    WidePage<ValueBytes, kTile> page{.shared = shared,
                                     .mine = mine,
                                     .stage = stage,
                                     .task = task,
                                     .page = view,
                                     .team = team,
                                     .thread = thread};
    page.find_slabs(block.slab_bytes);
    const std::uint64_t sum = page.template decode<kVerify>(warp);
    if (__any_sync(device::kWholeWarp, page.refused) && thread == 0)
      report_page(task, view, args.damaged_at);
    if constexpr (kVerify) {
      if (task.path != ColumnPath::page_warp_verified) continue;
      const std::uint64_t of_warp = device::warp_sum(sum);
      if (thread == 0) pages.sums[warp] = of_warp;
      __syncthreads();  // the sums of all warps are there
      if (threadIdx.x == 0) {
        std::uint64_t all = 0;
        for (int w = 0; w < team; ++w) all += pages.sums[w];
        if (finish_check(view.tuples, all) != load_u32_anywhere(task.part_checks() + 4 * number))
          report_page(task, view, args.differs_at);
      }
    }
  }
  if (warp == 0) queue.end_tickets();
}

// Few kinds of blocks, which the device is asked about once: one warp for rows of so many words that are all of
// a record, or a warp for each slab.
inline constexpr int kBlockKinds = kLongSlabBytes / 4 + 2;
/// Blocks that the device holds at once; `kind` tells apart launches of a kernel that differ in theirs.
template <auto kKernel>
cudaError_t resident_blocks_of(int kind, int threads, std::size_t shared_bytes, int& blocks) {
  static device::KeptByDevice<int> kept[kBlockKinds];
  if (auto error = device::raise_shared_limit(kKernel)) return error;
  return kept[kind].get(blocks, [&](int of_device, int& value) {
    int processors = 0, resident = 0;
    if (const cudaError_t error =
            cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, of_device))
      return error;
    if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &resident, kKernel, threads, shared_bytes))
      return error;
    value = processors * resident;
    return cudaSuccess;
  });
}

inline bool is_one_slab(int tuple_bytes) {
  return tuple_bytes <= static_cast<int>(kSlabBytes) ||
         (tuple_bytes % kSlabBytes != 0 && tuple_bytes <= static_cast<int>(kLongSlabBytes));
}

template <int ValueBytes, int kTile, bool kVerify>
cudaError_t launch_unpack_wide_as(int most_tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  constexpr auto kKernel = unpack_pages_wide_kernel<ValueBytes, kTile, kVerify>;
  constexpr int kSlab = slab_lanes(ValueBytes);
  WideBlock block{.warps = kMostTeam, .lanes = kMaxLanes, .slab_bytes = kSlabBytes};
  int kind = kBlockKinds - 1;
  if (is_one_slab(most_tuple * ValueBytes)) {
    block.slab_bytes = static_cast<unsigned>(most_tuple * ValueBytes + 3) / 4 * 4;
    block.lanes = static_cast<int>(block.slab_bytes) / ValueBytes;
    block.warps = 1;
    kind = static_cast<int>(block.slab_bytes) / 4 - 1;
  } else if (most_tuple <= 2 * kSlab) {
    block.lanes = 2 * kSlab;
    block.warps = 2;
    kind = kBlockKinds - 2;
  }
  WideShared<ValueBytes, kTile> shared;
  const std::size_t shared_bytes = shared.lay_out(nullptr, block);
  int most = 0;
  if (auto error = resident_blocks_of<kKernel>(kind, 32 * block.warps, shared_bytes, most))
    return error;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(max_pages, most));
  if (blocks == 0) return cudaSuccess;
  return device::launch_after_with<kKernel>(blocks, 32 * block.warps, shared_bytes, stream, args,
                                            block);
}

template <int ValueBytes, int kTile>
cudaError_t launch_unpack_wide_of(int most_tuple, const UnpackArgs& args, std::uint64_t max_pages,
                                  cudaStream_t stream) {
  return args.differs_at != nullptr
             ? launch_unpack_wide_as<ValueBytes, kTile, true>(most_tuple, args, max_pages, stream)
             : launch_unpack_wide_as<ValueBytes, kTile, false>(most_tuple, args, max_pages, stream);
}

template <int ValueBytes>
cudaError_t launch_unpack_wide(int most_tuple, const UnpackArgs& args, std::uint64_t max_pages,
                               cudaStream_t stream) {
  const int tuple_bytes = most_tuple * ValueBytes;
  if constexpr (ValueBytes != 3) {  // whose slabs are never full
    if (ValueBytes == 8 || !is_one_slab(tuple_bytes) || tuple_bytes % kSlabBytes == 0)
      return launch_unpack_wide_of<ValueBytes, kFullTile>(most_tuple, args, max_pages, stream);
  }
  if constexpr (ValueBytes != 8) {
    return launch_unpack_wide_of<ValueBytes, one_lane_tile(ValueBytes)>(most_tuple, args, max_pages,
                                                                        stream);
  }
}

}  // namespace gdelta::cuda
